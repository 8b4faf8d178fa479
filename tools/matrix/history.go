package matrix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// History is everything that was captured of one agent on one platform.
type History struct {
	Agent    string
	Platform contract.Platform
	// Versions has the captured versions, oldest first.
	Versions []VersionHistory
}

// VersionHistory is what is known of each probe at one captured version.
type VersionHistory struct {
	Version string
	// Probes are those of the production profile, sorted by family and probe:
	// what Explain says of them.
	Probes []ExplainedProbe
	// SetAside are the version's observations that back no claim, by path.
	SetAside []ExplainedObservation
}

// Histories follows every agent over its captured versions, sorted by agent and
// platform.
func Histories(r *Records) ([]History, error) {
	type key struct {
		agent    string
		platform contract.Platform
	}
	claimed := map[key]map[contract.ProtocolFamily][]*store.Observed{}
	versions := map[key]map[string][]ExplainedObservation{} // with what is set aside
	for i := range r.Observations {
		o := &r.Observations[i]
		k := key{o.Agent, o.Platform}
		if versions[k] == nil {
			versions[k], claimed[k] = map[string][]ExplainedObservation{}, map[contract.ProtocolFamily][]*store.Observed{}
		}
		aside := versions[k][o.CLIVersion]
		if why := setAside(o); why != "" {
			aside = append(aside, explained(o, why))
		} else {
			claimed[k][o.ProtocolFamily] = append(claimed[k][o.ProtocolFamily], o)
		}
		versions[k][o.CLIVersion] = aside
	}
	standing := NewStanding(r.Statements)
	levels := Levels(r.Observations, standing)
	out := make([]History, 0, len(versions))
	for k, aside := range versions {
		agent, err := agents.Find(r.Agents, k.agent)
		if err != nil {
			return nil, err
		}
		h := History{Agent: k.agent, Platform: k.platform}
		for _, v := range sortedKeys(aside) {
			h.Versions = append(h.Versions, VersionHistory{Version: v, SetAside: aside[v]})
		}
		slices.SortStableFunc(h.Versions, func(a, b VersionHistory) int {
			n, _ := agents.CompareVersions(agent, a.Version, b.Version) // versions of two products have no order
			return n
		})
		for _, f := range sortedKeys(claimed[k]) {
			b := &builder{records: r, agent: agent, group: group{k.agent, f, k.platform}, levels: levels, standing: standing}
			if err := b.follow(&h, claimed[k][f]); err != nil {
				return nil, fmt.Errorf("following %s on %s: %w", k.agent, k.platform, err)
			}
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(x, y History) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Platform, y.Platform))
	})
	return out, nil
}

// follow adds what is known of a family's probes to each version.
func (b *builder) follow(h *History, obs []*store.Observed) error {
	claims, whole, err := b.judged(obs)
	if err != nil {
		return err
	}
	for i := range h.Versions {
		v := &h.Versions[i]
		probes, _, err := b.explain(claims, whole, v.Version)
		if err != nil {
			return err
		}
		v.Probes = append(v.Probes, probes...)
		slices.SortFunc(v.SetAside, func(x, y ExplainedObservation) int { return cmp.Compare(x.Path, y.Path) })
	}
	return nil
}
