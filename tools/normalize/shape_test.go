package normalize_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// replace exchanges text in a stream and fails if it is not there.
func replace(t *testing.T, text, old, with string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the stream has no %s", old)
	}
	return strings.ReplaceAll(text, old, with)
}

func TestSameShape(t *testing.T) {
	delta := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"parent_tool_use_id":null}` + "\n"
	limit := `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}` + "\n"
	tests := []struct{ name, dialect, stream, old, with string }{
		{"number spelling", "codex", codexTool, `"input_tokens":1,`, `"input_tokens":1.0e3,`},
		{"key order", "codex-msg", codexMsg, `"workdir":"/w","model":"m"`, `"model":"m","workdir":"/w"`},
		{"other text", "codex", codexTool, `"text":"done"`, `"text":"{\"status\":\"REJECTED\"}"`},
		{"white space", "codex", codexTool, `{"type":"turn.started"}`, `  { "type" : "turn.started" }` + "\r"},
		{"blank lines", "codex", codexTool, `{"type":"turn.started"}`, "\n\n" + `{"type":"turn.started"}`},
		{"escaped key", "codex", codexTool, `"thread_id"`, `"thread\u005fid"`},
		{"duplicate key, last wins", "codex", codexTool, `"id":"item_1"`, `"id":7,"id":"item_1"`},
		{"many deltas", "claude", claudePartial, delta, strings.Repeat(delta, 100)},
		{"many output deltas", "codex-msg", codexMsg, `"chunk":"Yg=="}}`, `"chunk":"Yg=="}}` + "\n" + `{"id":"0","msg":{"type":"exec_command_output_delta","call_id":"c1","stream":"stdout","chunk":"Yg=="}}`},
		{"floating elsewhere", "claude", strings.Replace(claudePartial, limit, "", 1), delta, limit + delta},
		{"keep-alive", "claude", claudePartial, delta, `{"type":"keep_alive"}` + "\n" + delta},
		{"names of models", "claude", claudePartial, `"m-1":{"costUSD":0.1}`, `"m-1":{"costUSD":0.1},"m-2":{"costUSD":1}`},
		{"opaque payload", "claude", claudePartial, `"tools":["Bash"]`, `"tools":[{"name":"Bash"}]`},
		{"racy value", "claude", claudePartial, `"stop_reason":null`, `"stop_reason":"end_turn"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := dialect(t, tt.dialect)
			base := tt.stream
			if tt.name == "floating elsewhere" {
				base = claudePartial
			}
			if signature(t, replace(t, tt.stream, tt.old, tt.with), d) != signature(t, base, d) {
				t.Error("the shape changed")
			}
		})
	}
}

func TestOtherShape(t *testing.T) {
	completed := `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}` + "\n"
	tests := []struct{ name, dialect, stream, old, with string }{
		{"field dropped", "codex", codexTool, `,"aggregated_output":"a"`, ``},
		{"field renamed", "codex", codexTool, `"thread_id"`, `"session_id"`},
		{"field retyped", "codex", codexTool, `"text":"done"`, `"text":null`},
		{"field added", "codex", codexTool, `"text":"done"`, `"text":"done","phase":"final"`},
		{"type renamed", "codex", codexTool, `agent_message`, `assistant_message`},
		{"enum changed", "claude", claudePartial, `"end_turn"`, `"max_tokens"`},
		{"enum boolean changed", "claude", claudePartial, `"is_error":false`, `"is_error":true`},
		{"frame dropped", "codex", codexTool, completed, ``},
		{"frame twice", "codex", codexTool, completed, completed + completed},
		{"noise on stdout", "codex", codexTool, completed, "Loading…\n" + completed},
		{"tool status", "codex", codexTool, `"status":"completed"`, `"status":"failed"`},
		{"bytes become base64", "codex-msg", codexMsg, `"chunk":"YQ=="`, `"chunk":[97]`},
		{"kind of content", "claude", claudePartial, `[{"type":"text","text":"ab"}]`, `[{"type":"text","text":"ab"},{"type":"tool_use"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := dialect(t, tt.dialect)
			if signature(t, replace(t, tt.stream, tt.old, tt.with), d) == signature(t, tt.stream, d) {
				t.Error("the shape did not change")
			}
		})
	}
}

func TestRepeats(t *testing.T) {
	started := func(id string) string {
		return fmt.Sprintf(`{"type":"item.started","item":{"id":%q,"type":"command_execution","status":"in_progress"}}`+"\n", id)
	}
	done := func(id string) string {
		return fmt.Sprintf(`{"type":"item.completed","item":{"id":%q,"type":"command_execution","status":"completed"}}`+"\n", id)
	}
	retry := `{"type":"error","message":"Reconnecting... 1/5"}` + "\n"
	tests := []struct{ name, stream, want string }{
		{"one call", started("a") + done("a"), `[0,1]`},
		{"two calls, one after the other", started("a") + done("a") + started("b") + done("b"), `[[0,1]]`},
		{"five calls", strings.Repeat(started("a")+done("a"), 5), `[[0,1]]`},
		{"two calls at once", started("a") + started("b") + done("a") + done("b"), `[[0,1],"overlap"]`},
		{"two calls at once, answered in the other order", started("a") + started("b") + done("b") + done("a"), `[[0,1],"overlap"]`},
		{"a retry notice or many", retry + retry + retry + started("a"), `[0,1]`},
		{"repeats inside repeats", strings.Repeat(started("a")+started("a")+done("a")+retry, 3), `[[[0],1,2]]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := shape(t, stdout(tt.stream), dialect(t, "codex"))
			if got := sequence(t, s); got != tt.want {
				t.Errorf("sequence %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOutsideTheIdentity(t *testing.T) {
	d := dialect(t, "claude")
	plainRun, _ := shape(t, stdout(claudePartial), d)
	late := claudePartial + `{"type":"system","subtype":"session_state_changed","state":"idle"}` + "\n"
	s, notes := shape(t, stdout(late), d)
	if s.Signature != plainRun.Signature {
		t.Error("a frame after the terminal one changed the signature")
	}
	if len(notes.AfterTerminal) != 1 || notes.AfterTerminal[0].EventType != "system" {
		t.Errorf("frames after the terminal one: %v", notes.AfterTerminal)
	}
	// Followed by another result, the same frame was in the middle of the run.
	s, notes = shape(t, stdout(late+`{"type":"result","subtype":"success","is_error":false,"result":"x"}`+"\n"), d)
	if len(notes.AfterTerminal) != 0 || s.FrameCount != plainRun.FrameCount+1 {
		t.Errorf("%d frames after the terminal one, %d kinds", len(notes.AfterTerminal), s.FrameCount)
	}
	_, notes = shape(t, stdout(`{"type":"keep_alive"}`+"\n"+claudePartial), d)
	if len(notes.OptionalKinds) != 1 || notes.OptionalKinds[0].EventType != "keep_alive" {
		t.Errorf("optional kinds: %v", notes.OptionalKinds)
	}
}

func TestRequired(t *testing.T) {
	s, _ := shape(t, stdout(`{"type":"turn.started","a":1,"b":null}`+"\n"+`{"type":"turn.started","a":"x"}`+"\n"), dialect(t, "codex"))
	want := []contract.PathShape{
		{Path: "a", Type: "number", Required: true},
		{Path: "a", Type: "string", Required: true},
		{Path: "b", Type: "null", Required: false},
		{Path: "type", Type: "string", Required: true},
	}
	if got := s.FrameShapes[0].Paths; !slices.Equal(got, want) {
		t.Errorf("paths %v, want %v", got, want)
	}
}

func TestTextNeverBecomesAnEnum(t *testing.T) {
	text := replace(t, codexTool, `"text":"done"`, `"text":"{\"status\":\"REJECTED\",\"type\":\"x\"}"`)
	text = replace(t, text, `"type":"turn.started"`, `"type":"my secret words"`)
	s, _ := shape(t, stdout(text), dialect(t, "codex"))
	b, err := contract.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"REJECTED", "secret"} {
		if strings.Contains(string(b), word) {
			t.Errorf("the shape holds %s", word)
		}
	}
}

func TestTwoWay(t *testing.T) {
	d := dialect(t, "claude")
	prompt := `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}` + "\n"
	ask := func(id string) string {
		return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","input":{}}}`+"\n", id)
	}
	answer := func(id string) string {
		return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`+"\n", id)
	}
	beat := `{"type":"tool_progress","tool_use_id":"x"}` + "\n"
	run := func(lines ...string) *contract.Shape {
		tr := &transcript.Transcript{}
		for _, l := range lines {
			if text, ours := strings.CutPrefix(l, ">"); ours {
				add(tr, transcript.ServerToCLI, transcript.Stdin, text)
			} else {
				add(tr, transcript.CLIToServer, transcript.Stdout, l)
			}
		}
		s, _ := shape(t, exit(tr, 0), d)
		return s
	}
	base := run(">"+prompt, ask("1"), ">"+answer("1"), beat)
	if got := base.FrameShapes[0]; got.Direction != "server->cli" || got.Stream != "stdin" || got.EventType != "user" {
		t.Errorf("the first frame is %s %s %s", got.Direction, got.Stream, got.EventType)
	}
	if got := run(ask("1"), ">"+prompt, beat, ">"+answer("1")); got.Signature != base.Signature {
		t.Error("a late prompt or answer of ours changed the signature")
	}
	one := run(ask("1"), ">"+answer("1"), ask("2"), ">"+answer("2"))
	both := run(ask("1"), ask("2"), ">"+answer("1"), ">"+answer("2"))
	if one.Signature != both.Signature {
		t.Error("when we answer changed the signature")
	}
}

// A line that our output limit cut is not in the shape; a whole one is.
func TestCutLine(t *testing.T) {
	d := dialect(t, "codex")
	whole := signature(t, codexTool, d)
	for text, same := range map[string]bool{`{"type":"turn.sta`: true, `{"type":"turn.started"}`: false} {
		tr := stdout(codexTool)
		tr.Records[len(tr.Records)-2] = transcript.Record{
			Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(text), Deviations: []string{transcript.DeviationTruncatedTail},
		}
		cut := strings.TrimSuffix(codexTool, codexTool[strings.LastIndex(codexTool, `{"type":"turn.completed"`):])
		if s, _ := shape(t, tr, d); (s.Signature == signature(t, cut, d)) != same || s.Signature == whole {
			t.Errorf("a cut line %s: same shape as without it: %v", text, !same)
		}
	}
}

func TestPlain(t *testing.T) {
	s, _ := shape(t, stdout("codex-cli 0.133.0\n"), dialect(t, "version"))
	if s.FrameCount != 1 || s.FrameShapes[0].EventType != normalize.EventText || sequence(t, s) != "[0]" {
		t.Errorf("shape of a version line: %+v", s)
	}
	if more, _ := shape(t, stdout("a banner\n1.2.3\n"), dialect(t, "version")); more.Signature != s.Signature {
		t.Error("the text of a plain transport is in its shape")
	}
	if silent, _ := shape(t, stdout(""), dialect(t, "version")); silent.FrameCount != 0 || silent.Signature == s.Signature {
		t.Errorf("a silent child has %d frames", silent.FrameCount)
	}
}

func TestDocument(t *testing.T) {
	d := dialect(t, "claude-json")
	result := `{"type":"result","subtype":"success","is_error":false,"result":"hi"}`
	object, _ := shape(t, stdout(result), d)
	array, _ := shape(t, stdout("[\n"+`{"type":"system","subtype":"init"},`+"\n"+result+"\n]\n"), d)
	if got := sequence(t, object); got != `[0]` {
		t.Errorf("object: sequence %s", got)
	}
	if got := sequence(t, array); got != `["array",0,1]` {
		t.Errorf("array: sequence %s", got)
	}
}

func TestExit(t *testing.T) {
	killed := func(text string) *transcript.Transcript {
		tr := stdout(text)
		tr.Records = append(tr.Records[:len(tr.Records)-1],
			transcript.Record{Dir: transcript.Process, Event: transcript.EventTimeout, Signal: "SIGTERM", Reason: transcript.ReasonIdleTimeout},
			transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, Signal: "SIGTERM"})
		return tr
	}
	tests := []struct {
		name string
		tr   *transcript.Transcript
		want contract.ExitClass
	}{
		{"by itself", stdout(codexTool), contract.ExitSuccess},
		{"by itself with a code", exit(&transcript.Transcript{}, 3), contract.ExitNonzero},
		{"by us after the turn was complete", killed(codexTool), contract.ExitSuccess},
		{"by us before", killed(`{"type":"turn.started"}` + "\n"), contract.ExitTimeout},
		{"not recorded", &transcript.Transcript{}, contract.ExitUnknown},
	}
	for _, tt := range tests {
		if s, _ := shape(t, tt.tr, dialect(t, "codex")); s.Exit != tt.want {
			t.Errorf("%s: exit %s, want %s", tt.name, s.Exit, tt.want)
		}
	}
}
