package acpschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// run is a transcript of lines; those of the client begin with ">".
func run(lines ...string) *transcript.Transcript {
	t := &transcript.Transcript{}
	for _, l := range lines {
		r := transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout}
		if rest, ok := strings.CutPrefix(l, ">"); ok {
			r.Dir, r.Stream, l = transcript.ServerToCLI, transcript.Stdin, rest
		}
		r.Data = []byte(l + "\n")
		t.Records = append(t.Records, r)
	}
	return t
}

const (
	ask    = `>{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}`
	answer = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
)

func update(members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + members + `}}}`
}

func TestCheck(t *testing.T) {
	chunk := update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}`)
	call := update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"Run","kind":"execute","status":"pending"`)
	result := update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string // by frame kind pointer count, sorted
	}{
		{"a proper turn", []string{ask, call, result, chunk, answer}, ""},
		{"an extension may do what it wants", []string{`{"jsonrpc":"2.0","method":"_auth/status_update","params":7}`}, ""},
		{"the flat parameters of a draft", []string{`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","sessionUpdate":"agent_message_chunk"}}`}, "agent session/update missing_member /params/update 1"},
		{"a vendor's request without an underscore", []string{`{"jsonrpc":"2.0","id":0,"method":"craft/drainMidTurnQueue"}`}, "agent craft/drainMidTurnQueue unknown_method /method 1"},
		{"an HTTP status for a code", []string{ask, `{"jsonrpc":"2.0","id":3,"error":{"code":401,"message":"no"}}`}, "agent session/prompt:error http_status_code /error/code 1"},
		{"an id that collides", []string{ask, `{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}`}, "agent fs/read_text_file shared_id /id 1"},
		{"the answer before its chunks", []string{ask, answer, chunk, chunk}, "agent session/update:agent_message_chunk late_update  2"},
		{"a question without a tool call", []string{ask, `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","options":[],"toolCall":{"toolCallId":"c"}}}`, result}, "agent session/request_permission unannounced_call /params/toolCall/toolCallId 1"},
		{"an option of no kind", []string{call, `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"a","name":"A","kind":"allow"}],"toolCall":{"toolCallId":"c"}}}`}, "agent session/request_permission unknown_value /params/options/*/kind 1"},
		{"another reason to stop", []string{ask, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"error"}}`}, "agent session/prompt:result unknown_value /result/stopReason 1"},
		{"an update that the protocol does not have", []string{update(`"sessionUpdate":"turn_end"`)}, "agent session/update:turn_end unknown_value /params/update/sessionUpdate 1"},
		{"a member of the wrong type in the right alternative", []string{update(`"sessionUpdate":"tool_call","toolCallId":7,"title":"x"`)}, "agent session/update:tool_call wrong_type /params/update/toolCallId 1"},
		{"a client that leaves out what is required", []string{`>{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s","cwd":"/w"}}`}, "client session/load missing_member /params/mcpServers 1"},
		{"a notification sent as a request", []string{`>{"jsonrpc":"2.0","id":4,"method":"session/cancel","params":{"sessionId":"s"}}`}, "client session/cancel wrong_form  1"},
		{"no version of JSON-RPC", []string{`>{"id":2,"method":"authenticate","params":{"methodId":"m"}}`, `{"id":2,"result":{}}`}, "agent authenticate:result missing_member /jsonrpc 1\nclient authenticate missing_member /jsonrpc 1"},
		{"lines that are no messages", []string{"Starting", "", "[]", "7"}, "agent  batch  2\nagent  not_json  1"},
		{"an answer that nobody asked for", []string{`{"jsonrpc":"2.0","id":9,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`}, "agent result unasked_answer /id 1"},
		{"an answer that is both", []string{ask, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"},"error":{"code":1,"message":"m"}}`}, "agent session/prompt:error wrong_form  1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range Check(run(tt.lines...)) {
				got = append(got, fmt.Sprint(d.By, " ", d.Frame, " ", d.Kind, " ", d.Pointer, " ", d.Count))
			}
			if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

// No name that is the run's gets into a deviation.
func TestPointersHoldNoData(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":0,"method":"terminal/create","params":{"sessionId":"s","command":"ls","env":[{"name":"SECRET_NAME","value":7}]}}`
	for _, d := range Check(run(line)) {
		if d.Pointer != "/params/env/*/value" {
			t.Errorf("%+v", d)
		}
	}
	if got := load().pointer("/params/secret-name/3/content"); got != "/params/*/*/content" {
		t.Error(got)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(ask + "\n" + answer)
	f.Add(update(`"sessionUpdate":"tool_call_update","toolCallId":{}`))
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range Check(run(strings.Split(text, "\n")...)) {
			if d.Kind == "" || d.By == "" || d.Count < 1 {
				t.Errorf("%+v", d)
			}
		}
	})
}
