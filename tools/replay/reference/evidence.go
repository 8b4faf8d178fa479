package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Evidence is what is known of a failed run whose transcript is not at hand.
type Evidence struct {
	Agent  string
	Texts  []string // error texts, the strongest first
	Stderr []byte
	// Code is what an error code says, or nil; words say more. Without a Stage
	// it gets the one that the run had reached.
	Code *contract.FailureClassification
	// ErrorFrame says that the CLI reported an error, whatever its words.
	ErrorFrame bool
	End        Ending
	// Stage is how far the run had come, for causes that do not tell.
	Stage contract.FailureStage
}

// Classify says why a run failed, by the rules that Read applies to a
// transcript: words of the error, words on stderr, the code, the end of the
// process.
func (e Evidence) Classify() contract.FailureClassification {
	f := contract.FailureClassification(e.verdict())
	if f.Stage == "" {
		f.Stage = e.Stage
	}
	return f
}

func (e Evidence) verdict() verdict {
	words := classify(evidence{agent: e.Agent, texts: e.Texts, weak: e.Stderr})
	byExit := exitVerdict(e.End)
	switch {
	case e.End.TimedOut && (words == nil || words.Category != contract.CategoryAuth):
		if e.End.Idle {
			return inactive
		}
		return timedOut
	case words != nil && (len(e.Texts) > 0 || byExit.Detail != "process_crashed" && byExit.Detail != "interrupted"):
		return *words
	case e.Code != nil:
		return verdict(*e.Code)
	case e.ErrorFrame:
		return streamError
	case !clean(e.End):
		return byExit
	}
	return terminatedUnknown
}
