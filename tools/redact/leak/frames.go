package leak

import (
	"hash/maphash"
	"strings"
	"unsafe"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Texts that come in pieces are joined by the place of the piece in its frame
// (its path), whatever the format is: the pieces of one path in one text, and
// once more apart by what frames call their block (index, item_id, stream, …).

// Bounds of joined texts.
const (
	pieceKeep   = 256      // what is kept of either end of a long piece
	joinedScan  = 8 << 10  // a joined text is scanned when it is so long
	joinedKeep  = 1 << 10  // and so much of it is kept for what follows
	maxJoined   = 1024     // texts open at a time
	maxNested   = 8        // depth of JSON inside strings
	maxOpen     = 128      // depth of objects and arrays
	maxFrameLen = 8 << 20  // a longer frame is no piece of anything
	maxBase64   = 64 << 10 // a longer text is not read as base64 of another
)

// isBlockKey knows the members that say which of several blocks a frame belongs
// to. Ids that change with every frame are not among them.
func isBlockKey(k string) bool {
	switch k {
	case "index", "content_index", "output_index", "contentIndex", "summary_index", "item_id", "itemId",
		"partID", "messageID", "message_id", "messageId", "call_id", "callId", "toolCallId", "tool_call_id",
		"tool_use_id", "stream", "dir", "channel", "sessionId", "thread_id", "fd":
		return true
	}
	return false
}

// frames is the state of the texts in pieces.
type frames struct {
	seed   maphash.Seed
	open   map[uint64]*joined
	leaves []leaf   // of the frame that is read
	texts  []string // of a frame of a known form, by its values
	entire bool     // long texts are decoded whole
	group  uint64   // of the frame: its block keys and their values
	line   int
	at     int // offset of the frame in the input
	known  rawjson.Forms[*knownFrame]
	doc    rawjson.Doc
	epoch  int // how often all open texts were closed
	closed []*joined
	cuts   []int // of the text that is flushed
}

// leaf is a text in a frame.
type leaf struct {
	path uint64
	text string
	// head and tail are all that is decoded of a long text; text is then empty.
	head, tail string
	source
}

// source is the place of a text in its frame's line.
type source struct {
	start, end int
	exact      bool // it stands there byte for byte
}

// part is the place of text[a:b].
func (o source) part(a, b int) source {
	if o.exact {
		return source{o.start + a, o.start + b, true}
	}
	return o
}

// joined is one text that came in pieces.
type joined struct {
	buf    []byte
	pieces []piece
	last   string // the last piece, if it is a constant
	inert  bool   // the last piece is a placeholder
}

// piece is a part of a joined text and its place in the input.
type piece struct {
	from       int // in buf
	line       int
	start, end int
	exact      bool // byte for byte
}

func (f *frames) init() {
	f.seed = maphash.MakeSeed()
	f.open = map[uint64]*joined{}
}

// place returns line and range of buf[a:b] in the input.
func (j *joined) place(a, b int) (line, start, end int) {
	n := 0
	for n+1 < len(j.pieces) && j.pieces[n+1].from <= a {
		n++
	}
	p := &j.pieces[n]
	line, start = p.line, p.start
	if p.exact {
		start += a - p.from
	}
	for n+1 < len(j.pieces) && j.pieces[n+1].from < b {
		n++
	}
	p = &j.pieces[n]
	end = p.end
	if p.exact {
		end = min(end, p.start+b-p.from)
	}
	return line, min(start, end), max(start, end)
}

// frame notes the texts of a line that is a frame, and says whether the line is
// one that was viewed already, but for placeholders.
func (x *scan) frame(line string, bytes []byte, at int) (alike bool) {
	x.at, x.line = x.base+at, -1
	if known, alike := x.knownForm(bytes, line, at); known {
		return alike
	}
	x.read(line)
	for i := range x.leaves {
		l := &x.leaves[i]
		x.join(l.path, l, at)
		if x.group != 0 {
			x.join(l.path^x.group, l, at)
		}
	}
	if len(x.leaves) > 0 {
		x.learn(bytes)
	}
	return false
}

// read reads the leaves of a line; there are none if it is no frame.
func (x *scan) read(line string) {
	x.leaves, x.group = x.leaves[:0], 0
	if start := frameStart(line); start >= 0 && len(line) <= maxFrameLen {
		x.walk(line[start:], 1, 0, source{start, len(line), true})
	}
}

// frameStart returns where a line's JSON begins, or -1: at its start, or behind
// the name of a server-sent event.
func frameStart(line string) int {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	if strings.HasPrefix(line[i:], "data:") {
		for i += len("data:"); i < len(line) && line[i] == ' '; i++ {
		}
	}
	if i >= len(line) || line[i] != '{' && line[i] != '[' {
		return -1
	}
	first := strings.TrimLeft(line[i+1:min(len(line), i+16)], " \t")
	if line[i] == '{' && first != "" && first[0] != '"' && first[0] != '}' { // code
		return -1
	}
	return i
}

// join appends a leaf to the text of its key.
func (x *scan) join(key uint64, l *leaf, at int) { x.extend(x.openText(key), l, at) }

func (x *scan) openText(key uint64) *joined {
	j := x.open[key]
	if j == nil {
		if len(x.open) >= maxJoined {
			x.flushAll()
		}
		if n := len(x.closed); n > 0 {
			j, x.closed = x.closed[n-1], x.closed[:n-1]
		} else {
			j = &joined{}
		}
		x.open[key] = j
	}
	return j
}

// extend appends a leaf to a joined text.
func (x *scan) extend(j *joined, l *leaf, at int) {
	if l.text == j.last && l.text != "" {
		return // a constant of the protocol
	}
	inert := l.text != "" && l.text[0] == '<' && PlaceholderAt(l.text, 0) == len(l.text)
	if inert && j.inert {
		return // no secret goes on behind a placeholder, nor behind two
	}
	j.inert, j.last = inert, ""
	if len(l.text) >= 4 && word(l.text) {
		j.last = strings.Clone(l.text) // and not the block that it stands in
	}
	if x.line < 0 {
		x.line = x.lineAt(at) // at: of the line in the block
	}
	start := x.at + l.start
	end := x.at + l.end
	if n := len(l.text); n > 2*pieceKeep || n == 0 {
		head, tail := l.head, l.tail
		if n > 0 {
			head, tail = l.text[:pieceKeep], l.text[n-pieceKeep:]
		}
		if l.exact {
			j.add(head, piece{line: x.line, start: start, end: start + pieceKeep, exact: true})
			x.flush(j)
			j.add(tail, piece{line: x.line, start: end - pieceKeep, end: end, exact: true})
		} else {
			j.add(head, piece{line: x.line, start: start, end: end})
			x.flush(j)
			j.add(tail, piece{line: x.line, start: start, end: end})
		}
	} else {
		j.add(l.text, piece{line: x.line, start: start, end: end, exact: l.exact})
	}
	if len(j.buf) >= joinedScan {
		x.flush(j)
	}
}

// word says that s is a constant: lower-case letters and marks.
func word(s string) bool {
	for i := range len(s) {
		if !(s[i] >= 'a' && s[i] <= 'z' || s[i] == '_' || s[i] == '.' || s[i] == '/' || s[i] == '-') {
			return false
		}
	}
	return true
}

func (j *joined) add(text string, p piece) {
	if text == "" {
		return
	}
	p.from = len(j.buf)
	j.buf = append(j.buf, text...)
	j.pieces = append(j.pieces, p)
}

// flush scans what was joined and keeps its end for what follows.
func (x *scan) flush(j *joined) {
	if len(j.pieces) > 1 {
		l := &layer{s: unsafe.String(unsafe.SliceData(j.buf), len(j.buf)), name: "joined", joined: j, cuts: x.cuts[:0]}
		for _, p := range j.pieces[1:] {
			l.cuts = append(l.cuts, p.from)
		}
		x.cuts = l.cuts
		x.budget += 64*len(l.s) + 1<<16
		x.view(l)
	}
	keep := 0
	for keep < len(j.pieces) && len(j.buf)-j.pieces[keep].from > joinedKeep {
		keep++
	}
	if keep == 0 {
		return
	}
	from := len(j.buf)
	if keep < len(j.pieces) {
		from = j.pieces[keep].from
	}
	j.buf = append(j.buf[:0], j.buf[from:]...)
	j.pieces = append(j.pieces[:0], j.pieces[keep:]...)
	for i := range j.pieces {
		j.pieces[i].from -= from
	}
}

// flushAll scans every open text and closes it.
func (x *scan) flushAll() {
	for _, j := range x.open {
		x.flush(j)
		*j = joined{buf: j.buf[:0], pieces: j.pieces[:0]}
		x.closed = append(x.closed, j)
	}
	clear(x.open)
	x.epoch++
}
