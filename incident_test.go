package agentcontracts_test

import (
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
)

// What docs/HISTORY.md names of an incident, compare names too, under the same
// fingerprint: one reads records, the other the fixtures behind them.
func TestHistoryNamesWhatCompareNames(t *testing.T) {
	reg, families := committed(t)
	side := func(place string) (*report.Side, *contract.Dialect) {
		var o contract.Observation
		if err := reg.ReadJSON(place, &o); err != nil {
			t.Fatal(err)
		}
		d := families.Dialect(o.Extensions.Dialect)
		s, err := report.Fixture(reg, d, o.Extensions.Fixture, o.Agent)
		if err != nil {
			t.Fatal(err)
		}
		return s, d
	}
	incidents, err := bisect.CheckIncidents(reg)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, f := range incidents {
		if f.Change == nil {
			continue
		}
		older, _ := side(f.Change.Evidence[0])
		newer, d := side(f.Change.Evidence[1])
		named := compare.Runs(older.Side, newer.Side, d).Signals
		for _, s := range f.Change.Signals {
			compared++
			if !slices.ContainsFunc(named, func(n compare.Signal) bool { return n.Fingerprint == s.Fingerprint }) {
				t.Errorf("%s: compare does not name %s", f.ID, s)
			}
		}
	}
	if compared == 0 {
		t.Error("no incident names a signal")
	}
}
