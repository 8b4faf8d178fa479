package leak

import "strings"

// decoded scans what parts of a layer decode to.
func (x *scan) decoded(l *layer) {
	x.runs(l)
	x.percents(l)
	x.printables(l)
	x.wides(l)
	x.arrays(l)
	x.wraps(l)
	if l.parent == nil && l.joined == nil { // line by line: lineViews
		return
	}
	x.whole(l, 0, len(l.s))
}

// whole scans a part of a layer without its escapes and control sequences.
func (x *scan) whole(l *layer, from, to int) {
	s := l.s[from:to]
	if escaped(s, x.s.escapes) {
		c := l.child("json", from, to, unescape)
		c.depth = l.depth // each escape is shorter than what it is made of
		x.view(c)
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		x.view(l.child("ansi", from, to, stripANSI))
	}
}

// lineViews reads the block line by line: the frames whose texts may go on in
// others, then, of all but lines that are like one before, what stands there, and
// their escapes and control sequences. Lines before kept were read. Once something
// was found every line is viewed, so that each of its places is reported.
func (x *scan) lineViews(text string, b []byte, kept int) {
	x.spans = x.spans[:0]
	from := 0
	for start := kept; start < len(text); {
		end := lineEnd(text, start)
		if x.frame(text[start:end], b[start:end], start) && len(x.found) == 0 {
			x.spans = append(x.spans, span{from, start})
			from = end
		}
		start = end + 1
	}
	x.spans = append(x.spans, span{from, len(text)})
	x.viewSpans(text, kept)
	if len(x.spans) > 1 && len(x.found) > 0 {
		x.spans = append(x.spans[:0], span{0, len(text)})
		x.viewSpans(text, kept)
	}
}

func (x *scan) viewSpans(text string, kept int) {
	for _, p := range x.spans {
		if p.to-p.from > 1 { // more than a line break
			x.view(&layer{s: text[p.from:p.to], name: "raw", at: p.from})
		}
	}
	if !escaped(text, x.s.escapes) && strings.IndexByte(text, 0x1b) < 0 {
		return
	}
	root := &layer{s: text, name: "raw"}
	for _, p := range x.spans {
		for start := max(p.from, kept); start < p.to; {
			end := lineEnd(text[:p.to], start)
			x.whole(root, start, end)
			start = end + 1
		}
	}
}

// span is a part of the block between lines that are like one before.
type span struct{ from, to int }

// lineEnd returns where the line ends in which text[from] stands.
func lineEnd(text string, from int) int {
	if n := strings.IndexByte(text[from:], '\n'); n >= 0 {
		return from + n
	}
	return len(text)
}

// Lengths from which something may be an encoding of a secret.
const (
	minRun      = 16 // letters of base64 or hexadecimal
	minReadable = 10 // decoded bytes of text
	minArray    = 8  // numbers
)

var runByte = func() (t [256]bool) {
	for c := range t {
		t[c] = sixBits[c] != 0xff
	}
	return
}()

// eachRun calls f with every run of n or more letters of the base64 alphabets.
// Only every n-th byte is looked at until one belongs to a run.
func eachRun(s string, n int, f func(i, j int)) {
	for i := n - 1; i < len(s); {
		if !runByte[s[i]] {
			i += n
			continue
		}
		a := i
		for a > 0 && runByte[s[a-1]] {
			a--
		}
		b := i + 1
		for b < len(s) && runByte[s[b]] {
			b++
		}
		if b-a >= n {
			f(a, b)
		}
		i = b + n
	}
}

// runs finds runs that are secrets themselves, and scans what base64 and hexadecimal runs decode to, also when they are
// part of a longer word.
func (x *scan) runs(l *layer) {
	eachRun(l.s, minRun, func(i, j int) {
		s := l.s[i:j]
		if j-i >= 24 {
			runKeys(l.s, i, j, func(id string, a, b int) { x.accept(x.s.cat.byID(id), l, a, b) })
		}
		if !encodedLook(s) {
			return
		}
		x.hex(l, i, j)
		x.compressed(l, i, j)
		x.base32s(l, i, j)
		for shift := range 4 {
			x.letters(l, i+shift, j)
		}
	})
}

// encodedLook refuses runs that are words: encoded text has capitals or
// digits.
func encodedLook(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' || isDigit(c) {
			return true
		}
	}
	return false
}

// letters scans the readable stretches of base64 that begins at i.
func (x *scan) letters(l *layer, i, j int) {
	s := l.s[i:j]
	groups := len(s) / 4
	from := -1 // group with which the stretch began
	flush := func(to int) {
		if from >= 0 {
			begin, end := max(0, from-1)*4, min(to*4+4, len(s))
			if (end-begin)*3/4 >= minReadable {
				c := l.child("base64", i+begin, i+end, base64)
				c.glue, c.round = 4, true
				x.view(c)
			}
		}
		from = -1
	}
	for g := range groups {
		a, b, c, d := sixBits[s[4*g]], sixBits[s[4*g+1]], sixBits[s[4*g+2]], sixBits[s[4*g+3]]
		if textByte[a<<2|b>>4] && textByte[b<<4|c>>2] && textByte[c<<6|d] {
			if from < 0 {
				from = g
			}
		} else if from >= 0 {
			if g-from >= 3 {
				flush(g)
			}
			from = -1
		}
	}
	if groups-from >= 3 {
		flush(groups)
	}
}

// textByte has the bytes of readable text; NUL is half of UTF-16.
var textByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c < 0x7f || c == '\n' || c == '\r' || c == '\t' || c == 0x1b || c == 0
	}
	return
}()

// hex scans what the hexadecimal digits in a run decode to.
func (x *scan) hex(l *layer, i, j int) {
	for i < j {
		for i < j && !isHex(l.s[i]) {
			i++
		}
		end := i
		for end < j && isHex(l.s[end]) {
			end++
		}
		if end-i >= 2*minReadable {
			if n := strings.Index(lowerASCII(l.s[i:min(end, i+64)]), "1f8b08"); n >= 0 {
				x.inflate(l, i+n, end, pairs)
			} else if l.s[i] == '7' && l.s[i+1] == '8' { // as zlib's begins
				x.inflate(l, i, end, pairs)
			}
			x.digits(l, i, end)
			x.digits(l, i+1, end)
		}
		i = end
	}
}

func (x *scan) digits(l *layer, i, j int) {
	j -= (j - i) % 2
	from := -1
	flush := func(to int) {
		if from >= 0 && (to-from)/2 >= minReadable {
			c := l.child("hex", from, to, pairs)
			c.glue = 1
			x.view(c)
		}
		from = -1
	}
	for k := i; k < j; k += 2 {
		if textByte[hexNibble(l.s[k])<<4|hexNibble(l.s[k+1])] {
			if from < 0 {
				from = k
			}
		} else {
			flush(k)
		}
	}
	flush(j)
}

// stretch returns the range around s[i] without white space, quotes and
// brackets.
func stretch(s string, i int) (a, b int) {
	for a = i; a > 0 && i-a < 4096 && wordByte[s[a-1]]; a-- {
	}
	for b = i; b < len(s) && b-i < 65536 && wordByte[s[b]]; b++ {
	}
	return a, b
}

var wordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c > 0x20 && c != '"' && c != '<' && c != '>' && c != '\\' && c != '`'
	}
	return
}()

func (x *scan) percents(l *layer) {
	s := l.s
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '%')
		if n < 0 {
			return
		}
		if i += n; !hexAt(s, i+1, 2) {
			continue
		}
		a, b := stretch(s, i)
		x.view(l.child("percent", a, b, percent))
		if strings.IndexByte(s[a:b], '+') >= 0 {
			x.view(l.child("percent", a, b, form))
		}
		i = b
	}
}

func (x *scan) printables(l *layer) {
	s := l.s
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '=')
		if n < 0 {
			return
		}
		if i += n; !(hexAt(s, i+1, 2) && upperHex(s[i+1:i+3])) && breakAt(s, i+1) == 0 {
			continue
		}
		a, b := stretch(s, i)
		if breakAt(s, i+1) > 0 {
			a, b = softLines(s, i)
		} else if b < len(s) && s[b-1] == '=' && breakAt(s, b) > 0 {
			_, b = softLines(s, b-1)
		}
		x.view(l.child("quoted-printable", a, b, quotedPrintable))
		i = max(b-1, i)
	}
}

// maxSoftLine is more than the length of any line of quoted-printable text.
const maxSoftLine = 200

// softLines returns the range of the lines around the soft break at s[i].
func softLines(s string, i int) (a, b int) {
	for a = i; a > 0 && i-a < maxSoftLine && s[a-1] >= ' '; a-- {
	}
	for b = i; b < len(s) && s[b] == '='; {
		n := breakAt(s, b+1)
		if n == 0 {
			break
		}
		b += 1 + n
		for from := b; b < len(s) && b-from < maxSoftLine && s[b] >= ' ' && !(s[b] == '=' && breakAt(s, b+1) > 0); b++ {
		}
	}
	return a, b
}

func upperHex(s string) bool { return s == strings.ToUpper(s) }

// wides scans stretches of UTF-16 and UTF-32: a NUL at least every fourth byte.
func (x *scan) wides(l *layer) {
	s := l.s
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], 0)
		if n < 0 {
			return
		}
		i += n
		a, b, count := max(0, i-1), i, 0
		for b < len(s) && (s[b] == 0 || b+1 < len(s) && s[b+1] == 0 || b > 0 && s[b-1] == 0) {
			if s[b] == 0 {
				count++
			}
			b++
		}
		if count >= minRun/2 && b-a-count >= minRun/2 {
			x.view(l.child("utf16", a, b, stripNUL))
		}
		i = b
	}
}
