package leak

import (
	"regexp"
	"strings"
	"sync"
)

// rule finds one kind of secret. Keywords are searched first, without regard
// to case and at full speed; the expression then runs around the hit.
type rule struct {
	id       string
	kind     string // placeholder kind
	keywords []string
	// expr is what the secret looks like. With back it may begin that many
	// bytes before the keyword and a letter or digit before it is refused;
	// otherwise it begins with the keyword.
	expr  string
	back  int
	group int // the part of the match that is the secret
	check func(secret string) bool
	// quick refuses a keyword's place without running the expression.
	quick func(s string, start, end int) bool
	// value finds the secret behind a name instead of an expression.
	value func(r *rule, s string, start, end int, deny bool) (int, int)
	// alone keeps the rule to text as it stands: it says too little to be
	// believed across joins.
	alone bool
	// inWord keeps the rule from words that a line break only seems to cut: no
	// full stop may stand before the break.
	inWord bool
	// view is how a layer is read once more that holds one of the keywords. Such a
	// rule finds nothing itself.
	view decoder
	// part, if there is one, says which part of the layer is read so, for the
	// keyword at s[start:end], and whether any is; nothing before to is one.
	part func(s string, start, end int) (from, to int, ok bool)
	// joins keeps a view to secrets that go over what it leaves out: the others
	// stand there as they are.
	joins bool
	once  sync.Once
	re    *regexp.Regexp
}

// ruleWindow is how far behind its keyword a secret is looked for: nothing
// that identifies one is longer.
const ruleWindow = 1024

// compiled returns the expression. It is compiled at its first hit, so that a
// program that scans nothing pays nothing.
func (r *rule) compiled() *regexp.Regexp {
	r.once.Do(func() {
		switch {
		case r.value != nil || r.back == 0:
			r.re = regexp.MustCompile(`^(?:` + r.expr + `)`)
		default:
			r.re = regexp.MustCompile(r.expr)
		}
	})
	return r.re
}

// find returns the range of the secret around the keyword at text[start:end],
// or 0, 0. A letter or digit within glue bytes of the text's beginning does not
// count as belonging to it.
func (r *rule) find(text string, start, end, glue int, deny bool) (int, int) {
	if r.quick != nil && !r.quick(text, start, end) {
		return 0, 0
	}
	if r.value != nil {
		return r.value(r, text, start, end, deny)
	}
	a, b := r.around(text, start, end, glue)
	if b > a && r.check != nil && !r.check(text[a:b]) {
		return 0, 0
	}
	return a, b
}

func (r *rule) around(text string, start, end, glue int) (int, int) {
	to := min(len(text), start+ruleWindow)
	if r.back == 0 {
		if r.quick == nil && !tokenStart(text, start, glue) {
			return 0, 0
		}
		m := r.compiled().FindStringSubmatchIndex(text[start:to])
		if m == nil {
			return 0, 0
		}
		return start + m[2*r.group], start + m[2*r.group+1]
	}
	for from := max(0, start-r.back); from <= start; {
		m := r.compiled().FindStringSubmatchIndex(text[from:to])
		if m == nil || from+m[0] > start {
			return 0, 0
		}
		if from+m[1] >= end {
			a, b := from+m[2*r.group], from+m[2*r.group+1]
			if r.quick == nil && !tokenStart(text, a, glue) {
				return 0, 0
			}
			return a, b
		}
		from += max(m[1], 1)
	}
	return 0, 0
}

// tokenStart says that no letter or digit that belongs to the same token
// stands before s[at]. The letter of an escape (\n) is none.
func tokenStart(s string, at, glue int) bool {
	if at <= glue || !isAlnum(s[at-1]) || !isAlnum(s[at]) {
		return true
	}
	return at >= 2 && s[at-2] == '\\' && strings.IndexByte("nrtbf", s[at-1]) >= 0
}

// tokenRule makes the rule of a token grammar.
func tokenRule(p *provider) *rule {
	return &rule{id: p.id, kind: "token", keywords: p.keywords, expr: p.expr, back: p.back, check: notFiller}
}

// namedRule makes the rule of a grammar that only a name beside it gives away.
func namedRule(p *provider) *rule {
	return &rule{id: p.id, kind: "token", keywords: p.keywords, expr: p.expr, value: namedValue}
}

// notFiller refuses what stands for a token in a text about tokens:
// sk-xxxxxxxxxxxxxxxx, ghp_0000….
func notFiller(s string) bool {
	var seen [256]bool
	n := 0
	for i := len(s) / 3; i < len(s); i++ {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n > 3
}

// catalogue is every rule and the finder of their keywords.
type catalogue struct {
	rules   []*rule
	words   *finder
	numbers map[string]int
}

var theCatalogue = sync.OnceValue(func() *catalogue {
	c := &catalogue{}
	for i := range providers {
		p := &providers[i]
		if p.named {
			c.rules = append(c.rules, namedRule(p))
		} else {
			c.rules = append(c.rules, tokenRule(p))
		}
	}
	c.rules = append(c.rules, formRules()...)
	c.numbers = map[string]int{KnownSecret: -2}
	for i, r := range c.rules {
		c.numbers[r.id] = i
	}
	c.words = newFinder(c.keywords())
	return c
})

func (c *catalogue) keywords() [][]string {
	list := make([][]string, len(c.rules))
	for i, r := range c.rules {
		list[i] = r.keywords
	}
	return list
}

// byID returns the rule of that id, which must exist.
func (c *catalogue) byID(id string) *rule { return c.rules[c.number(id)] }

// number returns the place of a rule, or -1.
func (c *catalogue) number(id string) int {
	if n, ok := c.numbers[id]; ok {
		return n
	}
	return -1
}
