package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Place is a compiled path without wildcards below <key> and **: what Find
// looks up in a frame.
type Place struct{ steps []string }

// Compile compiles a path of members and [] steps for Find.
func Compile(p string) (Place, error) {
	steps, err := Split(p)
	if err != nil {
		return Place{}, err
	}
	if slices.Contains(steps, "<key>") || slices.Contains(steps, "**") {
		return Place{}, fmt.Errorf("path pattern %q: a place has no <key> and no **", p)
	}
	return Place{steps}, nil
}

// Find calls yield for each value at the place, in document order, until
// yield returns false: one value at most unless the place has [] steps. Of
// duplicate members the last one counts.
func (p Place) Find(v rawjson.Value, yield func(rawjson.Value) bool) {
	find(v, p.steps, yield)
}

func find(v rawjson.Value, steps []string, yield func(rawjson.Value) bool) bool {
	for i, s := range steps {
		if s == "[]" {
			if v.Kind() != rawjson.Array {
				return true
			}
			for e := range v.Children() {
				if !find(e, steps[i+1:], yield) {
					return false
				}
			}
			return true
		}
		if v = v.Get(s); !v.Exists() {
			return true
		}
	}
	return yield(v)
}

// First returns the first value at the place, or the zero Value.
func (p Place) First(v rawjson.Value) rawjson.Value {
	if !slices.Contains(p.steps, "[]") {
		return v.At(p.steps...)
	}
	var found rawjson.Value
	p.Find(v, func(x rawjson.Value) bool { found = x; return false })
	return found
}

// Matcher is a compiled condition on a frame (contract.Match).
type Matcher struct{ terms []term }

type term struct {
	place Place
	want  []string
}

// CompileMatch compiles a condition. Each path must hold one of the literals,
// spelled as in JSON without quotes (initialize, true, null). "*" asks for any
// value but null, "" for an absent path, "prefix*" and "*suffix" for a string.
// A path with [] steps matches if one element does. The empty condition
// matches everything.
func CompileMatch(m map[string][]string) (*Matcher, error) {
	out := &Matcher{}
	for p, want := range m {
		place, err := Compile(p)
		if err != nil {
			return nil, err
		}
		if len(want) == 0 {
			return nil, fmt.Errorf("condition on %q: no literal can match", p)
		}
		out.terms = append(out.terms, term{place, want})
	}
	// Short places first: they are the cheap ones and decide most frames.
	slices.SortFunc(out.terms, func(a, b term) int {
		if n := len(a.place.steps) - len(b.place.steps); n != 0 {
			return n
		}
		return strings.Compare(strings.Join(a.place.steps, "\x00"), strings.Join(b.place.steps, "\x00"))
	})
	return out, nil
}

// Match reports whether the frame meets the condition.
func (m *Matcher) Match(frame rawjson.Value) bool {
	for i := range m.terms {
		if !m.terms[i].match(frame) {
			return false
		}
	}
	return true
}

// Places calls visit with each place that the condition looks at.
func (m *Matcher) Places(visit func(Place)) {
	for i := range m.terms {
		visit(m.terms[i].place)
	}
}

func (t *term) match(frame rawjson.Value) bool {
	found, ok := false, false
	t.place.Find(frame, func(v rawjson.Value) bool {
		found = true
		ok = slices.ContainsFunc(t.want, func(w string) bool { return IsLiteral(v, w) })
		return !ok
	})
	return ok || !found && slices.Contains(t.want, "")
}

// IsLiteral reports whether a value is the literal of a condition. The empty
// literal stands for an absent path and is no value's.
func IsLiteral(v rawjson.Value, lit string) bool {
	switch {
	case lit == "":
		return false
	case lit == "*":
		return v.Kind() != rawjson.Null
	case v.Kind() == rawjson.String && strings.HasSuffix(lit, "*"):
		return strings.HasPrefix(v.Str(), lit[:len(lit)-1])
	case v.Kind() == rawjson.String && strings.HasPrefix(lit, "*"):
		return strings.HasSuffix(v.Str(), lit[1:])
	case v.Kind() == rawjson.String:
		return v.IsStr(lit)
	case v.Kind() == rawjson.Number:
		return string(rawjson.AppendNumber(nil, v.Float())) == lit
	case v.Kind() == rawjson.Boolean, v.Kind() == rawjson.Null:
		return string(v.Raw()) == lit
	}
	return false
}
