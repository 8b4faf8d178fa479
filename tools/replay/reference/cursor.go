package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// cursor reads cursor-agent --output-format stream-json. With
// --stream-partial-output the answer comes as deltas (with timestamp_ms and
// without model_call_id) and then again whole: before each call, and at the
// end. Without the flag each text comes once (case 049).
type cursor struct {
	r        *run
	turn     *segment // streamed since the last whole text
	spoken   []*segment
	partial  bool // some text came in pieces: whole texts repeat
	errors   pendingErrors
	reported string
	ended    bool
	ok       bool
}

// quietCursor are known frames without content for the transcript.
var quietCursor = set("user", "interaction_query", "connection", "retry", "heartbeat", "summary", "status")

func (c *cursor) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type").Str(); typ {
	case "system":
		if !v.Get("subtype").IsStr("init") {
			c.r.lost("system.subtype="+v.Get("subtype").Str(), text)
			return
		}
		c.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("session_id"))), event.F("model", event.OrNull(v.Get("model"))))
	case "thinking":
		c.thinking(v, text)
	case "assistant":
		c.assistant(v)
	case "tool_call":
		c.tool(v, text)
	case "error":
		c.errors.add(nil, errorText(v.Get("message")), errorText(v.Get("error")))
	case "result":
		c.result(v)
	default:
		if !quietCursor[typ] {
			c.r.lost(typ, text)
		}
	}
}

func (c *cursor) thinking(v rawjson.Value, frame []byte) {
	switch sub := v.Get("subtype").Str(); sub {
	case "delta":
		c.r.thinking(v.Get("text").Str())
	case "completed":
	default:
		c.r.lost("thinking.subtype="+sub, frame)
	}
}

func (c *cursor) assistant(v rawjson.Value) {
	text := ""
	for b := range v.At("message", "content").Children() {
		if b.Get("type").IsStr("text") {
			text += b.Get("text").Str()
		}
	}
	if text == "" {
		return
	}
	c.errors.survived(c.r)
	whole := v.Get("model_call_id").Kind() == rawjson.String || v.Get("timestamp_ms").Kind() != rawjson.Number
	if whole {
		c.whole(text)
		return
	}
	c.partial = true
	if c.turn == nil {
		c.turn = c.r.newSegment()
		c.spoken = append(c.spoken, c.turn)
	}
	c.r.delta(c.turn, text)
}

// whole reads a complete text: the repetition of what was streamed, of
// everything said so far, or a new text.
func (c *cursor) whole(text string) {
	s := c.turn
	c.turn = nil
	if s == nil {
		if !c.partial || !c.said(text) {
			s = c.r.newSegment()
			s.settled = true
			c.r.delta(s, text)
			c.spoken = append(c.spoken, s)
		}
		return
	}
	switch {
	case c.said(text), strings.HasSuffix(text, s.text.String()):
		s.settled = true
	case strings.HasPrefix(text, s.text.String()):
		c.r.delta(s, text[s.text.Len():])
		s.settled = true
	default:
		c.r.replace(s, text)
	}
}

// said reports whether the last texts together are the given one.
func (c *cursor) said(text string) bool {
	for i := len(c.spoken) - 1; i >= 0 && text != ""; i-- {
		rest, ok := strings.CutSuffix(text, c.spoken[i].text.String())
		if !ok {
			return false
		}
		text = rest
	}
	return text == ""
}

// tool reads a call. Its kind is the name of the one member of tool_call:
// readToolCall, shellToolCall, or function for the others.
func (c *cursor) tool(v rawjson.Value, frame []byte) {
	id := v.Get("call_id").Str()
	name, body := cursorCall(v.Get("tool_call"))
	input := body.Get("args")
	if !input.Exists() {
		input = body.Get("arguments")
	}
	c.turn = nil // what comes now is another text
	c.r.announce(id, name, parsed(input))
	switch sub := v.Get("subtype").Str(); sub {
	case "started", "delta", "updated":
	case "completed":
		result := body.Get("result")
		content := event.OrNull(result)
		failed := false
		for m := range result.Children() {
			failed = result.Kind() == rawjson.Object && m.Key() != "success"
			break
		}
		c.r.toolResult(id, content, failed)
	default:
		c.r.lost("tool_call.subtype="+sub, frame)
	}
}

func cursorCall(v rawjson.Value) (name string, body rawjson.Value) {
	for m := range v.Children() {
		if m.Kind() != rawjson.Object {
			continue
		}
		if m.Key() == "function" {
			return m.Get("name").Str(), m
		}
		return strings.TrimSuffix(m.Key(), "ToolCall"), m
	}
	return "", rawjson.Value{}
}

// cursorTokens are the counts of a result.
var cursorTokens = []tokenPath{
	{"input_tokens", []string{"inputTokens"}}, {"output_tokens", []string{"outputTokens"}},
	{"cached_read_tokens", []string{"cacheReadTokens"}}, {"cached_write_tokens", []string{"cacheWriteTokens"}},
}

func (c *cursor) result(v rawjson.Value) {
	c.ended, c.reported = true, v.Get("subtype").Str()
	c.r.out.Terminals++
	c.r.counts(v.Get("usage"), cursorTokens, false)
	c.ok = c.reported == "success" && !v.Get("is_error").Bool()
	c.r.usefulness(c.reported)
	text := v.Get("result").Str()
	if !c.ok {
		c.errors.add(nil, errorText(v.Get("error")), text)
		return
	}
	if len(c.spoken) == 0 {
		c.r.text(text)
	}
	c.errors.survived(c.r)
}

func (c *cursor) outcome() outcome {
	o := outcome{reported: c.reported, ended: c.ended, ok: c.ok, textEnds: false}
	c.errors.fail(c.r, &o)
	return o
}
