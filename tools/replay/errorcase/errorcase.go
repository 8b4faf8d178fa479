// Package errorcase makes the error case of a failing run: what OpenDesign's
// daemon would hand its failure classifier, what that classifier says, and what
// is right (spec "Error Case Records"; FINE-PRINT 10). Everything follows from
// the sanitized transcript, so a committed case can be made again from its
// fixture.
package errorcase

import (
	"encoding/json"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/run"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Run is what a case says of its run and its transcript does not show.
type Run struct {
	Agent      string
	CLIVersion string
	Platform   contract.Platform
	Probe      string
	// Level is the level of the source: that of the observation, or
	// synthetic_mock for a transcript that a fault was put into.
	Level      contract.ValidityLevel
	RecordedAt string // UTC, RFC 3339 with Z
	// Observation is the place of the observation, "" for a synthetic run.
	Observation   string
	Fixture       string // place of the sanitized transcript
	FixtureSHA256 contract.Digest
	RawTranscript contract.Digest // hash of the raw bundle
	// Source cites the public report of a case that was made from one.
	Source string
}

// RunOf returns what an observation at a place says of its run.
func RunOf(o *contract.Observation, place string) Run {
	return Run{
		Agent: o.Agent, CLIVersion: o.CLIVersion, Platform: o.Platform, Probe: o.Probe, Level: o.ValidityLevel,
		RecordedAt: o.Capture.CapturedAt, Observation: place, Fixture: o.Extensions.Fixture,
		FixtureSHA256: o.Extensions.FixtureSHA256, RawTranscript: o.Capture.RawClientTranscriptSHA256,
	}
}

// RunOfCase returns what a case says of its run, for making it again.
func RunOfCase(e *contract.ErrorCase) Run {
	x := &e.Extensions
	return Run{
		Agent: e.Agent, CLIVersion: x.CLIVersion, Platform: x.Platform, Probe: e.Probe, Level: x.ValidityLevel,
		RecordedAt: x.RecordedAt, Observation: x.Observation, Fixture: x.Fixture,
		FixtureSHA256: x.FixtureSHA256, RawTranscript: e.RawShape, Source: x.Source,
	}
}

// Case returns the run's error case, read by Read; nil for nil.
func (r Run) Case(read *contract.ErrorCase) *contract.ErrorCase {
	if read == nil {
		return nil
	}
	e := *read
	e.Agent, e.Probe, e.RawShape = r.Agent, r.Probe, r.RawTranscript
	x := &e.Extensions
	x.ValidityLevel, x.CLIVersion, x.Platform, x.RecordedAt = r.Level, r.CLIVersion, r.Platform, r.RecordedAt
	x.Observation, x.Fixture, x.FixtureSHA256, x.Source = r.Observation, r.Fixture, r.FixtureSHA256, r.Source
	return &e
}

// Read returns what a sanitized transcript gives of its run's error case, or
// nil for a run that succeeded or that the reference cannot read. The readings
// are both adapters' of t. Run.Case adds the rest.
//
// Where OpenDesign v0.19.2 starts the agent in a way that gives this format,
// the classifier's input is its daemon's, and extensions.consumers says what it
// makes of it: null for a failure that it takes for a success. For every other
// run the input is made of the reference's events, and no consumer is named.
func Read(t *transcript.Transcript, ref, consumer *replay.Reading) *contract.ErrorCase {
	if ref.Status != replay.StatusOK || ref.Failure == nil {
		return nil
	}
	e := &contract.ErrorCase{
		SchemaVersion: contract.SchemaVersion, Agent: ref.Agent, Expected: expected(ref.Failure, reference.EndingOf(t)),
		Extensions: contract.ErrorCaseExtensions{Dialect: ref.Dialect},
	}
	in := consumer.Classifier
	if consumer.Status == replay.StatusOK && in != nil {
		e.Extensions.Consumers = map[string]*contract.FailureClassification{contract.ConsumerOpenDesign: consumer.Failure}
	} else {
		in = ownInput(t, ref)
	}
	e.ClassifierInput = input(in)
	e.Extensions.CancelOrigin, e.Extensions.TerminalTrigger = in.CancelOrigin, in.TerminalTrigger
	return e
}

// expected completes the reference's classification to OpenDesign's object: a
// cancelled run says who cancelled it, a silent one that the watchdog ended it
// (research of OpenDesign v0.19.2, section 8.18). Who asked a run to stop is
// not on record.
func expected(f *contract.FailureClassification, end reference.Ending) *contract.FailureClassification {
	out := *f
	switch {
	case out.Category == contract.CategoryUserCancel:
		out.CancelOrigin, out.TerminalTrigger = "unknown", "unknown"
	case out.Detail == "inactivity_timeout" && end.Idle:
		out.TerminalTrigger = "inactivity_watchdog"
	}
	return &out
}

// input turns the daemon's words into the record's, where null and absent
// members are one.
func input(in *classify.Input) contract.ClassifierInput {
	out := contract.ClassifierInput{
		Result:    contract.RunResult(in.Result),
		ErrorCode: in.ErrorCode,
		Status: contract.RunStatus{
			Status: in.Status.Status, Error: optional(in.Status.Error), ErrorCode: optional(in.Status.ErrorCode),
			ExitCode: in.Status.ExitCode, Signal: optional(in.Status.Signal),
		},
		Events: []contract.ClassifierEvent{},
	}
	for _, e := range in.Events {
		var data any
		if json.Unmarshal(e.Data, &data) != nil {
			data = nil // no evidence, as for the classifier
		}
		out.Events = append(out.Events, contract.ClassifierEvent{Event: e.Event, Data: data})
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Input returns the classifier's input that a case holds, as the packages that
// classify read it.
func Input(e *contract.ErrorCase) (classify.Input, error) {
	in := classify.Input{
		Result: string(e.ClassifierInput.Result), ErrorCode: e.ClassifierInput.ErrorCode, AgentID: e.Agent,
		Status: classify.Status{
			Status: e.ClassifierInput.Status.Status, Error: text(e.ClassifierInput.Status.Error),
			ErrorCode: text(e.ClassifierInput.Status.ErrorCode), ExitCode: e.ClassifierInput.Status.ExitCode,
			Signal: text(e.ClassifierInput.Status.Signal),
		},
		CancelOrigin: e.Extensions.CancelOrigin, TerminalTrigger: e.Extensions.TerminalTrigger,
	}
	for _, ev := range e.ClassifierInput.Events {
		b, err := json.Marshal(ev.Data)
		if err != nil {
			return classify.Input{}, err
		}
		in.Events = append(in.Events, classify.Event{Event: ev.Event, Data: b})
	}
	return in, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ownInput is what a daemon that reads as the reference does would know: its
// events, stderr, and how the process ended.
func ownInput(t *transcript.Transcript, ref *replay.Reading) *classify.Input {
	end := reference.EndingOf(t)
	in := &classify.Input{Result: string(ref.RunResult), AgentID: ref.Agent}
	in.Status = classify.Status{Status: opendesign.Failed, ExitCode: end.ExitCode, Signal: end.Signal}
	if ref.RunResult == contract.RunCancelled {
		in.Status.Status = opendesign.Canceled
	}
	set := ""
	switch {
	case end.Idle:
		in.TerminalTrigger = "inactivity_watchdog"
	case end.TimedOut:
		set = "TIMEOUT"
	}
	in.ErrorCode = optional(opendesign.ErrorCode(in.Status.Status, set, end.Signal, end.ExitCode))
	in.Events = append(in.Events, classify.Event{Event: "start", Data: []byte("{}")})
	for _, e := range ref.Events {
		name := "agent"
		if e.Type() == "error" {
			name = "error"
			in.Status.Error = e.Get("message").Str()
		}
		in.Events = append(in.Events, classify.Event{Event: name, Data: e.JSON()})
	}
	for i := range t.Records {
		if r := &t.Records[i]; r.Dir == transcript.CLIToServer && r.Stream == transcript.Stderr {
			chunk, err := json.Marshal(map[string]string{"chunk": string(r.Line())})
			if err == nil { // it never fails for a string
				in.Events = append(in.Events, classify.Event{Event: "stderr", Data: chunk})
			}
		}
	}
	in.Events = in.Events[max(0, len(in.Events)-run.KeptEvents):]
	return in
}
