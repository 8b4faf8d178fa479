package contract

import "slices"

// The words of a failure's classification are OpenDesign v0.19.2's (spec
// error-case.schema.json, "expected_failure_classification"; FINE-PRINT 10).

// FailureCategory is the broad kind of a failure.
type FailureCategory string

// FailureStage is how far the run had come when it failed.
type FailureStage string

// UserAction is what the user can do about a failure. It is not the action of
// a support status (FINE-PRINT 17).
type UserAction string

// FailureClassification says why a run did not succeed. A successful run has
// none. Two are equal when all their fields are: cancelled runs have seven
// members, watchdog timeouts six, all others five.
type FailureClassification struct {
	Category   FailureCategory `json:"failure_category"`
	Detail     string          `json:"failure_detail"` // one of FailureDetails
	Stage      FailureStage    `json:"failure_stage"`
	Retryable  bool            `json:"retryable"`
	UserAction UserAction      `json:"user_action"`
	// CancelOrigin is set for cancelled runs only: one of CancelOrigins.
	CancelOrigin string `json:"cancel_origin,omitempty"`
	// TerminalTrigger is what forced the end, or "": one of TerminalTriggers.
	TerminalTrigger string `json:"terminal_trigger,omitempty"`
}

// Valid reports whether every field holds a word of its enumeration.
func (f FailureClassification) Valid() bool {
	return slices.Contains(FailureCategories, f.Category) &&
		slices.Contains(FailureDetails, f.Detail) &&
		slices.Contains(FailureStages, f.Stage) &&
		slices.Contains(UserActions, f.UserAction) &&
		(f.CancelOrigin == "" || slices.Contains(CancelOrigins, f.CancelOrigin)) &&
		(f.TerminalTrigger == "" || slices.Contains(TerminalTriggers, f.TerminalTrigger))
}
