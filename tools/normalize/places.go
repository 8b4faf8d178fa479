package normalize

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// KindName names the kind of a frame for people: its event type, then each
// discriminator that the frame has, as path=value. Like the shape it holds
// enum words, numbers and types only, never text of the run.
func (n *Normalizer) KindName(frame rawjson.Value) string {
	if frame.Kind() != rawjson.Object {
		return EventNonJSON
	}
	ks := newKinds(n.rules)
	var p part
	if n.rules.dialect.Transport == contract.TransportJSONRPC {
		p = newExchange().part(transcript.CLIToServer, frame)
	}
	typ := ks.event(frame, p)
	parts := []string{typ}
	for i := range n.rules.kind {
		d := &n.rules.kind[i]
		if d.when != nil && !d.when.Match(frame) {
			continue
		}
		word := d.word(frame)
		if word == "" || word == typ && n.rules.isEventType(d) {
			continue
		}
		if word == present {
			parts = append(parts, d.path)
			continue
		}
		parts = append(parts, d.path+"="+word)
	}
	return strings.Join(parts, " ")
}

// present is the word of a discriminator that only says that there is a value.
const present = "present"

// word spells what a discriminator sees in a frame; "" if it sees nothing.
func (d *discriminator) word(frame rawjson.Value) string {
	switch d.mode {
	case modeSet:
		var set []string
		d.place.Find(frame, func(v rawjson.Value) bool {
			set = append(set, bare(v))
			return true
		})
		slices.Sort(set)
		return strings.Join(slices.Compact(set), "+")
	case modeValue:
		if v := d.place.First(frame); v.Exists() {
			return bare(v)
		}
		return ""
	}
	switch aspect(d.mode, d.place.First(frame)) {
	case 'a':
		return ""
	case 'n':
		return "null"
	case 'e':
		return `""`
	case '0':
		return "0"
	}
	return present
}

// bare spells a value as appendValue does, a string without its quotes.
func bare(v rawjson.Value) string { return strings.Trim(string(appendValue(nil, v)), `"`) }

func (r *rules) isEventType(d *discriminator) bool {
	return slices.Contains(r.dialect.EventType, d.path)
}

// Places calls visit for every value of a frame that a shape of the dialect
// has a path for, parents before their members. Of what is opaque there is the
// value itself only; of repeated members each one is visited.
func (n *Normalizer) Places(frame rawjson.Value, visit func(path string, v rawjson.Value)) {
	if frame.Kind() == rawjson.Object {
		walkFlagged(frame, "$", n.rules.root(frame), 0, func(path string, _ paths.Flags, v rawjson.Value) { visit(path, v) })
	}
}

func walkFlagged(v rawjson.Value, path string, at paths.State, depth int, visit func(string, paths.Flags, rawjson.Value)) {
	flags := at.Flags()
	if depth > 0 {
		visit(path, flags, v)
	}
	if flags&(racy|opaque) != 0 || depth >= maxDepth {
		return
	}
	for x := range v.Children() {
		switch {
		case v.Kind() == rawjson.Array:
			walkFlagged(x, paths.Elem(path), at.Elem(), depth+1, visit)
		case flags&dynamic != 0:
			walkFlagged(x, paths.MapKey(path), at.Key("<key>"), depth+1, visit)
		default:
			walkFlagged(x, paths.Join(path, x.Key()), at.Key(x.Key()), depth+1, visit)
		}
	}
}
