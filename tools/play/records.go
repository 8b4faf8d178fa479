package play

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Records returns what names a fixture: the observations, and the synthetic
// source evidence as far as an observation says the same of its fixture: agent,
// version, dialect, fixture, goldens and result. Agent "" stands for all.
func Records(reg *store.Registry, agent string) ([]store.Observed, error) {
	out, err := reg.Observations(agent)
	if err != nil {
		return nil, err
	}
	sources, err := reg.SourceEvidence(agent)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		s := &sources[i]
		x := &s.Extensions
		if x.Fixture == "" || x.ParserReplay == nil {
			continue
		}
		o := store.Observed{Path: s.Path, Observation: contract.Observation{
			Agent: s.Agent, CLIVersion: s.CLIVersion, Probe: x.Probe, ProtocolFamily: s.ProtocolFamily,
			ValidityLevel: s.ValidityLevel, Shape: s.DerivedShape, ParserReplay: *x.ParserReplay,
		}}
		o.Extensions.Fixture, o.Extensions.FixtureSHA256 = x.Fixture, x.FixtureSHA256
		o.Extensions.Dialect, o.Extensions.Profile, o.Extensions.ReferenceGolden = x.Dialect, x.Profile, x.ReferenceGolden
		o.Extensions.RunResult = x.RunResult
		out = append(out, o)
	}
	return out, nil
}

// id is the name of a fixture's file without its folder and endings:
// sha256-<shape>[.<content>].
func id(o *store.Observed) string {
	name := o.Extensions.Fixture[strings.LastIndexByte(o.Extensions.Fixture, '/')+1:]
	for _, end := range []string{".sanitized.jsonl", ".transcript.jsonl"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// playable returns the records of an agent, one for each fixture, in the order
// of their fixtures' names: that of the newest version. Records without a
// fixture are left out; agent "" stands for all.
func playable(all []store.Observed, agent string, newer func(a, b *store.Observed) int) []*store.Observed {
	best := map[string]*store.Observed{}
	for i := range all {
		o := &all[i]
		if o.Extensions.Fixture == "" || agent != "" && o.Agent != agent {
			continue
		}
		key := o.Extensions.Fixture + " " + o.Agent
		if old := best[key]; old == nil || newer(old, o) < 0 {
			best[key] = o
		}
	}
	out := make([]*store.Observed, 0, len(best))
	for _, o := range best {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *store.Observed) int {
		return cmp.Or(strings.Compare(id(a), id(b)), strings.Compare(a.Agent, b.Agent))
	})
	return out
}
