package leak

import (
	"strings"
	"unsafe"
)

// Bounds of a wrapped token: what is shorter is no secret, what is longer is
// scanned in parts.
const (
	minWrapped  = 18
	maxWrapped  = 64 << 10
	wrapContext = 64
)

// wrapByte has the bytes of tokens and encodings that a line break may cut.
var wrapByte = func() (t [256]bool) {
	for c := range t {
		t[c] = sixBits[c] != 0xff || c == '.' || c == '=' || c == '@' || c == '~' || c == ':' || c == '%' || c == '!' || c == '^' || c == '*' || c == '&' || c == '$' || c == '?' || c == '#'
	}
	return
}()

// wraps scans words that line breaks, escaped or not, cut into pieces.
func (x *scan) wraps(l *layer) {
	s := l.s
	k := breaks{s: s, newline: -1}
	for i := 0; i < len(s); {
		at := k.next(i)
		if at < 0 {
			return
		}
		i = at + 1
		if at == 0 || !wrapByte[s[at-1]] {
			continue
		}
		a := at
		for a > 0 && at-a < 512 && wrapByte[s[a-1]] {
			a--
		}
		b, letters, pieces := chain(s, at)
		if pieces == 0 || at-a+letters < minWrapped {
			continue
		}
		for n := 0; n < wrapContext && a > 0 && s[a-1] >= ' ' && s[a-1] != '\\'; n++ {
			a--
		}
		x.wrapped(l, a, b)
		if pieces > 1 {
			i = max(i, b-512)
		}
	}
}

// breaks finds line breaks, escaped or not, in one pass.
type breaks struct {
	s       string
	newline int // the next real one, or len(s)
}

// next returns the place of the next break at or behind i, of its first
// backslash or control byte, or -1.
func (k *breaks) next(i int) int {
	for i < len(k.s) {
		if k.newline < i {
			if n := strings.IndexByte(k.s[i:], '\n'); n >= 0 {
				k.newline = i + n
			} else {
				k.newline = len(k.s)
			}
		}
		e := strings.IndexByte(k.s[i:k.newline], '\\')
		if e < 0 {
			if k.newline == len(k.s) {
				return -1
			}
			if k.newline > i && k.s[k.newline-1] == '\r' {
				return k.newline - 1
			}
			return k.newline
		}
		if i += e; breakAt(k.s, i) > 0 || continuation(k.s, i) > 0 {
			return i
		}
		for i < len(k.s) && k.s[i] == '\\' {
			i++
		}
	}
	return -1
}

// chain follows the lines behind the break at s[i] as long as each is one word
// that ends in a break. It returns the end of the last word, how many letters
// the words have and how many there are.
func chain(s string, i int) (end, letters, pieces int) {
	end = i
	for i < len(s) && letters < maxWrapped {
		n := breakAt(s, i)
		if n == 0 {
			n = continuation(s, i)
		}
		if n == 0 {
			return end, letters, pieces
		}
		from := gutterEnd(s, i+n)
		i = from
		for i < len(s) && wrapByte[s[i]] {
			i++
		}
		if i == from || newKey(s, from, i) {
			return end, letters, pieces
		}
		if j := narrowEnd(s, i, from); j > 0 {
			i = j
		}
		end = i
		letters += i - from
		pieces++
	}
	return end, letters, pieces
}

// newKey says that s[from:to] begins an entry of its own ("Version: …"), not
// the rest of a word.
func newKey(s string, from, to int) bool {
	return to-from > 2 && s[to-1] == ':' && to < len(s) && s[to] == ' ' && s[from] >= 'A' && s[from] <= 'Z' && s[from+1] >= 'a' && s[from+1] <= 'z'
}

// narrow is the length up to which a line of several words may be a piece of
// one text in a narrow column.
const narrow = 40

// narrowEnd returns the end of the line that goes on at s[i] and began at from,
// if it is short and ends in a letter of a token before a break; otherwise 0.
func narrowEnd(s string, i, from int) int {
	if i-from > narrow {
		return 0
	}
	line := s[i:min(len(s), from+narrow+1)]
	n := strings.IndexByte(line, '\n')
	if n >= 0 {
		line = line[:n]
	}
	if e := strings.IndexByte(line, '\\'); e >= 0 {
		n = e
	}
	if n < 0 || strings.IndexByte(line[:n], '"') >= 0 {
		return 0
	}
	if i += n; i > from && s[i-1] == '\r' {
		i--
	}
	if breakAt(s, i) == 0 && continuation(s, i) == 0 {
		return 0
	}
	return i
}

func (x *scan) wrapped(l *layer, a, b int) {
	src := l.s[a:b]
	if !x.s.plodding && x.budget > len(src) && l.depth < maxDepth && x.nothingWrapped(src) {
		return
	}
	c := l.child("wrapped", a, b, unwrap)
	c.cutJumps()
	if len(c.cuts) > 0 && len(c.s) > 0 {
		x.view(c)
	}
}

// wrapRoom is where lines are joined to see whether they hold anything.
type wrapRoom struct {
	text []byte
	cuts []int
}

// nothingWrapped says that the view of src without its line breaks would find
// nothing: nearly every line of a text may go on in the next one, and does not.
func (x *scan) nothingWrapped(src string) bool {
	room := &x.room
	room.unwrap(src)
	text := unsafe.String(unsafe.SliceData(room.text), len(room.text))
	if len(room.cuts) == 0 || text == "" {
		return true
	}
	nothing := true
	x.s.find(text, 0, false, nil, func(_ *rule, start, end int) {
		nothing = nothing && !crosses(room.cuts, start, end)
	})
	if !nothing || mayDecode(text, x.s.escapes) {
		return false
	}
	eachRun(text, minRun, func(i, j int) {
		if j-i >= 24 {
			runKeys(text, i, j, func(_ string, a, b int) { nothing = nothing && !crosses(room.cuts, a, b) })
		}
		nothing = nothing && !(crosses(room.cuts, i, j) && encodedLook(text[i:j]))
	})
	if nothing {
		x.budget -= len(text)
	}
	return nothing
}

// unwrap is the function of that name, which notes the cuts.
func (r *wrapRoom) unwrap(s string) {
	r.text, r.cuts = r.text[:0], r.cuts[:0]
	cut := false
	for i := 0; i < len(s); {
		if s[i] == '\n' || s[i] == '\r' || s[i] == '\\' {
			n := breakAt(s, i)
			if n == 0 {
				n = continuation(s, i)
			}
			if n > 0 {
				i = gutterEnd(s, i+n)
				cut = true
				continue
			}
		}
		if cut && len(r.text) > 0 {
			r.cuts = append(r.cuts, len(r.text))
		}
		cut = false
		r.text = append(r.text, s[i])
		i++
	}
}

// mayDecode says that decoded may find something in a text beside runs of
// letters.
func mayDecode(s string, escapes bool) bool {
	if strings.IndexByte(s, 0x1b) >= 0 || strings.IndexByte(s, 0) >= 0 || escaped(s, escapes) {
		return true
	}
	for i := range len(s) {
		switch s[i] {
		case '%':
			if hexAt(s, i+1, 2) {
				return true
			}
		case '=':
			if hexAt(s, i+1, 2) || breakAt(s, i+1) > 0 {
				return true
			}
		case '[':
			if _, n := numbersEnd(s, i+1); n >= minArray {
				return true
			}
		case '\n', '\r', '\\':
			if breakAt(s, i) > 0 || continuation(s, i) > 0 {
				return true
			}
		}
	}
	return false
}
