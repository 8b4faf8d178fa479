package leak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
)

// provider is a token grammar of the table in rules.json.
type provider struct {
	id       string
	provider string
	keywords []string // lower case; of a named rule the names
	expr     string
	back     int
	named    bool
}

// Entry is a rule in rules.json: Token is the expression of a token that can
// be told by itself, Value that of one that only a name of Names beside it
// gives away. Keywords and Back are for tokens that do not begin with a fixed
// text: what to look for, and how far before it the token may begin.
type Entry struct {
	ID       string   `json:"id"`
	Provider string   `json:"provider"`
	Token    string   `json:"token"`
	Keywords []string `json:"keywords"`
	Back     int      `json:"back"`
	Names    []string `json:"names"`
	Value    string   `json:"value"`
}

// ParseEntries reads rules.json.
func ParseEntries(b []byte) ([]Entry, error) {
	var list []Entry
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("reading rules.json: %w", err)
	}
	return list, nil
}

func (e *Entry) compile() (*provider, error) {
	p := &provider{id: e.ID, provider: e.Provider, keywords: e.Keywords, expr: e.Token, back: e.Back}
	if len(e.Names) > 0 {
		p.keywords, p.expr, p.named = e.Names, e.Value, true
		if e.Token != "" || len(e.Keywords) > 0 {
			return nil, fmt.Errorf("rule %s: a rule has a token or names and a value, not both", e.ID)
		}
	}
	t, err := syntax.Parse(p.expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", e.ID, err)
	}
	if len(p.keywords) == 0 {
		p.keywords = prefixes(t)
	}
	for _, k := range p.keywords {
		if k == "" || k != strings.ToLower(k) || len(k) < 3 && p.back == 0 && !p.named {
			return nil, fmt.Errorf("rule %s: keyword %q: a keyword has three letters or more, in lower case", e.ID, k)
		}
	}
	return p, nil
}

// maxPrefixes is how many texts a token may begin with.
const maxPrefixes = 24

// prefixes returns the texts, in lower case, of which every match begins with
// one.
func prefixes(t *syntax.Regexp) []string {
	list, _ := heads(t)
	for i, s := range list {
		list[i] = strings.ToLower(s)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// heads returns the beginnings of t's matches and whether they are all of it.
func heads(t *syntax.Regexp) (list []string, whole bool) {
	switch t.Op {
	case syntax.OpLiteral:
		return []string{string(t.Rune)}, true
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpCapture:
		return heads(t.Sub[0])
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				if list = append(list, string(r)); len(list) > 12 {
					return []string{""}, false
				}
			}
		}
		return list, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range t.Sub {
			l, w := heads(sub)
			list, whole = append(list, l...), whole && w
		}
		return list, whole
	case syntax.OpConcat:
		list = []string{""}
		for _, sub := range t.Sub {
			next, w := heads(sub)
			if len(list)*len(next) > maxPrefixes {
				return list, false
			}
			var joined []string
			for _, a := range list {
				for _, b := range next {
					joined = append(joined, a+b)
				}
			}
			if list = joined; !w {
				return list, false
			}
		}
		return list, true
	}
	return []string{""}, false
}

// sample writes a text of the grammar. Repeats are as short as they may be, or
// a little longer.
func sample(t *syntax.Regexp, r *rand.Rand, b *strings.Builder) {
	switch t.Op {
	case syntax.OpLiteral:
		b.WriteString(string(t.Rune))
	case syntax.OpCapture:
		sample(t.Sub[0], r, b)
	case syntax.OpCharClass:
		n := rune(0)
		for i := 0; i < len(t.Rune); i += 2 {
			n += t.Rune[i+1] - t.Rune[i] + 1
		}
		k := r.Int32N(n)
		for i := 0; i < len(t.Rune); i += 2 {
			if span := t.Rune[i+1] - t.Rune[i] + 1; k >= span {
				k -= span
				continue
			}
			b.WriteRune(t.Rune[i] + k)
			return
		}
	case syntax.OpConcat:
		for _, sub := range t.Sub {
			sample(sub, r, b)
		}
	case syntax.OpAlternate:
		sample(t.Sub[r.IntN(len(t.Sub))], r, b)
	case syntax.OpQuest:
		if r.IntN(2) == 0 {
			sample(t.Sub[0], r, b)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		least, most := repeats(t)
		for range least + r.IntN(most-least+1) {
			sample(t.Sub[0], r, b)
		}
	}
}

func repeats(t *syntax.Regexp) (least, most int) {
	least, most = t.Min, t.Max
	switch t.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	}
	if most < 0 {
		most = least + 24
	}
	return least, min(most, least+24)
}

// Row returns the entry compiled, as a line of Go source.
func (e *Entry) Row() (string, error) {
	p, err := e.compile()
	if err != nil {
		return "", err
	}
	if p.id == "" || p.provider == "" {
		return "", fmt.Errorf("rule %q of provider %q: a rule has both", p.id, p.provider)
	}
	row := fmt.Sprintf("\t{id: %q, provider: %q, keywords: %#v, expr: %q", p.id, p.provider, p.keywords, p.expr)
	if p.back > 0 {
		row += fmt.Sprintf(", back: %d", p.back)
	}
	if p.named {
		row += ", named: true"
	}
	return row + "},\n", nil
}
