package leak

import "strings"

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
	c := &layer{name: "wrapped", parent: l, at: a, src: l.s[a:b], decode: unwrap, depth: l.depth + 1}
	c.s, c.pos = unwrap(c.src, true)
	for i := 1; i < len(c.s); i++ {
		if c.pos[i] > c.pos[i-1]+1 {
			c.cuts = append(c.cuts, i)
		}
	}
	if len(c.cuts) > 0 && len(c.s) > 0 {
		x.view(c)
	}
}
