package replay

import (
	"encoding/json"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

// What an adapter says of its work is counted, and only in its own words.
func TestAdapterSaysThatItsWorkIsUseless(t *testing.T) {
	var events []event.Event
	for _, line := range []string{
		`{"type":"error","error_type":"low_utility","message":"two films of nine"}`,
		`{"type":"error","error_type":"wrong_tool_boundary","message":"not mine"}`,
		`{"type":"error","error_type":"low_utility","message":"again"}`,
		`{"type":"error","message":"low_utility"}`,
		`{"type":"text_delta","delta":"low_utility"}`,
		`{"type":"status","label":"success_no_parse"}`,
		`{"type":"error","error_type":"useless"}`,
	} {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	r := &Reading{Reading: reference.Reading{Events: events}}
	r.summarize()
	if got := Usefulness(r); got == nil || *got != (contract.Usefulness{LowUtility: 2, WrongToolBoundary: 1}) {
		t.Errorf("got %+v", got)
	}
}

// Two readings of one run repeat what the CLI said once.
func TestUsefulnessOfOneRun(t *testing.T) {
	one := &Reading{Reading: reference.Reading{Usefulness: map[string]int{contract.WordLowUtility: 1}}}
	two := &Reading{Reading: reference.Reading{Usefulness: map[string]int{contract.WordLowUtility: 1, contract.WordWrongToolBoundary: 3}}}
	if got := Usefulness(one, two, nil); got == nil || *got != (contract.Usefulness{LowUtility: 1, WrongToolBoundary: 3}) {
		t.Errorf("got %+v", got)
	}
	if got := Usefulness(&Reading{}); got != nil {
		t.Errorf("nobody said anything, got %+v", got)
	}
}
