package contract

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scan reads JSON text where nothing is unusual: integers, names that are not
// there twice, escapes that stand for one character. ok is false from the first
// thing on that is unusual, or is no JSON.
type scan struct {
	src  string // valid UTF-8
	pos  int
	ok   bool
	lax  bool // the text was read before: what does not matter is skipped
	lean bool // values of any kind are read and not kept
	seen *texts
}

// scans are scans that nobody uses. A sync.Pool would forget them, with the texts
// that they have seen, at every collection of garbage; and under the race detector
// a quarter of them at once, a third of the time of a test that reads all records.
var scans = make(chan *scan, 16)

func takeScan() *scan {
	select {
	case s := <-scans:
		return s
	default:
		return &scan{seen: &texts{seed: maphash.MakeSeed()}}
	}
}

func (s *scan) giveBack() {
	s.src = ""
	select {
	case scans <- s:
	default:
	}
}

func (s *scan) stop() { s.ok = false }

func (s *scan) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next character that is no space, 0 at the end.
func (s *scan) peek() byte {
	s.space()
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scan) eat(c byte) bool {
	if s.ok && s.peek() == c {
		s.pos++
		return true
	}
	return false
}

func (s *scan) word(w string) {
	if s.ok = strings.HasPrefix(s.src[s.pos:], w); s.ok {
		s.pos += len(w)
	}
}

// next steps to the next entry of a list or an object that ends in end; n is
// the number of those before. After it, more is false or an entry begins.
func (s *scan) next(n int, end byte) (more bool) {
	if s.eat(end) {
		return false
	}
	if n > 0 && !s.eat(',') {
		s.stop()
	}
	return s.ok
}

// name reads a member's name and its colon.
func (s *scan) name() string {
	if s.peek() != '"' {
		s.stop()
		return ""
	}
	name := s.text()
	if !s.eat(':') {
		s.stop()
	}
	return name
}

// text reads a string at its quote. It is a part of the text, or new where
// there are escapes.
func (s *scan) text() string {
	start := s.pos + 1
	i := s.plain(start)
	switch {
	case i == len(s.src) || s.src[i] < 0x20:
		s.stop()
		return ""
	case s.src[i] == '\\':
		return s.escaped(start)
	}
	s.pos = i + 1
	return s.src[start:i]
}

// plain returns where the first character from i on is that a string does not
// hold as it is, or that ends it. Eight characters are looked at in one step:
// subtracting from each byte of a word tells which are below a bound.
func (s *scan) plain(i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s.src); i += 8 {
		b := s.src[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		if found := ((w-ones*0x20)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8 // the lowest one is exact
		}
	}
	for ; i < len(s.src); i++ {
		if c := s.src[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// unescaped are the characters that stand for another behind a backslash.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a string with escapes from behind its quote.
func (s *scan) escaped(start int) string {
	var out []byte
	for i := start; ; {
		end := s.plain(i)
		out = append(out, s.src[i:end]...)
		if end == len(s.src) || s.src[end] < 0x20 {
			break
		}
		if s.src[end] == '"' {
			s.pos = end + 1
			if strings.Contains(s.src[start:end], string(utf8.RuneError)) {
				break // as half of a surrogate pair would be
			}
			return string(out)
		}
		if i = end + 2; i > len(s.src) {
			break
		}
		if c := unescaped[s.src[end+1]]; c != 0 {
			out = append(out, c)
			continue
		}
		if s.src[end+1] != 'u' || i+4 > len(s.src) {
			break
		}
		n, err := strconv.ParseUint(s.src[i:i+4], 16, 16)
		if err != nil || utf16.IsSurrogate(rune(n)) || n == utf8.RuneError {
			break // a pair is unusual
		}
		out, i = utf8.AppendRune(out, rune(n)), i+4
	}
	s.stop()
	return ""
}

// integer reads a number that float64 and int64 have, in its one spelling.
func (s *scan) integer() (n int64) {
	start, negative := s.pos, s.src[s.pos] == '-'
	if negative {
		s.pos++
	}
	first := s.pos
	for ; s.pos < len(s.src) && '0' <= s.src[s.pos] && s.src[s.pos] <= '9'; s.pos++ {
		n = n*10 + int64(s.src[s.pos]-'0')
		if s.pos-start > 15 {
			s.stop()
			return 0
		}
	}
	digits := s.pos - first
	if digits == 0 || s.src[first] == '0' && (digits > 1 || negative) {
		s.stop()
	}
	if s.pos < len(s.src) && strings.IndexByte(".eE", s.src[s.pos]) >= 0 {
		s.stop()
	}
	if negative {
		return -n
	}
	return n
}

// maxQuickDepth bounds the nesting of what any reads.
const maxQuickDepth = 64

// any reads a value as json.Unmarshal gives it.
func (s *scan) any(depth int) any {
	switch c := s.peek(); {
	case !s.ok || depth > maxQuickDepth:
		s.stop()
	case c == '{':
		s.pos++
		m := map[string]any{}
		for s.next(len(m), '}') {
			name := strings.Clone(s.name())
			if _, twice := m[name]; twice {
				s.stop()
			}
			m[name] = s.any(depth + 1)
		}
		return m
	case c == '[':
		s.pos++
		list := []any{}
		for s.next(len(list), ']') {
			list = append(list, s.any(depth+1))
		}
		return list
	case c == '"':
		return strings.Clone(s.text())
	case c == '-' || '0' <= c && c <= '9':
		return float64(s.integer())
	case c == 't':
		s.word("true")
		return true
	case c == 'f':
		s.word("false")
		return false
	case c == 'n':
		s.word("null")
	default:
		s.stop()
	}
	return nil
}

// pass reads a value as any does and keeps nothing of it.
func (s *scan) pass(depth int) {
	switch c := s.peek(); {
	case !s.ok || depth > maxQuickDepth:
		s.stop()
	case c == '{':
		s.pos++
		var room [16]string
		names := room[:0]
		for s.next(len(names), '}') {
			name := s.name()
			if len(names) == maxPlanMembers || slices.Contains(names, name) {
				s.stop()
			}
			names = append(names, name)
			s.pass(depth + 1)
		}
	case c == '[':
		s.pos++
		for n := 0; s.next(n, ']'); n++ {
			s.pass(depth + 1)
		}
	case c == '"':
		s.text()
	case c == '-' || '0' <= c && c <= '9':
		s.integer()
	default:
		s.any(depth) // a word
	}
}

// skip steps over a value of a text that was read before.
func (s *scan) skip() {
	for depth := 0; s.pos < len(s.src); {
		switch s.src[s.pos] {
		case '"':
			s.text()
			if depth == 0 {
				return
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				s.pos += depth + 1 // the end of what it is in stays
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		s.pos++
	}
}

// texts keeps the strings that were read, a fixed number of them and no long ones,
// so that records share those that they all have.
type texts struct {
	slots [4096]string
	seed  maphash.Seed
}

// maxKept is longer than a place in a registry.
const maxKept = 512

func (t *texts) keep(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > maxKept {
		return strings.Clone(text)
	}
	slot := &t.slots[maphash.String(t.seed, text)%uint64(len(t.slots))]
	if *slot != text {
		*slot = strings.Clone(text)
	}
	return *slot
}
