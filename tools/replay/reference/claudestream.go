package reference

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// streamed is the message that --include-partial-messages streams at the
// moment. Real releases print the whole block before its content_block_stop.
type streamed struct {
	id     string
	texts  []*segment // streamed texts that no whole block repeated yet
	blocks map[int64]*streamedBlock
	// calls are the ids of calls that were streamed and whose whole block has
	// yet to come.
	calls    map[string]bool
	thinking bool
}

type streamedBlock struct {
	id, name string
	start    event.Value // input of content_block_start
	json     []byte
	text     *segment
}

// maxBlocks bounds the blocks of one message: the index comes from outside.
const maxBlocks = 4096

func (s *streamed) start(r *run, id string) {
	for _, t := range s.texts {
		r.retract(t)
	}
	*s = streamed{id: id, blocks: map[int64]*streamedBlock{}, calls: s.calls}
	if s.calls == nil {
		s.calls = map[string]bool{}
	}
}

// retry takes back what was streamed of a message that will come again.
func (s *streamed) retry(r *run) {
	for _, t := range s.texts {
		r.retract(t)
	}
	s.texts = nil
}

// supersede takes back the texts of a stream that broke off when a message of
// another id says the answer instead (the non-streaming fallback of ≥2.1.50).
func (s *streamed) supersede(r *run, id string) {
	if id != s.id {
		s.retry(r)
	}
}

// same reports whether a whole message is the one being streamed. A stream
// without message_start has no id.
func (s *streamed) same(id string) bool { return s.id == id || s.id == "" }

// confirm returns the streamed text that a whole block repeats, or nil.
func (s *streamed) confirm(id string) *segment {
	if len(s.texts) == 0 || !s.same(id) {
		return nil
	}
	t := s.texts[0]
	s.texts = s.texts[1:]
	return t
}

func (s *streamed) thought(id string) bool { return s.thinking && s.same(id) }

func (c *claude) streamEvent(v rawjson.Value, frame []byte) {
	if v.Get("parent_tool_use_id").Str() != "" {
		return // a sub-agent's pieces: its calls come as whole blocks too
	}
	e := v.Get("event")
	s := &c.stream
	index, _ := whole(e.Get("index")) // one without a sane index counts as the first
	switch typ := e.Get("type").Str(); typ {
	case "message_start":
		s.start(c.r, e.At("message", "id").Str())
	case "content_block_start":
		c.blockStart(index, e.Get("content_block"), frame)
	case "content_block_delta":
		c.blockDelta(index, e.Get("delta"), frame)
	case "content_block_stop":
		c.blockStop(index)
	case "message_delta", "message_stop", "ping":
	case "error":
		c.r.retrying(e.At("error", "message").Str())
	default:
		c.lost("stream_event.event.type="+typ, frame)
	}
}

func (c *claude) blockStart(index int64, b rawjson.Value, frame []byte) {
	s := &c.stream
	if s.blocks == nil {
		s.start(c.r, s.id)
	}
	switch typ := b.Get("type").Str(); typ {
	case "text":
		c.streamText(index, b.Get("text").Str())
	case "tool_use":
		if len(s.blocks) < maxBlocks {
			s.blocks[index] = &streamedBlock{id: b.Get("id").Str(), name: b.Get("name").Str(), start: event.Of(b.Get("input"))}
		}
	case "thinking":
		s.thinking = true
		c.r.thinking(b.Get("thinking").Str())
	case "redacted_thinking":
	default:
		c.lost("stream_event.event.content_block.type="+typ, frame)
	}
}

func (c *claude) blockDelta(index int64, d rawjson.Value, frame []byte) {
	s := &c.stream
	switch typ := d.Get("type").Str(); typ {
	case "text_delta":
		c.streamText(index, d.Get("text").Str())
	case "thinking_delta":
		s.thinking = true
		c.r.thinking(d.Get("thinking").Str())
	case "input_json_delta":
		if b := s.blocks[index]; b != nil {
			b.json = append(b.json, d.Get("partial_json").Str()...)
		}
	case "signature_delta", "citations_delta":
	default:
		c.lost("stream_event.event.delta.type="+typ, frame)
	}
}

func (c *claude) streamText(index int64, piece string) {
	s := &c.stream
	if piece == "" {
		return
	}
	if s.blocks == nil {
		s.start(c.r, s.id)
	}
	b := s.blocks[index]
	if b == nil || b.text == nil {
		b = &streamedBlock{text: c.r.newSegment()}
		if len(s.blocks) < maxBlocks {
			s.blocks[index] = b
		}
		s.texts = append(s.texts, b.text)
	}
	c.denied = false
	c.r.delta(b.text, piece)
}

// blockStop ends a block: a text stands, a call is complete. A call whose
// pieces are no JSON is left to its whole block.
func (c *claude) blockStop(index int64) {
	s := &c.stream
	b := s.blocks[index]
	if b == nil {
		return
	}
	delete(s.blocks, index)
	if b.text != nil {
		b.text.settled = true
		return
	}
	if b.id == "" || c.r.known(b.id) {
		return
	}
	input := b.start
	if len(b.json) > 0 {
		v, err := rawjson.Parse(b.json)
		if err != nil {
			return
		}
		input = event.Of(v)
	}
	s.calls[b.id] = true
	c.r.toolUse(b.id, b.name, input, "")
}
