package opendesign

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// streamEvent handles the event of a stream_event frame. message_delta, with
// the stop reason of real releases, and message_stop are ignored.
func (c *claude) streamEvent(out *sink, v rawjson.Value) {
	switch typ := v.Get("type"); {
	case typ.IsStr("message_start"):
		c.messageStart(out, v)
	case typ.IsStr("content_block_start") && record(v.Get("content_block")):
		block := v.Get("content_block")
		b := &claudeBlock{
			typ:  event.Of(block.Get("type")),
			name: event.Of(block.Get("name")),
			id:   event.Of(block.Get("id")),
		}
		if input := block.Get("input"); input.Exists() {
			b.input = append([]byte{}, input.Raw()...)
		}
		c.blocks[c.blockKey(v)] = b
		if b.typ.IsStr("thinking") {
			out.emit("thinking_start")
		}
	case typ.IsStr("content_block_delta") && record(v.Get("delta")):
		c.blockDelta(out, v, v.Get("delta"))
	case typ.IsStr("content_block_stop"):
		key := c.blockKey(v)
		if b := c.blocks[key]; b != nil {
			c.blockStop(out, b)
			delete(c.blocks, key)
		}
	}
}

func (c *claude) messageStart(out *sink, v rawjson.Value) {
	c.flush(out)
	if c.message.truthy() {
		delete(c.guards, c.message.s)
	}
	c.message = optionalString(v.Get("message").Get("id"))
	c.streamed.currentText, c.streamed.currentThinking = false, false
	// Real releases have ttft_ms on the frame, where OpenDesign does not look.
	if ttft := v.Get("ttft_ms"); ttft.Kind() == rawjson.Number {
		out.emit("status", str("label", "streaming"), event.F("ttftMs", event.Of(ttft)))
	}
}

func (c *claude) blockKey(v rawjson.Value) string {
	id := c.message.s
	if !c.message.ok {
		id = "anon"
	}
	return id + ":" + jstext.ToString(v.Get("index"))
}

func (c *claude) blockDelta(out *sink, v, delta rawjson.Value) {
	switch typ := delta.Get("type"); {
	case typ.IsStr("text_delta") && isString(delta.Get("text")):
		if c.message.truthy() {
			c.streamed.text[c.message.s] = true
		}
		c.streamed.currentText = true
		c.text(out, c.message, delta.Get("text").Str())
	case typ.IsStr("thinking_delta") && isString(delta.Get("thinking")):
		if c.message.truthy() {
			c.streamed.thinking[c.message.s] = true
		}
		c.streamed.currentThinking = true
		thinking(out, delta.Get("thinking").Str())
	case typ.IsStr("input_json_delta") && isString(delta.Get("partial_json")):
		b := c.blocks[c.blockKey(v)]
		if b == nil || !b.typ.IsStr("tool_use") {
			return
		}
		fragment := delta.Get("partial_json")
		b.fragments = jstext.AppendJoin(b.fragments, fragment.Str())
		if b.id.Kind() == rawjson.String && b.name.Kind() == rawjson.String {
			out.emit("tool_input_delta", event.F("id", b.id), event.F("name", b.name), event.F("delta", event.Of(fragment)))
		}
	}
}

// blockStop emits a tool call whose input is complete. Input that does not
// parse is left to the assistant wrapper.
func (c *claude) blockStop(out *sink, b *claudeBlock) {
	if !b.typ.IsStr("tool_use") || b.id.Kind() != rawjson.String {
		return
	}
	text := b.fragments
	if jstext.Trim(string(text)) == "" {
		if text = b.input; text == nil {
			return
		}
	}
	input, err := rawjson.Parse(text)
	if err != nil {
		return
	}
	c.toolUse(out, b.id, b.name, input)
	c.streamed.tools[b.id.Str()] = true
}
