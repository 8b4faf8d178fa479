package replay_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
)

// foreignCase is one folder of public cases: a CLI's output and what is right.
type foreignCase struct {
	dir     string
	Case    string `json:"case"`
	Agent   string `json:"agent"`
	Family  string `json:"protocol_family"`
	Surface string `json:"surface"`
	Input   struct {
		Files   []string     `json:"files"`
		Format  string       `json:"format"`
		Process *caseProcess `json:"process"`
	} `json:"input"`
	Expect map[string]json.RawMessage `json:"expect"`
}

type caseProcess struct {
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
	TimedOut bool   `json:"timed_out"`
	Trigger  string `json:"terminal_trigger"`
}

// dialect is the dialect of a family whose cases must pass, or "": such a case
// is not judged.
func (c *foreignCase) dialect() string {
	switch {
	case c.Surface == "version":
		return reference.DialectVersion
	case c.Family == "claude-stream-json/v1":
		return reference.DialectClaude
	case c.Family == "json-event-stream/v1" && c.Agent == "codex":
		return reference.DialectCodex
	case c.Family == "plain/v1" && (c.Agent == "claude" || c.Agent == "codex"):
		return reference.DialectPlain
	}
	return ""
}

// TestCases reads every case and holds the reference reading against it. A
// case is judged by what a reading can show; other statements (redaction,
// shapes, versions) belong to other packages and are named on its line.
func TestCases(t *testing.T) {
	root := vectortest.Folder(t, "AGENT_CONTRACTS_CASES", "cases")
	dirs, err := filepath.Glob(filepath.Join(root, "*", "expect.json"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no cases in %s", root)
	}
	passed, failed, open := 0, 0, 0
	for _, file := range dirs {
		c := loadCase(t, file)
		j := &judge{c: c}
		if c.dialect() != "" {
			j.run()
		}
		switch {
		case len(j.wrong) > 0:
			failed++
			t.Errorf("%s: failed: %s", c.Case, strings.Join(j.wrong, "; "))
		case len(j.checked) == 0:
			open++
			t.Logf("%s: not judged (%s)", c.Case, c.Agent)
		default:
			passed++
			t.Logf("%s: passed (%s)%s", c.Case, strings.Join(j.checked, " "), j.rest())
		}
	}
	t.Logf("cases: %d passed, %d failed, %d not judged", passed, failed, open)
	fmt.Printf("cases: %d passed, %d failed, %d not judged\n", passed, failed, open)
}

func loadCase(t *testing.T, file string) *foreignCase {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &foreignCase{dir: filepath.Dir(file)}
	if err := json.Unmarshal(b, c); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if c.Case == "" {
		c.Case = filepath.Base(c.dir)
	}
	return c
}

// judge holds one case against its reading.
type judge struct {
	c       *foreignCase
	checked []string
	wrong   []string
	skipped []string
}

func (j *judge) rest() string {
	if len(j.skipped) == 0 {
		return ""
	}
	return "; not judged: " + strings.Join(j.skipped, " ")
}

func (j *judge) bad(format string, a ...any) { j.wrong = append(j.wrong, fmt.Sprintf(format, a...)) }

func (j *judge) run() {
	if len(j.c.Input.Files) == 0 || !j.c.hasRun() {
		j.wordLists()
		return
	}
	in, err := j.c.load()
	if err != nil {
		j.skipped = append(j.skipped, err.Error())
		return
	}
	j.expect("", in, j.c.Expect)
	j.variants(in)
}

// hasRun reports whether the case states anything about a run.
func (c *foreignCase) hasRun() bool {
	for _, k := range []string{"run_result", "daemon_events", "daemon_events_contains", "daemon_events_if_legacy_supported", "joined_text", "final_usage", "failure"} {
		if _, ok := c.Expect[k]; ok {
			return true
		}
	}
	return false
}

// expect checks the statements about one input.
func (j *judge) expect(name string, in *caseInput, expect map[string]json.RawMessage) {
	r, err := in.read()
	if err != nil {
		j.bad("%s%v", name, err)
		return
	}
	keys := make([]string, 0, len(expect))
	for k := range expect {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		check := statements[k]
		if check == nil {
			if !slices.Contains([]string{"note", "variants", "control"}, k) {
				j.skipped = append(j.skipped, name+k)
			}
			continue
		}
		if what := check(r, expect[k]); what != "" {
			j.bad("%s%s: %s", name, k, what)
		}
		j.checked = append(j.checked, name+k)
	}
}

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
		if !slices.Contains(allowed, kind) {
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
		if r.Usage[k] != n {
			return fmt.Sprintf("%s is %d, want %d", k, r.Usage[k], n)
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
