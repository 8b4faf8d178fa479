package cli

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// fixtureRecords returns what names a fixture: the observations, and the
// synthetic source evidence as far as an observation says the same of its
// fixture: agent, dialect, fixture and goldens.
func fixtureRecords(reg *store.Registry) ([]store.Observed, error) {
	out, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	sources, err := reg.SourceEvidence("")
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
			Agent: s.Agent, CLIVersion: s.CLIVersion, Probe: x.Probe, ProtocolFamily: s.ProtocolFamily, ParserReplay: *x.ParserReplay,
		}}
		o.Extensions.Fixture, o.Extensions.Dialect, o.Extensions.ReferenceGolden = x.Fixture, x.Dialect, x.ReferenceGolden
		out = append(out, o)
	}
	return out, nil
}
