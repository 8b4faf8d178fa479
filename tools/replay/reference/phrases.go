package reference

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// phrases is an expression with the words that a text must hold for it to
// match. Most texts hold none of them, and looking for words is a hundred
// times faster than matching: an error may come with a page of HTML.
type phrases struct {
	expr  *regexp.Regexp
	words []string // one of them is in each match; nil if that is not known
}

func compilePhrases(expr string) *phrases {
	p := &phrases{expr: regexp.MustCompile(expr)}
	if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
		p.words = needed(tree)
	}
	return p
}

// find returns where the first match begins and ends, or nil.
func (p *phrases) find(text string) []int {
	if p.words != nil && !holdsAny(text, p.words) {
		return nil
	}
	return p.expr.FindStringIndex(text)
}

func holdsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// needed returns words of which each match of the expression holds one, or nil
// if it names none.
func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := needed(sub)
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if words := needed(sub); best == nil || shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	}
	return nil
}

// shortest returns the length of the shortest word: the longer, the rarer.
func shortest(words []string) int {
	n := 0
	for i, w := range words {
		if i == 0 || len(w) < n {
			n = len(w)
		}
	}
	return n
}
