package leak

import (
	"strings"
	"unicode/utf8"
)

// builder writes decoded text and, if asked, where each byte came from.
type builder struct {
	b      strings.Builder
	pos    []int32
	places bool
}

func newBuilder(n int, places bool) *builder {
	w := &builder{places: places}
	w.b.Grow(n)
	if places {
		w.pos = make([]int32, 0, n+1)
	}
	return w
}

func (w *builder) byte(c byte, at int) {
	w.b.WriteByte(c)
	if w.places {
		w.pos = append(w.pos, int32(at))
	}
}

func (w *builder) rune(r rune, at int) {
	n := w.b.Len()
	w.b.WriteRune(r)
	for ; w.places && n < w.b.Len(); n++ {
		w.pos = append(w.pos, int32(at))
	}
}

func (w *builder) copy(s string, from, to int) {
	w.b.WriteString(s[from:to])
	for ; w.places && from < to; from++ {
		w.pos = append(w.pos, int32(from))
	}
}

func (w *builder) done(end int) (string, []int32) {
	if w.places {
		w.pos = append(w.pos, int32(end))
	}
	return w.b.String(), w.pos
}

func hexNibble(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	default:
		return c | 0x20 - 'a' + 10
	}
}

func hexNumber(s string) (r rune) {
	for i := range len(s) {
		r = r<<4 | rune(hexNibble(s[i]))
	}
	return r
}

// escaped says that s holds a backslash escape that stands for something that
// a rule may want: a letter, a control sequence, a slash; with all any escape.
func escaped(s string, all bool) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 || i+n+1 >= len(s) {
			return false
		}
		i += n
		switch c := s[i+1]; {
		case all:
			return true
		case c == '/', c == 'e' && strings.HasPrefix(s[i+2:], "["):
			return true
		case c == 'u' && hexAt(s, i+2, 4) && s[i+2] == '0' && s[i+3] == '0' && s[i+4] < '8':
			return true
		case c == 'u' && i+2 < len(s) && s[i+2] == '{':
			return true
		case c == 'x' && hexAt(s, i+2, 2):
			return true
		case c == '0' && octalAt(s, i+1):
			return true
		}
	}
}

func octalAt(s string, i int) bool {
	return i+3 <= len(s) && s[i] >= '0' && s[i] < '4' && s[i+1] >= '0' && s[i+1] < '8' && s[i+2] >= '0' && s[i+2] < '8'
}

// unescape decodes backslash escapes: of JSON, and \xHH, \NNN, \u{H}, \e.
func unescape(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 || i+n+1 >= len(s) {
			w.copy(s, i, len(s))
			break
		}
		w.copy(s, i, i+n)
		i += n
		i += w.escape(s, i)
	}
	return w.done(len(s))
}

var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'e': 0x1b}

// escape decodes the escape at s[i] and returns its length.
func (w *builder) escape(s string, i int) int {
	c := s[i+1]
	switch {
	case c == 'e' && !strings.HasPrefix(s[i+2:], "["):
	case simpleEscapes[c] != 0:
		w.byte(simpleEscapes[c], i)
		return 2
	case c == 'u' && hexAt(s, i+2, 4):
		w.rune(hexNumber(s[i+2:i+6]), i)
		return 6
	case c == 'u' && i+2 < len(s) && s[i+2] == '{':
		end := i + 3
		for end < len(s) && end < i+9 && isHex(s[end]) {
			end++
		}
		if end > i+3 && end < len(s) && s[end] == '}' {
			w.rune(hexNumber(s[i+3:end]), i)
			return end + 1 - i
		}
	case c == 'x' && hexAt(s, i+2, 2):
		w.byte(byte(hexNumber(s[i+2:i+4])), i)
		return 4
	case octalAt(s, i+1):
		w.byte((s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'), i)
		return 4
	}
	w.byte(c, i)
	return 2
}

// percent decodes the percent escapes that are well formed.
func percent(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if s[i] == '%' && hexAt(s, i+1, 2) {
			w.byte(byte(hexNumber(s[i+1:i+3])), i)
			i += 3
			continue
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// form decodes a form's value: percent escapes, and spaces that became plus
// signs.
func form(s string, places bool) (string, []int32) {
	return percent(strings.ReplaceAll(s, "+", " "), places)
}

// quotedPrintable decodes =XX and soft line breaks, also when the break is
// itself escaped.
func quotedPrintable(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if s[i] == '=' {
			if hexAt(s, i+1, 2) {
				w.byte(byte(hexNumber(s[i+1:i+3])), i)
				i += 3
				continue
			}
			if n := breakAt(s, i+1); n > 0 {
				i += 1 + n
				continue
			}
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// breakAt returns the length of the line break at s[i], which may be escaped,
// or 0.
func breakAt(s string, i int) int {
	if i < len(s) { // most calls
		switch c := s[i]; {
		case c == '\n':
			return 1
		case c != '\\' && c != '\r':
			return 0
		case c == '\\' && i+1 < len(s) && s[i+1] == 'n':
			return 2
		}
	}
	j := i
	for _, c := range []byte("\r\n") {
		k := j
		for k < len(s) && s[k] == '\\' {
			k++
		}
		switch {
		case k == j && k < len(s) && s[k] == c:
			j = k + 1
		case k > j && k < len(s) && (c == '\r' && s[k] == 'r' || c == '\n' && s[k] == 'n'):
			j = k + 1
		case c == '\n':
			return 0
		}
	}
	return j - i
}

// stripANSI removes terminal control sequences, with what they carry.
func stripANSI(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], 0x1b)
		if n < 0 {
			w.copy(s, i, len(s))
			break
		}
		w.copy(s, i, i+n)
		i = sequenceEnd(s, i+n)
	}
	return w.done(len(s))
}

// sequenceEnd returns the end of the control sequence at s[i].
func sequenceEnd(s string, i int) int {
	j := i + 1
	if j >= len(s) {
		return j
	}
	switch s[j] {
	case '[':
		for j++; j < len(s) && s[j] >= 0x20 && s[j] < 0x40; j++ {
		}
		if j < len(s) && s[j] >= 0x40 && s[j] < 0x7f {
			j++
		}
		return j
	case ']':
		for k := j; k < len(s) && k < j+4096 && s[k] != '\n'; k++ {
			if s[k] == 0x07 {
				return k + 1
			}
			if s[k] == 0x1b && k+1 < len(s) && s[k+1] == '\\' {
				return k + 2
			}
		}
		return j + 1
	}
	if s[j] < utf8.RuneSelf && s[j] != '\n' {
		return j + 1
	}
	return j
}

// stripNUL turns UTF-16 and UTF-32 of ASCII text into ASCII.
func stripNUL(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := range len(s) {
		if s[i] != 0 {
			w.byte(s[i], i)
		}
	}
	return w.done(len(s))
}

// numbers decodes the byte values of an array.
func numbers(s string, places bool) (string, []int32) {
	w := newBuilder(len(s)/3, places)
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		at, n := i, 0
		for i < len(s) && isDigit(s[i]) && n < 256 {
			n = n*10 + int(s[i]-'0')
			i++
		}
		w.byte(byte(n), at)
	}
	return w.done(len(s))
}

// pairs decodes hexadecimal digits.
func pairs(s string, places bool) (string, []int32) {
	w := newBuilder(len(s)/2, places)
	for i := 0; i+1 < len(s); i += 2 {
		w.byte(hexNibble(s[i])<<4|hexNibble(s[i+1]), i)
	}
	return w.done(len(s))
}

// sixBits has the value of each letter of both base64 alphabets, 0xff for
// other bytes.
var sixBits = func() (t [256]byte) {
	for c := range t {
		t[c] = 0xff
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return
}()

// base64 decodes letters of either base64 alphabet, without padding.
func base64(s string, places bool) (string, []int32) {
	if !places {
		return letters64(s), nil
	}
	return packed(s, 6, &sixBits, places)
}

// packed decodes letters that have so many bits each.
func packed(s string, each int, value *[256]byte, places bool) (string, []int32) {
	w := newBuilder(len(s)*each/8+2, places)
	acc, bits := uint32(0), 0
	for i := range len(s) {
		acc = acc<<each | uint32(value[s[i]])
		if bits += each; bits >= 8 {
			bits -= 8
			w.byte(byte(acc>>bits), i-1)
		}
	}
	return w.done(len(s))
}

// unwrap removes line breaks with the indentation behind them.
func unwrap(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if s[i] == '\n' || s[i] == '\r' || s[i] == '\\' {
			if n := breakAt(s, i); n > 0 {
				i = gutterEnd(s, i+n)
				continue
			}
			if n := continuation(s, i); n > 0 {
				i = gutterEnd(s, i+n)
				continue
			}
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// continuation returns the length of backslashes before a line break, with it.
func continuation(s string, i int) int {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if n := breakAt(s, j); j > i && n > 0 {
		return j - i + n
	}
	return 0
}

// gutterEnd returns the end of the indentation at s[i]: white space, quote and
// table marks.
func gutterEnd(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == ' ', s[i] == '\t', s[i] == '|', s[i] == '>':
			i++
		case strings.HasPrefix(s[i:], "│"):
			i += len("│")
		case strings.HasPrefix(s[i:], `\t`):
			i += 2
		default:
			return i
		}
	}
	return i
}
