package bisect

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// History is what an agent published, as far as one can see it.
type History struct {
	// Releases are the stable releases, ascending.
	Releases []string
	// Prereleases are those that are none.
	Prereleases []string
}

// FindHistory asks the package registry what the agent published, under all of
// its package's names.
func FindHistory(ctx context.Context, agent *contract.Agent, opts install.Options) (*History, error) {
	all, err := install.History(ctx, agent, opts)
	if err != nil {
		return nil, fmt.Errorf("looking up the releases of %s: %w", agent.ID, err)
	}
	return newHistory(agent, all), nil
}

// CapturedHistory is what the registry knows of the agent's releases.
func CapturedHistory(reg *store.Registry, agent *contract.Agent) (*History, error) {
	obs, err := reg.Observations(agent.ID)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, o := range obs {
		all = append(all, o.CLIVersion)
	}
	slices.Sort(all)
	return newHistory(agent, slices.Compact(all)), nil
}

func newHistory(agent *contract.Agent, all []string) *History {
	h := &History{}
	for _, v := range all {
		if prerelease(agent, v) {
			h.Prereleases = append(h.Prereleases, v)
		} else {
			h.Releases = append(h.Releases, v)
		}
	}
	sortVersions(agent, h.Releases)
	sortVersions(agent, h.Prereleases)
	return h
}

// prerelease reports whether the version is no stable release; what is no
// version at all is none either.
func prerelease(agent *contract.Agent, version string) bool {
	v, err := agents.ParseToken(agent, version)
	return err != nil || v.Prerelease != ""
}

func sortVersions(agent *contract.Agent, versions []string) {
	slices.SortFunc(versions, func(x, y string) int {
		n, _ := agents.CompareVersions(agent, x, y) // both were parsed before
		return n
	})
}

// between returns the versions in the bounds, ascending and each once.
func between(agent *contract.Agent, versions []string, from, to string) ([]string, error) {
	if err := CheckBounds(agent, from, to); err != nil {
		return nil, err
	}
	var out []string
	for _, v := range versions {
		if from != "" {
			if n, err := agents.CompareVersions(agent, v, from); err != nil || n < 0 {
				continue
			}
		}
		if to != "" {
			if n, err := agents.CompareVersions(agent, v, to); err != nil || n > 0 {
				continue
			}
		}
		out = append(out, v)
	}
	sortVersions(agent, out)
	return slices.Compact(out), nil
}

// CheckBounds refuses bounds that are no versions of the agent, or in the wrong
// order, with a *BoundError. "" is no bound.
func CheckBounds(agent *contract.Agent, from, to string) error {
	for _, bound := range []string{from, to} {
		if bound == "" {
			continue
		}
		if _, err := agents.ParseToken(agent, bound); err != nil {
			return &BoundError{err}
		}
	}
	if from != "" && to != "" {
		if n, err := agents.CompareVersions(agent, from, to); err != nil || n > 0 {
			return &BoundError{fmt.Errorf("%s is newer than %s: give the older release first", from, to)}
		}
	}
	return nil
}

// BoundError says what is wrong with a bound that the user gave.
type BoundError struct{ err error }

// Error implements error.
func (e *BoundError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *BoundError) Unwrap() error { return e.err }
