package reference

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// streamed is the message that --include-partial-messages streams at the
// moment. Real releases print the whole block before its content_block_stop.
type streamed struct {
	id     string
	texts  []*segment // streamed texts that no whole block repeated yet
	spoken []*streamedBlock
	blocks map[int64]*streamedBlock
	// waiting are calls that were streamed to their end and whose whole block
	// has yet to come; calls are the ids of those that were announced without.
	waiting  []*streamedBlock
	calls    map[string]bool
	thinking bool
	abandons int // frames that gave up blocks
}

type streamedBlock struct {
	index    int64
	id, name string
	start    event.Value // the input: of content_block_start, then of all pieces
	json     []byte
	text     *segment
}

const (
	maxBlocks   = 4096 // of one message: the index comes from outside
	maxAbandons = 64   // of one message: each looks at all blocks so far
)

func (s *streamed) start(r *run, id string) {
	s.retry(r)
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
	s.texts, s.waiting = nil, nil
}

// abandon takes back the blocks that the CLI says it gave up (abandoned_blocks
// of 2.1.332, on the message_stop of a stream that broke off).
func (s *streamed) abandon(r *run, v rawjson.Value) {
	if s.abandons++; s.abandons > maxAbandons || !s.same(v.Get("api_message_id").Str()) {
		return
	}
	from, _ := whole(v.Get("from_block_index"))
	gone := func(b *streamedBlock) bool { return b.index >= from }
	for _, b := range s.spoken {
		if gone(b) {
			r.drop(b.text)
		}
	}
	s.texts = slices.DeleteFunc(s.texts, func(t *segment) bool { return t.dropped })
	s.waiting = slices.DeleteFunc(s.waiting, gone)
}

// announce announces the calls that will have no whole block.
func (s *streamed) announce(r *run) {
	for _, b := range s.waiting {
		if !r.known(b.id) {
			s.calls[b.id] = true
			r.toolUse(b.id, b.name, b.start, "")
		}
	}
	s.waiting = nil
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
	if a := v.Get("abandoned_blocks"); a.Exists() {
		s.abandon(c.r, a)
	}
	switch typ := e.Get("type").Str(); typ {
	case "message_start":
		s.start(c.r, e.At("message", "id").Str())
	case "content_block_start":
		c.blockStart(index, e.Get("content_block"), frame)
	case "content_block_delta":
		c.blockDelta(index, e.Get("delta"), frame)
	case "content_block_stop":
		c.blockStop(index)
	case "message_stop":
		s.announce(c.r)
	case "message_delta", "ping":
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
			s.blocks[index] = &streamedBlock{index: index, id: b.Get("id").Str(), name: b.Get("name").Str(), start: event.Of(b.Get("input"))}
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
		b = &streamedBlock{index: index, text: c.r.newSegment()}
		if len(s.blocks) < maxBlocks {
			s.blocks[index] = b
		}
		s.texts, s.spoken = append(s.texts, b.text), append(s.spoken, b)
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
	if len(b.json) > 0 {
		v, err := rawjson.Parse(b.json)
		if err != nil {
			return
		}
		b.start = event.Of(v)
	}
	s.waiting = append(s.waiting, b)
}
