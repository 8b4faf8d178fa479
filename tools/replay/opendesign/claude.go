package opendesign

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// optional is a string that may be null, as message ids are. The empty string
// is a value, but counts as absent where OpenDesign asks for truth.
type optional struct {
	s  string
	ok bool
}

func (o optional) truthy() bool { return o.ok && o.s != "" }

func optionalString(v rawjson.Value) optional { return optional{v.Str(), isString(v)} }

// claude reads claude-stream-json. Text may come twice, in stream events and
// in the assistant wrapper; which of them counts is decided for text and for
// thinking on their own, by message id.
type claude struct {
	message  optional // the current message
	blocks   map[string]*claudeBlock
	streamed struct {
		tools, text, thinking map[string]bool
		// whether the current message streamed text or thinking
		currentText, currentThinking bool
	}
	guards    map[string]*RoleGuard
	tasks     taskList
	artifacts artifactEcho
}

// claudeBlock is a content block that has started and not yet stopped.
type claudeBlock struct {
	typ, name, id event.Value
	fragments     []byte // input_json_delta, joined
	input         []byte // the JSON of the start block's "input", nil without
}

func newClaude(opts Options) *claude {
	c := &claude{blocks: map[string]*claudeBlock{}, guards: map[string]*RoleGuard{}}
	c.streamed.tools, c.streamed.text, c.streamed.thinking = map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.artifacts.dropHTML = opts.SuppressHTMLArtifacts
	return c
}

func (c *claude) object(out *sink, v rawjson.Value) {
	if !record(v) {
		return
	}
	typ, message := v.Get("type"), v.Get("message")
	content := message.Get("content")
	hasContent := record(message) && content.Kind() == rawjson.Array
	switch {
	case typ.IsStr("system"):
		c.system(out, v)
	case typ.IsStr("stream_event") && record(v.Get("event")):
		c.streamEvent(out, v.Get("event"))
	case typ.IsStr("assistant") && hasContent:
		c.wrapper(out, v, message, content)
	case typ.IsStr("user") && hasContent:
		c.toolResults(out, content)
	case typ.IsStr("result"):
		c.result(out, v)
	}
}

func (c *claude) system(out *sink, v rawjson.Value) {
	switch subtype := v.Get("subtype"); {
	case subtype.IsStr("init"):
		out.emit("status", str("label", "initializing"),
			event.F("model", event.OrNull(v.Get("model"))),
			event.F("sessionId", event.OrNull(v.Get("session_id"))))
	case subtype.IsStr("status"):
		label := event.String("working")
		if s := v.Get("status"); !nullish(s) {
			label = event.Of(s)
		}
		out.emit("status", event.F("label", label))
	}
}

// wrapper handles an assistant message: what it repeats from stream events is
// left out, then the turn may end and an error may follow.
func (c *claude) wrapper(out *sink, v, message, content rawjson.Value) {
	id := optionalString(message.Get("id"))
	textID, thinkingID := id, id
	if !id.ok && c.streamed.currentText {
		textID = c.message
	}
	if !id.ok && c.streamed.currentThinking {
		thinkingID = c.message
	}
	if id.truthy() {
		c.message = id
	}
	textDone := textID.truthy() && c.streamed.text[textID.s]
	thinkingDone := thinkingID.truthy() && c.streamed.thinking[thinkingID.s]
	for block := range content.Children() {
		switch typ := block.Get("type"); {
		case typ.IsStr("tool_use"):
			if tool := block.Get("id"); !isString(tool) || !c.streamed.tools[tool.Str()] {
				c.toolUse(out, event.Of(block.Get("id")), event.Of(block.Get("name")), block.Get("input"))
			}
		case typ.IsStr("text") && !textDone && block.Get("text").Str() != "":
			c.text(out, textID, block.Get("text").Str())
		case typ.IsStr("thinking") && !thinkingDone && block.Get("thinking").Str() != "":
			thinking(out, block.Get("thinking").Str())
		}
	}
	if nullish(v.Get("parent_tool_use_id")) {
		c.endTurn(out, message.Get("stop_reason").Str(), v.Get("error").Str(), content)
	}
	c.streamed.currentText, c.streamed.currentThinking = false, false
}

// endTurn ends a turn of the main agent if the wrapper has a stop reason, and
// reports the wrapper's error.
func (c *claude) endTurn(out *sink, stop, failure string, content rawjson.Value) {
	if stop != "" {
		out.emit("turn_end", str("stopReason", stop))
		if stop != "tool_use" {
			c.artifacts.endTurn()
		}
	}
	if jstext.Trim(failure) == "" {
		return
	}
	var parts []string
	for block := range content.Children() {
		if block.Get("type").IsStr("text") && isString(block.Get("text")) {
			parts = append(parts, block.Get("text").Str())
		}
	}
	message := jstext.Trim(strings.Join(parts, "\n"))
	if message == "" {
		message = failure
	}
	out.emit("error", str("message", message), str("code", failure))
}

func (c *claude) toolResults(out *sink, content rawjson.Value) {
	for block := range content.Children() {
		if block.Get("type").IsStr("tool_result") {
			out.emit("tool_result",
				event.F("toolUseId", event.Of(block.Get("tool_use_id"))),
				event.F("content", claudeToolContent(block.Get("content"))),
				event.F("isError", event.Bool(jstext.Truthy(block.Get("is_error")))))
		}
	}
}

// claudeToolContent returns a tool's content as text; missing content stays
// missing.
func claudeToolContent(v rawjson.Value) event.Value {
	switch v.Kind() {
	case rawjson.Invalid:
		return event.Value{}
	case rawjson.String:
		return event.Of(v)
	case rawjson.Array:
		var parts []string
		for e := range v.Children() {
			if e.Get("type").IsStr("text") {
				parts = append(parts, jstext.ToString(e.Get("text")))
			} else {
				parts = append(parts, e.Stringify())
			}
		}
		return event.String(strings.Join(parts, "\n"))
	}
	return event.String(v.Stringify())
}

func (c *claude) result(out *sink, v rawjson.Value) {
	stop := event.Null
	for _, key := range [...]string{"stop_reason", "terminal_reason"} {
		if s := v.Get(key).Str(); s != "" {
			stop = event.String(s)
			break
		}
	}
	fields := []event.Field{
		event.F("usage", event.OrNull(v.Get("usage"))),
		event.F("costUsd", event.OrNull(v.Get("total_cost_usd"))),
		event.F("durationMs", event.OrNull(v.Get("duration_ms"))),
		event.F("stopReason", stop),
	}
	if !v.Get("is_error").Bool() {
		out.emit("usage", fields...)
		return
	}
	out.emit("usage", append(fields, event.F("isError", event.Bool(true)))...)
	code := v.Get("subtype").Str()
	message := claudeResultMessage(v, code)
	if code == "" {
		code = "result_error"
	}
	out.emit("error", str("message", message), str("code", code), event.F("terminal", event.Bool(true)))
}

func claudeResultMessage(v rawjson.Value, subtype string) string {
	var parts []string
	if errs := v.Get("errors"); errs.Kind() == rawjson.Array {
		for e := range errs.Children() {
			if e.Str() != "" {
				parts = append(parts, e.Str())
			}
		}
	}
	switch result := v.Get("result").Str(); {
	case len(parts) > 0:
		return strings.Join(parts, "\n")
	case jstext.Trim(result) != "":
		return result
	case subtype != "":
		return "Claude run failed: " + subtype
	}
	return "Claude run failed"
}

// toolUse emits a tool call, or the task list that it changes.
func (c *claude) toolUse(out *sink, id, name event.Value, input rawjson.Value) {
	if c.tasks.apply(out, id, name, input) {
		return
	}
	c.artifacts.toolUse(name, input)
	out.emit("tool_use", event.F("id", id), event.F("name", name), event.F("input", event.OrNull(input)))
}

// text emits text of a message through the artifact and role-marker filters.
// Text without a message id is not guarded.
func (c *claude) text(out *sink, id optional, text string) {
	text = c.artifacts.strip(text)
	if text == "" {
		return
	}
	if !id.truthy() {
		out.text(text)
		return
	}
	guard := c.guards[id.s]
	if guard == nil {
		guard = NewRoleGuard(id.s)
		c.guards[id.s] = guard
	}
	if guard.Contaminated() {
		return
	}
	if safe := guard.Feed(text); safe != "" {
		out.text(safe)
	}
	if warning, ok := guard.Warning(); ok {
		out.events = append(out.events, warning)
	}
}

// thinking emits thinking text, empty text too; it is not guarded.
func thinking(out *sink, text string) { out.emit("thinking_delta", str("delta", text)) }

// flush implements handler: held back text is released and the filter starts
// afresh.
func (c *claude) flush(out *sink) {
	if text := c.artifacts.release(); text != "" {
		c.text(out, c.message, text)
	}
}
