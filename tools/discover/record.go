package discover

import (
	"cmp"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Place is where the record of what was seen lives.
const Place = "registry/latest-seen.json"

// Update returns the record with what a look found, and whether it changed.
//
// A newer version replaces an older one. What was seen once was released, so an
// older answer changes nothing: another source may be behind, or the one that
// was ahead may not answer today. Only the source that named a version can take
// it back (a release was withdrawn), and an agent that could not be looked at
// keeps its entry.
func Update(old contract.LatestSeen, r *Report, known *contract.AgentsFile) (contract.LatestSeen, bool, error) {
	out := contract.LatestSeen{SchemaVersion: contract.SchemaVersion, Agents: slices.Clone(old.Agents), Extensions: old.Extensions}
	if out.Agents == nil {
		out.Agents = []contract.LatestSeenAgent{}
	}
	changed := old.SchemaVersion == 0
	for i := range r.Agents {
		a := &r.Agents[i]
		if !a.Looked() {
			continue
		}
		next := contract.LatestSeenAgent{Agent: a.Agent, Version: *a.LatestSeen, Source: a.Source, SeenAt: r.AsOf, PublishedAt: a.PublishedAt}
		at := slices.IndexFunc(out.Agents, func(s contract.LatestSeenAgent) bool { return s.Agent == a.Agent })
		if at < 0 {
			out.Agents, changed = append(out.Agents, next), true
			continue
		}
		replace, err := replaces(known.Agent(a.Agent), a, &out.Agents[at])
		if err != nil {
			return old, false, err
		}
		if replace {
			out.Agents[at], changed = next, true
		}
	}
	slices.SortFunc(out.Agents, func(a, b contract.LatestSeenAgent) int { return cmp.Compare(a.Agent, b.Agent) })
	return out, changed, nil
}

// replaces decides between what a look found and what is on record.
func replaces(def *contract.Agent, a *Agent, had *contract.LatestSeenAgent) (bool, error) {
	n, err := agents.CompareVersions(def, *a.LatestSeen, had.Version)
	if err != nil || n > 0 {
		return n > 0, err
	}
	if n == 0 {
		return had.PublishedAt == nil && a.PublishedAt != nil, nil
	}
	for i := range a.Sources {
		if s := &a.Sources[i]; s.Source == had.Source && s.Available {
			return true, nil // it no longer names that version
		}
	}
	return false, nil
}

// Verified returns the newest version of each agent that a matrix verifies, on
// any platform.
func Verified(known *contract.AgentsFile, m *contract.SupportMatrix) (map[string]string, error) {
	out := map[string]string{}
	for i := range m.Agents {
		e := &m.Agents[i]
		def := known.Agent(e.Agent)
		if e.LatestVerified == nil || def == nil {
			continue
		}
		if had := out[e.Agent]; had != "" {
			n, err := agents.CompareVersions(def, *e.LatestVerified, had)
			if err != nil {
				return nil, err
			}
			if n <= 0 {
				continue
			}
		}
		out[e.Agent] = *e.LatestVerified
	}
	return out, nil
}
