package acpclient

import (
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
)

// talk starts a client and gives it messages; it returns what the client sent
// after the last of them.
func talk(opts Options, messages ...string) (*Client, string) {
	c := New(opts)
	actions := c.Start()
	for _, m := range messages {
		actions = c.Message(m)
	}
	return c, sent(actions)
}

const (
	plainHello = `{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`
	richHello  = `{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{"image":true,"embeddedContext":true},"sessionCapabilities":{"close":{}}},"authMethods":[{"id":"login","name":"L"},{"id":"key","name":"K"}]}}`
)

// A model is selected by what the agent offers, and only if it offers it.
func TestModel(t *testing.T) {
	option := func(options string) string {
		return `{"id":2,"result":{"sessionId":"S","configOptions":[{"id":"mode","category":"mode","type":"select","options":[{"value":"m"}]},{"id":"llm","category":"model","type":"select","options":` + options + `}],"models":{"availableModels":[{"modelId":"old"}]}}}`
	}
	const prompt = `"method":"session/prompt"`
	for _, tt := range []struct{ name, model, session, want string }{
		{"a session option", "m", option(`[{"value":"m"},{"value":"n"}]`), `{"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":"S","configId":"llm","value":"m"}}`},
		{"in a group", "m", option(`[{"group":"g","name":"G","options":[{"value":"m"}]}]`), `"value":"m"`},
		{"not among the options", "old", option(`[{"value":"m"}]`), prompt},
		{"a list from before the options", "old", `{"id":2,"result":{"sessionId":"S","models":{"availableModels":[{"modelId":"old"}]}}}`, `{"jsonrpc":"2.0","id":3,"method":"session/set_model","params":{"sessionId":"S","modelId":"old"}}`},
		{"no choice", "m", `{"id":2,"result":{"sessionId":"S"}}`, prompt},
		{"nothing asked for", "", option(`[{"value":"m"}]`), prompt},
	} {
		if _, got := talk(Options{Model: tt.model}, plainHello, tt.session); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
	selected := []string{plainHello, option(`[{"value":"m"}]`)}
	for _, answer := range []string{`{"id":3,"result":{"configOptions":[]}}`, `{"id":3,"error":{"code":-32602,"message":"no"}}`} {
		if _, got := talk(Options{Model: "m"}, append(selected, answer)...); !strings.Contains(got, `"id":4,`+prompt) {
			t.Errorf("after %s: got %s", answer, got)
		}
	}
	if _, got := talk(Options{Model: "m", Mode: "ask"}, append(selected, `{"id":"mode","result":{}}`)...); !strings.Contains(got, "set_config_option") {
		t.Errorf("after the mode: got %s", got)
	}
}

// A file goes as itself where the agent takes that, and as a link to any agent.
func TestAttachments(t *testing.T) {
	files := []Attachment{
		{"/w/a b.txt", "text/plain", []byte("one\n")},
		{"/w/p.png", "image/png", []byte{1, 2}},
		{"/w/d.json", "application/json", []byte("{}")},
	}
	const session = `{"id":2,"result":{"sessionId":"S"}}`
	link := `{"type":"resource_link","uri":"file:///w/d.json","name":"d.json","mimeType":"application/json"}`
	want := `"prompt":[{"type":"text","text":"P"},{"type":"resource","resource":{"uri":"file:///w/a%20b.txt","mimeType":"text/plain","text":"one\n"}},{"type":"image","mimeType":"image/png","data":"AQI=","uri":"file:///w/p.png"},` + link + `]`
	if _, got := talk(Options{Prompt: "P", Attach: files}, richHello, session); !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
	want = `"prompt":[{"type":"text","text":"P"},{"type":"resource_link","uri":"file:///w/a%20b.txt","name":"a b.txt","mimeType":"text/plain"},{"type":"resource_link","uri":"file:///w/p.png","name":"p.png","mimeType":"image/png"},` + link + `]`
	if _, got := talk(Options{Prompt: "P", Attach: files}, plainHello, session); !strings.Contains(got, want) {
		t.Errorf("an agent that takes links only: got %s", got)
	}
}

func TestAuthentication(t *testing.T) {
	_, got := talk(Options{AuthMethod: "key"}, richHello)
	if got != `{"jsonrpc":"2.0","id":"authenticate","method":"authenticate","params":{"methodId":"key"}}` {
		t.Errorf("got %s", got)
	}
	if _, got = talk(Options{AuthMethod: "key"}, richHello, `{"id":"authenticate","result":{}}`); !strings.Contains(got, `"id":2,"method":"session/new"`) {
		t.Errorf("after it: got %s", got)
	}
	c, got := talk(Options{AuthMethod: "key"}, richHello, `{"id":"authenticate","error":{"code":-32000,"message":"no"}}`)
	if !c.Outcome().Fatal || !strings.HasSuffix(got, "stdin_end") {
		t.Errorf("refused: got %s", got)
	}
	if _, got = talk(Options{AuthMethod: "other"}, richHello); !strings.Contains(got, "session/new") {
		t.Errorf("a method that is not offered: got %s", got)
	}
}

func TestLoadAndClose(t *testing.T) {
	if c, got := talk(Options{Load: "old"}, richHello); !c.Outcome().Fatal || strings.Contains(got, "session/load") {
		t.Errorf("an agent that does not load sessions: got %s", got)
	}
	const session, turn = `{"id":2,"result":{"sessionId":"S"}}`, `{"id":3,"result":{"stopReason":"end_turn"}}`
	c, got := talk(Options{Close: true}, richHello, session, turn)
	if got != `{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"S"}}` || !c.Outcome().Completed {
		t.Errorf("got %s", got)
	}
	for _, answer := range []string{`{"id":4,"result":{}}`, `{"id":4,"error":{"code":-32603,"message":"no"}}`} {
		if c, got := talk(Options{Close: true}, richHello, session, turn, answer); got != "stdin_end" || c.Outcome().Fatal {
			t.Errorf("after %s: got %s", answer, got)
		}
	}
	c.Exit(1, "")
	if c.Outcome().Fatal {
		t.Error("the turn was over when the agent went")
	}
	if _, got := talk(Options{Close: true}, plainHello, session, turn); got != "stdin_end" {
		t.Errorf("an agent that does not close sessions: got %s", got)
	}
}

func TestResume(t *testing.T) {
	keeps := func(capabilities string) string {
		return `{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{` + capabilities + `}}}}`
	}
	const list = `{"jsonrpc":"2.0","id":"session/list","method":"session/list","params":{"cwd":"/w"}}`
	request := func(method string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{"sessionId":"old","cwd":"/w","mcpServers":[]}}`
	}
	o := Options{Cwd: "/w", Prompt: "P", Load: "old", Resume: true}
	for _, tt := range []struct {
		name     string
		messages []string
		want     string
	}{
		{"both", []string{keeps(`"list":{},"resume":{}`)}, list},
		{"a list", []string{keeps(`"list":{},"resume":{}`), `{"id":"session/list","result":{"sessions":[]}}`}, request("session/resume")},
		{"a list that is refused", []string{keeps(`"list":{},"resume":{}`), `{"id":"session/list","error":{"code":-32603,"message":"no"}}`}, request("session/resume")},
		{"no list", []string{keeps(`"resume":{}`)}, request("session/resume")},
		{"a list alone", []string{keeps(`"list":{}`), `{"id":"session/list","result":{}}`}, request("session/load")},
		{"neither", []string{keeps("")}, request("session/load")},
		{"an answer without an id", []string{keeps(`"resume":{}`), `{"id":2,"result":{}}`}, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"old","prompt":[{"type":"text","text":"P"}]}}`},
	} {
		if _, got := talk(o, tt.messages...); got != tt.want {
			t.Errorf("%s: got %s", tt.name, got)
		}
	}
	if _, got := talk(Options{Cwd: "/w", Load: "old"}, keeps(`"list":{},"resume":{}`)); got != request("session/load") {
		t.Errorf("a client that is to load: got %s", got)
	}
}

// The client says what it waited for when nothing came any more.
func TestTimeout(t *testing.T) {
	for _, tt := range []struct {
		messages []string
		stage    string
	}{
		{nil, "initialize"},
		{[]string{plainHello}, "session/new"},
		{[]string{plainHello, `{"id":2,"result":{"sessionId":"S"}}`}, "session/prompt"},
	} {
		c, _ := talk(Options{}, tt.messages...)
		if c.Stage() != tt.stage {
			t.Errorf("waits for %s, want %s", c.Stage(), tt.stage)
		}
		got := sent(c.TimedOut(20 * time.Second))
		if got != `{"message":"ACP `+tt.stage+` timed out after 20000ms"}`+"\n"+string(rpc.EndStdin) || !c.Outcome().Fatal {
			t.Errorf("%s: got %s", tt.stage, got)
		}
		if again := c.TimedOut(time.Second); again != nil {
			t.Errorf("%s: given up twice", tt.stage)
		}
	}
}
