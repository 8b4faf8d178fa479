package redact

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// group is one text that came in pieces.
type group struct {
	joined   string
	buf      []byte
	bounds   []int // where each piece ends
	out      []string
	flags    paths.Flags
	resolved bool
}

// groups are the piecewise texts of a run.
type groups struct {
	open map[string]*group
	all  []*group
	refs [][]pieceRef     // in the order of the transcript, refChunk at a time; nil if left behind
	read int              // the first of refs that was not left behind
	at   int              // and the first piece in it
	runs map[uint64]int32 // hash of a text → one of list that has it
	list []runOf
	key  []byte
	// prefixes are the texts with which later ones may begin.
	prefixes []*group
}

// runOf is a text that pieces from the first on make, without white space at
// its edges.
type runOf struct {
	g    *group
	n    int32 // number of pieces
	a, b int32 // range in the joined text
	next int32 // one more with the same hash, or -1
}

// collectPieces notes which values of a frame are pieces. Shift is where the
// parsed text begins in the record's line.
func (r *run) collectPieces(root rawjson.Value, body []byte, shift int) {
	for i, p := range r.d.pieces {
		key := append(r.groups.key[:0], byte('A'+i))
		all, made := false, false
		if (len(r.groups.open) > 0 || r.forms.learning) && anyHolds(p.end, &r.looked) {
			key, all = p.appendKey(key, &r.looked)
			made = true
			r.groups.close(key, all)
			r.forms.act(pieceAct{rule: p, end: true, all: all}, key)
		}
		r.groups.key = key
		if !p.when.holds(&r.looked) {
			continue
		}
		r.forms.markers = append(r.forms.markers, p.marker)
		if !bytes.Contains(body, []byte(p.marker)) {
			continue
		}
		if !made {
			key, _ = p.appendKey(key, &r.looked)
			r.groups.key = key
		}
		lookup(root, p.path, func(v rawjson.Value) {
			if v.Kind() != rawjson.String {
				return
			}
			r.groups.add(r.group(p, key), body, v.Token(), r.frame, shift)
			r.forms.act(pieceAct{rule: p, slot: r.forms.slotOf(v)}, key)
		})
	}
}

// group returns the open text of a rule with that key, a new one for its first
// piece.
func (r *run) group(p *pieceRule, key []byte) *group {
	g := r.groups.open[string(key)]
	if g == nil {
		g = &group{flags: r.pieceFlags(p)}
		r.groups.open[string(key)] = g
		r.groups.all = append(r.groups.all, g)
		if p.prefix {
			r.groups.prefixes = append(r.groups.prefixes, g)
		}
	}
	return g
}

// close ends the open text with the key, or all that are of the key's rule.
func (g *groups) close(key []byte, one bool) {
	if one {
		delete(g.open, string(key))
		return
	}
	for k := range g.open {
		if k[0] == key[0] {
			delete(g.open, k)
		}
	}
}

func (r *run) pieceFlags(p *pieceRule) paths.Flags {
	st := r.d.set.Root()
	for _, s := range p.path {
		if s == "[]" {
			st = st.Elem()
		} else {
			st = st.Key(s)
		}
	}
	return st.Flags()
}

// A text of that many pieces that are shorter than that on average could be
// read from which of its placeholders are equal.
const (
	manyPieces = 64
	smallPiece = 3
)

// finish joins the pieces when all records have been read.
func (r *run) finish() {
	g := &r.groups
	g.runs = map[uint64]int32{}
	for _, t := range g.all {
		t.joined, t.buf = string(t.buf), nil
		if n := len(t.bounds); !r.in.Hermetic && n >= manyPieces && len(t.joined) < smallPiece*n {
			r.doubt("a text of a live model came in pieces so small that equal placeholders would spell it", "")
		}
		text := t.flags&(fModel|fVocabulary) != 0
		switch {
		case text && r.in.Hermetic && !r.scenario.has(t.joined):
			r.written.add(t.joined)
		case text:
			r.model.add(t.joined)
		}
		if c := firstByte(t.joined); c != '{' && c != '[' && len(t.bounds) > 1 {
			g.index(t)
		}
	}
}

// resolve redacts a joined text and cuts it into its pieces again.
func (r *run) resolve(g *group) {
	if g.resolved {
		return
	}
	g.resolved = true
	s := g.joined
	c := firstByte(s)
	edits, json := []edit(nil), false
	if c == '{' || c == '[' {
		edits, json = r.jsonEdits(s, 0, len(g.bounds) > 1) // what came in one piece is read as it is elsewhere
		edits = lengthen(s, edits, g.bounds)
	}
	switch {
	case json || r.stays(s):
		g.out = r.cut(s, edits, g.bounds, false)
	default:
		g.out = r.settlePieces(s, g.bounds)
	}
	total := 0
	for i, p := range g.out {
		if n := missing(utf16Len(piece(g, i)), len(p)); n > 0 && !json {
			g.out[i] = pad(p, n)
		}
		total += utf16Len(g.out[i])
	}
	if n := missing(utf16Len(s), total); n > 0 && len(g.out) > 0 && !json {
		g.out[len(g.out)-1] = pad(g.out[len(g.out)-1], n)
	}
}

// settlePieces is settle for a text in pieces. Unless something that readers
// look for may stand across a border, each piece has the form that it would
// have alone: equal pieces stay equal however a text was cut.
func (r *run) settlePieces(s string, bounds []int) []string {
	written := r.isWritten(s)
	if !written && !structured(s) && !isInert(s) {
		parts := make([]string, len(bounds))
		from := 0
		for i, end := range bounds {
			parts[i] = r.aloneAgain(s[from:end])
			from = end
		}
		return parts
	}
	for n := 0; ; n++ {
		edits, _ := r.textEdits(s, written, 0)
		parts := r.cut(s, edits, bounds, true)
		if len(edits) == 0 || n == 8 {
			return parts
		}
		s = strings.Join(parts, "")
		bounds = make([]int, len(parts))
		at := 0
		for i, p := range parts {
			at += len(p)
			bounds[i] = at
		}
	}
}

// aloneAgain is alone for a piece: the same words come again and again.
func (r *run) aloneAgain(s string) string {
	if len(s) > maxMemo || s == "" {
		return r.alone(s, 0)
	}
	if out, ok := r.alones.get(s); ok {
		return out
	}
	out := r.alone(s, 0)
	r.alones.put(s, out)
	return out
}

// structured says that a text may hold a role marker, a tag or a terminal
// sequence.
func structured(s string) bool {
	for _, mark := range []string{"##", "artifact", "tool_call", "\x1b"} {
		if strings.Contains(s, mark) {
			return true
		}
	}
	return false
}

func piece(g *group, i int) string {
	from := 0
	if i > 0 {
		from = g.bounds[i-1]
	}
	return g.joined[from:g.bounds[i]]
}

// pad lengthens s by n or more before its trailing white space. A path at the
// end stays a word of its own: readers look for one there.
func pad(s string, n int) string {
	t := strings.TrimRight(s, " \t\r\n")
	gap := ""
	if t != "" && isPathByte(t[len(t)-1]) {
		gap = " "
	}
	n = max(n, len(leak.PadStart)+1)
	var b strings.Builder
	b.Grow(len(s) + len(gap) + n)
	b.WriteString(t)
	b.WriteString(gap)
	writePadding(&b, n)
	b.WriteString(s[len(t):])
	return b.String()
}

// cut distributes the redacted text over the pieces. What stays is cut where
// it was cut. A replacement that runs through several pieces becomes, in a
// text, one for each part, so that equal pieces stay equal; in JSON it is
// shared out so that no piece with something in it becomes empty.
func (r *run) cut(s string, edits []edit, bounds []int, text bool) []string {
	out := make([]strings.Builder, len(bounds))
	n := 0
	skip := func(at int) { // to the piece that holds the byte
		for n < len(bounds)-1 && bounds[n] <= at {
			n++
		}
	}
	keep := func(from, to int) {
		for from < to {
			skip(from)
			end := min(to, bounds[n])
			out[n].WriteString(s[from:end])
			from = end
		}
	}
	at := 0
	for _, e := range edits {
		keep(at, e.start)
		at = e.end
		skip(e.start)
		first := n
		skip(e.end - 1)
		last := n
		n = first
		switch {
		case first == last:
			out[n].WriteString(e.text)
		case text:
			r.cutSplit(s, e, bounds, out, first)
		default:
			share(e.text, nonEmpty(e, bounds, first, last), out)
		}
		n = last
	}
	keep(at, len(s))
	parts := make([]string, len(bounds))
	for i := range out {
		parts[i] = out[i].String()
	}
	return parts
}

// cutSplit gives each part of a stretch what the part alone would have.
func (r *run) cutSplit(s string, e edit, bounds []int, out []strings.Builder, n int) {
	for from := e.start; from < e.end; n++ {
		end := min(e.end, bounds[n])
		if end <= from {
			continue
		}
		out[n].WriteString(r.settle(s[from:end], false, 0))
		from = end
	}
}

// nonEmpty lists the pieces first…last that hold a byte of the edit.
func nonEmpty(e edit, bounds []int, first, last int) []int {
	var list []int
	from := e.start
	for n := first; n <= last; n++ {
		end := min(e.end, bounds[n])
		if end > from {
			list = append(list, n)
			from = end
		}
	}
	return list
}

// share cuts a text into one part for each piece; it is at least as long.
func share(text string, pieces []int, out []strings.Builder) {
	from := 0
	for i, n := range pieces {
		to := (i + 1) * len(text) / len(pieces)
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to++
		}
		if to > from {
			out[n].WriteString(text[from:to])
			from = to
		}
	}
}

// lengthen gives every replacement in JSON as many bytes as it runs through
// pieces: white space behind the closing quote, which the replacement takes in
// for that.
func lengthen(s string, edits []edit, bounds []int) []edit {
	for i := range edits {
		e := &edits[i]
		end := e.end
		if end < len(s) && s[end] == '"' {
			end++
		}
		n := len(nonEmpty(edit{start: e.start, end: end}, bounds, 0, len(bounds)-1))
		if n <= len(e.text) {
			continue
		}
		if end > e.end {
			e.text += `"`
			e.end = end
		}
		e.text += strings.Repeat(" ", max(0, n-len(e.text)))
	}
	return edits
}
