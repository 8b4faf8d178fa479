package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func noDelay() *time.Duration { d := time.Duration(0); return &d }

// scenario makes a valid scenario: one reply a turn.
func scenario(replies ...contract.ScenarioReply) contract.Scenario {
	sc := contract.Scenario{SchemaVersion: 1, Model: "probe-model-1", Timeouts: contract.ScenarioTimeouts{WallMS: 1000, IdleMS: 1000}}
	for i, r := range replies {
		sc.Turns = append(sc.Turns, contract.ScenarioTurn{ToolResults: i, Attempts: []contract.ScenarioReply{r}})
	}
	return sc
}

func textReply(pieces ...string) contract.ScenarioReply {
	return contract.ScenarioReply{Kind: contract.ReplyAnswer, Text: pieces}
}

func toolReply(a contract.Ability, args contract.ScenarioToolArguments, pieces ...string) contract.ScenarioReply {
	return contract.ScenarioReply{Kind: contract.ReplyAnswer, Text: pieces, ToolCalls: []contract.ScenarioToolCall{{Ability: a, Arguments: args}}}
}

func errorReply(c contract.ErrorCode) contract.ScenarioReply {
	return contract.ScenarioReply{Kind: contract.ReplyError, Error: &contract.ScenarioError{Code: c}}
}

// start serves a scenario; without a delay unless opts says otherwise.
func start(t *testing.T, sc contract.Scenario, opts Options) *Server {
	t.Helper()
	if opts.Delay == nil {
		opts.Delay = noDelay()
	}
	s, err := New(sc, opts)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// send makes a request and leaves the body to the caller.
func send(t *testing.T, s *Server, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(method, s.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// post returns status and whole body; err is that of reading the body.
func post(t *testing.T, s *Server, path, body string) (status int, got string, err error) {
	t.Helper()
	resp := send(t, s, http.MethodPost, path, body)
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// event is a server-sent event as a client reads it.
type event struct {
	name string
	data map[string]any
	raw  string
}

func parseEvents(t *testing.T, stream string) []event {
	t.Helper()
	var out []event
	var ev event
	sc := bufio.NewScanner(bytes.NewReader([]byte(stream)))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		name, isName := strings.CutPrefix(line, "event: ")
		data, isData := strings.CutPrefix(line, "data: ")
		switch {
		case isName:
			ev.name = name
		case isData:
			ev.raw = data
			if data != "[DONE]" {
				if err := json.Unmarshal([]byte(data), &ev.data); err != nil {
					t.Fatalf("event %d is not JSON: %v", len(out), err)
				}
			}
		case line == "":
			out = append(out, ev)
			ev = event{}
		default:
			t.Fatalf("event %d has a line that no client knows: %q", len(out), line)
		}
	}
	return out
}

// at walks a decoded JSON value.
func at(v any, keys ...any) any {
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[k]
		case int:
			a, _ := v.([]any)
			if k >= len(a) {
				return nil
			}
			v = a[k]
		}
	}
	return v
}

// Requests in the form of the CLIs, with no more than what matters.
const (
	responsesTools1 = `"tools":[{"type":"function","name":"exec_command","parameters":{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}}]`
	chatTools1      = `"tools":[{"type":"function","function":{"name":"shell","parameters":{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}},"required":["command"]}}}]`
	messagesTools1  = `"tools":[{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command"]}}]`

	geminiTools1 = `"tools":[{"functionDeclarations":[{"name":"run_shell_command","parameters":{"type":"OBJECT","properties":{"command":{"type":"STRING"},"is_background":{"type":"BOOLEAN"}},"required":["command","is_background"]}}]}]`

	responsesAsk   = `{"model":"probe-model-1","stream":true,` + responsesTools1 + `,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`
	responsesAfter = `{"model":"probe-model-1","stream":true,` + responsesTools1 + `,"input":[{"type":"message","role":"user"},{"type":"function_call","name":"exec_command"},{"type":"function_call_output","output":"x"}]}`
	chatAsk        = `{"model":"probe-model-1","stream":true,"stream_options":{"include_usage":true},` + chatTools1 + `,"messages":[{"role":"user","content":"hi"}]}`
	chatAfter      = `{"model":"probe-model-1","stream":true,` + chatTools1 + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"x"}]}`
	messagesAsk    = `{"model":"probe-model-1","stream":true,` + messagesTools1 + `,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	geminiAsk      = `{` + geminiTools1 + `,"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	geminiAfter    = `{` + geminiTools1 + `,"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"x"}}}]}]}`
	messagesAfter  = `{"model":"probe-model-1","stream":true,` + messagesTools1 + `,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use"}]},{"role":"user","content":[{"type":"tool_result","content":"x"}]}]}`
)

// notStreamed is a request that asks for one JSON answer.
func notStreamed(body string) string {
	return strings.Replace(body, `"stream":true`, `"stream":false`, 1)
}

// wire is a dialect's path and requests.
type wire struct {
	dialect    Dialect
	path       string
	ask, after string
}

var wires = []wire{
	{DialectResponses, "/v1/responses", responsesAsk, responsesAfter},
	{DialectChat, "/v1/chat/completions", chatAsk, chatAfter},
	{DialectMessages, "/v1/messages?beta=true", messagesAsk, messagesAfter},
	{DialectGemini, "/v1beta/models/probe-model-1:streamGenerateContent?alt=sse", geminiAsk, geminiAfter},
}

// streamedText joins the text deltas of a stream in any dialect.
func streamedText(d Dialect, events []event) string {
	var b strings.Builder
	for _, ev := range events {
		var piece any
		switch d {
		case DialectResponses:
			if ev.name == "response.output_text.delta" {
				piece = at(ev.data, "delta")
			}
		case DialectChat:
			piece = at(ev.data, "choices", 0, "delta", "content")
		case DialectMessages:
			piece = at(ev.data, "delta", "text")
		case DialectGemini:
			piece = at(ev.data, "candidates", 0, "content", "parts", 0, "text")
		}
		if s, ok := piece.(string); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}
