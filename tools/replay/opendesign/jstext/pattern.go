package jstext

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// Text is a text made ready for Patterns: ASCII letters are lower case. Other
// characters never match an ASCII letter in JavaScript's /i, so they stay.
type Text string

// Fold returns the Text of s.
func Fold(s string) Text {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return Text(b)
		}
	}
	return Text(s)
}

// Has reports whether the text holds the lower-case literal.
func (t Text) Has(literal string) bool { return strings.Contains(string(t), literal) }

// Patterns is a list of alternatives, searched as JavaScript searches
// /a|b|c/i. An alternative is a regular expression in lower case; \b at its
// start or end is a word boundary (ASCII letters, digits and underscore are
// word characters), \s is JavaScript's white space, and a dot is any
// character but a line terminator. Plain words are searched without the
// regular-expression engine.
type Patterns struct {
	source []string
	words  bool // a word boundary stands on both sides of each
	once   sync.Once
	alts   []alternative
}

type alternative struct {
	literal       string // a plain phrase, where re is nil
	re            *regexp.Regexp
	held          []string // what every match of re holds
	start, finish bool     // word boundary before, after; finish only without re
}

// Any returns the Patterns of the alternatives. They are compiled on first
// use; a faulty one panics then.
func Any(alternatives ...string) *Patterns { return &Patterns{source: alternatives} }

// Words is Any with a word boundary on both sides of every alternative.
func Words(alternatives ...string) *Patterns { return &Patterns{source: alternatives, words: true} }

// Match reports whether any alternative matches anywhere in t.
func (p *Patterns) Match(t Text) bool {
	p.once.Do(p.compile)
	for i := range p.alts {
		if p.alts[i].in(string(t)) {
			return true
		}
	}
	return false
}

func isPlain(s string) bool { return !strings.ContainsAny(s, `\.+*?()|[]{}^$`) }

func (p *Patterns) compile() {
	for _, s := range p.source {
		if p.words && isPlain(s) {
			s = `\b` + s + `\b`
		} else if p.words {
			s = `\b(?:` + s + `)\b`
		}
		var a alternative
		rest, start := strings.CutPrefix(s, `\b`)
		plain, finish := strings.CutSuffix(rest, `\b`)
		switch {
		case isPlain(plain):
			a = alternative{literal: plain, start: start, finish: finish}
		case strings.ContainsAny(rest, "*+"):
			// Trying again after a failed boundary could take quadratic time.
			a = expression(s)
		default:
			a = expression(rest)
			a.start = start
		}
		p.alts = append(p.alts, a)
	}
}

func expression(s string) alternative {
	s = translate(s)
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return alternative{re: regexp.MustCompile(s), held: required(nil, tree)}
}

// required appends the literals that every match holds. A status number is one,
// and seldom in a text that has the words around it.
func required(held []string, re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			held = append(held, string(re.Rune))
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			held = required(held, sub)
		}
	}
	return held
}

// in searches t. Where it can be, a boundary before the match is checked here
// and not by the regular expression, so that the engine can jump to a literal
// beginning.
func (a *alternative) in(t string) bool {
	for _, s := range a.held {
		if !strings.Contains(t, s) {
			return false
		}
	}
	for from := 0; from <= len(t); {
		at := a.next(t, from)
		if at < 0 {
			return false
		}
		if (!a.start || boundary(t, at)) && (!a.finish || boundary(t, at+len(a.literal))) {
			return true
		}
		from = at + 1
	}
	return false
}

func (a *alternative) next(t string, from int) int {
	at := -1
	if a.re == nil {
		at = strings.Index(t[from:], a.literal)
	} else if loc := a.re.FindStringIndex(t[from:]); loc != nil {
		at = loc[0]
	}
	if at < 0 {
		return -1
	}
	return from + at
}

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// boundary reports whether \b matches before t[i].
func boundary(t string, i int) bool {
	return (i > 0 && word(t[i-1])) != (i < len(t) && word(t[i]))
}

const spaces = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"

// translate spells a JavaScript expression for Go's regexp: \s, the dot and
// [^] mean other sets there.
func translate(s string) string {
	var out strings.Builder
	class := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			switch {
			case s[i] != 's':
				out.WriteByte('\\')
				out.WriteByte(s[i])
			case class:
				out.WriteString(spaces)
			default:
				out.WriteString("[" + spaces + "]")
			}
		case c == '.' && !class:
			out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		case strings.HasPrefix(s[i:], "[^]"): // JavaScript's "any character"
			out.WriteString(`(?s:.)`)
			i += 2
		default:
			class = class && c != ']' || c == '['
			out.WriteByte(c)
		}
	}
	return out.String()
}

// Regexp is a JavaScript expression that is searched in Text: \s and the dot
// mean what they mean there. It is compiled on first use; a faulty one panics
// then.
func Regexp(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(translate(pattern)) })
}
