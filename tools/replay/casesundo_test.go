package replay_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// undo takes the changes that a report names back out of its stream.
type undo struct {
	dialect  *contract.Dialect
	signals  []string
	envelope bool // the older stream is wrapped in another way
}

// apply returns the stream before the change. What the CLI printed only.
func (u *undo) apply(t *transcript.Transcript) *transcript.Transcript {
	out := &transcript.Transcript{}
	renamed := u.renamedEvents()
	last := -1
	for _, rec := range t.Records {
		if rec.Dir != transcript.CLIToServer || rec.Stream != transcript.Stdout {
			if rec.Stream == transcript.Stderr && u.has("flag_requirement_added") || rec.Stream == transcript.Stderr && u.has("error_text_changed") {
				continue
			}
			out.Records = append(out.Records, rec)
			continue
		}
		text := rec.Frame
		if text == nil {
			text = bytes.TrimSpace(rec.Data)
		}
		var frame map[string]any
		if json.Unmarshal(text, &frame) != nil {
			out.Records = append(out.Records, rec)
			continue
		}
		if !u.frame(frame, renamed) {
			continue
		}
		b, _ := json.Marshal(frame)
		if rec.Frame != nil {
			rec.Frame = b
		} else {
			rec.Data = append(b, '\n')
		}
		out.Records = append(out.Records, rec)
		last = len(out.Records)
	}
	for _, s := range u.signals {
		id, what, _ := strings.Cut(s, ":")
		switch {
		case id == "missing_terminal_event":
			out.Records = slices.Insert(out.Records, max(last, 0), line(u.terminal()))
		case id == "event_removed" && renamed == nil:
			out.Records = slices.Insert(out.Records, max(last, 0), line(map[string]any{"type": what}))
		case id == "envelope_changed":
			u.envelope = true
		}
	}
	return out
}

func (u *undo) has(id string) bool {
	return slices.ContainsFunc(u.signals, func(s string) bool { return strings.HasPrefix(s, id) })
}

func line(frame map[string]any) transcript.Record {
	b, _ := json.Marshal(frame)
	return transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: append(b, '\n')}
}

// terminal is a frame that ends a run of the dialect.
func (u *undo) terminal() map[string]any {
	out := map[string]any{}
	if len(u.dialect.Terminal) > 0 {
		for path, values := range u.dialect.Terminal[0] {
			put(out, strings.Split(path, "."), values[0])
		}
	}
	return out
}

// renamedEvents pairs event types that are gone with as many new ones.
func (u *undo) renamedEvents() map[string]string {
	var gone, come []string
	for _, s := range u.signals {
		if t, ok := strings.CutPrefix(s, "event_removed:"); ok {
			gone = append(gone, t)
		}
		if t, ok := strings.CutPrefix(s, "event_added:"); ok {
			come = append(come, t)
		}
	}
	if len(gone) == 0 || len(gone) != len(come) {
		return nil
	}
	out := map[string]string{}
	for i := range gone {
		out[come[i]] = gone[i]
	}
	return out
}

// frame takes the changes out of one frame; false drops it.
func (u *undo) frame(f map[string]any, renamed map[string]string) bool {
	for now, before := range renamed {
		if f["type"] == now {
			f["type"] = before
		}
	}
	for _, s := range u.signals {
		id, what, _ := strings.Cut(s, ":")
		a, b, _ := strings.Cut(what, "<->")
		switch id {
		case "event_added":
			if renamed == nil && f["type"] == what {
				return false
			}
		case "enum_added":
			path, value, _ := strings.Cut(what, "=")
			elements(f, func(x any) bool { return slices.Contains(find(x, steps(path)[len(steps(path))-1:]), any(value)) })
			if slices.Contains(find(f, steps(path)), any(value)) {
				return false
			}
		case "enum_changed":
			replace(f, b, a)
		case "field_added":
			each(f, what, func(in map[string]any, key string) { delete(in, key) })
		case "field_removed":
			each(f, what, func(in map[string]any, key string) { in[key] = "x" })
		case "field_renamed":
			last := func(p string) string { s := steps(p); return s[len(s)-1] }
			each(f, b, func(in map[string]any, key string) {
				if v, ok := in[key]; ok {
					delete(in, key)
					in[last(a)] = v
				}
			})
		case "type_changed":
			path, types, _ := strings.Cut(what, ":")
			from, _, _ := strings.Cut(types, "->")
			each(f, path, func(in map[string]any, key string) {
				if _, ok := in[key]; ok {
					in[key] = map[string]any{"string": "x", "number": 1, "boolean": true, "array": []any{}, "object": map[string]any{}}[from]
				}
			})
		}
	}
	return true
}

// elements drops the elements of arrays that are odd, as long as others stay;
// the last one becomes a text.
func elements(v any, odd func(any) bool) {
	m, _ := v.(map[string]any)
	for k, x := range m {
		list, ok := x.([]any)
		if !ok {
			elements(x, odd)
			continue
		}
		for _, y := range list {
			elements(y, odd)
		}
		kept := slices.DeleteFunc(slices.Clone(list), odd)
		if len(kept) == 0 && len(list) > 0 {
			kept = []any{map[string]any{"type": "text", "text": "x"}}
		}
		m[k] = kept
	}
}

func steps(path string) []string { return strings.Split(strings.ReplaceAll(path, "[]", ""), ".") }

// each calls do for the objects that hold the last step of a path. The path
// may start at the frame, at an object in it, or with the event's type.
func each(f map[string]any, path string, do func(map[string]any, string)) {
	s := steps(path)
	if t, ok := f["type"].(string); ok && len(s) > 1 && s[0] == t {
		do(f, s[1])
		return
	}
	if len(s) == 1 {
		do(f, s[0])
		return
	}
	var walk func(any, int)
	walk = func(v any, i int) {
		switch x := v.(type) {
		case []any:
			for _, y := range x {
				walk(y, i)
			}
		case map[string]any:
			if i == len(s)-1 {
				do(x, s[i])
				return
			}
			if y, ok := x[s[i]]; ok {
				walk(y, i+1)
			}
		}
	}
	walk(f, 0)
}

// find returns the values at a path that may start anywhere in the frame.
func find(v any, s []string) []any {
	var out []any
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			out = append(out, find(y, s)...)
		}
	case map[string]any:
		for k, y := range x {
			if k == s[0] {
				out = append(out, at(y, s[1:])...)
			}
			out = append(out, find(y, s)...)
		}
	}
	return out
}

func at(v any, s []string) []any {
	if list, ok := v.([]any); ok {
		var out []any
		for _, x := range list {
			out = append(out, at(x, s)...)
		}
		return out
	}
	if len(s) == 0 {
		return []any{v}
	}
	if m, ok := v.(map[string]any); ok {
		if x, ok := m[s[0]]; ok {
			return at(x, s[1:])
		}
	}
	return nil
}

func put(m map[string]any, s []string, v any) {
	for ; len(s) > 1; s = s[1:] {
		next, _ := m[s[0]].(map[string]any)
		if next == nil {
			next = map[string]any{}
			m[s[0]] = next
		}
		m = next
	}
	m[s[0]] = v
}

// replace replaces a string value wherever it stands.
func replace(v any, from, to string) {
	switch x := v.(type) {
	case []any:
		for i, y := range x {
			if y == from {
				x[i] = to
			}
			replace(y, from, to)
		}
	case map[string]any:
		for k, y := range x {
			if y == from {
				x[k] = to
			}
			replace(y, from, to)
		}
	}
}

// frames is a run of today's dialect of the family, for a report of an older
// envelope that it does not show.
func (u *undo) frames() string {
	return `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
`
}

// lines makes a transcript of what a child printed before it exited with 0.
func lines(text string) *transcript.Transcript {
	code := 0
	t := &transcript.Transcript{Records: records(transcript.Stdout, []byte(text))}
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return t
}

// firstAndSecond makes two runs of the first two frames of one.
func firstAndSecond(t *transcript.Transcript) (*transcript.Transcript, *transcript.Transcript) {
	a, b := &transcript.Transcript{}, &transcript.Transcript{}
	n := 0
	for _, r := range t.Records {
		if r.Stream != transcript.Stdout {
			a.Records, b.Records = append(a.Records, r), append(b.Records, r)
			continue
		}
		switch n++; n {
		case 1:
			a.Records = append(a.Records, r)
		case 2:
			b.Records = append(b.Records, r)
		}
	}
	return a, b
}
