package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// kimi reads kimi --output-format stream-json.
type kimi struct{ nothingHeld }

func (kimi) event(out *sink, v rawjson.Value) bool {
	role := v.Get("role")
	switch calls := v.Get("tool_calls"); {
	case role.IsStr("assistant") && calls.Kind() == rawjson.Array:
		// Text in the same object is lost.
		for call := range calls.Children() {
			id, name := jstext.Trim(call.Get("id").Str()), jstext.Trim(call.At("function", "name").Str())
			if id != "" && name != "" {
				out.emit("tool_use", str("id", id), str("name", name),
					event.F("input", event.OrNull(parsedOr(call.At("function", "arguments")))))
			}
		}
		return true
	case role.IsStr("tool") && jstext.Trim(v.Get("tool_call_id").Str()) != "":
		out.emit("tool_result", str("toolUseId", jstext.Trim(v.Get("tool_call_id").Str())),
			str("content", content(v.Get("content"))), event.F("isError", event.Bool(false)))
		return true
	case role.IsStr("assistant") && v.Get("content").Str() != "":
		out.text(v.Get("content").Str())
		return true
	}
	return role.IsStr("meta") && v.Get("type").IsStr("session.resume_hint")
}
