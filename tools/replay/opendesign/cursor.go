package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// cursor reads cursor-agent --output-format stream-json. It knows no tools
// and no errors: those frames become raw events.
type cursor struct {
	nothingHeld
	turn []byte // the text of the current turn so far
}

func (c *cursor) event(out *sink, v rawjson.Value) bool {
	typ := v.Get("type")
	switch {
	case typ.IsStr("system") && v.Get("subtype").IsStr("init"):
		out.emit("status", str("label", "initializing"), event.F("model", stringOnly(v.Get("model"))))
		return true
	case typ.IsStr("assistant") && jstext.Truthy(v.Get("message")):
		return c.message(out, v)
	case typ.IsStr("result") && record(v.Get("usage")):
		out.emit("usage", event.F("usage", event.Object(counts(v.Get("usage"),
			count{"input_tokens", "inputTokens"}, count{"output_tokens", "outputTokens"},
			count{"cached_read_tokens", "cacheReadTokens"}, count{"cached_write_tokens", "cacheWriteTokens"})...)),
			event.F("durationMs", number(v.Get("duration_ms"))))
		return true
	}
	return false
}

// message handles assistant text: a delta, which is never compared with what
// came before, or the replay of the whole turn.
func (c *cursor) message(out *sink, v rawjson.Value) bool {
	text := ""
	if blocks := v.At("message", "content"); blocks.Kind() == rawjson.Array {
		for b := range blocks.Children() {
			if b.Get("type").IsStr("text") {
				text = jstext.Join(text, b.Get("text").Str())
			}
		}
	}
	switch {
	case isString(v.Get("model_call_id")):
		c.replay(out, text)
	case text == "":
		return false
	case v.Get("timestamp_ms").Kind() == rawjson.Number:
		c.turn = jstext.AppendJoin(c.turn, text)
		out.text(text)
	default:
		c.replay(out, text)
	}
	return true
}

// replay emits what the turn's text lacks, if it is the beginning of the
// replayed text; the turn is over then in any case.
func (c *cursor) replay(out *sink, text string) {
	if rest, ok := jstext.CutPrefix(text, string(c.turn)); ok && rest != "" {
		out.text(rest)
	}
	c.turn = c.turn[:0]
}
