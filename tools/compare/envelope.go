package compare

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// envelope reports that the frames are wrapped in another way, and whether
// that leaves nothing to compare.
func (c *comparison) envelope(a, b Side, fa, fb []*frame) (other bool) {
	from, to := envelope(a.Shape), envelope(b.Shape)
	if from == to {
		return false
	}
	sameFamily := a.Shape.ProtocolFamily == b.Shape.ProtocolFamily
	x, y := typePath(a.Dialect), typePath(b.Dialect)
	if sameFamily && x != y && x != "" && y != "" {
		from, to = x, y // where the type of a frame stands is what a reader trips over
		c.members(fa, fb, x, y)
	}
	c.add(Signal{ID: EnvelopeChanged, From: from, To: to})
	return !sameFamily || a.Shape.Extensions.Dialect != b.Shape.Extensions.Dialect
}

// envelope spells how frames are wrapped.
func envelope(s *contract.Shape) string {
	e := string(s.Transport)
	if s.Extensions.Dialect != "" {
		e = s.Extensions.Dialect + " " + e
	}
	if q := s.Extensions.Sequence; len(q) > 0 && q[0].Mark == "array" {
		e += " array"
	}
	return string(s.ProtocolFamily) + " " + e
}

// typePath is where a dialect has the type of a frame, "" if it does not say.
func typePath(d *contract.Dialect) string {
	if d == nil || len(d.EventType) == 0 {
		return ""
	}
	return d.EventType[0]
}

// members compares what every frame has at its top, beside its type.
func (c *comparison) members(fa, fb []*frame, typeA, typeB string) {
	a, b := always(fa), always(fb)
	for p, t := range b {
		if _, ok := a[p]; !ok && p != top(typeB) {
			c.add(Signal{ID: FieldAdded, Path: p, To: t})
		}
	}
	for p, t := range a {
		if _, ok := b[p]; !ok && p != top(typeA) {
			c.add(Signal{ID: FieldRemoved, Path: p, From: t})
		}
	}
}

// top returns the first step of a path.
func top(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// always returns the members that every frame has at its top, and their types.
func always(fs []*frame) map[string]string {
	out := map[string]string{}
	for i, f := range fs {
		for p, types := range f.types {
			if i == 0 && f.required[p] && top(p) == p {
				out[p] = strings.Join(types, "|")
			}
		}
		for p := range out {
			if !f.required[p] {
				delete(out, p)
			}
		}
	}
	return out
}

// otherReader reports whether the newer run needs another parser.
func otherReader(a, b Side) bool {
	if a.Shape.ProtocolFamily != b.Shape.ProtocolFamily {
		return true
	}
	return a.Dialect != nil && b.Dialect != nil && !slices.Equal(parsers(a.Dialect), parsers(b.Dialect))
}

// parsers names what reads a dialect: a parser of the consumer, or the
// dialect's own.
func parsers(d *contract.Dialect) []string {
	if d.Parser == "" {
		return []string{"", d.ID}
	}
	return []string{d.Parser}
}
