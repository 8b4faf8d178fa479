package opendesign

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// codex reads the output of codex exec --json.
type codex struct {
	nothingHeld
	tools  map[string]bool // commands already shown
	failed bool            // the one error of the stream was emitted
	// afterText says that the last event of weight was a message whose text
	// did not end its line: the next message starts a new one.
	afterText bool
	reasoning map[string]int // UTF-16 units of each item already shown
}

func newCodex() *codex { return &codex{tools: map[string]bool{}, reasoning: map[string]int{}} }

func (c *codex) event(out *sink, v rawjson.Value) bool {
	switch typ := v.Get("type").Str(); typ {
	case "error":
		message := errorMessage(or(v.Get("message"), v.Get("error")), "Codex error")
		if reconnecting(message) {
			out.emit("status", str("label", message))
			return true
		}
		c.fail(out, message)
		return true
	case "turn.failed":
		c.fail(out, errorMessage(or(v.Get("error"), v.Get("message")), "Codex turn failed"))
		return true
	case "thread.started":
		id := event.Null
		if s := v.Get("thread_id").Str(); s != "" {
			id = event.String(s)
		}
		out.emit("status", str("label", "initializing"), event.F("sessionId", id))
		return true
	case "turn.started":
		c.afterText = false
		out.emit("status", str("label", "thinking"))
		return true
	case "turn.completed":
		return codexUsage(out, v.Get("usage"))
	case "item.started", "item.updated", "item.completed":
		return record(v.Get("item")) && c.item(out, strings.TrimPrefix(typ, "item."), v.Get("item"))
	}
	return false
}

// reconnecting reports whether an error only announces a retry.
func reconnecting(message string) bool {
	return strings.HasPrefix(message, "Reconnecting...") &&
		(strings.Contains(message, "timeout waiting for child process to exit") ||
			strings.Contains(message, "stream disconnected before completion"))
}

// fail emits the first error of the stream; later ones are dropped.
func (c *codex) fail(out *sink, message string) {
	if !c.failed {
		c.failed = true
		out.emit("error", str("message", message))
	}
}

func codexUsage(out *sink, usage rawjson.Value) bool {
	if !record(usage) {
		return false
	}
	out.emit("usage", event.F("usage", event.Object(counts(usage,
		count{"input_tokens", "input_tokens"}, count{"output_tokens", "output_tokens"},
		count{"thought_tokens", "reasoning_output_tokens"}, count{"cached_read_tokens", "cached_input_tokens"})...)))
	return true
}

// item handles an item in the phase started, updated or completed.
func (c *codex) item(out *sink, phase string, item rawjson.Value) bool {
	id := item.Get("id")
	switch item.Get("type").Str() {
	case "reasoning":
		c.think(out, id.Str(), item.Get("text").Str())
		return true
	case "todo_list":
		input := todos(item.Get("items"))
		if !isString(id) || !input.Exists() {
			return false
		}
		c.afterText = false
		out.emit("tool_use", event.F("id", event.Of(id)), str("name", "TodoWrite"), event.F("input", input))
		return true
	case "command_execution":
		if phase == "updated" || !isString(id) {
			return false
		}
		c.afterText = false
		c.command(out, phase, item)
		return true
	}
	if phase != "completed" {
		return false
	}
	switch item.Get("type").Str() {
	case "error":
		if detail := item.Get("message").Str(); detail != "" {
			out.emit("status", str("label", "warning"), str("detail", detail))
			return true
		}
	case "agent_message":
		if text := item.Get("text").Str(); text != "" {
			c.message(out, text)
			return true
		}
	}
	return false
}

// think emits what the item's text has grown by. A new item is set off from
// earlier reasoning by an empty line.
func (c *codex) think(out *sink, id, text string) {
	seen := c.reasoning[id]
	units := rawjson.UTF16Len(text)
	if units <= seen {
		return
	}
	delta := jstext.From(text, seen)
	if seen == 0 && len(c.reasoning) > 0 {
		delta = "\n\n" + delta
	}
	c.reasoning[id] = units
	out.emit("thinking_delta", str("delta", delta))
}

func (c *codex) message(out *sink, text string) {
	delta := text
	if c.afterText && !strings.HasPrefix(text, "\n") {
		delta = "\n" + text
	}
	c.afterText = !strings.HasSuffix(text, "\n")
	out.text(delta)
}

func (c *codex) command(out *sink, phase string, item rawjson.Value) {
	id := item.Get("id").Str()
	if !c.tools[id] {
		c.tools[id] = true
		out.emit("tool_use", str("id", id), str("name", "Bash"),
			event.F("input", event.Object(str("command", item.Get("command").Str()))))
	}
	if phase != "completed" {
		return
	}
	text := content(item.Get("aggregated_output"))
	failed := item.Get("status").IsStr("failed")
	if code := item.Get("exit_code"); code.Kind() == rawjson.Number {
		failed = code.Float() != 0
	}
	out.emit("tool_result", str("toolUseId", id), str("content", text), event.F("isError", event.Bool(failed)))
	if message := connectorError(text); message != "" {
		c.fail(out, message)
	}
}

const connectorNotFound = "CONNECTOR_TOOL_NOT_FOUND"

// connectorError returns the message for a connector tool that is not
// allowed, if a command's output reports one as JSON, or "".
func connectorError(output string) string {
	if !strings.Contains(output, connectorNotFound) {
		return ""
	}
	var failure rawjson.Value
	for _, o := range jsonObjects(jstext.Trim(output)) {
		if e := connectorFailure(o); e.Get("code").IsStr(connectorNotFound) {
			failure = e
			break
		}
	}
	if !failure.Exists() {
		return ""
	}
	tool := failure.At("details", "toolName").Str()
	if tool == "" {
		tool = "the requested connector tool"
	}
	where := ""
	if id := failure.At("details", "connectorId").Str(); id != "" {
		where = " for connector " + id
	}
	return fmt.Sprintf("Connector tool %s is not allowed%s. Re-list the connector catalog and choose one of the currently allowed read-only tools.", tool, where)
}

// jsonObjects returns the object that the text is, or those of its lines that
// are objects.
func jsonObjects(text string) []rawjson.Value {
	if v, err := rawjson.Parse([]byte(text)); err == nil && record(v) {
		return []rawjson.Value{v}
	}
	var list []rawjson.Value
	for line := range strings.SplitSeq(text, "\n") {
		if v, err := rawjson.Parse([]byte(jstext.Trim(line))); err == nil && record(v) {
			list = append(list, v)
		}
	}
	return list
}

// connectorFailure returns the error object of a connector's answer.
func connectorFailure(v rawjson.Value) rawjson.Value {
	if e := v.Get("error"); isString(e.Get("code")) {
		return e
	}
	if e := v.At("error", "data", "error"); isString(e.Get("code")) {
		return e
	}
	return rawjson.Value{}
}
