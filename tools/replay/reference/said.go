package reference

import "strings"

// said is a text that grows by pieces. Of one piece, as most texts are, it
// keeps no copy. The zero said is empty.
type said struct {
	first string
	all   strings.Builder // once there are two pieces
}

// WriteString adds a piece.
func (s *said) WriteString(piece string) {
	switch {
	case s.all.Len() > 0:
		s.all.WriteString(piece)
	case s.first == "":
		s.first = piece
	default:
		s.all.WriteString(s.first)
		s.all.WriteString(piece)
	}
}

// String returns the text so far.
func (s *said) String() string {
	if s.all.Len() > 0 {
		return s.all.String()
	}
	return s.first
}

// Len returns the length of the text in bytes.
func (s *said) Len() int { return len(s.String()) }

// Reset empties the text.
func (s *said) Reset() { *s = said{} }

// words is a set of texts, which often has one or none.
type words struct {
	first    string
	hasFirst bool
	more     map[string]bool
}

func (w *words) has(text string) bool {
	return w.hasFirst && w.first == text || w.more[text]
}

func (w *words) add(text string) {
	switch {
	case w.has(text):
	case !w.hasFirst:
		w.first, w.hasFirst = text, true
	default:
		if w.more == nil {
			w.more = map[string]bool{}
		}
		w.more[text] = true
	}
}
