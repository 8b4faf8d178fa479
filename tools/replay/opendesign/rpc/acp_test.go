package rpc

import (
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// prompted returns a session that waits for the answer to its prompt.
func prompted(opts Options) *ACP {
	s := NewACP(opts)
	s.Start()
	s.Message(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
	s.Message(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"S"}}`)
	return s
}

func text(t *testing.T, actions []Action) string {
	t.Helper()
	var b strings.Builder
	for _, a := range actions {
		v, err := rawjson.Parse([]byte(a.Value.JSON() + " "))
		if err == nil && v.Get("type").IsStr("text_delta") {
			b.WriteString(v.Get("delta").Str())
		}
	}
	return b.String()
}

func chunk(s string) string {
	return string(rawjson.AppendQuote([]byte(`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`), s)) + "}}}}"
}

func lines(actions []Action) string {
	var out []string
	for _, a := range actions {
		out = append(out, actionLine(a))
	}
	return strings.Join(out, "\n")
}

func TestMarkupIsDroppedHoweverItIsCut(t *testing.T) {
	const whole = `a<tool_call name="x">hid<den</tool_call>b <edit>no</edit><editor> c < d <tool`
	want := "ab <editor> c < d <tool"
	for size := 1; size <= len(whole); size++ {
		s := prompted(Options{})
		got := ""
		for i := 0; i < len(whole); i += size {
			got += text(t, s.Message(chunk(whole[i:min(i+size, len(whole))])))
		}
		got += text(t, s.Message(`{"id":3,"result":{}}`))
		if size == 1 {
			continue // single characters may repeat what came before
		}
		if got != want {
			t.Errorf("chunks of %d: got %q, want %q", size, got, want)
		}
	}
}

func TestPermissionIsAnsweredOrEndsTheRun(t *testing.T) {
	s := prompted(Options{})
	got := lines(s.Message(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"options":[{"optionId":"n","kind":"reject_once"},{"optionId":"y","kind":"allow_once"}]}}`))
	want := `emit agent {"type":"diagnostic","name":"acp_approval_request","source":"acp-json-rpc","elapsedMs":0,"optionId":"y"}
send {"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
	if got != want {
		t.Errorf("got %s", got)
	}
	got = lines(s.Message(`{"id":0,"method":"session/request_permission","params":{"options":[{"optionId":"n","kind":"reject_once"}]}}`))
	if !strings.Contains(got, "unhandled ACP permission request: {") || !s.Outcome().Fatal {
		t.Errorf("no option will do, got %s", got)
	}
}

// The labels are those of the report on OpenDesign v0.19.2, "Termination".
func TestStageWatchdog(t *testing.T) {
	const hello, session = `{"id":1,"result":{}}`, `{"id":2,"result":{"sessionId":"S"}}`
	const option = `{"id":2,"result":{"sessionId":"S","configOptions":[{"id":"model"}]}}`
	const question = `{"id":"q","method":"session/request_permission","params":{"options":[{"optionId":"y","kind":"allow_once"}]}}`
	for _, tt := range []struct {
		opts     Options
		messages []string
		stage    string
	}{
		{Options{}, nil, "initialize"},
		{Options{}, []string{hello}, "session/new"},
		{Options{ResumeSessionID: "old"}, []string{hello}, "session/load"},
		{Options{Model: "m"}, []string{hello, session}, "session/set_model"},
		{Options{Model: "m"}, []string{hello, option}, "session/set_config_option"},
		{Options{}, []string{hello, session}, "session/prompt"},
		{Options{}, []string{hello, session, question}, "session/request_permission"},
		{Options{}, []string{hello, session, chunk("a")}, "response"},
	} {
		s := NewACP(tt.opts)
		s.Start()
		for _, m := range tt.messages {
			s.Message(m)
		}
		want := `emit error {"message":"ACP ` + tt.stage + ` timed out after 600000ms"}` + "\nkill SIGTERM"
		if got := lines(s.TimedOut(10 * time.Minute)); got != want || !s.Outcome().Fatal {
			t.Errorf("%s: got %s", tt.stage, got)
		}
	}
	s := prompted(Options{})
	s.Message(`{"id":3,"result":{}}`)
	if got := s.TimedOut(time.Minute); got != nil {
		t.Errorf("after the end: got %s", lines(got))
	}
}

func TestRequestsOfTheAgentThatTheHostDoesNotKnowAreNotAnswered(t *testing.T) {
	s := prompted(Options{})
	// Its id collides with the one of the prompt: it is no answer.
	if got := s.Message(`{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"path":"/x"}}`); got != nil {
		t.Errorf("got %s", lines(got))
	}
	if s.Outcome().Completed {
		t.Error("a request of the agent ended the prompt")
	}
}

func TestFlatUpdateIsNotRead(t *testing.T) {
	s := prompted(Options{})
	if got := s.Message(`{"method":"session/update","params":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}`); got != nil {
		t.Errorf("got %s", lines(got))
	}
}

func TestTimeoutNamesTheStage(t *testing.T) {
	s := NewACP(Options{})
	s.Start()
	if got := lines(s.Timeout(2 * time.Second)); !strings.Contains(got, "ACP initialize timed out after 2000ms") {
		t.Errorf("got %s", got)
	}
	if s.Timeout(time.Second) != nil || s.Abort() != nil || s.Exit(0, "") != nil {
		t.Error("a session that is over acts again")
	}
}

func TestPiAnswersExtensions(t *testing.T) {
	for request, want := range map[string]string{
		`{"type":"extension_ui_request","id":"a","method":"confirm"}`:                                    `send {"type":"extension_ui_response","id":"a","confirmed":true}`,
		`{"type":"extension_ui_request","id":"a","method":"select","options":["x","y"]}`:                 `send {"type":"extension_ui_response","id":"a","value":"x"}`,
		`{"type":"extension_ui_request","id":"a","method":"select","options":[{"label":"l","value":1}]}`: `send {"type":"extension_ui_response","id":"a","value":"l"}`,
		`{"type":"extension_ui_request","id":"a","method":"input"}`:                                      `send {"type":"extension_ui_response","id":"a","cancelled":true}`,
		`{"type":"extension_ui_request","id":"a","method":"notify"}`:                                     ``,
		`{"type":"extension_ui_request","method":"confirm"}`:                                             ``,
	} {
		s := NewPi(Options{})
		s.Start()
		if got := lines(s.Message(request)); got != want {
			t.Errorf("%s: got %s", request, got)
		}
	}
}

func TestPiSendsImages(t *testing.T) {
	s := NewPi(Options{Prompt: "P", Images: []Image{{Data: "AA==", MimeType: "image/png"}}})
	if got := lines(s.Start()); !strings.HasSuffix(got, `"images":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`) {
		t.Errorf("got %s", got)
	}
}

// FuzzSessions feeds both sessions anything: they never panic, and nothing
// follows the end.
func FuzzSessions(f *testing.F) {
	f.Add([]byte(chunk("x") + "\n" + `{"id":3,"result":{"usage":{"inputTokens":1}}}` + "\n"))
	f.Add([]byte(`{"type":"turn_end","message":{"usage":{"input":1,"cost":{}},"stopReason":"error"}}` + "\n"))
	f.Add([]byte(`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"Read a.txt","rawInput":[1],"status":"completed","content":[{"type":"diff","newText":"x"}]}}}` + "\n"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		for _, s := range []Session{prompted(Options{}), NewPi(Options{})} {
			if _, ok := s.(*pi); ok {
				s.Start()
			}
			var framer Lines
			ended := false
			for _, m := range append(framer.Feed(stdout), framer.Flush()...) {
				out := s.Message(m)
				if ended && len(out) > 0 {
					t.Fatal("something follows the end")
				}
				o := s.Outcome()
				ended = o.Fatal || o.Completed
			}
			s.Exit(1, "")
			if ended && len(s.Abort()) > 0 {
				t.Fatal("a session that is over acts again")
			}
		}
	})
}
