package replay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

// statements are the fields of expect that a reading can be held against.
var statements = map[string]func(*reference.Reading, json.RawMessage) string{
	"run_result":                        checkRunResult,
	"failure":                           checkFailure,
	"forbidden_failure":                 checkForbiddenFailure,
	"daemon_events":                     checkAllEvents,
	"daemon_events_contains":            checkSomeEvents,
	"daemon_events_if_legacy_supported": checkSomeEvents,
	"daemon_events_tail":                checkTail,
	"raw_events_allowed":                checkRaw,
	"joined_text":                       checkText,
	"final_usage":                       checkUsage,
	"signals":                           checkSignals,
	"forbidden_events":                  checkForbiddenEvents,
	"deviations":                        checkDeviations,
	"unknown_tally":                     checkTally,
	"must_not_events":                   checkMustNotEvents,
	"turn_completed_cleanly":            checkClean,
	"forbidden":                         checkForbidden,
	"failure_detail": func(r *reference.Reading, raw json.RawMessage) string {
		if r.Failure == nil || r.Failure.Detail != word(raw) {
			return fmt.Sprintf("got %+v", r.Failure)
		}
		return ""
	},
	"trailing_fragment": func(r *reference.Reading, _ json.RawMessage) string {
		if !r.HasSignal(reference.SignalTruncatedTail) {
			return "no truncated tail noticed"
		}
		return ""
	},
}

func word(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // another type is no word and matches nothing
	return s
}

func checkRunResult(r *reference.Reading, raw json.RawMessage) string {
	want := word(raw)
	want, _, _ = strings.Cut(want, " if ") // the condition is the variant's
	got := string(r.RunResult)
	if want == "success_with_warning" && got == "success" && len(r.Signals) > 0 {
		return ""
	}
	if got != want {
		return fmt.Sprintf("got %q, want %q", got, want)
	}
	return ""
}

func checkFailure(r *reference.Reading, raw json.RawMessage) string {
	var want *contract.FailureClassification
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	if (want == nil) != (r.Failure == nil) || want != nil && *want != *r.Failure {
		return fmt.Sprintf("got %+v, want %+v", r.Failure, want)
	}
	return ""
}

func checkForbiddenFailure(r *reference.Reading, raw json.RawMessage) string {
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return err.Error()
	}
	for _, w := range words {
		if r.Failure != nil && (string(r.Failure.Category) == w || r.Failure.Detail == w) {
			return "got " + w
		}
	}
	return ""
}

func checkAllEvents(r *reference.Reading, raw json.RawMessage) string {
	want, what := wantedEvents(raw)
	if what != "" {
		return what
	}
	if missing := subsequence(r.Events, want); missing != "" {
		return missing
	}
	for _, typ := range []string{"text_delta", "error"} {
		if got, n := count(r.Events, typ), count(want, typ); got != n {
			return fmt.Sprintf("%d %s events, want %d", got, typ, n)
		}
	}
	return ""
}

func checkSomeEvents(r *reference.Reading, raw json.RawMessage) string {
	want, what := wantedEvents(raw)
	if what != "" {
		return what
	}
	return subsequence(r.Events, want)
}

func checkTail(r *reference.Reading, raw json.RawMessage) string {
	want, what := wantedEvents(raw)
	if what != "" {
		return what
	}
	if len(r.Events) < len(want) {
		return "too few events"
	}
	return subsequence(r.Events[len(r.Events)-len(want):], want)
}

func wantedEvents(raw json.RawMessage) ([]event.Event, string) {
	var want []event.Event
	if err := json.Unmarshal(raw, &want); err != nil {
		return nil, err.Error()
	}
	return want, ""
}

// subsequence says which wanted event does not come in its place. An event
// matches when it has every member of the wanted one.
func subsequence(got, want []event.Event) string {
	i := 0
	for _, w := range want {
		for i < len(got) && !matches(got[i], w) {
			i++
		}
		if i == len(got) {
			return "missing or out of order: " + string(w.JSON())
		}
		i++
	}
	return ""
}

func matches(got, want event.Event) bool {
	for _, f := range want.Fields() {
		if f.Key == "line_prefix" {
			if !strings.HasPrefix(got.Get("line").Str(), f.Value.Str()) {
				return false
			}
			continue
		}
		if got.Get(f.Key) != f.Value {
			return false
		}
	}
	return true
}

func count(events []event.Event, typ string) int {
	n := 0
	for _, e := range events {
		if e.Type() == typ {
			n++
		}
	}
	return n
}

func checkRaw(r *reference.Reading, raw json.RawMessage) string {
	var allowed []string
	if err := json.Unmarshal(raw, &allowed); err != nil {
		return err.Error()
	}
	for kind := range r.Unknown {
		if !slices.ContainsFunc(allowed, func(a string) bool {
			prefix, open := strings.CutSuffix(a, "*")
			return a == kind || open && strings.HasPrefix(kind, prefix)
		}) {
			return "unknown frame " + kind
		}
	}
	return ""
}

// checkText compares without the line breaks that stand between two texts.
func checkText(r *reference.Reading, raw json.RawMessage) string {
	if want := word(raw); r.Text != want && strings.Join(r.Texts, "") != want {
		return fmt.Sprintf("got %d bytes of other text, want %q", len(r.Text), want)
	}
	return ""
}

func checkUsage(r *reference.Reading, raw json.RawMessage) string {
	var want map[string]int64
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	for k, n := range want {
		got, ok := r.Usage[k]
		if !ok {
			got = r.Usage[k+"_tokens"] // Pi's own names
		}
		if got != n {
			return fmt.Sprintf("%s is %d, want %d", k, got, n)
		}
	}
	return ""
}

func checkDeviations(r *reference.Reading, raw json.RawMessage) string {
	var want []string
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	for _, w := range want {
		if r.Deviations[w] == 0 {
			return "no deviation " + w
		}
	}
	return ""
}

// checkSignals reads "missing_terminal_event:result" as the signal before the
// colon.
func checkSignals(r *reference.Reading, raw json.RawMessage) string {
	var want []string
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	for _, w := range want {
		name, _, _ := strings.Cut(w, ":")
		if !r.HasSignal(name) {
			return "no signal " + name
		}
	}
	return ""
}

// checkForbiddenEvents reads the two statements that cases make in prose.
func checkForbiddenEvents(r *reference.Reading, raw json.RawMessage) string {
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return err.Error()
	}
	for _, w := range words {
		switch {
		case strings.Contains(w, "text_delta") && r.RunResult == contract.RunFailed && count(r.Events, "text_delta") > 0:
			return "there is a text_delta"
		case strings.Contains(w, "without text") && r.RunResult == contract.RunSuccess && r.Text == "":
			return "success without text"
		}
	}
	return ""
}

func checkTally(r *reference.Reading, raw json.RawMessage) string {
	var want map[string]int
	if err := json.Unmarshal(raw, &want); err != nil {
		return err.Error()
	}
	if !maps.Equal(r.Unknown, want) {
		return fmt.Sprintf("got %v, want %v", r.Unknown, want)
	}
	return ""
}

// checkMustNotEvents reads the one statement that cases make: the prompt is no
// text of the model.
func checkMustNotEvents(r *reference.Reading, raw json.RawMessage) string {
	var words []string
	if err := json.Unmarshal(raw, &words); err != nil {
		return err.Error()
	}
	for _, w := range words {
		if w == "text_delta of role user" && count(r.Events, "text_delta") > 0 {
			return "there is a text_delta"
		}
	}
	return ""
}

func checkClean(r *reference.Reading, _ json.RawMessage) string {
	if r.Terminals == 0 || r.RunResult != contract.RunSuccess {
		return "the turn did not complete"
	}
	return ""
}
