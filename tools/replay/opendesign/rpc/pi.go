package rpc

import (
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// piGrace is how long Pi has to exit after the end of stdin.
const piGrace = 5 * time.Second

// pi is OpenDesign's session with pi --mode rpc (report on OpenDesign
// v0.19.2, section 3.3).
type pi struct {
	opts      Options
	lastID    int
	parentID  int // of new_session; 0 when none was sent
	promptID  int
	streaming bool
	over      bool // nothing the agent says counts any more
	outcome   Outcome
	doc       rawjson.Doc // of the message that came last
}

// NewPi returns the session with a Pi agent.
func NewPi(opts Options) Session { return &pi{opts: opts} }

func (p *pi) Outcome() Outcome { return p.outcome }

func (p *pi) next() int {
	p.lastID++
	return p.lastID
}

func (p *pi) Start() []Action {
	var out actions
	model := event.Null
	if p.opts.Model != "" {
		model = event.String(p.opts.Model)
	}
	out.emit("status", str("label", "initializing"), event.F("model", model))
	if p.opts.ParentSession == "" {
		p.prompt(&out)
		return out.list
	}
	p.parentID = p.next()
	out.send(integer("id", p.parentID), str("type", "new_session"), str("parentSession", p.opts.ParentSession))
	return out.list
}

func (p *pi) prompt(out *actions) {
	p.promptID = p.next()
	fields := []event.Field{integer("id", p.promptID), str("type", "prompt"), str("message", p.opts.Prompt)}
	if len(p.opts.Images) > 0 {
		images := make([]event.Value, len(p.opts.Images))
		for i, image := range p.opts.Images {
			images[i] = event.Object(str("type", "image"), str("data", image.Data), str("mimeType", image.MimeType))
		}
		fields = append(fields, event.F("images", event.Array(images...)))
	}
	out.send(fields...)
}

func (p *pi) Message(text string) []Action {
	if p.over || p.doc.ParseText(text) != nil {
		return nil
	}
	v := p.doc.Root()
	if v.Kind() != rawjson.Object {
		return nil
	}
	var out actions
	p.frame(&out, v)
	return out.list
}

func (p *pi) frame(out *actions, v rawjson.Value) {
	switch v.Get("type").Str() {
	case "response":
		p.response(out, v)
	case "agent_start":
		out.emit("status", str("label", "working"))
	case "turn_start":
		out.emit("status", str("label", "thinking"))
	case "message_update":
		p.update(out, v)
	case "tool_execution_start":
		out.emit("tool_use", event.F("id", event.OrNull(v.Get("toolCallId"))),
			event.F("name", event.OrNull(v.Get("toolName"))), event.F("input", event.OrNull(v.Get("args"))))
	case "tool_execution_end":
		failed := v.Get("isError")
		out.emit("tool_result", event.F("toolUseId", event.OrNull(v.Get("toolCallId"))),
			str("content", piContent(v.Get("result"))), event.F("isError", event.Bool(failed.Kind() == rawjson.Boolean && failed.Bool())))
	case "turn_end":
		p.turnEnd(out, v)
	case "extension_error":
		piError(out, textOr(v.Get("error"), "Extension error"), v)
	case "auto_retry_start":
		out.emit("status", str("label", "retrying"))
	case "auto_retry_end":
		if ok := v.Get("success"); ok.Kind() == rawjson.Boolean && !ok.Bool() {
			piError(out, textOr(v.Get("finalError"), "Auto-retry exhausted"), v)
		}
	case "compaction_start":
		out.emit("status", str("label", "compacting"))
	case "extension_ui_request":
		answerUI(out, v)
	case "agent_end":
		p.over, p.outcome.Completed = true, true
		out.endStdin(piGrace)
	}
}

// response continues after new_session, and ends the run when the agent
// refuses a command. Only an explicit false is a refusal. An answer is known by
// its id alone: one that comes twice sends the prompt twice, and an answer to
// null counts as one to a command that was not sent.
func (p *pi) response(out *actions, v rawjson.Value) {
	id := v.Get("id")
	ok := v.Get("success")
	refused := ok.Kind() == rawjson.Boolean && !ok.Bool()
	why := "unknown"
	if e := v.Get("error"); e.Exists() && e.Kind() != rawjson.Null {
		why = jstext.ToString(e)
	}
	switch {
	case is(id, p.parentID) && refused:
		p.end()
		out.fatal(str("message", "parent session rejected: "+why), str("code", "PI_PARENT_SESSION_FAILED"))
	case is(id, p.parentID):
		p.prompt(out)
	case is(id, p.promptID) && refused:
		p.end()
		out.fatal(str("message", "prompt rejected: "+why))
	}
}

func (p *pi) end() { p.over, p.outcome.Fatal = true, true }

func (p *pi) update(out *actions, v rawjson.Value) {
	e := v.Get("assistantMessageEvent")
	delta := e.Get("delta")
	switch typ := e.Get("type").Str(); typ {
	case "text_delta":
		if delta.Kind() != rawjson.String {
			return
		}
		if !p.streaming {
			p.streaming = true
			out.emit("status", str("label", "streaming"), elapsed("ttftMs"))
		}
		out.emit(typ, event.F("delta", event.Of(delta)))
	case "thinking_delta":
		if delta.Kind() == rawjson.String {
			out.emit(typ, event.F("delta", event.Of(delta)))
		}
	case "thinking_start", "thinking_end":
		out.emit(typ)
	case "error":
		piError(out, textOr(e.Get("reason"), textOr(delta, "Agent error")), v)
	}
}

func (p *pi) turnEnd(out *actions, v rawjson.Value) {
	m := v.Get("message")
	if usage := m.Get("usage"); usage.Kind() == rawjson.Object {
		var fields []event.Field
		for _, name := range [...][2]string{
			{"input", "input_tokens"}, {"output", "output_tokens"}, {"cacheRead", "cached_read_tokens"},
			{"cacheWrite", "cached_write_tokens"}, {"totalTokens", "total_tokens"},
		} {
			if n := usage.Get(name[0]); n.Kind() == rawjson.Number {
				fields = append(fields, event.F(name[1], event.Of(n)))
			}
		}
		if fields != nil {
			out.emit("usage", event.F("usage", event.Object(fields...)), event.F("costUsd", piCost(usage.Get("cost"))), elapsed("durationMs"))
		}
	}
	if m.Get("stopReason").IsStr("error") {
		piError(out, textOr(m.Get("errorMessage"), "Pi agent error"), v)
	}
}

func piCost(cost rawjson.Value) event.Value {
	for _, key := range [...]string{"total", "totalCost"} {
		if n := cost.Get(key); n.Exists() && n.Kind() != rawjson.Null {
			return event.Of(n)
		}
	}
	return event.Null
}

func piError(out *actions, message string, v rawjson.Value) {
	out.emit("error", str("message", message), event.F("raw", event.Of(v)))
}

// piContent is a tool's result as text: the parts of its content, those that
// are not text as JSON, or the string that the content is.
func piContent(result rawjson.Value) string {
	content := result.Get("content")
	if content.Kind() == rawjson.String {
		return content.Str()
	}
	if content.Kind() != rawjson.Array {
		return ""
	}
	var parts []string
	for part := range content.Children() {
		text := part.Get("text")
		switch {
		case !part.Get("type").IsStr("text"):
			parts = append(parts, part.Stringify())
		case text.Exists() && text.Kind() != rawjson.Null:
			parts = append(parts, jstext.ToString(text))
		default:
			parts = append(parts, "")
		}
	}
	return strings.Join(parts, "\n")
}

// answerUI answers a question of an extension: yes, or the first choice, or
// that nobody is there. Notices want no answer.
func answerUI(out *actions, v rawjson.Value) {
	id := v.Get("id")
	if !id.Exists() || id.Kind() == rawjson.Null {
		return
	}
	answer := func(f event.Field) { out.send(str("type", "extension_ui_response"), event.F("id", event.Of(id)), f) }
	switch v.Get("method").Str() {
	case "setStatus", "setWidget", "notify", "setTitle", "set_editor_text":
		return
	case "confirm":
		answer(event.F("confirmed", event.Bool(true)))
		return
	}
	options := v.At("params", "options")
	if !options.Exists() || options.Kind() == rawjson.Null {
		options = v.Get("options")
	}
	if options.Kind() != rawjson.Array || options.Len() == 0 {
		answer(event.F("cancelled", event.Bool(true)))
		return
	}
	for option := range options.Children() {
		answer(event.F("value", choice(option)))
		return
	}
}

// choice is what names an option: itself, its label or its value.
func choice(option rawjson.Value) event.Value {
	if option.Kind() == rawjson.String {
		return event.Of(option)
	}
	for _, key := range [...]string{"label", "value"} {
		if v := option.Get(key); v.Exists() && v.Kind() != rawjson.Null {
			return event.Of(v)
		}
	}
	return event.String("")
}

func textOr(v rawjson.Value, or string) string {
	if s := v.Str(); s != "" {
		return s
	}
	return or
}

// Exit has no say: a Pi run that ends without agent_end is judged by its exit
// code and the rule for empty output.
func (p *pi) Exit(int, string) []Action { return nil }

func (p *pi) Fail(message string) []Action {
	if p.over {
		return nil
	}
	p.end()
	var out actions
	out.fatal(str("message", message))
	return out.list
}

// Abort asks Pi to stop; ending the child is its caller's business.
func (p *pi) Abort() []Action {
	if p.over {
		return nil
	}
	p.over, p.outcome.Aborted = true, true
	var out actions
	out.send(integer("id", p.next()), str("type", "abort"))
	return out.list
}
