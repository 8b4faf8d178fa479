package redact

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Finding is a place where something looks like a secret. It never holds the
// secret.
type Finding struct {
	// Rule is the id of a rule, "known-secret", or "whole-text" for something
	// that shows only when the text is read as a whole.
	Rule string
	View string // how the bytes had to be read: raw, json, base64, hex, percent, ansi, utf16, bytes, joined
	Line int    // from 1
	// Start and End are a byte range of the scanned bytes: the secret itself
	// in the raw view, otherwise the token that holds it.
	Start, End int
}

// String names rule, view and place, which is safe to log.
func (f Finding) String() string {
	return fmt.Sprintf("%s (%s) in line %d, bytes %d-%d", f.Rule, f.View, f.Line, f.Start, f.End)
}

// Scanner is the leak scan. It is safe for use by several goroutines.
type Scanner struct {
	secrets []string
	joins   []*pieceRule
}

// The rules after the catalogue: known secrets, then the marks of joined
// texts.
const knownSecret = "known-secret"

// minSecret is the length from which a value of the environment counts as a
// secret; shorter ones stand everywhere.
const minSecret = 6

// NewScanner returns a leak scan that joins texts cut over several frames as
// the families say (nil for none) and also looks for these secrets, the values
// of the child's environment.
func NewScanner(f *contract.Families, secrets []string) (*Scanner, error) {
	s := &Scanner{}
	for _, v := range secrets {
		if len(v) >= minSecret {
			s.secrets = append(s.secrets, v)
		}
	}
	if f == nil {
		return s, nil
	}
	for i := range f.Dialects {
		for _, p := range f.Dialects[i].Redact.Pieces {
			c, err := compilePiece(p)
			if err != nil {
				return nil, fmt.Errorf("building leak scan for dialect %q: %w", f.Dialects[i].ID, err)
			}
			s.joins = append(s.joins, c)
		}
	}
	return s, nil
}

// Scan looks for secrets in the bytes and in everything they decode to. The
// findings are in the order of their places; one place is reported once a
// rule.
func (s *Scanner) Scan(b []byte) []Finding {
	if s.clean(b) {
		return nil
	}
	v := &view{s: s, seen: map[Finding]bool{}}
	text := string(b)
	for start, n := 0, 1; start < len(text); n++ {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += start
		}
		v.line, v.base = n, start
		v.text(text[start:end], "raw", span{0, end - start}, 0)
		start = end + 1
	}
	v.joined()
	if bytes.IndexByte(b, '\n') >= 0 {
		v.acrossLines(text)
	}
	if len(v.found) == 0 { // found in the text as a whole only
		v.found = append(v.found, Finding{Rule: "whole-text", View: "joined", Line: 1, Start: 0, End: len(b)})
	}
	sort.SliceStable(v.found, func(i, j int) bool { return v.found[i].Start < v.found[j].Start })
	return v.found
}

// ruleWords is the automaton of the catalogue's keywords.
var ruleWords = sync.OnceValue(func() *keywords {
	list := make([][]string, len(rules))
	for i, r := range rules {
		list[i] = r.keywords
	}
	return newKeywords(list)
})

// match is a secret inside a text.
type match struct {
	start, end int
	rule       int
}

// matches calls f with every secret that the catalogue finds in s as it
// stands. Deny is the aggressive form for redaction.
func (s *Scanner) matches(text string, deny bool, f func(m match)) {
	for _, v := range s.secrets {
		for at := 0; ; {
			i := strings.Index(text[at:], v)
			if i < 0 {
				break
			}
			f(match{at + i, at + i + len(v), len(rules)})
			at += i + len(v)
		}
	}
	ruleWords().each(text, func(n, start, end int) {
		r := &rules[n]
		if r.quick != nil && !r.quick(text, start, end) {
			return
		}
		if r.re == nil {
			if a, b := secretValue(text, end, deny); b > a {
				f(match{a, b, n})
			}
			return
		}
		if a, b := r.find(text, start, end); b > a {
			f(match{a, b, n})
		}
	})
}

// find runs the expression around a keyword and returns the secret.
func (r *rule) find(text string, start, end int) (int, int) {
	from := max(0, start-r.back)
	to := min(len(text), start+ruleWindow)
	for from <= start {
		m := r.re.FindStringSubmatchIndex(text[from:to])
		if m == nil || from+m[0] > start {
			return 0, 0
		}
		if from+m[1] >= end {
			a, b := from+m[2*r.group], from+m[2*r.group+1]
			if r.check != nil && !r.check(text[a:b]) {
				return 0, 0
			}
			return a, b
		}
		from += max(m[1], 1)
	}
	return 0, 0
}

func ruleID(n int) string {
	if n >= len(rules) {
		return knownSecret
	}
	return rules[n].id
}

func ruleKind(n int) string {
	if n >= len(rules) {
		return "token"
	}
	return rules[n].kind
}
