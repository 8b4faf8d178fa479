package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// copilot reads copilot --output-format json. Unknown frames are dropped, and
// so is assistant.message: a build that sends no deltas shows no text.
type copilot struct{ nothingHeld }

func (copilot) object(out *sink, v rawjson.Value) {
	data := v.Get("data")
	switch v.Get("type").Str() {
	case "session.tools_updated":
		if model := data.Get("model"); jstext.Truthy(model) {
			out.emit("status", str("label", "initializing"), event.F("model", event.Of(model)))
		}
	case "assistant.turn_start":
		out.emit("status", str("label", "streaming"))
	case "assistant.reasoning_delta":
		if d := data.Get("deltaContent"); isString(d) {
			thinking(out, d.Str())
		}
	case "assistant.message_delta":
		if d := data.Get("deltaContent"); isString(d) {
			out.text(d.Str())
		}
	case "tool.execution_start":
		out.emit("tool_use",
			event.F("id", event.OrNull(data.Get("toolCallId"))),
			event.F("name", event.OrNull(data.Get("toolName"))),
			event.F("input", event.OrNull(data.Get("arguments"))))
	case "tool.execution_complete":
		success := data.Get("success")
		out.emit("tool_result",
			event.F("toolUseId", event.OrNull(data.Get("toolCallId"))),
			str("content", copilotResult(data.Get("result"))),
			event.F("isError", event.Bool(success.Kind() == rawjson.Boolean && !success.Bool())))
	case "result":
		stop, code := "error", v.Get("exitCode")
		if v.Get("success").Bool() || code.Kind() == rawjson.Number && code.Float() == 0 {
			stop = "completed"
		}
		out.emit("usage",
			event.F("usage", event.OrNull(v.Get("usage"))),
			str("stopReason", stop),
			event.F("durationMs", event.OrNull(v.At("usage", "sessionDurationMs"))))
	}
}

func copilotResult(v rawjson.Value) string {
	for _, key := range [...]string{"content", "detailedContent"} {
		if s := v.Get(key); isString(s) {
			return s.Str()
		}
	}
	return content(v)
}
