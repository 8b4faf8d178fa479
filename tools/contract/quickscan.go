package contract

import (
	"encoding/json"
	"hash/maphash"
	"strings"
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
	seen *texts
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
	for i := start; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '"':
			s.pos = i + 1
			return s.src[start:i]
		case c == '\\':
			return s.escaped(start)
		case c < 0x20:
			s.stop()
			return ""
		}
	}
	s.stop()
	return ""
}

func (s *scan) escaped(start int) string {
	for i := start; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case '"':
			var out string
			if json.Unmarshal([]byte(s.src[start-1:i+1]), &out) != nil || strings.ContainsRune(out, utf8.RuneError) {
				s.stop() // among them half of a surrogate pair
			}
			s.pos = i + 1
			return out
		}
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

// texts keeps the strings that were read, a fixed number of them, so that
// records share those that they all have.
type texts struct {
	slots [4096]string
	seed  maphash.Seed
}

func (t *texts) keep(text string) string {
	if text == "" {
		return ""
	}
	slot := &t.slots[maphash.String(t.seed, text)%uint64(len(t.slots))]
	if *slot != text {
		*slot = strings.Clone(text)
	}
	return *slot
}
