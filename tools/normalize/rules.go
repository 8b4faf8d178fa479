package normalize

import (
	"fmt"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// What a path pattern says of the places that it matches.
const (
	opaque paths.Flags = 1 << iota
	dynamic
	racy
	enum
)

// rules is a dialect, compiled.
type rules struct {
	dialect   *contract.Dialect
	eventType []paths.Place
	untyped   []named
	kind      []discriminator
	stream    matchers
	floating  matchers
	optional  matchers
	terminal  matchers
	paths     paths.Set
	flags     []flagged // what paths was made of
	sampled   []sampled
	roots     sync.Map // the sampled conditions that hold, in order → *paths.Set
	calls     []call
	plodding  bool // take no short cuts, so that tests can say that they change nothing
}

type flagged struct {
	pattern string
	flag    paths.Flags
}

// sampled is a place that is opaque in the frames of some kinds.
type sampled struct {
	when *paths.Matcher
	path string
}

// root returns the state at the top of a kind's frames; frame is its first.
func (r *rules) root(frame rawjson.Value) paths.State {
	if len(r.sampled) == 0 {
		return r.paths.Root()
	}
	var short [8]bool // stays on the stack
	hold := short[:0]
	for _, s := range r.sampled {
		hold = append(hold, s.when.Match(frame))
	}
	key := fmt.Sprint(hold)
	set, made := r.roots.Load(key)
	if !made {
		set, _ = r.roots.LoadOrStore(key, r.with(hold))
	}
	return set.(*paths.Set).Root()
}

// with returns the patterns together with those of the sampled conditions that hold.
func (r *rules) with(hold []bool) *paths.Set {
	set := &paths.Set{}
	for _, f := range r.flags {
		_ = set.Add(f.pattern, f.flag) // it went into paths before
	}
	for i, s := range r.sampled {
		if hold[i] {
			_ = set.Add(s.path, opaque) // compile has split it
		}
	}
	return set
}

type matchers []*paths.Matcher

func (ms matchers) match(frame rawjson.Value) bool {
	for _, m := range ms {
		if m.Match(frame) {
			return true
		}
	}
	return false
}

type named struct {
	when *paths.Matcher
	name string
}

type discriminator struct {
	path  string
	place paths.Place
	mode  string
	when  *paths.Matcher // nil: always
}

type call struct {
	when  *paths.Matcher
	place paths.Place
	// byKind says that the condition looks at discriminators only, so that it
	// holds for all frames of a kind or for none.
	byKind bool
}

// compile checks a dialect and compiles its patterns.
func compile(d *contract.Dialect) (*rules, error) {
	r := &rules{dialect: d}
	c := compiler{r: r, discriminators: map[string]bool{}}
	for _, p := range d.EventType {
		r.eventType = append(r.eventType, c.place(p))
	}
	for _, u := range d.Untyped {
		r.untyped = append(r.untyped, named{c.match(u.When), u.Name})
	}
	for _, k := range d.Kind {
		c.discriminator(k)
	}
	r.stream = c.kinds("stream", d.Stream)
	r.floating = c.kinds("floating", d.Floating)
	r.optional = c.kinds("optional", d.Optional)
	r.terminal = c.kinds("terminal", d.Terminal)
	for _, k := range d.Calls {
		r.calls = append(r.calls, call{c.match(k.When), c.place(k.Path), c.byKind(k.When)})
	}
	c.flag(d.Opaque, opaque)
	c.flag(d.Maps, dynamic)
	c.flag(d.Racy, racy)
	c.flag(d.Enums, enum)
	for _, s := range d.Sampled {
		when := c.kinds("sampled", []contract.Match{s.When})
		if _, err := paths.Split(s.Path); err != nil {
			c.fail(err)
		}
		r.sampled = append(r.sampled, sampled{when[0], s.Path})
	}
	if c.err != nil {
		return nil, fmt.Errorf("reading the rules of dialect %q: %w", d.ID, c.err)
	}
	return r, nil
}

// compiler keeps the first error, so that compile reads as a list.
type compiler struct {
	r              *rules
	discriminators map[string]bool
	err            error
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compiler) place(p string) paths.Place {
	x, err := paths.Compile(p)
	if err != nil {
		c.fail(err)
	}
	return x
}

func (c *compiler) match(m contract.Match) *paths.Matcher {
	x, err := paths.CompileMatch(m)
	if err != nil {
		c.fail(err)
	}
	return x
}

func (c *compiler) flag(patterns []string, f paths.Flags) {
	for _, p := range patterns {
		if err := c.r.paths.Add(p, f); err != nil {
			c.fail(err)
		}
		c.r.flags = append(c.r.flags, flagged{p, f})
	}
}

func (c *compiler) discriminator(k contract.Discriminator) {
	d := discriminator{path: k.Path, place: c.place(k.Path), mode: k.Mode}
	if k.When != nil {
		d.when = c.match(k.When)
	}
	switch k.Mode {
	case modeValue, modeSet:
		c.flag([]string{k.Path}, enum) // what tells kinds apart is part of the shape
	case modePresence, modeEmpty, modeZero:
	default:
		c.fail(fmt.Errorf("discriminator %q: unknown mode %q", k.Path, k.Mode))
	}
	c.discriminators[k.Path] = true
	c.r.kind = append(c.r.kind, d)
}

// byKind reports whether a condition looks at discriminators only.
func (c *compiler) byKind(m contract.Match) bool {
	for p := range m {
		if !c.discriminators[p] {
			return false
		}
	}
	return true
}

// kinds compiles conditions on kinds. They may only look at discriminators:
// what a kind is, is decided by its first frame.
func (c *compiler) kinds(what string, ms []contract.Match) matchers {
	var out matchers
	for _, m := range ms {
		for p := range m {
			if !c.discriminators[p] {
				c.fail(fmt.Errorf("a %s condition looks at %q, which is not a discriminator", what, p))
			}
		}
		out = append(out, c.match(m))
	}
	return out
}
