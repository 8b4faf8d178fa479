package compare

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// frame is a frame shape, ready to compare.
type frame struct {
	*contract.FrameShape
	kind     []string            // one text for each discriminator
	types    map[string][]string // path → types
	required map[string]bool
	terminal bool
	streamed bool
}

func (c *comparison) list(fs []contract.FrameShape) []*frame {
	out := make([]*frame, len(fs))
	for i := range fs {
		out[i] = c.frame(&fs[i])
	}
	return out
}

func (c *comparison) frame(f *contract.FrameShape) *frame {
	x := &frame{FrameShape: f, types: map[string][]string{}, required: map[string]bool{}}
	for _, p := range f.Paths {
		x.types[p.Path] = append(x.types[p.Path], p.Type)
		x.required[p.Path] = x.required[p.Path] || p.Required
	}
	for _, k := range c.dialect.Kind {
		x.kind = append(x.kind, x.aspect(k))
	}
	x.terminal = x.matches(c.dialect.Terminal)
	x.streamed = x.matches(c.dialect.Stream)
	return x
}

// aspect spells what a discriminator says of the frame, "" for nothing.
func (f *frame) aspect(k contract.Discriminator) string {
	types, ok := f.types[k.Path]
	switch {
	case !ok:
		return ""
	case k.Mode == "presence":
		if slices.Equal(types, []string{"null"}) {
			return "null"
		}
		return "present"
	case len(f.Enums[k.Path]) == 0:
		return strings.Join(types, "|")
	}
	return spell(f.Enums[k.Path])
}

// spell lists literals without quotes.
func spell(ls []contract.Literal) string {
	words := make([]string, len(ls))
	for i, l := range ls {
		words[i] = strings.Trim(string(l), `"`)
	}
	return strings.Join(words, ",")
}

// label says what tells the kind apart beside its event type.
func (f *frame) label(d *contract.Dialect) string {
	var parts []string
	for i, k := range f.kind {
		switch {
		case k == "" || k == f.EventType:
		case d.Kind[i].Mode == "presence":
			if k == "present" {
				parts = append(parts, d.Kind[i].Path)
			}
		default:
			parts = append(parts, k)
		}
	}
	return strings.Join(parts, " ")
}

// matches reports whether the frame's enums meet one of the conditions.
func (f *frame) matches(ms []contract.Match) bool {
	return slices.ContainsFunc(ms, func(m contract.Match) bool {
		for path, wants := range m {
			if !f.matchesPath(path, wants) {
				return false
			}
		}
		return true
	})
}

func (f *frame) matchesPath(path string, wants []string) bool {
	if _, ok := f.types[path]; !ok {
		return slices.Contains(wants, "")
	}
	return slices.ContainsFunc(wants, func(w string) bool {
		if w == "*" {
			return true
		}
		return slices.ContainsFunc(f.Enums[path], func(l contract.Literal) bool {
			s := strings.Trim(string(l), `"`)
			if p, ok := strings.CutSuffix(w, "*"); ok {
				return strings.HasPrefix(s, p)
			}
			if p, ok := strings.CutPrefix(w, "*"); ok {
				return strings.HasSuffix(s, p)
			}
			return s == w
		})
	})
}

func (f *frame) sameSource(g *frame) bool {
	return f.Direction == g.Direction && f.Stream == g.Stream && f.EventType == g.EventType
}

func (f *frame) sameKind(g *frame) bool { return f.sameSource(g) && slices.Equal(f.kind, g.kind) }

// pair is a kind of the older shape and the kind of the newer one that it
// corresponds to.
type pair struct{ a, b *frame }

// minSimilar is the similarity from which on two kinds of one event type count
// as one kind that changed. It lies between a message whose discriminator was
// renamed (0.63) and two tool frames that have only their frame in common
// (0.53).
const minSimilar = 0.6

// pair finds corresponding kinds: equal discriminators first, then by
// similarity among kinds of one event type. Another event type is another
// event, whatever the frame looks like.
func (c *comparison) pair(as, bs []*frame) []pair {
	var out []pair
	usedA, usedB := map[*frame]bool{}, map[*frame]bool{}
	use := func(a, b *frame) {
		usedA[a], usedB[b] = true, true
		out = append(out, pair{a, b})
	}
	for _, a := range as {
		for _, b := range bs {
			if !usedB[b] && a.sameKind(b) {
				use(a, b)
				break
			}
		}
	}
	type candidate struct {
		pair
		score float64
	}
	var cs []candidate
	for _, a := range as {
		for _, b := range bs {
			if usedA[a] || usedB[b] || !a.sameSource(b) {
				continue
			}
			if s := similarity(a, b); s >= minSimilar {
				cs = append(cs, candidate{pair{a, b}, s})
			}
		}
	}
	slices.SortStableFunc(cs, func(x, y candidate) int {
		switch {
		case x.score > y.score:
			return -1
		case x.score < y.score:
			return 1
		}
		return 0
	})
	for _, x := range cs {
		if !usedA[x.a] && !usedB[x.b] {
			use(x.a, x.b)
		}
	}
	return out
}

// similarity of two kinds of one event type, from 0.2 to 1: half their paths,
// three tenths the words that tell them apart, wherever they stand.
func similarity(a, b *frame) float64 {
	ka, kb := map[string]bool{}, map[string]bool{}
	for _, k := range a.kind {
		if k != "" {
			ka[k] = true
		}
	}
	for _, k := range b.kind {
		if k != "" {
			kb[k] = true
		}
	}
	return 0.2 + 0.5*common(a.places(), b.places()) + 0.3*common(ka, kb)
}

// common returns how much of two sets is in both.
func common(a, b map[string]bool) float64 {
	both := 0
	for k := range a {
		if b[k] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}

// late reports kinds that came after the end of the turn and do not come at all
// any more. Frames of two dialects have no kinds in common.
func (c *comparison) late(a, b Side) {
	if a.Dialect != nil && b.Dialect != nil && a.Dialect.ID != b.Dialect.ID {
		return
	}
	have := slices.Concat(c.list(b.Shape.FrameShapes), c.list(b.AfterTerminal), c.list(b.Optional))
	for _, f := range c.list(a.AfterTerminal) {
		if !slices.ContainsFunc(have, f.sameKind) && !slices.ContainsFunc(c.list(a.Shape.FrameShapes), f.sameKind) {
			c.add(Signal{ID: OptionalKindGone, EventType: f.EventType, Kinds: c.kinds(f), From: f.label(c.dialect)})
		}
	}
}

// optional reports kinds that came by chance and did not this time.
func (c *comparison) optional(as, bs []contract.FrameShape) {
	had, have := c.list(as), c.list(bs)
	for _, a := range had {
		if !slices.ContainsFunc(have, a.sameKind) {
			c.add(Signal{ID: OptionalKindGone, EventType: a.EventType, Kinds: c.kinds(a), From: a.label(c.dialect)})
		}
	}
}
