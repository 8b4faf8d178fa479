package bisect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// ReleasesPath is the place of what agents published and what of it could not
// be captured.
const ReleasesPath = "registry/releases.json"

// LoadReleases reads registry/releases.json; a registry without it has looked
// nothing up.
func LoadReleases(reg *store.Registry) (*contract.Releases, error) {
	r := &contract.Releases{SchemaVersion: contract.SchemaVersion, Agents: []contract.AgentReleases{}}
	if !reg.Exists(ReleasesPath) {
		return r, nil
	}
	return r, reg.ReadJSON(ReleasesPath, r)
}

// Record writes what a bisection learned beside its observations: the published
// releases, and what gave no observation.
func Record(ctx context.Context, o Options, now time.Time) error {
	tx, err := o.Registry.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	file, err := LoadReleases(o.Registry)
	if err != nil {
		return err
	}
	k, err := load(o)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(file.Agents, o, func(a contract.AgentReleases, o Options) int {
		return strings.Compare(a.Agent+"\x00"+string(a.Platform), o.Agent.ID+"\x00"+string(o.Platform))
	})
	if !found {
		file.Agents = slices.Insert(file.Agents, i, contract.AgentReleases{Agent: o.Agent.ID, Platform: o.Platform})
	}
	old := file.Agents[i]
	entry := merged(old, o, k)
	if found && same(old, entry) {
		return nil
	}
	entry.LookedAt = now.UTC().Truncate(time.Second).Format(time.RFC3339)
	file.Agents[i] = entry
	b, err := contract.Encode(file)
	if err == nil {
		err = tx.Write(ReleasesPath, b)
	}
	if err != nil {
		return fmt.Errorf("recording the releases of %s: %w", o.Agent.ID, err)
	}
	return tx.Commit()
}

func same(a, b contract.AgentReleases) bool {
	return slices.Equal(a.Releases, b.Releases) && a.Prereleases == b.Prereleases && slices.Equal(a.NotCaptured, b.NotCaptured)
}

// merged adds what is known now to what was recorded. A release that is no
// longer published stays: it was once.
func merged(old contract.AgentReleases, o Options, k *known) contract.AgentReleases {
	out := old
	out.Releases = slices.Clone(o.History.Releases)
	for _, v := range old.Releases {
		if !slices.Contains(out.Releases, v) {
			out.Releases = append(out.Releases, v)
		}
	}
	sortVersions(o.Agent, out.Releases)
	out.Prereleases = max(old.Prereleases, len(o.History.Prereleases))
	failures := map[cell]Reason{}
	for _, n := range old.NotCaptured {
		failures[cell{n.Version, Track{n.Probe, n.Profile}}] = Reason(n.Reason)
	}
	for v, why := range k.unavailable {
		failures[cell{version: v}] = why
	}
	for c, why := range k.missing {
		failures[c] = why
	}
	out.NotCaptured = nil
	for c, why := range failures {
		if c.track == (Track{}) && k.observed[c.version] || len(k.observations[c]) > 0 {
			continue // it was captured since
		}
		out.NotCaptured = append(out.NotCaptured, contract.NotCaptured{Version: c.version, Probe: c.track.Probe, Profile: c.track.Profile, Reason: string(why)})
	}
	slices.SortFunc(out.NotCaptured, contract.NotCaptured.Compare)
	return out
}
