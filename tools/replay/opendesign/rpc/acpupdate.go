package rpc

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// update handles one session/update. The prompt need not have been sent:
// history that an agent replays while it loads a session counts as new text.
func (s *ACP) update(out *actions, u rawjson.Value) {
	name := textOr(u.Get("sessionUpdate"), "session_update")
	switch name {
	case "agent_thought_chunk":
		if text := updateText(u); text != "" {
			if !s.thinking {
				s.thinking = true
				out.emit("thinking_start")
			}
			out.emit("thinking_delta", str("delta", text))
		}
		return
	case "agent_message_chunk":
		s.text.chunk(out, updateText(u))
		return
	case "assistant_message_lifecycle", "model_step_lifecycle", "model_retry":
		out.emit("diagnostic", str("name", name), str("source", "amr-opencode"), elapsed("elapsedMs"))
		return
	case "tool_call", "tool_call_update":
		out.emit("status", str("label", name), elapsed("elapsedMs"))
		if s.tools.update(out, u) {
			s.text.wroteFile = true
		}
		return
	}
	fields := []event.Field{str("label", name)}
	for _, key := range [...]string{"message", "detail"} {
		if d := u.Get(key); d.Kind() == rawjson.String {
			fields = append(fields, str("detail", d.Str()))
			break
		}
	}
	out.emit("status", append(fields, elapsed("elapsedMs"))...)
	if name == "turn_end" && s.opts.CompleteOnTurnEnd && s.stage == StagePrompt {
		s.complete(out, u.Get("usage"))
	}
}

// textKeys are the members in which OpenDesign looks for text.
var textKeys = [...]string{"content", "text", "delta", "message", "output", "answer", "value", "body", "parts", "choices"}

const textDepth = 4

func updateText(u rawjson.Value) string { return foundText(u, textDepth) }

// foundText returns the first text in the object, down to the depth; the
// items of an array are joined.
func foundText(v rawjson.Value, depth int) string {
	switch v.Kind() {
	case rawjson.String:
		return v.Str()
	case rawjson.Array:
		if depth == 0 {
			return ""
		}
		var b strings.Builder
		for item := range v.Children() {
			b.WriteString(foundText(item, depth-1))
		}
		return b.String()
	case rawjson.Object:
		if depth == 0 {
			return ""
		}
		for _, key := range textKeys {
			if text := foundText(v.Get(key), depth-1); text != "" {
				return text
			}
		}
	}
	return ""
}
