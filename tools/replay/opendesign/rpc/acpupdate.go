package rpc

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// update handles one session/update. The prompt need not have been sent:
// history that an agent replays while it loads a session counts as new text.
func (s *ACP) update(out *actions, u rawjson.Value) {
	if s.accountFailed(out, u) {
		return
	}
	kind := u.Get("sessionUpdate")
	switch name := kind.Str(); name {
	case "assistant_message_lifecycle", "model_step_lifecycle", "model_retry":
		lifecycle(out, name, u)
		return
	case "agent_thought_chunk":
		s.shape(out, u)
		s.thought(out, updateText(u))
		return
	case "agent_message_chunk":
		s.shape(out, u)
		s.text.chunk(out, updateText(u))
		return
	}
	label := "session_update"
	if jstext.Truthy(kind) {
		label = jstext.ToString(kind)
	}
	out.emit("status", str("label", label), event.F("detail", statusDetail(u)), elapsed("elapsedMs"))
	s.shape(out, u)
	switch {
	case kind.IsStr("turn_end") && s.opts.CompleteOnTurnEnd && s.promptID != 0:
		s.complete(out, u.Get("usage"))
	case kind.IsStr("tool_call"), kind.IsStr("tool_call_update"):
		s.tools.update(out, u)
		s.text.afterTool(u)
	}
}

func (s *ACP) thought(out *actions, text string) {
	if text == "" {
		return
	}
	if !s.thinking {
		s.thinking = true
		out.emit("thinking_start")
	}
	out.emit("thinking_delta", str("delta", text))
}

// statusDetail returns the first text that is not blank, or the zero Value.
func statusDetail(u rawjson.Value) event.Value {
	for _, key := range [...]string{"message", "detail"} {
		if trimmed(u.Get(key)) != "" {
			return event.Of(u.Get(key))
		}
	}
	return event.Value{}
}

// lifecycle passes on what an agent says of its own work.
func lifecycle(out *actions, name string, u rawjson.Value) {
	fields := []event.Field{str("name", name), str("source", "amr-opencode"), elapsed("elapsedMs")}
	for _, key := range [...]string{"phase", "status", "reason", "provider", "model", "errorClass", "timingEvidence"} {
		if text := trimmed(u.Get(key)); text != "" {
			fields = append(fields, str(key, text))
		}
	}
	fields = append(fields, numbers(u, "assistantMessageIndex", "stepIndex", "startedAtMs", "endedAtMs", "durationMs", "attempt")...)
	if usage := u.Get("usage"); isObject(usage) {
		fields = append(fields, event.F("usage", event.Object(numbers(usage,
			"inputTokens", "outputTokens", "totalTokens", "reasoningTokens", "cacheReadTokens", "cacheWriteTokens")...)))
	}
	out.emit("diagnostic", fields...)
}

// numbers returns the members of these names that are numbers.
func numbers(v rawjson.Value, keys ...string) []event.Field {
	var fields []event.Field
	for _, key := range keys {
		if n := event.Of(v.Get(key)); n.Kind() == rawjson.Number {
			fields = append(fields, event.F(key, n))
		}
	}
	return fields
}

// The members in which OpenDesign looks for text: in an update, and in what
// these members hold.
var (
	updateKeys = [...]string{"content", "text", "delta", "message", "output", "answer", "value", "body", "parts", "choices"}
	textKeys   = [...]string{"text", "delta", "content", "message", "output", "answer", "value", "body", "parts", "choices"}
)

// textDepth is how far below a member of an update text is looked for.
const textDepth = 4

// updateText returns the first text of an update, or "".
func updateText(u rawjson.Value) string {
	for _, key := range updateKeys {
		if text := foundText(u.Get(key), textDepth); text != "" {
			return text
		}
	}
	return ""
}

// foundText returns the first text in the value, down to the depth; the
// items of an array are joined.
func foundText(v rawjson.Value, depth int) string {
	if depth < 0 {
		return ""
	}
	switch v.Kind() {
	case rawjson.String:
		return v.Str()
	case rawjson.Array:
		var b strings.Builder
		for item := range v.Children() {
			b.WriteString(foundText(item, depth-1))
		}
		return b.String()
	case rawjson.Object:
		for _, key := range textKeys {
			if text := foundText(v.Get(key), depth-1); text != "" {
				return text
			}
		}
	}
	return ""
}
