package quality

import (
	"bytes"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// content changes what a shape must not see.
func (t *trial) content() {
	t.every("other texts", func(p place) []edit {
		if p.Enum || t.isProtocol(p.path) {
			return nil
		}
		if p.Opaque && t.payloadCause() == "" {
			return texts(p.v) // it may hold an id that pairs it with other frames
		}
		if p.v.Kind() != rawjson.String {
			return nil
		}
		return texts(p.v)
	})
	t.every("other numbers", func(p place) []edit {
		if p.Enum || p.v.Kind() != rawjson.Number || t.isProtocol(p.path) {
			return nil
		}
		from, to := p.v.Range()
		return []edit{{from, to, counted(p.v.Raw())}}
	})
	t.every("other tool payloads", func(p place) []edit {
		if !p.Opaque || p.Enum {
			return nil
		}
		from, to := p.v.Range()
		switch p.v.Kind() {
		case rawjson.Object:
			return []edit{{from, to, `{"other":[1,{"x":"y"}]}`}}
		case rawjson.Array:
			return []edit{{from, to, `[{"other":1}]`}}
		}
		return nil
	})
	t.everyKey()
	t.deltas()
}

// texts turns a string, or every string in a payload whose own places the
// shape does not have.
func texts(v rawjson.Value) []edit {
	if v.Kind() == rawjson.String {
		from, to := v.Range()
		return []edit{{from, to, turned(v.Raw())}}
	}
	var out []edit
	for x := range v.Children() {
		out = append(out, texts(x)...)
	}
	return out
}

// isProtocol reports whether a text at a path is part of JSON-RPC itself.
func (t *trial) isProtocol(path string) bool {
	if t.Dialect.Transport != contract.TransportJSONRPC {
		return slices.Contains(t.Dialect.EventType, path)
	}
	return slices.Contains([]string{"jsonrpc", "method"}, path) || slices.Contains(t.Dialect.EventType, path)
}

// every changes each frame of both directions where do says so, all at once.
func (t *trial) every(name string, do func(place) []edit) {
	out := &transcript.Transcript{Records: slices.Clone(t.Transcript.Records)}
	some := false
	for i := range out.Records {
		rec := &out.Records[i]
		text := rec.Frame
		if text == nil {
			text = rec.Data
		}
		if rec.Stream != transcript.Stdout && rec.Stream != transcript.Stdin || len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var edits []edit
		ps, _ := t.places(text)
		for _, p := range ps {
			for _, e := range do(p) {
				if e.text != string(text[e.from:e.to]) {
					edits = append(edits, e)
				}
			}
		}
		if len(edits) == 0 {
			continue
		}
		some = true
		changed := apply(text, edits)
		if rec.Frame != nil {
			rec.Frame = changed
		} else {
			rec.Data = changed
		}
	}
	if some {
		cause := ""
		if name == "other tool payloads" {
			cause = t.payloadCause()
		}
		t.try(name, false, out, cause, "")
	}
}

// payloadCause names the payloads in which a dialect looks for what tells its
// kinds apart: to change them is to change that.
func (t *trial) payloadCause() string {
	for _, k := range t.Dialect.Kind {
		for _, o := range t.Dialect.Opaque {
			if within(k.Path, o) {
				return "payload that holds a discriminator"
			}
		}
	}
	return ""
}

func within(path, parent string) bool {
	return len(path) > len(parent) && path[:len(parent)] == parent && (path[len(parent)] == '.' || path[len(parent)] == '[')
}

// everyKey renames the keys of declared maps.
func (t *trial) everyKey() {
	t.every("other map keys and paths", func(p place) []edit {
		if !isMapKey(p.path) {
			return nil
		}
		_, to := p.v.KeyRange()
		return []edit{{to - 1, to - 1, "2"}}
	})
}

func isMapKey(path string) bool { return len(path) > 5 && path[len(path)-5:] == "<key>" }

// deltas says each piece of a stream three times.
func (t *trial) deltas() {
	slots, some := t.slots(), false
	for i, f := range t.frames {
		if f.Streamed {
			slots[i], some = []int{i, i, i}, true
		}
	}
	if some {
		t.try("more deltas", false, t.reordered(slots), "", "")
	}
}
