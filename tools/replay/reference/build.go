package reference

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// activity is the last thing that moved a run forward.
type activity uint8

const (
	didNothing activity = iota
	didText
	didToolUse
	didToolResult
	didAsk // the CLI asked a question and waits
)

// segment is one text of the model. Its deltas stay with it until the end, so
// that a retry can take them back.
type segment struct {
	text    said
	dropped bool
	settled bool // the CLI confirmed the text: nothing may take it back
}

// item is an event, or a delta of a segment.
type item struct {
	event event.Event
	seg   *segment
	delta string
	line  int // Reading.Origins
}

// items is a list of items in blocks: a slice that grows to a million items
// copies itself several times over.
type items struct {
	blocks [][]item
	n      int
}

const blockItems = 512

func (l *items) add(it item) {
	if l.n%blockItems == 0 {
		l.blocks = append(l.blocks, make([]item, 0, min(blockItems, 16+l.n*blockItems)))
	}
	last := &l.blocks[len(l.blocks)-1]
	*last = append(*last, it)
	l.n++
}

func (l *items) at(i int) *item { return &l.blocks[i/blockItems][i%blockItems] }

// run collects what the frames of one run say. The dialects write to it.
type run struct {
	out   *Reading
	items items
	made  event.Maker
	segs  []*segment
	tools map[string]int       // id → index into out.Tools
	early map[string]ToolState // results that came before their calls
	last  activity
	// notice is the text of a retry notice that no progress has followed: the
	// last word of a run that hangs in its retries.
	notice string
	raws   int
	line   int // the stdout line that is being read, or EndOfRun
	// counted is Reading.Usage, unless a dialect has one of its own.
	counted map[string]int64
}

func newRun() *run {
	return &run{
		out:   &Reading{Unknown: map[string]int{}, Deviations: map[string]int{}},
		tools: map[string]int{},
		line:  EndOfRun,
	}
}

func (r *run) emit(typ string, fields ...event.Field) {
	r.items.add(item{event: r.made.New(typ, fields...), line: r.line})
}

func (r *run) status(label string, fields ...event.Field) {
	var few [4]event.Field // stays on the stack
	r.emit("status", append(append(few[:0], event.F("label", event.String(label))), fields...)...)
}

// warn records a text that the run survived.
func (r *run) warn(detail string) { r.status("warning", event.F("detail", event.String(detail))) }

// retrying records a retry notice: not an error, unless it is the last word.
func (r *run) retrying(notice string) {
	r.status("retrying", event.F("detail", event.String(notice)))
	r.notice = notice
}

const (
	maxRawEvents = 1000 // further odd lines are only counted
	maxRawBytes  = 8000
)

// raw records a line or frame that nobody knows.
func (r *run) raw(text []byte) {
	if r.raws++; r.raws > maxRawEvents {
		return
	}
	if len(text) > maxRawBytes {
		text = text[:maxRawBytes]
	}
	r.emit("raw", event.F("line", event.String(strings.ToValidUTF8(string(text), "\uFFFD"))))
}

func (r *run) progress(a activity) {
	r.last = a
	r.notice = ""
}

// newSegment starts a text of the model.
func (r *run) newSegment() *segment {
	s := &segment{}
	r.segs = append(r.segs, s)
	return s
}

// delta adds a piece to a text of the model.
func (r *run) delta(s *segment, piece string) {
	if piece == "" {
		return
	}
	s.text.WriteString(piece)
	r.items.add(item{seg: s, delta: piece, line: r.line})
	r.progress(didText)
}

// text adds a whole text of the model.
func (r *run) text(text string) {
	if text == "" {
		return
	}
	s := r.newSegment()
	s.settled = true
	r.delta(s, text)
}

// replace gives a streamed text the form in which the CLI repeated it. Where
// both differ the repetition is right: pieces were lost.
func (r *run) replace(s *segment, text string) {
	s.settled = true
	if s.text.String() == text {
		return
	}
	s.dropped = true
	r.out.signal(SignalRetractedText)
	r.text(text)
}

// retract takes back a text that a retry will send again, unless the CLI
// confirmed it.
func (r *run) retract(s *segment) {
	if !s.settled {
		r.drop(s)
	}
}

// drop takes back a text that the CLI itself gave up.
func (r *run) drop(s *segment) {
	if s.dropped || s.text.Len() == 0 {
		return
	}
	s.dropped = true
	r.out.Retracted = append(r.out.Retracted, s.text.String())
	r.out.signal(SignalRetractedText)
}

func (r *run) thinking(text string) {
	if text == "" {
		return
	}
	r.emit("thinking_delta", event.F("delta", event.String(text)))
	r.notice = ""
}

// toolUse records a call once for each id.
func (r *run) toolUse(id, name string, input event.Value, parent string) {
	r.progress(didToolUse)
	if i, ok := r.tools[id]; ok && id != "" {
		if t := &r.out.Tools[i]; !t.Input.Exists() {
			t.Input = input
		}
		return
	}
	if !input.Exists() {
		input = event.Null
	}
	if len(r.out.Tools) == cap(r.out.Tools) {
		r.out.Tools = slices.Grow(r.out.Tools, len(r.out.Tools)+1) // append alone would copy them more often
	}
	r.tools[id] = len(r.out.Tools)
	state := ToolOpen
	if s, ok := r.early[id]; ok {
		state = s
	}
	r.out.Tools = append(r.out.Tools, Tool{ID: id, Name: name, Input: input, Parent: parent, State: state})
	r.emit("tool_use", event.F("id", event.String(id)), event.F("name", event.String(name)), event.F("input", input))
}

// known reports whether a call with the id was announced.
func (r *run) known(id string) bool {
	_, ok := r.tools[id]
	return ok
}

// toolResult records the result of a call: the first one for an id counts.
func (r *run) toolResult(id string, content event.Value, failed bool) {
	r.progress(didToolResult)
	state := ToolDone
	if failed {
		state = ToolFailed
	}
	if i, ok := r.tools[id]; ok {
		t := &r.out.Tools[i]
		if t.State != ToolOpen {
			return
		}
		t.State = state
	} else if id != "" && !r.arrived(id, state) {
		return
	}
	r.emit("tool_result", event.F("toolUseId", event.String(id)), event.F("content", content), event.F("isError", event.Bool(failed)))
}

// open reports whether a call waits for its result.
func (r *run) open() bool {
	for i := range r.out.Tools {
		if r.out.Tools[i].State == ToolOpen {
			return true
		}
	}
	return false
}

// tokenNames are the counts of a usage object in the daemon's vocabulary, by
// the names that CLIs give them.
var tokenNames = []struct {
	name string
	from []string
}{
	{"input_tokens", []string{"input_tokens"}},
	{"output_tokens", []string{"output_tokens"}},
	{"thought_tokens", []string{"reasoning_output_tokens"}},
	{"cached_read_tokens", []string{"cached_input_tokens", "cache_read_input_tokens"}},
	{"cached_write_tokens", []string{"cache_write_input_tokens", "cache_creation_input_tokens"}},
}

// usage replaces the run's token counts: nearly every CLI reports totals.
func (r *run) usage(u rawjson.Value) { r.tokens(u, nil) }

// usageOfOne adds the counts of one answer to the run's: codex up to 0.29
// reports each answer by itself.
func (r *run) usageOfOne(u rawjson.Value) { r.tokens(u, r.out.Usage) }

func (r *run) tokens(u rawjson.Value, before map[string]int64) {
	var few [maxTokens]tokenCount
	counts := few[:0]
	for _, t := range tokenNames {
		for _, from := range t.from {
			if n, ok := whole(u.Get(from)); ok {
				counts = append(counts, tokenCount{t.name, n + before[t.name]})
				break
			}
		}
	}
	if len(counts) > 0 {
		r.count(counts)
	}
}

// tokenCount is one count of the daemon's vocabulary; maxTokens is how many
// there are.
type tokenCount struct {
	name string
	n    int64
}

const maxTokens = 5

// count makes the counts the run's.
func (r *run) count(counts []tokenCount) {
	if r.counted == nil {
		r.counted = map[string]int64{}
	}
	clear(r.counted)
	var few [maxTokens]event.Field
	fields := few[:0]
	for _, c := range counts {
		r.counted[c.name] = c.n
		fields = append(fields, event.F(c.name, event.Number(float64(c.n))))
	}
	r.out.Usage = r.counted
	r.emit("usage", event.F("usage", event.Object(fields...)))
}

// whole returns a count that a frame holds, if it is one that a double holds
// exactly.
func whole(v rawjson.Value) (int64, bool) {
	const exact = 1 << 53
	f := v.Float()
	return int64(f), v.Kind() == rawjson.Number && f >= 0 && f <= exact
}

// usefulness counts the verdict on the usefulness of its own work that a CLI
// gave in one frame (FINE-PRINT 12); words are the frame's places for it. We
// never give one.
func (r *run) usefulness(words ...string) {
	for i, word := range words {
		if word != contract.WordLowUtility && word != contract.WordWrongToolBoundary || slices.Contains(words[:i], word) {
			continue
		}
		if r.out.Usefulness == nil {
			r.out.Usefulness = map[string]int{}
		}
		r.out.Usefulness[word]++
	}
}

// failed records the run's error as the consumer should see it.
func (r *run) failed(message string) {
	r.emit("error", event.F("message", event.String(message)))
}

// close puts the reading together.
func (r *run) close() {
	out := r.out
	for _, s := range r.segs {
		if !s.dropped && s.text.Len() > 0 {
			out.Texts = append(out.Texts, s.text.String())
		}
	}
	out.Text = joinTexts(out.Texts)
	if r.items.n > 0 {
		out.Events, out.Origins = make([]event.Event, 0, r.items.n), make([]int, 0, r.items.n)
	}
	for i := range r.items.n {
		it := r.items.at(i)
		switch {
		case it.seg == nil:
			out.Events = append(out.Events, it.event)
		case !it.seg.dropped && it.delta != "":
			out.Events = append(out.Events, r.made.New("text_delta", event.F("delta", event.String(it.delta))))
		default:
			continue
		}
		out.Origins = append(out.Origins, it.line)
	}
	if r.open() {
		out.signal(SignalOpenTool)
	}
}

// joinTexts joins texts with line breaks, but never doubles one.
func joinTexts(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	size := len(texts)
	for _, t := range texts {
		size += len(t)
	}
	var b strings.Builder
	b.Grow(size)
	for i, t := range texts {
		if i > 0 && !strings.HasSuffix(texts[i-1], "\n") && !strings.HasPrefix(t, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String()
}
