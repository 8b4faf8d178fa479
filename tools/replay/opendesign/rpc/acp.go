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
)

// ACP is OpenDesign's session with an ACP agent (report on OpenDesign
// v0.19.2, section 3.2).
type ACP struct {
	opts      Options
	lastID    int
	pending   int    // id of the request that is awaited
	stage     string // of the pending request
	sessionID string
	model     string // the agent's current one, or ""
	setModel  bool   // the pending request selects a model
	text      textStream
	tools     toolBook
	thinking  bool
	over      bool
	outcome   Outcome
}

// NewACP returns the session with an ACP agent.
func NewACP(opts Options) *ACP { return &ACP{opts: opts} }

// Outcome implements Session.
func (s *ACP) Outcome() Outcome { return s.outcome }

// Stage returns what the session waits for, for the text of a timeout.
func (s *ACP) Stage() string { return s.stage }

// request sends a request and waits for its answer.
func (s *ACP) request(out *actions, method string, params ...event.Field) {
	s.lastID++
	s.pending, s.stage = s.lastID, method
	s.call(out, s.lastID, method, params...)
}

func (s *ACP) call(out *actions, id int, method string, params ...event.Field) {
	out.send(str("jsonrpc", "2.0"), integer("id", id), str("method", method), event.F("params", event.Object(params...)))
}

// Start implements Session.
func (s *ACP) Start() []Action {
	var out actions
	s.request(&out, StageInitialize,
		integer("protocolVersion", 1),
		event.F("clientCapabilities", event.Object(event.F("terminal", event.Bool(false)))),
		event.F("clientInfo", event.Object(str("name", "open-design"), str("version", "runtime-adapter"))))
	return out.list
}

// Message implements Session.
func (s *ACP) Message(text string) []Action {
	v, err := rawjson.Parse([]byte(text))
	if err != nil || v.Kind() != rawjson.Object || s.over {
		return nil
	}
	var out actions
	switch method := v.Get("method"); {
	case v.Get("error").Kind() == rawjson.Object:
		s.failed(&out, v)
	case method.IsStr(StagePermission):
		s.permission(&out, v)
	case method.IsStr("session/update"):
		if u := v.At("params", "update"); u.Kind() == rawjson.Object {
			s.update(&out, u)
		}
	case !method.Exists() && s.awaited(v.Get("id")) && v.Get("result").Exists():
		s.result(&out, v, text)
	}
	return out.list
}

func (s *ACP) awaited(id rawjson.Value) bool {
	return id.Kind() == rawjson.Number && s.pending > 0 && id.Float() == float64(s.pending)
}

func (s *ACP) result(out *actions, v rawjson.Value, text string) {
	result := v.Get("result")
	if id := result.Get("openCodeSessionId").Str(); id != "" {
		s.outcome.SessionID = id
	}
	switch s.stage {
	case StageInitialize:
		s.open(out)
	case StageNew, StageLoad:
		s.opened(out, result, text)
	case StageSetModel, StageSetOption:
		model := currentModel(result)
		if model == "" {
			model = s.opts.Model
		}
		out.emit("status", str("label", "model"), str("model", model))
		s.prompt(out)
	case StagePrompt:
		s.complete(out, result.Get("usage"))
	}
}

func (s *ACP) open(out *actions) {
	if s.opts.ResumeSessionID != "" {
		s.request(out, StageLoad, str("sessionId", s.opts.ResumeSessionID), str("cwd", s.opts.Cwd))
		return
	}
	s.request(out, StageNew, str("cwd", s.opts.Cwd), event.F("mcpServers", Servers(s.opts.MCPServers, s.opts.EnvMap)))
}

// Servers spells MCP servers as session/new has them; envMap gives their
// variables as an object instead of a list.
func Servers(servers []MCPServer, envMap bool) event.Value {
	list := make([]event.Value, len(servers))
	for i, m := range servers {
		typ := m.Type
		if typ == "" {
			typ = "stdio"
		}
		args := make([]event.Value, len(m.Args))
		for j, arg := range m.Args {
			args[j] = event.String(arg)
		}
		var env event.Value
		if envMap {
			var fields []event.Field
			for _, e := range m.Env {
				fields = append(fields, str(e.Name, e.Value))
			}
			env = event.Object(fields...)
		} else {
			var vars []event.Value
			for _, e := range m.Env {
				vars = append(vars, event.Object(str("name", e.Name), str("value", e.Value)))
			}
			env = event.Array(vars...)
		}
		list[i] = event.Object(str("type", typ), str("name", m.Name), str("command", m.Command), event.F("args", event.Array(args...)), event.F("env", env))
	}
	return event.Array(list...)
}

// opened selects the model, if one is asked for, and sends the prompt.
func (s *ACP) opened(out *actions, result rawjson.Value, text string) {
	s.sessionID = result.Get("sessionId").Str()
	if s.sessionID == "" {
		s.fatal(out, "invalid session/new response: "+text, nil)
		return
	}
	if s.model = currentModel(result); s.model != "" {
		out.emit("status", str("label", "model"), str("model", s.model))
	}
	if s.opts.Model == "" || s.opts.Model == "default" {
		s.prompt(out)
		return
	}
	if option := modelOption(result); option.Exists() {
		s.request(out, StageSetOption, str("sessionId", s.sessionID), event.F("configId", event.Of(option.Get("id"))), str("value", s.opts.Model))
		return
	}
	s.request(out, StageSetModel, str("sessionId", s.sessionID), str("modelId", s.opts.Model))
}

func (s *ACP) prompt(out *actions) {
	parts := []event.Value{event.Object(str("type", "text"), str("text", s.opts.Prompt))}
	for _, p := range s.opts.ImagePaths {
		if p != "" {
			parts = append(parts, event.Object(str("type", "resource_link"), str("uri", p)))
		}
	}
	s.request(out, StagePrompt, str("sessionId", s.sessionID), event.F("prompt", event.Array(parts...)))
	out.emit("status", str("label", "waiting_for_first_output"), elapsed("elapsedMs"))
}

// currentModel returns the model that an answer names as the current one.
func currentModel(result rawjson.Value) string {
	if m := modelOption(result).Get("currentValue").Str(); m != "" {
		return m
	}
	return result.At("models", "currentModelId").Str()
}

// modelOption returns the configuration option that selects the model.
func modelOption(result rawjson.Value) rawjson.Value {
	for o := range result.Get("configOptions").Children() {
		id, typ := o.Get("id").Str(), o.Get("type")
		if id == "" || typ.Exists() && !typ.IsStr("select") {
			continue
		}
		category := token(o.Get("category").Str())
		if category == "model" || token(id) == "model" {
			return o
		}
		if category != "" {
			continue
		}
		switch token(id) {
		case "models", "modelid", "modelids":
			return o
		}
		if token(o.Get("name").Str()) == "model" {
			return o
		}
	}
	return rawjson.Value{}
}

// token is a name in lower case without spaces, underscores and hyphens.
func token(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(s))
}

// permission answers for the user, or ends the run where no option will do.
func (s *ACP) permission(out *actions, v rawjson.Value) {
	id, option := v.Get("id"), ChoosePermission(v.At("params", "options"))
	if !option.Exists() || id.Kind() != rawjson.Number && id.Kind() != rawjson.String {
		s.fatal(out, "unhandled ACP permission request: "+v.Stringify(), nil)
		return
	}
	out.emit("diagnostic", str("name", "acp_approval_request"), str("source", "acp-json-rpc"), elapsed("elapsedMs"), event.F("optionId", option))
	out.send(str("jsonrpc", "2.0"), event.F("id", event.Of(id)),
		event.F("result", event.Object(event.F("outcome", event.Object(str("outcome", "selected"), event.F("optionId", option))))))
}

// complete ends a run that the agent has answered.
func (s *ACP) complete(out *actions, usage rawjson.Value) {
	s.tools.flush(out, false)
	s.text.end(out)
	if s.opts.ModelUnavailableCode != "" && !s.text.visible && !s.tools.results {
		s.noOutput(out)
		return
	}
	if u := Usage(usage); u.Exists() {
		out.emit("usage", event.F("usage", u), elapsed("durationMs"))
	}
	s.over, s.outcome.Completed = true, true
	s.pending, s.stage = 0, ""
	out.endStdin(acpGrace)
}

// noOutput is agent amr's rule for a prompt that came to nothing.
func (s *ACP) noOutput(out *actions) {
	s.over, s.outcome.Fatal = true, true
	message := "ACP session completed without producing any assistant text."
	code, retryable := "AGENT_EXECUTION_FAILED", true
	details := event.Object(str("kind", "acp_no_visible_output"))
	if !s.thinking && !s.tools.seen {
		message += " Refresh the AMR model list, choose a supported model, and retry this run."
		code, retryable = s.opts.ModelUnavailableCode, false
		details = event.Object(str("kind", "amr_model"), str("action", "choose_model"))
	}
	out.fatal(str("message", message), event.F("error", event.Object(str("code", code), str("message", message),
		event.F("retryable", event.Bool(retryable)), event.F("details", details))))
}

// Exit implements Session.
func (s *ACP) Exit(code int, signal string) []Action {
	if s.over {
		return nil
	}
	exit := "null"
	if code >= 0 {
		exit = event.Number(float64(code)).JSON()
	}
	if signal == "" {
		signal = "none"
	}
	var out actions
	s.fatal(&out, "ACP session exited before completion (code="+exit+", signal="+signal+")", nil)
	return out.list
}

// Fail implements Session.
func (s *ACP) Fail(message string) []Action {
	if s.over {
		return nil
	}
	var out actions
	s.fatal(&out, message, nil)
	return out.list
}

// Timeout says that no line came for the whole of the stage's time.
func (s *ACP) Timeout(after time.Duration) []Action {
	label := s.stage
	if label == "" {
		label = "response"
	}
	return s.Fail("ACP " + label + " timed out after " + event.Number(float64(after.Milliseconds())).JSON() + "ms")
}

// Abort implements Session.
func (s *ACP) Abort() []Action {
	if s.over {
		return nil
	}
	s.over, s.outcome.Aborted = true, true
	var out actions
	s.tools.flush(&out, true)
	if s.sessionID != "" {
		s.lastID++
		s.call(&out, s.lastID, "session/cancel", str("sessionId", s.sessionID))
	}
	out.endStdin(0)
	return out.list
}

// fatal ends the run with an error; extra is a structured one, or nil.
func (s *ACP) fatal(out *actions, message string, extra []event.Field) {
	s.over, s.outcome.Fatal = true, true
	s.tools.flush(out, true)
	fields := []event.Field{str("message", message)}
	if extra != nil {
		fields = append(fields, event.F("error", event.Object(extra...)))
	}
	out.fatal(fields...)
}

// truthy is JavaScript's notion of a value that counts.
func truthy(v rawjson.Value) bool { return jstext.Truthy(v) }
