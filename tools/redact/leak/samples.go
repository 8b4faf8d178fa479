package leak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// Sample is a text in which a rule must find exactly the secret.
type Sample struct {
	Text       string
	Start, End int // of the secret
}

// Secret returns the secret itself.
func (s Sample) Secret() string { return s.Text[s.Start:s.End] }

// samples makes true and false positives of a rule from its grammar.
type samples struct {
	p    *provider
	rule *rule
	tree *syntax.Regexp
	rand *rand.Rand
}

func newSamples(p *provider, r *rand.Rand) (*samples, error) {
	t, err := syntax.Parse(p.expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", p.id, err)
	}
	s := &samples{p: p, tree: t, rand: r, rule: tokenRule(p)}
	if p.named {
		s.rule = namedRule(p)
	}
	return s, nil
}

// token is a text of the grammar that is not made of one letter only, as a
// random one may be.
func (s *samples) token(t *syntax.Regexp) string {
	for {
		var b strings.Builder
		sample(t, s.rand, &b)
		if v := b.String(); notFiller(v) && (!s.p.named || mixed(v) && !identifier(v)) {
			return v
		}
	}
}

func (s *samples) positive() Sample {
	v := s.token(s.tree)
	if !s.p.named {
		return Sample{v, 0, len(v)}
	}
	name := s.p.keywords[s.rand.IntN(len(s.p.keywords))]
	before := []string{name + "=", strings.ToUpper(name) + "_KEY=", `"` + name + `_id": "`, name + ": '"}[s.rand.IntN(4)]
	after := ""
	if q := before[len(before)-1]; q == '"' || q == '\'' {
		after = string(q)
	}
	return Sample{before + v + after, len(before), len(before) + len(v)}
}

// negatives are texts that are nearly secrets, by what is wrong with them.
func (s *samples) negatives() map[string]string {
	out := map[string]string{}
	for _, k := range s.p.keywords {
		out["nothing but "+k] = k
		out["a placeholder behind "+k] = k + "=<token:1> " + k + "<token:2>"
		out["letters behind "+k] = k + strings.Repeat("x", 80)
	}
	short := *s.tree
	v := s.token(least(&short))
	cut := v[:len(v)-1]
	if s.p.named {
		name := s.p.keywords[0]
		out["a value without a name"] = v
		out["a value that goes on"] = name + "=" + v + "Zz9Zz9Zz9zZ"
		out["a name in prose"] = "the " + name + " page"
		cut = name + "=" + cut
	} else if isAlnum(v[0]) && s.p.back == 0 {
		out["a token in a word"] = "x" + v
	}
	if !s.optionalEnd() {
		out["a token that is too short"] = cut
	}
	return out
}

// optionalEnd says that a token without its last letter is a token too.
func (s *samples) optionalEnd() bool {
	t := s.tree
	for t.Op == syntax.OpConcat || t.Op == syntax.OpCapture {
		t = t.Sub[len(t.Sub)-1]
	}
	return t.Op == syntax.OpQuest || t.Op == syntax.OpStar
}

// least is the grammar with every repeat at its minimum.
func least(t *syntax.Regexp) *syntax.Regexp {
	c := *t
	c.Sub = make([]*syntax.Regexp, len(t.Sub))
	for i, sub := range t.Sub {
		c.Sub[i] = least(sub)
	}
	switch t.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		n, _ := repeats(t)
		c.Op, c.Min, c.Max = syntax.OpRepeat, n, n
	}
	return &c
}

// finds returns the range that the rule finds in a text.
func (s *samples) finds(text string) (start, end int) {
	newFinder([][]string{s.rule.keywords}).each(text, func(_, i, j int) {
		if a, b := s.rule.find(text, i, j, 0, false); b > a && end == 0 {
			start, end = a, b
		}
	})
	return start, end
}

// Check makes true and false positives from the entry's grammar and says what
// the rule gets wrong.
func (e *Entry) Check(r *rand.Rand) error {
	p, err := e.compile()
	if err != nil {
		return err
	}
	s, err := newSamples(p, r)
	if err != nil {
		return err
	}
	var errs []error
	for range 25 {
		x := s.positive()
		if a, b := s.finds(x.Text); a != x.Start || b != x.End {
			errs = append(errs, fmt.Errorf("rule %s: a text of its own grammar, %d bytes long, is found as bytes %d-%d, want %d-%d", e.ID, len(x.Text), a, b, x.Start, x.End))
			break
		}
	}
	for what, text := range s.negatives() {
		if a, b := s.finds(text); b > a {
			errs = append(errs, fmt.Errorf("rule %s: takes %s for a secret", e.ID, what))
		}
	}
	return errors.Join(errs...)
}

// Samples makes n texts of the rule's grammar.
func Samples(id string, n int, r *rand.Rand) ([]Sample, error) {
	for i := range providers {
		if providers[i].id == id {
			s, err := newSamples(&providers[i], r)
			if err != nil {
				return nil, err
			}
			var out []Sample
			for range n {
				out = append(out, s.positive())
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("no rule %q in rules.json", id)
}

// Generate makes a text of an expression.
func Generate(expr string, r *rand.Rand) (string, error) {
	t, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	sample(t, r, &b)
	return b.String(), nil
}

// Providers returns the ids of the rules of rules.json and how many providers
// they are of.
func Providers() (ids []string, n int) {
	seen := map[string]bool{}
	for i := range providers {
		ids = append(ids, providers[i].id)
		seen[providers[i].provider] = true
	}
	return ids, len(seen)
}
