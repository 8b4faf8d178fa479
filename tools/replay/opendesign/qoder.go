package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// qoder reads qoder-stream-json. An array counts as an object of unknown
// type, other values that are no objects are dropped.
type qoder struct {
	nothingHeld
	thinking bool // thinking_start was emitted
}

func (q *qoder) object(out *sink, v rawjson.Value) {
	if !composite(v) {
		return
	}
	switch typ := v.Get("type"); {
	case typ.IsStr("system") && v.Get("subtype").IsStr("init"):
		out.emit("status", str("label", "initializing"),
			event.F("model", stringOnly(v.Get("model"))),
			event.F("sessionId", stringOnly(v.Get("session_id"))),
			event.F("qodercliVersion", stringOnly(v.Get("qodercli_version"))))
	case typ.IsStr("assistant") && composite(v.Get("message")):
		q.message(out, v)
	case typ.IsStr("result"):
		qoderResult(out, v)
	default:
		out.raw()
	}
}

func (q *qoder) message(out *sink, v rawjson.Value) {
	body, shown := v.At("message", "content"), false
	if body.Kind() == rawjson.Array {
		for block := range body.Children() {
			shown = q.block(out, block) || shown
		}
	}
	if !shown && isString(body) {
		out.text(body.Str())
		shown = true
	}
	if failure := v.Get("error"); jstext.Truthy(failure) && !shown {
		message := "Unknown Qoder error"
		if m := failure.Get("message"); isString(m) {
			message = m.Str()
		} else if isString(failure) {
			message = failure.Str()
		}
		out.emit("error", str("message", message), str("raw", string(out.line)))
	}
}

// block emits a content block and reports whether it was text.
func (q *qoder) block(out *sink, block rawjson.Value) bool {
	if text := block.Get("text").Str(); text != "" {
		out.text(text)
		return true
	}
	if text := block.Get("thinking").Str(); block.Get("type").IsStr("thinking") && text != "" {
		if !q.thinking {
			q.thinking = true
			out.emit("thinking_start")
		}
		thinking(out, text)
	}
	return false
}

func qoderResult(out *sink, v rawjson.Value) {
	failed := jstext.Truthy(v.Get("is_error"))
	duration := event.Null
	if d := number(v.Get("duration_ms")); d.Exists() {
		duration = d
	}
	models := event.Value{}
	if m := v.Get("modelUsage"); !nullish(m) {
		models = event.Of(m)
	}
	out.emit("usage",
		event.F("usage", event.OrNull(v.Get("usage"))),
		event.F("modelUsage", models),
		event.F("costUsd", event.OrNull(v.Get("total_cost_usd"))),
		event.F("durationMs", duration),
		event.F("stopReason", event.OrNull(v.Get("stop_reason"))),
		event.F("isError", event.Bool(failed)))
	if failed {
		out.emit("error", str("message", qoderFailure(v)), str("raw", string(out.line)))
	}
}

func qoderFailure(v rawjson.Value) string {
	for _, m := range [...]rawjson.Value{v.Get("error"), v.At("error", "message"), v.Get("message")} {
		if m.Str() != "" {
			return m.Str()
		}
	}
	if stop := v.Get("stop_reason").Str(); stop != "" {
		return "Qoder run failed: " + stop
	}
	return "Qoder run failed"
}
