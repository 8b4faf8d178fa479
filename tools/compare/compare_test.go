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
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func dialect(t testing.TB, id string) *contract.Dialect {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "registry", "families.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f contract.Families
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	d := f.Dialect(id)
	if d == nil {
		t.Fatalf("no dialect %q", id)
	}
	return d
}

// child makes a transcript of a child that printed text and exited.
func child(text string, code int) *transcript.Transcript {
	tr := &transcript.Transcript{}
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line != "" {
			tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line)})
		}
	}
	tr.Records = append(tr.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return tr
}

func side(t testing.TB, tr *transcript.Transcript, d *contract.Dialect) compare.Side {
	t.Helper()
	s, notes, err := normalize.Shape(tr, d, contract.LevelRuntimeObserved)
	if err != nil {
		t.Fatal(err)
	}
	code, _, _ := tr.Exit()
	return compare.Side{Shape: s, Optional: notes.OptionalKinds, AfterTerminal: notes.AfterTerminal, ExitCode: code}
}

func names(r compare.Result) []string {
	var out []string
	for _, s := range r.Signals {
		out = append(out, s.String())
	}
	return out
}

const codexTool = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
`

const (
	codexMessage  = `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}` + "\n"
	codexTerminal = `{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}` + "\n"
	codexStarted  = `{"type":"turn.started"}` + "\n"
)

func TestSignals(t *testing.T) {
	commands := codexTool[strings.Index(codexTool, `{"type":"item.started"`):strings.Index(codexTool, codexMessage)]
	other := strings.ReplaceAll(commands, "item_0", "item_9")
	second := strings.SplitAfter(other, "\n")
	tests := []struct {
		name, old, new string
		want           []string
		breaking       bool
	}{
		{"nothing", "", "", nil, false},
		{"message gone", codexMessage, "", []string{"event_removed:item.completed"}, true},
		{"no terminal frame", codexTerminal, "", []string{"missing_terminal_event:turn.completed"}, true},
		{"another terminal frame", codexTerminal, `{"type":"turn.failed","error":{"message":"x"}}` + "\n", []string{"event_removed:turn.completed", "event_added:turn.failed"}, true},
		{"terminal earlier", codexMessage + codexTerminal, codexTerminal + codexMessage, []string{"terminal_moved:turn.completed"}, true},
		{"order", codexStarted, "", nil, true},
		{"field gone", `,"output_tokens":1`, "", []string{"field_removed:usage.output_tokens"}, true},
		{"object gone", `,"usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}`, "", []string{"field_removed:usage"}, true},
		{"field renamed", `"thread_id"`, `"session_id"`, []string{"field_renamed:thread_id<->session_id"}, true},
		{"field added", `"thread_id"`, `"new":{"x":1},"thread_id"`, []string{"field_added:new"}, false},
		{"type changed", `"text":"done"`, `"text":["done"]`, []string{"type_changed:item.text:string->array", "field_added:item.text[]"}, true},
		{"new event", codexStarted, codexStarted + `{"type":"turn.plan","steps":[]}` + "\n", []string{"event_added:turn.plan"}, false},
		{"new item", codexMessage, codexMessage + `{"type":"item.completed","item":{"id":"x","type":"future_item","n":1,"foo":"bar"}}` + "\n", []string{"enum_added:item.type=future_item"}, false},
		{"two calls", commands, commands + other, []string{"cardinality_changed:item.completed", "cardinality_changed:item.started"}, false},
		{"two calls at once", commands, second[0] + commands + second[1], []string{"concurrency_changed:serial->parallel", "cardinality_changed:item.completed", "cardinality_changed:item.started"}, false},
	}
	d := dialect(t, "codex")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := codexTool
			if tt.name == "order" {
				text = strings.Replace(text, tt.old, "", 1) + tt.old
				text = strings.Replace(text, codexTerminal+codexStarted, codexStarted+codexTerminal, 1)
				tt.want = []string{"order_changed:turn.started"}
				tt.breaking = false
			} else if text = strings.Replace(text, tt.old, tt.new, 1); tt.old != "" && text == codexTool {
				t.Fatal("the stream was not changed")
			}
			r := compare.Runs(side(t, child(codexTool, 0), d), side(t, child(text, 0), d), d)
			if got := names(r); !slices.Equal(got, tt.want) {
				t.Errorf("signals %q, want %q", got, tt.want)
			}
			if r.Breaking() != tt.breaking {
				t.Errorf("breaking: %v", r.Breaking())
			}
			if again := compare.Runs(side(t, child(codexTool, 0), d), side(t, child(text, 0), d), d); !slices.EqualFunc(r.Signals, again.Signals, sameFingerprint) {
				t.Error("fingerprints differ between two runs")
			}
		})
	}
}

func sameFingerprint(a, b compare.Signal) bool { return a.Fingerprint == b.Fingerprint }

func TestExitAndEnvelope(t *testing.T) {
	d := dialect(t, "codex")
	a := side(t, child(codexTool, 0), d)
	if got := names(compare.Runs(a, side(t, child(codexTool, 3), d), d)); !slices.Equal(got, []string{"exit_changed:success->nonzero", "exit_code_changed:0->3"}) {
		t.Errorf("signals %q", got)
	}
	old := side(t, child(`{"id":"0","msg":{"type":"agent_message","message":"OK"}}`+"\n", 0), dialect(t, "codex-msg"))
	r := compare.Runs(old, a, d)
	if len(r.Signals) != 1 || r.Signals[0].ID != compare.EnvelopeChanged || r.Verdict != contract.VerdictParserIncompatible {
		t.Errorf("%s %q", r.Verdict, names(r))
	}
}

func TestLossesComeFirst(t *testing.T) {
	d := dialect(t, "codex")
	renamed := strings.ReplaceAll(codexTool, `"turn.started"`, `"turn.begun"`)
	r := compare.Runs(side(t, child(codexTool, 0), d), side(t, child(renamed, 0), d), d)
	if got := names(r); !slices.Equal(got, []string{"event_removed:turn.started", "event_added:turn.begun"}) {
		t.Errorf("signals %q", got)
	}
}

func TestJudge(t *testing.T) {
	d := dialect(t, "codex")
	a := side(t, child(codexTool, 0), d)
	added := side(t, child(strings.Replace(codexTool, `"text"`, `"phase":"final_answer","text"`, 1), 0), d)
	removed := side(t, child(strings.Replace(codexTool, codexMessage, "", 1), 0), d)
	tests := []struct {
		name string
		new  compare.Side
		e    compare.Evidence
		want contract.Verdict
	}{
		{"same", a, compare.Evidence{Replay: contract.ReplayIncompatible}, contract.VerdictSameShape},
		{"redaction first", a, compare.Evidence{Redaction: contract.RedactionReview}, contract.VerdictRedactionFailed},
		{"addition", added, compare.Evidence{}, contract.VerdictCompatibleNewShape},
		{"addition that the parser fails on", added, compare.Evidence{Replay: contract.ReplayIncompatible}, contract.VerdictParserIncompatible},
		{"loss, not replayed", removed, compare.Evidence{}, contract.VerdictParserIncompatible},
		{"loss that the parser can do without", removed, compare.Evidence{Replay: contract.ReplayCompatible}, contract.VerdictCompatibleNewShape},
		{"loss that the parser shows", removed, compare.Evidence{Replay: contract.ReplayCompatible, Lost: true}, contract.VerdictParserIncompatible},
		{"nothing that a reader could have lost", added, compare.Evidence{Replay: contract.ReplayCompatible, Lost: true}, contract.VerdictCompatibleNewShape},
		{"one version, two shapes", added, compare.Evidence{Replay: contract.ReplayCompatible, SameTarget: true}, contract.VerdictServerVariant},
	}
	for _, tt := range tests {
		if got := compare.Runs(a, tt.new, d).Judge(tt.e); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestOptionalAndTexts(t *testing.T) {
	d := dialect(t, "claude")
	result := `{"type":"result","subtype":"success","is_error":false,"result":"x"}` + "\n"
	a, b := side(t, child(`{"type":"keep_alive"}`+"\n"+result, 0), d), side(t, child(result, 0), d)
	a.Texts = []compare.ErrorText{{EventType: "result", Path: "result", Text: "Usage limit reached"}}
	b.Texts = []compare.ErrorText{{EventType: "result", Path: "result", Text: "You've hit your limit"}}
	r := compare.Runs(a, b, d)
	if got := names(r); !slices.Equal(got, []string{"error_text_changed:result", "optional_kind_gone:keep_alive"}) {
		t.Errorf("signals %q", got)
	}
	if r.Verdict != contract.VerdictSameShape {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// A line that is no frame, such as a log line that strayed to stdout, is nothing
// that a reader of frames waits for.
func TestStrayLineGone(t *testing.T) {
	d := dialect(t, "codex")
	stray := side(t, child("database migrated\n"+codexTool, 0), d)
	r := compare.Runs(stray, side(t, child(codexTool, 0), d), d)
	if got := names(r); !slices.Equal(got, []string{"event_removed:non_json"}) || r.Signals[0].Severity != compare.Warning || r.Verdict != contract.VerdictCompatibleNewShape {
		t.Errorf("%s, signals %q", r.Verdict, got)
	}
}

// A member that has another name now: that its values are not kept under that
// name does not make them gone.
func TestRenamedMemberWithValues(t *testing.T) {
	d := dialect(t, "claude")
	result := `{"type":"result","subtype":"success","is_error":false,"result":"x"}` + "\n"
	r := compare.Runs(side(t, child(result, 0), d), side(t, child(strings.Replace(result, "is_error", "isError", 1), 0), d), d)
	if got := names(r); !slices.Equal(got, []string{"field_renamed:is_error<->isError"}) {
		t.Errorf("signals %q", got)
	}
}

// Of a text or nothing only nothing is left: more than a type the less.
func TestOnlyNullIsLeft(t *testing.T) {
	d := dialect(t, "codex")
	with := func(values ...string) compare.Side {
		var b strings.Builder
		for _, v := range values {
			b.WriteString(strings.Replace(codexMessage, `"text"`, `"note":`+v+`,"text"`, 1))
		}
		return side(t, child(strings.Replace(codexTool, codexMessage, b.String(), 1), 0), d)
	}
	both := with(`"a"`, `null`)
	for value, want := range map[string]compare.Severity{`null`: compare.Warning, `"a"`: compare.Info} {
		r := compare.Runs(both, with(value, value), d)
		if len(r.Signals) != 1 || r.Signals[0].ID != compare.TypeChanged || r.Signals[0].Severity != want {
			t.Errorf("%s alone: %q %+v", value, names(r), r.Signals)
		}
	}
}

// What came after the end of a turn is no part of the shape. Where it does not
// come at all any more, it is named all the same; of a shape alone nobody knows.
func TestLateKindGone(t *testing.T) {
	d := dialect(t, "claude")
	result := `{"type":"result","subtype":"success","is_error":false,"result":"x"}` + "\n"
	late := `{"type":"system","subtype":"status","status":"x"}` + "\n"
	with, without := side(t, child(result+late, 0), d), side(t, child(result, 0), d)
	if len(with.AfterTerminal) == 0 {
		t.Fatal("nothing came late")
	}
	if got := names(compare.Runs(with, without, d)); !slices.Equal(got, []string{"optional_kind_gone:system"}) {
		t.Errorf("signals %q", got)
	}
	without.ShapeOnly = true
	if got := names(compare.Runs(with, without, d)); len(got) != 0 {
		t.Errorf("against a shape alone: signals %q", got)
	}
}

// In a two-way run no kind of frame is always the last: the answer ends the turn.
// Text that comes after it instead of before it, or the reverse, passed the end.
func TestTextPassesTheEndOfATurn(t *testing.T) {
	d := dialect(t, "acp")
	frame := func(event string) contract.FrameShape {
		return contract.FrameShape{
			Direction: "cli->server", Stream: "stdout", EventType: event,
			Paths: []contract.PathShape{{Path: "jsonrpc", Type: "string", Required: true}}, Enums: map[string][]contract.Literal{},
		}
	}
	shape := func(frames ...contract.FrameShape) *contract.Shape {
		s := &contract.Shape{SchemaVersion: contract.SchemaVersion, ProtocolFamily: contract.FamilyACP, Transport: contract.TransportJSONRPC, FrameShapes: frames, FrameCount: len(frames)}
		for i, f := range frames {
			s.EventTypes = append(s.EventTypes, f.EventType)
			s.Extensions.Sequence = append(s.Extensions.Sequence, contract.SeqItem{Index: i})
		}
		sig, err := s.ComputeSignature()
		if err != nil {
			t.Fatal(err)
		}
		s.Signature = sig
		return s
	}
	end, text := frame("session/prompt:result"), frame("session/update:agent_message_chunk")
	before, after := compare.Side{Shape: shape(text, end)}, compare.Side{Shape: shape(end), AfterTerminal: []contract.FrameShape{text}}
	for _, r := range []compare.Result{compare.Runs(before, after, d), compare.Runs(after, before, d)} {
		if got := names(r); !slices.Equal(got, []string{"terminal_moved:session/update:agent_message_chunk"}) || r.Verdict != contract.VerdictParserIncompatible {
			t.Errorf("%s, signals %q", r.Verdict, got)
		}
	}
}
