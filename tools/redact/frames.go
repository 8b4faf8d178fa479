package redact

import (
	"slices"
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
	slot     int // in lookups, or -1 for a path with several values
}

// lookups are the values at the paths that conditions ask for, in one frame.
type lookups struct {
	paths  [][]string
	values []rawjson.Value
	known  []bool
	root   rawjson.Value
}

func newLookups(d *dialect) lookups {
	return lookups{paths: d.asked, values: make([]rawjson.Value, len(d.asked)), known: make([]bool, len(d.asked))}
}

// next goes on to another frame.
func (l *lookups) next(root rawjson.Value) {
	l.root = root
	clear(l.known)
}

func (l *lookups) at(slot int) rawjson.Value {
	if !l.known[slot] {
		l.known[slot] = true
		l.values[slot] = l.root.At(l.paths[slot]...)
	}
	return l.values[slot]
}

func (d *dialect) compileMatch(m contract.Match) (condition, error) {
	var c condition
	for p, literals := range m {
		steps, err := paths.Split(p)
		if err != nil {
			return nil, err
		}
		c = append(c, pathTest{steps, literals, d.ask(steps)})
	}
	return c, nil
}

// ask gives a path a place in lookups.
func (d *dialect) ask(steps []string) int {
	if slices.Contains(steps, "[]") || slices.Contains(steps, "<key>") {
		d.askedLists = append(d.askedLists, steps)
		return -1
	}
	if i := slices.IndexFunc(d.asked, func(p []string) bool { return slices.Equal(p, steps) }); i >= 0 {
		return i
	}
	d.asked = append(d.asked, steps)
	return len(d.asked) - 1
}

func (d *dialect) compileMatches(list []contract.Match) ([]condition, error) {
	var out []condition
	for _, m := range list {
		c, err := d.compileMatch(m)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func (c condition) holds(in *lookups) bool {
	for i := range c {
		if !c[i].holds(in) {
			return false
		}
	}
	return true
}

func anyHolds(list []condition, in *lookups) bool {
	for _, c := range list {
		if c.holds(in) {
			return true
		}
	}
	return false
}

func (t *pathTest) holds(in *lookups) bool {
	found, present := false, false
	see := func(v rawjson.Value) {
		present = true
		for _, l := range t.literals {
			found = found || literalHolds(l, v)
		}
	}
	if t.slot < 0 {
		lookup(in.root, t.steps, see)
	} else if v := in.at(t.slot); v.Exists() {
		see(v)
	}
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
	keys   []keyPath
	end    []condition
	marker string // stands in every frame that the rule is for
	prefix bool   // later texts may begin with the pieces
}

func (d *dialect) compilePiece(p contract.PieceRule) (*pieceRule, error) {
	c := &pieceRule{prefix: p.Prefix}
	var err error
	if c.when, err = d.compileMatch(p.When); err != nil {
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
		c.keys = append(c.keys, keyPath{steps, d.ask(steps)})
	}
	if c.end, err = d.compileMatches(p.End); err != nil {
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

type keyPath struct {
	steps []string
	slot  int // as in pathTest
}

// appendKey appends the values that tell the texts of a rule apart, and says
// whether the frame has all of them.
func (p *pieceRule) appendKey(b []byte, in *lookups) ([]byte, bool) {
	all := true
	for _, k := range p.keys {
		found := false
		see := func(v rawjson.Value) {
			b = append(b, v.Raw()...)
			found = true
		}
		if k.slot < 0 {
			lookup(in.root, k.steps, see)
		} else if v := in.at(k.slot); v.Exists() {
			see(v)
		}
		all = all && found
		b = append(b, 0)
	}
	return b, all
}
