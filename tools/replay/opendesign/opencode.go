package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// openCode reads opencode run --format json, and mimo's.
type openCode struct {
	nothingHeld
	tools map[string]bool // session and call ids already shown
}

func (o *openCode) event(out *sink, v rawjson.Value) bool {
	part := v.Get("part")
	switch v.Get("type").Str() {
	case "step_start":
		id := event.Null
		if s := v.Get("sessionID").Str(); s != "" {
			id = event.String(s)
		}
		out.emit("status", str("label", "running"), event.F("sessionId", id))
		return true
	case "text":
		if text := part.Get("text").Str(); text != "" {
			out.text(text)
			return true
		}
	case "tool_use":
		if isString(part.Get("tool")) && isString(part.Get("callID")) {
			o.tool(out, v.Get("sessionID"), part)
			return true
		}
	case "step_finish":
		openCodeUsage(out, part)
		return true
	case "error":
		message := errorMessage(or(v.Get("error"), v.Get("message")), "OpenCode error")
		out.emit("error", str("message", message), str("raw", v.Stringify()))
		return true
	}
	return false
}

// tool emits the call once and the result each time it is reported as
// completed; a call that failed gets no result.
func (o *openCode) tool(out *sink, session, part rawjson.Value) {
	id, state := part.Get("callID").Str(), part.Get("state")
	key := "session"
	if jstext.Truthy(session) {
		key = jstext.ToString(session)
	}
	key += ":" + id
	if !o.tools[key] {
		o.tools[key] = true
		out.emit("tool_use", str("id", id), event.F("name", event.Of(part.Get("tool"))),
			event.F("input", event.OrNull(parsedOr(state.Get("input")))))
	}
	if state.Get("status").IsStr("completed") {
		out.emit("tool_result", str("toolUseId", id), str("content", content(state.Get("output"))), event.F("isError", event.Bool(false)))
	}
}

func openCodeUsage(out *sink, part rawjson.Value) {
	tokens := part.Get("tokens")
	fields := counts(tokens, count{"input_tokens", "input"}, count{"output_tokens", "output"}, count{"thought_tokens", "reasoning"})
	fields = append(fields, counts(tokens.Get("cache"), count{"cached_read_tokens", "read"}, count{"cached_write_tokens", "write"})...)
	if len(fields) > 0 {
		out.emit("usage", event.F("usage", event.Object(fields...)), event.F("costUsd", number(part.Get("cost"))))
	}
}
