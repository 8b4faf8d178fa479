package capture

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Target is what a user asked to capture.
type Target struct {
	Agent string
	// Version is an exact version, a range, a dist-tag such as latest, or ""
	// for the newest version that the registry knows.
	Version string
	// Probes replaces the run's probes for this target (Capture Input, --like).
	Probes []string
	// Profile is the only one to run of those of the agent's definition; "" runs
	// all.
	Profile string
}

// ParseTarget reads AGENT or AGENT@VERSION.
func ParseTarget(s string) (Target, error) {
	agent, version, found := strings.Cut(s, "@")
	if agent == "" || found && version == "" {
		return Target{}, fmt.Errorf("%q is not AGENT or AGENT@VERSION", s)
	}
	return Target{Agent: agent, Version: version}, nil
}

// Input is the specification's Capture Input object.
type Input struct {
	Agent          string                  `json:"agent"`
	TargetVersion  string                  `json:"target_version"`
	Platform       contract.Platform       `json:"platform"`
	Probe          string                  `json:"probe"`
	ProtocolFamily contract.ProtocolFamily `json:"protocol_family"`
}

// Target checks the input against this machine and the agent.
func (in Input) Target(file *contract.AgentsFile) (Target, error) {
	a, err := agents.Find(file, in.Agent)
	if err != nil {
		return Target{}, err
	}
	if host := contract.HostPlatform(); in.Platform != host {
		return Target{}, fmt.Errorf("platform %q cannot be captured on this machine, which is %s", in.Platform, host)
	}
	if !slices.Contains(a.ProtocolFamilies, in.ProtocolFamily) {
		return Target{}, fmt.Errorf("protocol_family %q is not one that %s declares (%v)", in.ProtocolFamily, a.ID, a.ProtocolFamilies)
	}
	if in.Probe == "" || in.TargetVersion == "" {
		return Target{}, errors.New("a capture input needs probe and target_version")
	}
	return Target{Agent: in.Agent, Version: in.TargetVersion, Probes: []string{in.Probe}}, nil
}

// Cell is one run of a CLI that a capture will do.
type Cell struct {
	ID      string `json:"id"`    // unique in its run: <group>.<profile>.<probe>.<n>
	Group   string `json:"group"` // agent@version: published together
	Agent   string `json:"agent"`
	Version string `json:"version"` // exact
	Probe   string `json:"probe"`
	Profile string `json:"profile"`
	Repeat  int    `json:"repeat"` // 1, 2, …
}

// cells returns the runs for one exact version, in an order that fails early:
// the version probe first.
func cells(a *contract.Agent, version string, probes []string, profile string, repeat int) []Cell {
	var out []Cell
	group := a.ID + "@" + version
	for _, probe := range probes {
		for _, prof := range profilesFor(a, version, probe, profile) {
			for n := 1; n <= repeat; n++ {
				out = append(out, Cell{
					ID:    fmt.Sprintf("%s.%s.%s.%d", strings.ReplaceAll(group, "/", "_"), prof, probe, n),
					Group: group, Agent: a.ID, Version: version, Probe: probe, Profile: prof, Repeat: n,
				})
			}
		}
	}
	return out
}

// profilesFor returns the profiles of the agent's definition that start the
// probe: production first, compatible where a release refuses the production
// argv (DESIGN D1) or has another form worth recording, then others by name.
// Production is left out where its argv needs a transport that the probe does
// not have.
func profilesFor(a *contract.Agent, version, probe, only string) []string {
	if only != "" {
		return slices.DeleteFunc([]string{only}, func(profile string) bool { return !hasLaunch(a, version, probe, profile) })
	}
	return slices.DeleteFunc(profiles(a), func(profile string) bool {
		return !hasLaunch(a, version, probe, profile)
	})
}

// profiles are the words of an agent's definition for ways to start it.
func profiles(a *contract.Agent) []string {
	out := []string{contract.ProfileProduction, contract.ProfileCompatible}
	for i := range a.Launches {
		out = append(out, a.Launches[i].Profile)
	}
	return unique(out)
}

// selectProbes resolves --probe: ids, "basic" or "all".
func selectProbes(reg *store.Registry, words []string) ([]string, error) {
	known, err := ProbeIDs(reg)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, w := range words {
		switch {
		case w == "basic":
			out = append(out, contract.BasicProbes...)
		case w == "all":
			out = append(out, contract.BasicProbes...)
			out = append(out, known...)
		case slices.Contains(known, w):
			out = append(out, w)
		default:
			return nil, fmt.Errorf("%w: it has %s", &UnknownProbeError{ID: w}, strings.Join(known, ", "))
		}
	}
	out = unique(out)
	for _, id := range out { // a broken one is found before anything runs
		if _, err := LoadProbe(reg, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Check refuses agents, ways to start them and probes that the registry does not have. It reads
// nothing else.
func Check(reg *store.Registry, targets []Target, probes []string) error {
	file, err := loadAgents(reg)
	if err != nil {
		return err
	}
	for _, t := range targets {
		a, err := agents.Find(file, t.Agent)
		if err != nil {
			return err
		}
		if p := profiles(a); t.Profile != "" && !slices.Contains(p, t.Profile) {
			return &UnknownProfileError{a.ID, t.Profile, p}
		}
		if _, err := selectProbes(reg, append(slices.Clone(t.Probes), probes...)); err != nil {
			return err
		}
	}
	return nil
}

func unique(in []string) []string {
	var out []string
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// newestKnown returns the newest version of the agent that the registry has an
// observation of, or "".
func newestKnown(reg *store.Registry, a *contract.Agent) (string, error) {
	obs, err := reg.Observations(a.ID)
	if err != nil || len(obs) == 0 {
		return "", err
	}
	newest := ""
	for _, o := range obs {
		if strings.HasPrefix(o.Install.Source, "binary:") {
			continue // nobody can install it
		}
		if n, err := agents.CompareVersions(a, o.CLIVersion, newest); newest == "" || err == nil && n > 0 {
			newest = o.CLIVersion
		}
	}
	return newest, nil
}
