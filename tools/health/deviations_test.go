package health

import (
	"fmt"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A deviation counts runs, not frames, and versions come oldest first.
func TestDeviations(t *testing.T) {
	late := contract.ACPDeviation{By: "agent", Frame: "session/update:agent_message_chunk", Kind: "late_update"}
	r := records(seen{version: "1.10.0", probe: "p", day: 2}, seen{version: "1.9.0", probe: "p", day: 0}, seen{version: "1.9.0", probe: "q", day: 1}, seen{version: "1.9.0", probe: "r", day: 1})
	for i, count := range []int{1, 7, 2} {
		d := late
		d.Count = count
		r.Observations[i].Extensions.ACPDeviations = []contract.ACPDeviation{d}
	}
	got := fmt.Sprint(build(t, r, Options{}).Deviations)
	if want := "[{a 1.9.0 agent session/update:agent_message_chunk late_update  2} {a 1.10.0 agent session/update:agent_message_chunk late_update  1}]"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := build(t, r, Options{Probe: "r"}).Deviations; len(got) != 0 {
		t.Errorf("of a probe without any: %v", got)
	}
}
