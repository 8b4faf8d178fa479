package contract

// ErrorCase is one failing run as the consumer's failure classifier sees it
// (spec "Error Case Records").
type ErrorCase struct {
	SchemaVersion int    `json:"schema_version"`
	Agent         string `json:"agent"`
	Probe         string `json:"probe"`
	// RawShape is the hash of the raw transcript bundle (FINE-PRINT 10).
	RawShape        Digest          `json:"raw_shape"`
	ClassifierInput ClassifierInput `json:"classifier_input"`
	// Expected is the right classification, the reference adapter's; null for
	// a run that succeeded. A failure that the consumer overlooks has one
	// although the classifier is told of a success.
	Expected   *FailureClassification `json:"expected_failure_classification"`
	Extensions ErrorCaseExtensions    `json:"extensions,omitzero"`
}

// ClassifierInput is the argument of classifyRunFailure, without the agent.
type ClassifierInput struct {
	Result RunResult `json:"result"`
	Status RunStatus `json:"status"`
	// ErrorCode is the daemon's error code; null if there is none.
	ErrorCode *string `json:"errorCode"`
	// Events are the daemon events of the last attempt, oldest first.
	Events []ClassifierEvent `json:"events"`
}

// RunStatus is the status of a daemon run as classifyRunFailure reads it.
// Members that are null are left out.
type RunStatus struct {
	Status    string  `json:"status"` // failed, canceled, succeeded …
	Error     *string `json:"error,omitempty"`
	ErrorCode *string `json:"errorCode,omitempty"`
	ExitCode  *int    `json:"exitCode,omitempty"`
	Signal    *string `json:"signal,omitempty"`
}

// ClassifierEvent is one daemon event.
type ClassifierEvent struct {
	Event string `json:"event"` // start, agent, error, stderr, stdout, diagnostic …
	Data  any    `json:"data"`
}

// ErrorCaseExtensions holds what the specification's fields cannot say.
type ErrorCaseExtensions struct {
	// ValidityLevel is the level of the case's source (FINE-PRINT 9).
	ValidityLevel ValidityLevel `json:"validity_level,omitempty"`
	CLIVersion    string        `json:"cli_version,omitempty"`
	Platform      Platform      `json:"platform,omitempty"`
	Dialect       string        `json:"dialect,omitempty"`
	RecordedAt    string        `json:"recorded_at,omitempty"` // UTC, RFC 3339 with Z
	// Observation is the place of the observation of the same run, Fixture
	// and FixtureSHA256 its sanitized transcript.
	Observation   string `json:"observation,omitempty"`
	Fixture       string `json:"fixture,omitempty"`
	FixtureSHA256 Digest `json:"fixture_sha256,omitempty"`
	// CancelOrigin and TerminalTrigger are further arguments of the classifier.
	CancelOrigin    string `json:"cancel_origin,omitempty"`
	TerminalTrigger string `json:"terminal_trigger,omitempty"`
	// Consumers holds what each consumer says, keyed name@version
	// (open-design@0.19.2); null where it gives no classification.
	Consumers map[string]*FailureClassification `json:"consumers,omitempty"`
	// Source cites the public report that the case was made from.
	Source string `json:"source,omitempty"`
}

// ConsumerOpenDesign is the key of the pinned consumer in
// ErrorCaseExtensions.Consumers.
const ConsumerOpenDesign = "open-design@0.19.2"

// Differences names the members in which a consumer's classification is not
// the expected one, in the order of the record: failure_category,
// failure_detail … One that the consumer lacks altogether is
// ["failure_classification"]. known is false if the record does not say what
// that consumer makes of the run.
func (e *ErrorCase) Differences(consumer string) (members []string, known bool) {
	got, known := e.Extensions.Consumers[consumer]
	if !known {
		return nil, false
	}
	want := e.Expected
	if got == nil || want == nil {
		if got != want {
			members = []string{"failure_classification"}
		}
		return members, true
	}
	for _, m := range []struct {
		name string
		same bool
	}{
		{"failure_category", got.Category == want.Category}, {"failure_detail", got.Detail == want.Detail},
		{"failure_stage", got.Stage == want.Stage}, {"retryable", got.Retryable == want.Retryable},
		{"user_action", got.UserAction == want.UserAction}, {"cancel_origin", got.CancelOrigin == want.CancelOrigin},
		{"terminal_trigger", got.TerminalTrigger == want.TerminalTrigger},
	} {
		if !m.same {
			members = append(members, m.name)
		}
	}
	return members, true
}

// misread reports whether the pinned consumer takes the run for something else
// than it was: then its result and the right classification do not match.
func (e *ErrorCase) misread() bool {
	members, known := e.Differences(ConsumerOpenDesign)
	return known && len(members) > 0
}

func checkErrorCase(c *checker, e *ErrorCase) {
	x := e.Expected
	if x == nil {
		return
	}
	const at = "/expected_failure_classification"
	if x.CancelOrigin != "" && x.Category != CategoryUserCancel {
		c.report("ERR-CANCEL", at+"/cancel_origin", "only a cancelled run has a cancel_origin")
	}
	if e.misread() {
		return
	}
	switch result := e.ClassifierInput.Result; {
	case result == RunSuccess:
		c.report("ERR-CLASSIFICATION-OF-SUCCESS", at, "the result is success, yet no consumer is on record that took the failure for one")
	case (result == RunCancelled) != (x.Category == CategoryUserCancel) && x.Category != "":
		c.report("ERR-CANCEL", at+"/failure_category", "user_cancel and the result cancelled go together")
	}
}
