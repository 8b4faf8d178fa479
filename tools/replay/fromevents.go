package replay

import "github.com/nexu-io/open-design-agent-contracts/tools/contract"

// Result is what a consumer says of a run beside its events. Every member may
// be empty.
type Result struct {
	ReportedResult string             // what the CLI said, verbatim
	RunResult      contract.RunResult // the consumer's own reading; never made of the other
	Failure        *contract.FailureClassification
	Usage          map[string]int64 // in place of the last usage event
}

// FromEvents returns the reading of a consumer that is not built in. origins
// are the stdout lines of the events (reference.Reading.Origins). A consumer
// that does not say what the run came to is judged by its error events and by
// how the process ended.
func FromEvents(in Input, adapter string, events []Event, origins []int, res Result) *Reading {
	r := in.reading(adapter)
	r.Events, r.Origins = events, origins
	r.summarize()
	if res.Usage != nil {
		r.Usage = res.Usage
	}
	r.ReportedResult, r.RunResult, r.Failure = res.ReportedResult, res.RunResult, res.Failure
	if r.RunResult == "" {
		r.closeByExit(in)
	}
	return r
}

// NotRun returns the reading of a consumer that has no reader for the dialect.
func NotRun(in Input, adapter, reason string) *Reading { return in.notRun(adapter, reason) }
