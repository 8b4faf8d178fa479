package rpc

import (
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// acpGrace is how long an agent has to exit after it answered the prompt.
const acpGrace = 500 * time.Millisecond

// Stages of an ACP session, as the watchdog names them.
const (
	StageInitialize = "initialize"
	StageNew        = "session/new"
	StageLoad       = "session/load"
	StageSetModel   = "session/set_model"
	StageSetOption  = "session/set_config_option"
	StagePrompt     = "session/prompt"
	StagePermission = "session/request_permission"
	// StageResponse is any message of the agent since the last frame to it.
	StageResponse = "response"
)

// Ids of the first two requests. OpenDesign knows an answer by the id alone,
// never by the request that has it.
const (
	idInitialize = 1
	idSession    = 2
)

// ACP is OpenDesign's session with an ACP agent (report on OpenDesign
// v0.19.2, section 3.2).
type ACP struct {
	opts       Options
	nextID     int // of the next request
	expectedID int // of the answer that is awaited
	setModelID int // of the request that selects the model; 0 is none
	promptID   int // 0 before the prompt is sent
	stage      string
	sessionID  event.Value // as the agent named it; null before
	model      string      // the agent's current one, or ""
	text       textStream
	tools      toolBook
	thinking   bool
	shapes     int // diagnostics of raw updates so far (agent amr)
	stderr     string
	over       bool
	outcome    Outcome
	doc        rawjson.Doc // of the message that came last
}

// NewACP returns the session with an ACP agent.
func NewACP(opts Options) *ACP {
	return &ACP{opts: opts, nextID: idSession, expectedID: idInitialize, sessionID: event.Null}
}

// Outcome implements Session.
func (s *ACP) Outcome() Outcome { return s.outcome }

// Stage implements Staged.
func (s *ACP) Stage() string { return s.stage }

// TimedOut implements Staged (report on OpenDesign v0.19.2, "Termination").
func (s *ACP) TimedOut(after time.Duration) []Action {
	if s.over {
		return nil
	}
	var out actions
	s.fail(&out, TimeoutMessage(s.stage, after), failure{})
	return out.list
}

func (s *ACP) call(out *actions, id int, method string, params ...event.Field) {
	s.stage = method
	out.send(str("jsonrpc", "2.0"), integer("id", id), str("method", method), event.F("params", event.Object(params...)))
}

// request sends a request and waits for its answer.
func (s *ACP) request(out *actions, method string, params ...event.Field) {
	s.expectedID = s.nextID
	s.nextID++
	s.call(out, s.expectedID, method, params...)
}

// Start implements Session.
func (s *ACP) Start() []Action {
	var out actions
	s.call(&out, idInitialize, StageInitialize,
		integer("protocolVersion", 1),
		event.F("clientCapabilities", event.Object(event.F("terminal", event.Bool(false)))),
		event.F("clientInfo", event.Object(str("name", "open-design"), str("version", "runtime-adapter"))))
	return out.list
}

// Message implements Session.
func (s *ACP) Message(text string) []Action {
	if s.over {
		return nil
	}
	if s.doc.ParseText(text) != nil {
		return nil
	}
	v := s.doc.Root()
	s.stage = StageResponse
	var out actions
	method, update := v.Get("method"), v.At("params", "update")
	switch message := errorMessage(v); {
	case message != "":
		s.failed(&out, v, message)
	case method.IsStr(StagePermission):
		s.permission(&out, v)
	case method.IsStr("session/update") && isObject(update):
		s.update(&out, update)
	case is(v.Get("id"), s.expectedID) && isObject(v.Get("result")):
		s.result(&out, v.Get("result"), text)
	}
	return out.list
}

// isObject is JavaScript's notion of an object: an array is one.
func isObject(v rawjson.Value) bool { return v.Kind() == rawjson.Object || v.Kind() == rawjson.Array }

// is reports whether the id is n; null is the id of a request that has not
// been sent, which is 0 here.
func is(id rawjson.Value, n int) bool {
	if n == 0 {
		return id.Kind() == rawjson.Null
	}
	return id.Kind() == rawjson.Number && id.Float() == float64(n)
}

// result takes the awaited answer.
func (s *ACP) result(out *actions, result rawjson.Value, text string) {
	switch {
	case s.expectedID == idInitialize:
		s.open(out)
	case s.expectedID == idSession:
		s.opened(out, result, text)
	case s.promptID == s.expectedID:
		s.answered(out, result)
	default: // a model was selected
		s.model = currentModel(result)
		if s.model == "" {
			s.model = s.opts.Model
		}
		out.emit("status", str("label", "model"), str("model", s.model))
		s.prompt(out)
	}
}

func (s *ACP) open(out *actions) {
	if s.opts.ResumeSessionID != "" {
		s.request(out, StageLoad, str("sessionId", s.opts.ResumeSessionID), str("cwd", s.opts.Cwd))
		return
	}
	s.request(out, StageNew, str("cwd", s.opts.Cwd), event.F("mcpServers", Servers(s.opts.MCPServers, s.opts.EnvMap)))
}

// opened selects the model, if one is asked for, and sends the prompt.
func (s *ACP) opened(out *actions, result rawjson.Value, text string) {
	if id := result.Get("sessionId"); id.Kind() == rawjson.String {
		s.sessionID = event.Of(id)
	}
	s.outcome.SessionID = result.Get("openCodeSessionId").Str()
	s.model = currentModel(result)
	if s.sessionID.Str() == "" {
		s.fail(out, "invalid session/new response: "+text, failure{})
		return
	}
	if s.model != "" {
		out.emit("status", str("label", "model"), str("model", s.model))
	}
	if s.opts.Model == "" || s.opts.Model == "default" {
		s.prompt(out)
		return
	}
	s.setModelID = s.nextID
	session := event.F("sessionId", s.sessionID)
	if id, _ := modelOption(result); id != "" {
		s.request(out, StageSetOption, session, str("configId", id), str("value", s.opts.Model))
		return
	}
	s.request(out, StageSetModel, session, str("modelId", s.opts.Model))
}

func (s *ACP) prompt(out *actions) {
	parts := []event.Value{event.Object(str("type", "text"), str("text", s.opts.Prompt))}
	for _, p := range s.opts.ImagePaths {
		if jstext.Trim(p) != "" {
			parts = append(parts, event.Object(str("type", "resource_link"), str("uri", p)))
		}
	}
	s.promptID = s.nextID
	s.request(out, StagePrompt, event.F("sessionId", s.sessionID), event.F("prompt", event.Array(parts...)))
	out.emit("status", str("label", "waiting_for_first_output"), elapsed("elapsedMs"))
}

// permission answers for the user, or ends the run where no option will do.
func (s *ACP) permission(out *actions, v rawjson.Value) {
	id, option := v.Get("id"), ChoosePermission(v.At("params", "options"))
	if !option.Exists() || id.Kind() != rawjson.Number && id.Kind() != rawjson.String {
		s.fail(out, "unhandled ACP permission request: "+v.Stringify(), failure{})
		return
	}
	out.emit("diagnostic", str("name", "acp_approval_request"), str("source", "acp-json-rpc"), elapsed("elapsedMs"), event.F("optionId", option))
	s.stage = StagePermission
	out.send(str("jsonrpc", "2.0"), event.F("id", event.Of(id)),
		event.F("result", event.Object(event.F("outcome", event.Object(str("outcome", "selected"), event.F("optionId", option))))))
}

// answered takes the answer to the prompt. For agent amr one without anything
// to show is a failure.
func (s *ACP) answered(out *actions, result rawjson.Value) {
	s.tools.flush(out, false)
	usage := result.Get("usage")
	if s.opts.ModelUnavailableCode == "" || s.text.visible || s.tools.told {
		s.complete(out, usage)
		return
	}
	emitUsage(out, usage)
	tokens := count(usage, "outputTokens", "output_tokens")
	if tokens.Float() > 0 || s.tools.seen || s.text.seen {
		s.fail(out, "ACP session completed after reporting model activity, but did not produce visible assistant text, concrete tool results, or artifacts.",
			failure{retryable: yes, details: event.Object(str("kind", "acp_no_visible_output"), event.F("output_tokens", tokens),
				event.F("raw_tool_update_seen", event.Bool(s.tools.seen)), event.F("text_chunk_seen", event.Bool(s.text.seen)))})
		return
	}
	s.fail(out, "ACP session completed without producing any assistant text. Refresh the AMR model list, choose a supported model, and retry this run.",
		failure{noModel: true})
}

// complete ends a run that the agent has answered.
func (s *ACP) complete(out *actions, usage rawjson.Value) {
	s.over, s.outcome.Completed = true, true
	s.tools.flush(out, false)
	s.text.end(out)
	emitUsage(out, usage)
	s.stage = ""
	out.endStdin(acpGrace)
}

func emitUsage(out *actions, usage rawjson.Value) {
	if u := Usage(usage); u.Exists() {
		out.emit("usage", event.F("usage", u), elapsed("durationMs"))
	}
}

// Exit implements Session.
func (s *ACP) Exit(code int, signal string) []Action {
	exit := "null"
	if code >= 0 {
		exit = event.Number(float64(code)).JSON()
	}
	if signal == "" {
		signal = "none"
	}
	return s.Fail("ACP session exited before completion (code=" + exit + ", signal=" + signal + ")")
}

// Fail implements Session.
func (s *ACP) Fail(message string) []Action {
	if s.over {
		return nil
	}
	var out actions
	s.fail(&out, message, failure{})
	return out.list
}

// Timeout says that no line came for the whole of the stage's time.
func (s *ACP) Timeout(after time.Duration) []Action {
	return s.Fail("ACP " + s.stage + " timed out after " + event.Number(float64(after.Milliseconds())).JSON() + "ms")
}

// Abort implements Session.
func (s *ACP) Abort() []Action {
	if s.over {
		return nil
	}
	s.over, s.outcome.Aborted = true, true
	var out actions
	s.tools.flush(&out, true)
	if s.sessionID.Str() != "" {
		s.call(&out, s.nextID, "session/cancel", event.F("sessionId", s.sessionID))
	}
	out.endStdin(0)
	return out.list
}

// token is a name in lower case without white space, underscores and hyphens.
func token(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || jstext.IsSpace(r) {
			return -1
		}
		return r
	}, jstext.Lower(s))
}
