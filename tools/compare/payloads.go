package compare

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// PayloadKind is a word of the protocol inside a payload that the shape does
// not look into: the type of a block in a tool's result, the kind of an option.
type PayloadKind struct{ EventType, Path, Word string }

// PayloadKinds returns what the opaque payloads of a run say of their own
// kinds: the enum-like words at the literal paths that end in type or kind and
// lie below an opaque one. Without repeats, in order of first appearance.
func PayloadKinds(t *transcript.Transcript, d *contract.Dialect) ([]PayloadKind, error) {
	var places []paths.Place
	var names []string
	for _, p := range d.Redact.Literals {
		if strings.ContainsAny(p, "<*") {
			continue // a place has a name
		}
		if !strings.HasSuffix(p, ".type") && !strings.HasSuffix(p, ".kind") ||
			!slices.ContainsFunc(d.Opaque, func(q string) bool { return below(p, q) }) {
			continue
		}
		x, err := paths.Compile(p)
		if err != nil {
			return nil, err
		}
		places, names = append(places, x), append(names, p)
	}
	out := []PayloadKind{}
	if len(places) == 0 {
		return out, nil
	}
	var doc rawjson.Doc
	for line := range t.Lines(transcript.CLIToServer, transcript.Stdout) {
		if doc.Parse(line) != nil {
			continue
		}
		event := eventType(doc.Root(), d)
		for i, p := range places {
			p.Find(doc.Root(), func(v rawjson.Value) bool {
				if v.Kind() == rawjson.String && contract.IsEnumLiteral(v.Str()) {
					if k := (PayloadKind{event, names[i], v.Str()}); !slices.Contains(out, k) {
						out = append(out, k)
					}
				}
				return true
			})
		}
	}
	return out, nil
}

// payloads reports kinds that no payload of the older run had. A kind that is
// gone tells nothing: what a tool returns is its own business.
func (c *comparison) payloads(as, bs []PayloadKind) {
	for _, b := range bs {
		if !slices.Contains(as, b) {
			c.add(Signal{ID: EnumAdded, EventType: b.EventType, Path: b.Path, To: b.Word})
		}
	}
}
