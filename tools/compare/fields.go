package compare

import (
	"slices"
	"sort"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// fields compares two frames of corresponding kinds.
func (c *comparison) fields(a, b *frame) {
	gone, come := only(a, b), only(b, a)
	renamed := renames(a, b, gone, come)
	for _, p := range gone {
		to, ok := renamed[p]
		switch {
		case ok:
			c.add(Signal{ID: FieldRenamed, EventType: b.EventType, Kinds: c.kinds(b), Path: to, From: p, To: to})
			c.enums(a, b, p, to)
		case !covered(p, gone):
			s := Signal{ID: FieldRemoved, EventType: b.EventType, Kinds: c.kinds(b), Path: p, From: strings.Join(a.types[p], "|")}
			if !a.required[p] {
				s.Severity = Warning
			}
			c.add(s)
		}
	}
	for _, p := range come {
		if !covered(p, come) && !isTarget(renamed, p) {
			c.add(Signal{ID: FieldAdded, EventType: b.EventType, Kinds: c.kinds(b), Path: p, To: strings.Join(b.types[p], "|")})
		}
	}
	for _, p := range sortedKeys(a.types) {
		if _, ok := b.types[p]; ok {
			c.member(a, b, p)
		}
	}
}

// member compares a member that both frames have.
func (c *comparison) member(a, b *frame, p string) {
	from, to := a.types[p], b.types[p]
	if !slices.Equal(from, to) {
		s := Signal{ID: TypeChanged, EventType: b.EventType, Kinds: c.kinds(b), Path: p, From: strings.Join(from, "|"), To: strings.Join(to, "|")}
		switch {
		case slices.Equal(to, []string{"null"}) && subset(to, from):
			s.Severity = Warning // what it carried is gone from every frame
		case subset(to, from):
			s.Severity = Info
		case subset(from, to):
			s.Severity = Warning
		}
		c.add(s)
	}
	if a.required[p] != b.required[p] && !a.sameAbove(b, p) {
		s := Signal{ID: RequirednessChanged, EventType: b.EventType, Kinds: c.kinds(b), Path: p, From: "required", To: "optional"}
		if b.required[p] {
			s.From, s.To, s.Severity = s.To, s.From, Info
		}
		c.add(s)
	}
	c.enums(a, b, p, p)
}

// sameAbove reports whether an object that the member lies in changed its
// requiredness in the same way: what lies in it comes and goes with it.
func (f *frame) sameAbove(g *frame, p string) bool {
	for q := parent(p); q != ""; q = parent(q) {
		if f.types[q] != nil && g.types[q] != nil && f.required[q] == f.required[p] && g.required[q] == g.required[p] {
			return true
		}
	}
	return false
}

// enums compares the values at a member; from and to differ if it was renamed.
func (c *comparison) enums(a, b *frame, from, to string) {
	va, vb := a.Enums[from], b.Enums[to]
	lost, new := missing(va, vb), missing(vb, va)
	switch {
	case from != to && len(vb) == 0: // values are not kept under the new name: none is known to be gone
	case len(lost) == 0:
		for _, v := range new {
			c.add(Signal{ID: EnumAdded, EventType: b.EventType, Kinds: c.kinds(b), Path: to, To: spell([]contract.Literal{v})})
		}
	default:
		s := Signal{ID: EnumChanged, EventType: b.EventType, Kinds: c.kinds(b), Path: to, From: spell(lost), To: spell(new)}
		if len(new) == 0 {
			s.Severity = Warning
		}
		c.add(s)
	}
}

// missing returns the literals of a that b lacks.
func missing(a, b []contract.Literal) []contract.Literal {
	var out []contract.Literal
	for _, v := range a {
		if !slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// only returns the paths of a that b lacks, sorted.
func only(a, b *frame) []string {
	var out []string
	for p := range a.types {
		if _, ok := b.types[p]; !ok {
			out = append(out, p)
		}
	}
	sort.Strings(out)
	return out
}

// covered reports whether a path lies below another one of the list: what is
// below an object that is gone is gone with it.
func covered(p string, list []string) bool {
	return slices.ContainsFunc(list, func(q string) bool { return q != p && below(p, q) })
}

func below(p, q string) bool {
	rest, ok := strings.CutPrefix(p, q)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// parent returns a path without its last step.
func parent(p string) string {
	if i := strings.LastIndexAny(p, ".["); i >= 0 {
		return p[:i]
	}
	return ""
}

// renames finds members that are gone and have come back under another name
// in the same object: with the same types and requiredness, and either the
// only such pair or one whose names share most of their letters.
func renames(a, b *frame, gone, come []string) map[string]string {
	out := map[string]string{}
	used := map[string]bool{}
	for _, p := range gone {
		var fits []string
		rivals := 0
		for _, q := range come {
			if a.alike(p, b, q) && !used[q] && !covered(q, come) {
				fits = append(fits, q)
			}
		}
		for _, q := range gone {
			if q != p && parent(p) == parent(q) && slices.Equal(a.types[p], a.types[q]) {
				rivals++
			}
		}
		if covered(p, gone) || len(fits) == 0 {
			continue
		}
		best := slices.MaxFunc(fits, func(x, y string) int {
			switch nx, ny := nameLikeness(p, x), nameLikeness(p, y); {
			case nx < ny:
				return -1
			case nx > ny:
				return 1
			}
			return 0
		})
		if len(fits) == 1 && rivals == 0 || nameLikeness(p, best) >= 0.5 {
			out[p], used[best] = best, true
		}
	}
	return out
}

// alike reports whether two members stand in one object with the same types
// and requiredness.
func (f *frame) alike(p string, g *frame, q string) bool {
	return parent(p) == parent(q) && slices.Equal(f.types[p], g.types[q]) && f.required[p] == g.required[q]
}

// nameLikeness returns the share of letters that two last steps have in
// common, in order.
func nameLikeness(p, q string) float64 { return likeness(p[len(parent(p)):], q[len(parent(q)):]) }

// likeness returns the share of letters that two words have in common, in
// order.
func likeness(x, y string) float64 {
	prev := make([]int, len(y)+1)
	for i := range len(x) {
		next := make([]int, len(y)+1)
		for j := range len(y) {
			if x[i] == y[j] {
				next[j+1] = prev[j] + 1
			} else {
				next[j+1] = max(prev[j+1], next[j])
			}
		}
		prev = next
	}
	return 2 * float64(prev[len(y)]) / float64(len(x)+len(y))
}

func isTarget(renamed map[string]string, p string) bool {
	for _, to := range renamed {
		if p == to {
			return true
		}
	}
	return false
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

func sortedKeys(m map[string][]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
