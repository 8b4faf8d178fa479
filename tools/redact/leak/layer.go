package leak

import (
	"slices"
	"strings"
)

// maxDepth is how many decodings the leak scan stacks, JSON escapes apart.
// What decodes deeper is reported as unread.
const maxDepth = 8

// layer is one reading of a part of the input.
type layer struct {
	s      string
	name   string
	parent *layer // nil: the block, or a joined text
	at     int    // where src begins in the parent, or s in the block
	src    string
	decode decoder // made s of src; nil: s stands for the whole of src
	pos    []int32 // per byte of s its place in src, made when a finding asks
	round  bool    // a byte's source ends behind the next one's start
	cuts   []int   // where texts were joined, in s: a finding must cross one
	joined *joined // of a text that came in pieces
	// literals were put together: their author may have parted what only looks
	// like a secret so that nobody takes it for one.
	literals bool
	depth    int
	glue     int // bytes at the beginning that may belong to something else
}

// decoder returns what s decodes to and, if asked, the place in s of each of
// its bytes and of its end.
type decoder func(s string, places bool) (string, []int32)

// child returns the layer of what decodes from l.s[from:to].
func (l *layer) child(name string, from, to int, d decoder) *layer {
	c := &layer{name: name, parent: l, at: from, src: l.s[from:to], decode: d, depth: l.depth + 1}
	c.s, _ = d(c.src, false)
	return c
}

// cutJumps makes a cut wherever something of the source was left out.
func (l *layer) cutJumps() {
	_, l.pos = l.decode(l.src, true)
	for i := 1; i < len(l.s); i++ {
		if l.pos[i] > l.pos[i-1]+1 {
			l.cuts = append(l.cuts, i)
		}
	}
}

// origin maps a range of l.s to the outermost text. It reports false for a
// range that crosses no cut where it must.
func (l *layer) origin(start, end int) (a, b int, root *layer, ok bool) {
	for {
		if len(l.cuts) > 0 && !crosses(l.cuts, start, end) {
			return 0, 0, l, false
		}
		if l.parent == nil {
			return start, end, l, true
		}
		if l.decode == nil {
			start, end = 0, len(l.src)
		} else {
			if l.pos == nil {
				_, l.pos = l.decode(l.src, true)
			}
			last := int(l.pos[end])
			if l.round && end < len(l.s) && end > start {
				last = int(l.pos[end-1]) + 2
			}
			start, end = int(l.pos[start]), min(last, len(l.src))
		}
		start, end = start+l.at, end+l.at
		l = l.parent
	}
}

func crosses(cuts []int, start, end int) bool {
	for _, c := range cuts {
		if start < c && c < end {
			return true
		}
	}
	return false
}

// cutInWord says that the wrapped text has a break in the range that does not
// end a sentence, or several breaks. Other joins are no breaks.
func (l *layer) cutInWord(start, end int) bool {
	if l.name != "wrapped" {
		return true
	}
	n, odd := 0, 0
	for _, c := range l.cuts {
		if start < c && c < end {
			n++
			if l.s[c-1] == '.' {
				odd++
			}
		}
	}
	return n > odd || n > 1
}

// path names the views from the outermost on.
func (l *layer) path() string {
	if l.parent == nil {
		return l.name
	}
	if p := l.parent.path(); p != "raw" {
		return p + "+" + l.name
	}
	return l.name
}

func (l *layer) joint() bool {
	for ; l != nil; l = l.parent {
		if len(l.cuts) > 0 {
			return true
		}
	}
	return false
}

// view scans a layer and everything that it decodes to.
func (x *scan) view(l *layer) {
	if l.s == "" {
		return
	}
	if x.budget -= len(l.s); x.budget < 0 || l.depth > maxDepth {
		x.report(&rule{id: Unread}, l, 0, len(l.s))
		return
	}
	x.match(l)
	x.decoded(l)
}

// match finds the secrets of a layer that a keyword gives away; those that a run
// of letters does are found by runs.
func (x *scan) match(l *layer) {
	var again parts
	x.s.find(l.s, l.glue, false, nil, func(r *rule, start, end int) {
		if r.view == nil {
			x.accept(r, l, start, end)
		} else {
			again.add(l, r, start, end)
		}
	})
	for _, p := range again.list {
		c := l.child(p.rule.id, p.from, p.to, p.rule.view)
		if p.rule.joins {
			c.literals = true
			c.cutJumps()
		}
		if len(c.s) < p.to-p.from {
			x.view(c)
		}
	}
}

// part is a part of a layer that a rule reads once more.
type part struct {
	rule     *rule
	from, to int
}

// parts are those of a layer.
type parts struct {
	list []part
	seen []part // how far each rule has looked
}

// add adds the part around a keyword, unless it was looked at.
func (p *parts) add(l *layer, r *rule, start, end int) {
	if r.part != nil && l.name == "wrapped" { // such a part goes over lines by itself
		return
	}
	n := slices.IndexFunc(p.seen, func(x part) bool { return x.rule == r })
	if n < 0 {
		n = len(p.seen)
		p.seen = append(p.seen, part{rule: r})
	}
	if start < p.seen[n].to {
		return
	}
	from, to, ok := 0, len(l.s), true
	if r.part != nil {
		from, to, ok = r.part(l.s, start, end)
	}
	p.seen[n].to = to
	if ok {
		p.list = append(p.list, part{r, from, to})
	}
}

func (x *scan) accept(r *rule, l *layer, start, end int) {
	if (r.alone || r.inWord && !l.cutInWord(start, end)) && l.joint() { // a rule that stands alone does not count there
		return
	}
	if l.literals && x.s.cat.number(r.id) >= len(providers) && !literalSecret(r, l.s[start:end]) {
		return
	}
	x.report(r, l, start, end)
}

func (x *scan) report(r *rule, l *layer, start, end int) {
	a, b, root, ok := l.origin(start, end)
	if !ok {
		return
	}
	f := Finding{Rule: r.id, View: l.path()}
	if root.joined != nil {
		f.Line, f.Start, f.End = root.joined.place(a, b)
	} else {
		f.Line = x.lineAt(root.at + a)
		f.Start, f.End = x.base+root.at+a, x.base+root.at+b
	}
	key := [3]int{x.s.cat.number(r.id), f.Start, f.End}
	if !x.seen[key] {
		x.seen[key] = true
		x.found = append(x.found, f)
	}
}

// lineAt returns the number of the line that holds the block's byte at i.
func (x *scan) lineAt(i int) int {
	if i < x.countedTo {
		x.countedTo, x.counted = 0, 0
	}
	x.counted += strings.Count(x.text[x.countedTo:i], "\n")
	x.countedTo = i
	return x.lines + 1 + x.counted
}
