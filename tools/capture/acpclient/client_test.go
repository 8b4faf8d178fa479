package acpclient

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
)

type fakeFiles map[string]string

func (f fakeFiles) ReadFile(path string) ([]byte, error) {
	if text, ok := f[path]; ok {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func (f fakeFiles) WriteFile(path string, b []byte) error {
	if strings.HasPrefix(path, "/etc") {
		return errors.New("outside")
	}
	f[path] = string(b)
	return nil
}

func sent(actions []rpc.Action) string {
	var out []string
	for _, a := range actions {
		switch a.Kind {
		case rpc.Send, rpc.Emit:
			out = append(out, a.Value.JSON())
		default:
			out = append(out, string(a.Kind))
		}
	}
	return strings.Join(out, "\n")
}

// prompted returns a client whose prompt is with the agent.
func prompted(opts Options) *Client {
	c := New(opts)
	c.Start()
	c.Message(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
	c.Message(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"S"}}`)
	return c
}

const question = `{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"options":[{"optionId":"z","kind":"allow_persistent"},{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}`

func TestRequestsAreAnswered(t *testing.T) {
	files := fakeFiles{"/w/a.txt": "one\ntwo\nthree\n"}
	for _, tt := range []struct{ request, want string }{
		{`{"id":0,"method":"fs/read_text_file","params":{"path":"/w/a.txt"}}`, `{"jsonrpc":"2.0","id":0,"result":{"content":"one\ntwo\nthree\n"}}`},
		{`{"id":0,"method":"fs/read_text_file","params":{"path":"/w/a.txt","line":2,"limit":1}}`, `{"jsonrpc":"2.0","id":0,"result":{"content":"two\n"}}`},
		{`{"id":0,"method":"fs/read_text_file","params":{"path":"/w/a.txt","line":99}}`, `{"jsonrpc":"2.0","id":0,"result":{"content":""}}`},
		{`{"id":0,"method":"fs/read_text_file","params":{"path":"/w/none"}}`, `{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"Resource not found"}}`},
		{`{"id":0,"method":"fs/write_text_file","params":{"path":"/w/b.txt","content":"x"}}`, `{"jsonrpc":"2.0","id":0,"result":{}}`},
		{`{"id":0,"method":"fs/write_text_file","params":{"path":"/etc/b","content":"x"}}`, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"Internal error"}}`},
		{`{"id":"t","method":"terminal/create","params":{"command":"ls"}}`, `{"jsonrpc":"2.0","id":"t","result":{"terminalId":"terminal-1"}}`},
		{`{"id":9,"method":"craft/drainMidTurnQueue"}`, `{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}}`},
		{`{"method":"_x.ai/mcp_initialized"}`, ``},
		{`{"id":77,"result":{}}`, ``},
	} {
		if got := sent(prompted(Options{Files: files}).Message(tt.request)); got != tt.want {
			t.Errorf("%s: got %s", tt.request, got)
		}
	}
	if files["/w/b.txt"] != "x" {
		t.Error("the file was not written")
	}
}

// Answers that are spelt in other ways than the protocol's own.
func TestAnswersAreTakenForWhatTheySay(t *testing.T) {
	refused := `{"message":"the agent's answer has neither a result nor an error"}` + "\n" + string(rpc.EndStdin)
	for _, tt := range []struct {
		name, answer, want string
	}{
		{"an error that is null", `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"},"error":null}`, string(rpc.EndStdin)},
		{"an error beside a result", `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"},"error":{"code":-1,"message":"no"}}`, `{"message":"no"}` + "\n" + string(rpc.EndStdin)},
		{"neither", `{"jsonrpc":"2.0","id":3}`, refused},
		{"an error that is null, and no result", `{"jsonrpc":"2.0","id":3,"error":null}`, refused},
		{"an id of another type", `{"jsonrpc":"2.0","id":"3","result":{"stopReason":"end_turn"}}`, ""},
		{"an answer to a former request", `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"T"}}`, ""},
		{"no id", `{"jsonrpc":"2.0","result":{"stopReason":"end_turn"}}`, ""},
		{"a batch", `[{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}]`, ""},
		{"a request with the id of ours", `{"jsonrpc":"2.0","id":3,"method":"terminal/kill","params":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`},
		{"an option without an id", `{"jsonrpc":"2.0","id":null,"method":"session/request_permission","params":{"options":[{"kind":"allow_once"}]}}`, `{"jsonrpc":"2.0","id":null,"result":{"outcome":{"outcome":"cancelled"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sent(prompted(Options{}).Message(tt.answer)); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestPermission(t *testing.T) {
	for policy, want := range map[contract.ClientPermission]string{
		"":                        `{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`,
		contract.PermissionReject: `{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"n"}}}`,
		contract.PermissionCancel: ``,
	} {
		if got := sent(prompted(Options{Permission: policy}).Message(question)); got != want {
			t.Errorf("%s: got %s", policy, got)
		}
	}
}

// A person answers, or nobody has yet; then the run ends there.
func TestPermissionOfAPerson(t *testing.T) {
	for _, tt := range []struct {
		d    Decision
		want string
	}{
		{Decision{Kinds: []string{"reject_always", "reject_once"}}, `{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"n"}}}`},
		{Decision{}, `{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}`},
		{Decision{Wait: true}, string(rpc.Kill)},
	} {
		var asked Question
		c := prompted(Options{Ask: func(q Question) Decision { asked = q; return tt.d }})
		if got := sent(c.Message(question)); got != tt.want {
			t.Errorf("%+v: got %s", tt.d, got)
		}
		if asked.WireID != `"q"` || strings.Join(asked.Options, " ") != "allow_persistent allow_once reject_once" {
			t.Errorf("the question is %+v", asked)
		}
		if got := sent(c.Message(question)); tt.d.Wait && got != "" {
			t.Errorf("after the end: got %s", got)
		}
	}
}

// A cancelled turn: a notification, "cancelled" for the open question, and the
// end only after the agent's answer.
func TestCancel(t *testing.T) {
	c := prompted(Options{Permission: contract.PermissionCancel})
	c.Message(question)
	want := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"S"}}
{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}`
	if got := sent(c.Abort()); got != want {
		t.Errorf("got %s", got)
	}
	if got := sent(c.Message(question)); got != `{"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}` {
		t.Errorf("a question after the cancel: got %s", got)
	}
	if got := sent(c.Message(`{"id":3,"result":{"stopReason":"cancelled"}}`)); got != "stdin_end" {
		t.Errorf("got %s", got)
	}
}

func TestHandshake(t *testing.T) {
	c := New(Options{})
	if got := sent(c.Start()); !strings.Contains(got, `"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`) {
		t.Errorf("got %s", got)
	}
	if got := sent(c.Message(`{"id":1,"result":{"protocolVersion":2}}`)); !strings.HasSuffix(got, "stdin_end") || !c.Outcome().Fatal {
		t.Errorf("another version of the protocol: got %s", got)
	}
	c = New(Options{Load: "old", Mode: "ask", Cwd: "/w"})
	c.Start()
	if got := sent(c.Message(`{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`)); got != `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}` {
		t.Errorf("got %s", got)
	}
	if got := sent(c.Message(`{"id":2,"result":{}}`)); !strings.Contains(got, `"session/set_mode","params":{"sessionId":"old","modeId":"ask"}`) {
		t.Errorf("got %s", got)
	}
	if got := sent(c.Message(`{"id":"mode","error":{"code":-32602,"message":"no such mode"}}`)); !strings.Contains(got, "session/prompt") {
		t.Errorf("a mode that the agent lacks: got %s", got)
	}
}
