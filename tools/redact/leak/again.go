package leak

import "strings"

// Look is a place in a text at which a rule looked and found no secret: a
// keyword, or a long run of letters.
type Look struct {
	Start, End int
	rule       int // its number, or aRun
}

// aRun stands for the rules that look at runs of letters.
const aRun = -1

// MatchesAgain is Matches for redaction. It appends to looked the places that
// were looked at, for Clear.
func (s *Scanner) MatchesAgain(text string, looked []Look, f func(m Match)) []Look {
	s.matches(text, 0, true, &looked, func(r *rule, start, end int) { f(Match{start, end, r.id, r.kind}) })
	return looked
}

// Clear says that no secret stands where a rule looked, in a text that changed
// around it: the place is that of the text as it is now.
func (s *Scanner) Clear(text string, l Look) bool {
	clear := true
	found := func(*rule, int, int) { clear = false }
	if l.rule == aRun {
		runKeys(text, l.Start, l.End, func(string, int, int) { clear = false })
	} else {
		s.keyword(text, l.rule, l.Start, l.End, 0, true, found)
	}
	return clear
}

// Inert says that no keyword can stand across the edges of a placeholder, nor in
// one that is no token's.
func (s *Scanner) Inert() bool {
	for _, v := range s.secrets {
		if v = v[:min(len(v), 16)]; strings.ContainsAny(v, "<>:") || allDigits(v) {
			return false
		}
	}
	return true
}

// Touches says that a keyword stands in text[from:to] or across its edges.
func (s *Scanner) Touches(text string, from, to int) bool {
	a, b := max(0, from-s.words.longest), min(len(text), to+s.words.longest)
	touches := false
	s.words.each(text[a:b], func(n, start, end int) {
		touches = touches || a+start < to && a+end > from && s.finds(n)
	})
	return touches
}
