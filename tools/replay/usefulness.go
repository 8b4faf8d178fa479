package replay

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// said counts what an adapter's events say of the usefulness of the run's
// work: an event whose error_type is low_utility or wrong_tool_boundary
// (specification 002, decision 3). Nil if they say neither. The reference has
// no such events; it reads the words in the CLI's frames.
func said(events []event.Event) map[string]int {
	var out map[string]int
	for _, e := range events {
		switch word := e.Get("error_type").Str(); word {
		case contract.WordLowUtility, contract.WordWrongToolBoundary:
			if out == nil {
				out = map[string]int{}
			}
			out[word]++
		}
	}
	return out
}

// Usefulness returns what the CLI and the adapters said of the usefulness of
// one run's work, or nil. Several readings of the run repeat one statement, so
// the largest count of each word counts.
func Usefulness(readings ...*Reading) *contract.Usefulness {
	var out contract.Usefulness
	for _, r := range readings {
		if r == nil {
			continue
		}
		out.LowUtility = max(out.LowUtility, r.Usefulness[contract.WordLowUtility])
		out.WrongToolBoundary = max(out.WrongToolBoundary, r.Usefulness[contract.WordWrongToolBoundary])
	}
	if out == (contract.Usefulness{}) {
		return nil
	}
	return &out
}
