package capture

import (
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Two agents that print the same share a fixture, and none takes the place of
// the other's reading.
func TestAgentsOfOneFixtureHaveTheirOwnGoldens(t *testing.T) {
	tx, err := newRegistry(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Discard()
	d := contract.Sum([]byte("shape"))
	for _, tt := range []struct{ agent, kind string }{{"opencode", ""}, {"kilo", "kilo"}, {"opencode", ""}, {"kilo", "kilo"}} {
		kinds := func(kind string) string {
			return store.GoldenPath(AdapterReference, contract.FamilyEvents, d, d, true, kind)
		}
		golden := []byte(`{"agent":"` + tt.agent + `"}`)
		place, err := goldenPlace(tx, golden, kinds)
		if err != nil {
			t.Fatal(err)
		}
		if place != kinds(tt.kind) {
			t.Errorf("the golden of %s lies at %s", tt.agent, place)
		}
		if err := tx.Write(place, golden); err != nil {
			t.Fatal(err)
		}
	}
}
