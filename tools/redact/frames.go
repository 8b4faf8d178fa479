package redact

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// condition is a compiled contract.Match.
type condition []pathTest

type pathTest struct {
	steps    []string
	literals []string
}

func compileMatch(m contract.Match) (condition, error) {
	var c condition
	for p, literals := range m {
		steps, err := paths.Split(p)
		if err != nil {
			return nil, err
		}
		c = append(c, pathTest{steps, literals})
	}
	return c, nil
}

func compileMatches(list []contract.Match) ([]condition, error) {
	var out []condition
	for _, m := range list {
		c, err := compileMatch(m)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (c condition) holds(root rawjson.Value) bool {
	for _, t := range c {
		if !t.holds(root) {
			return false
		}
	}
	return true
}

func anyHolds(list []condition, root rawjson.Value) bool {
	for _, c := range list {
		if c.holds(root) {
			return true
		}
	}
	return false
}

func (t pathTest) holds(root rawjson.Value) bool {
	found, present := false, false
	lookup(root, t.steps, func(v rawjson.Value) {
		present = true
		for _, l := range t.literals {
			found = found || literalHolds(l, v)
		}
	})
	if present {
		return found
	}
	for _, l := range t.literals {
		if l == "" {
			return true
		}
	}
	return false
}

func literalHolds(l string, v rawjson.Value) bool {
	if l == "*" {
		return v.Kind() != rawjson.Null
	}
	if v.Kind() != rawjson.String {
		return string(v.Raw()) == l
	}
	switch {
	case l == "":
		return false
	case strings.HasSuffix(l, "*"):
		return strings.HasPrefix(v.Str(), l[:len(l)-1])
	case strings.HasPrefix(l, "*"):
		return strings.HasSuffix(v.Str(), l[1:])
	}
	return v.IsStr(l)
}

// lookup calls f with every value that the steps lead to.
func lookup(v rawjson.Value, steps []string, f func(rawjson.Value)) {
	if len(steps) == 0 {
		if v.Exists() {
			f(v)
		}
		return
	}
	switch step := steps[0]; step {
	case "[]":
		if v.Kind() == rawjson.Array {
			for e := range v.Children() {
				lookup(e, steps[1:], f)
			}
		}
	case "<key>":
		if v.Kind() == rawjson.Object {
			for e := range v.Children() {
				lookup(e, steps[1:], f)
			}
		}
	default:
		if m := v.Get(step); m.Exists() {
			lookup(m, steps[1:], f)
		}
	}
}

// pieceRule is a compiled contract.PieceRule.
type pieceRule struct {
	when   condition
	path   []string
	keys   [][]string
	end    []condition
	marker string // stands in every frame that the rule is for
	prefix bool   // later texts may begin with the pieces
}

func compilePiece(p contract.PieceRule) (*pieceRule, error) {
	c := &pieceRule{prefix: p.Prefix}
	var err error
	if c.when, err = compileMatch(p.When); err != nil {
		return nil, err
	}
	if c.path, err = paths.Split(p.Path); err != nil {
		return nil, err
	}
	for _, k := range p.Key {
		steps, err := paths.Split(k)
		if err != nil {
			return nil, err
		}
		c.keys = append(c.keys, steps)
	}
	if c.end, err = compileMatches(p.End); err != nil {
		return nil, err
	}
	c.marker = c.path[len(c.path)-1]
	for _, t := range c.when {
		if len(t.literals) == 1 && len(t.literals[0]) > len(c.marker) && !strings.Contains(t.literals[0], "*") {
			c.marker = t.literals[0]
		}
	}
	return c, nil
}

// key returns the values that tell the texts of a rule apart, and whether the
// frame has all of them.
func (p *pieceRule) key(root rawjson.Value) (string, bool) {
	var b strings.Builder
	all := true
	for _, steps := range p.keys {
		found := false
		lookup(root, steps, func(v rawjson.Value) {
			b.Write(v.Raw())
			found = true
		})
		all = all && found
		b.WriteByte(0)
	}
	return b.String(), all
}
