package compare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// reported is a public report whose drift compare must name: how to get from
// its input to the stream that the CLI printed before.
type reported struct {
	name    string
	dialect string
	before  func(input string) (before, after string)
}

var reports = []reported{
	{"001-codex-legacy-to-thread-events", "codex", func(in string) (string, string) {
		r := strings.NewReplacer(`"item_type"`, `"type"`, `"assistant_message"`, `"agent_message"`)
		return r.Replace(in), in
	}},
	{"011-codex-agent-message-phase", "codex", func(in string) (string, string) {
		commands := codexTool[strings.Index(codexTool, `{"type":"item.started"`):strings.Index(codexTool, codexMessage)]
		in = strings.Replace(in, codexStarted, codexStarted+commands, 1)
		before := strings.NewReplacer(`"phase":"commentary",`, "", `"phase":"final_answer",`, "").Replace(in)
		return without(before, "collab_tool_call", "future_item"), in
	}},
	{"019-claude-rate-limit-event-variants", "claude", func(in string) (string, string) {
		lines := strings.SplitAfter(in, "\n")
		return lines[0], lines[1]
	}},
	{"023-claude-tool-progress-heartbeat", "claude", func(in string) (string, string) {
		return without(in, "tool_progress"), in
	}},
}

// without drops the lines that hold one of the words.
func without(text string, words ...string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func casesDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("AGENT_CONTRACTS_CASES")
	if dir == "" {
		dir = filepath.Join(root(t), "..", "shared", "cases")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no folder of cases: set AGENT_CONTRACTS_CASES (%v)", err)
	}
	return dir
}

func TestReportedDrift(t *testing.T) {
	dir := casesDir(t)
	for _, c := range reports {
		t.Run(c.name, func(t *testing.T) {
			input, err := os.ReadFile(filepath.Join(dir, c.name, "input.jsonl"))
			if err != nil {
				t.Skipf("the folder has no such case: %v", err)
			}
			b, err := os.ReadFile(filepath.Join(dir, c.name, "expect.json"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Expect struct {
					Drift map[string]json.RawMessage
				}
			}
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			d := dialect(t, c.dialect)
			before, after := c.before(string(input))
			r := compare.Runs(side(t, child(before, 0), d), side(t, child(after, 0), d), d)
			for key, raw := range want.Expect.Drift {
				if key == "signals" {
					checkSignals(t, r, raw)
					continue
				}
				e := compare.Evidence{Replay: contract.ReplayCompatible, SameTarget: key == "class_between_accounts"}
				if string(raw) == `"parser_incompatible"` {
					e.Replay = contract.ReplayIncompatible
				}
				if got := r.Judge(e); `"`+string(got)+`"` != string(raw) {
					t.Errorf("%s: verdict %s, want %s", key, got, raw)
				}
			}
		})
	}
}

func checkSignals(t *testing.T, r compare.Result, raw json.RawMessage) {
	t.Helper()
	var want []string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	got := names(r)
	for _, w := range want {
		// A report names two ends in either order.
		id, ends, _ := strings.Cut(w, ":")
		from, to, _ := strings.Cut(ends, "<->")
		if !slices.Contains(got, w) && !slices.Contains(got, id+":"+to+"<->"+from) {
			t.Errorf("no signal %s in %q", w, got)
		}
	}
}

// Case 050: event types of a CLI are renamed, and the run still succeeds.
func TestRenamedEventsAreLosses(t *testing.T) {
	dir := casesDir(t)
	input, err := os.ReadFile(filepath.Join(dir, "050-cursor-silent-type-rename", "input.jsonl"))
	if err != nil {
		t.Skipf("the folder has no such case: %v", err)
	}
	d := &contract.Dialect{
		ID: "cursor", ProtocolFamily: contract.FamilyEvents, Transport: contract.TransportJSONL, EventType: []string{"type"},
		Kind: []contract.Discriminator{{Path: "type", Mode: "value"}, {Path: "subtype", Mode: "value"}},
	}
	before := strings.NewReplacer(`"reasoning"`, `"thinking"`, `"tool_calls"`, `"tool_call"`).Replace(string(input))
	r := compare.Runs(side(t, child(before, 0), d), side(t, child(string(input), 0), d), d)
	got := names(r)
	for _, want := range []string{"event_removed:thinking", "event_removed:tool_call", "event_added:reasoning", "event_added:tool_calls"} {
		if !slices.Contains(got, want) {
			t.Errorf("no signal %s in %q", want, got)
		}
	}
	if r.Verdict != contract.VerdictParserIncompatible {
		t.Errorf("verdict %s", r.Verdict)
	}
}
