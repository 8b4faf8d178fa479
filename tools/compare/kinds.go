package compare

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// unpaired reports kinds that only one shape has.
func (c *comparison) unpaired(as, bs []*frame, pairs []pair) {
	paired := map[*frame]bool{}
	for _, p := range pairs {
		paired[p.a], paired[p.b] = true, true
	}
	if slices.ContainsFunc(as, isTerminal) && !slices.ContainsFunc(bs, isTerminal) {
		for _, a := range as {
			if a.terminal {
				paired[a] = true
				c.add(Signal{ID: MissingTerminalEvent, EventType: a.EventType, Kinds: c.kinds(a)})
			}
		}
	}
	renamed := renamedKinds(as, bs, paired)
	for _, a := range as {
		switch {
		case paired[a]:
		case slices.ContainsFunc(c.lateB, a.sameKind):
			c.terminalMoved(a, bs)
		default:
			c.add(Signal{ID: EventRemoved, Severity: removed(a), EventType: a.EventType, Kinds: c.kinds(a), From: a.label(c.dialect), Renamed: renamed[a]})
		}
	}
	for _, b := range bs {
		switch {
		case paired[b]:
		case slices.ContainsFunc(c.lateA, b.sameKind):
			c.terminalMoved(b, bs)
		default:
			c.added(as, b, renamed[b])
		}
	}
}

// removed is how severe it is that a kind is gone: no reader of frames waits for
// a line that is none, such as a log line that strayed to stdout.
func removed(a *frame) Severity {
	if a.EventType == eventNonJSON {
		return Warning
	}
	return ""
}

// eventNonJSON is the event type that a shape gives to a line on a JSON stream
// that is no frame.
const eventNonJSON = "non_json"

// terminalMoved reports that a frame passed the end of the run. In a two-way run
// that is the answer which ends the turn, and no kind of frame is always terminal:
// the signal then names what passed it.
func (c *comparison) terminalMoved(passed *frame, bs []*frame) {
	if i := slices.IndexFunc(bs, isTerminal); i >= 0 {
		passed = bs[i]
	}
	c.add(Signal{ID: TerminalMoved, EventType: passed.EventType, Kinds: c.kinds(passed)})
}

func isTerminal(f *frame) bool { return f.terminal }

func (c *comparison) kinds(f *frame) []string {
	if l := f.label(c.dialect); l != "" {
		return []string{l}
	}
	return nil
}

// added reports a new kind: as new values where the protocol has a fixed set,
// and as a new event if its type is new or there is no such value.
func (c *comparison) added(as []*frame, b *frame, renamed string) {
	known, value := slices.ContainsFunc(as, b.sameSource), false
	for i, k := range c.dialect.Kind {
		if k.Mode != "value" && k.Mode != "set" || b.kind[i] == "" || b.kind[i] == b.EventType {
			continue
		}
		for _, v := range c.newValues(as, b, k.Path, known) {
			c.add(Signal{ID: EnumAdded, EventType: b.EventType, Kinds: c.kinds(b), Path: k.Path, To: v})
			value = true
		}
		if value && known {
			return
		}
	}
	c.add(Signal{ID: EventAdded, EventType: b.EventType, Kinds: c.kinds(b), To: b.label(c.dialect), Renamed: renamed})
}

// newValues returns the values of a discriminator that no older frame had. Of
// a new event type those of all frames count, if there are any: a value is
// only new where the older stream had others.
func (c *comparison) newValues(as []*frame, b *frame, path string, known bool) []string {
	var out []string
	for _, v := range b.Enums[path] {
		had, others := false, known
		for _, a := range as {
			if known && !a.sameSource(b) {
				continue
			}
			had = had || slices.Contains(a.Enums[path], v)
			others = others || len(a.Enums[path]) > 0
		}
		if !had && others {
			out = append(out, spell([]contract.Literal{v}))
		}
	}
	return out
}

// minStructure is the share of their paths that a kind and its renamed self
// have in common at least.
const minStructure = 0.6

// renamedKinds pairs kinds that are gone with new ones that have their
// structure under another event type. A structure of one or two members is
// shared by chance, so that the names must be alike too.
func renamedKinds(as, bs []*frame, paired map[*frame]bool) map[*frame]string {
	out := map[*frame]string{}
	for _, a := range as {
		var best *frame
		score := 0.0
		for _, b := range bs {
			if paired[a] || paired[b] || out[b] != "" || a.Direction != b.Direction || a.Stream != b.Stream || a.EventType == b.EventType {
				continue
			}
			common, name := common(a.places(), b.places()), likeness(a.EventType, b.EventType)
			if common >= minStructure && (len(a.types) > 2 || name >= 0.5) && common+name/10 > score {
				best, score = b, common+name/10
			}
		}
		if best != nil {
			out[a], out[best] = best.EventType, a.EventType
		}
	}
	return out
}

// places is the frame's structure without its values.
func (f *frame) places() map[string]bool {
	out := map[string]bool{}
	for _, p := range f.Paths {
		out[p.Path+" "+p.Type] = true
	}
	return out
}
