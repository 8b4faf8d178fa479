package normalize_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// What a test must know of a place before it changes it.
const (
	isHidden paths.Flags = 1 << iota // below an opaque payload
	isMap
	isRacy
	isEnum
)

// spot is a member of a decoded frame, or an array's element.
type spot struct {
	path   string
	object map[string]any // nil for an element
	key    string
	array  []any
	index  int
	hidden bool // nothing here is in the shape
	flags  paths.Flags
}

func (p *spot) get() any {
	if p.object != nil {
		return p.object[p.key]
	}
	return p.array[p.index]
}

func (p *spot) set(v any) {
	if p.object != nil {
		p.object[p.key] = v
		return
	}
	p.array[p.index] = v
}

// decoded is a stream's frames as a test changes them; a line that is not a
// JSON object stays as it is.
type decoded struct {
	s      *stream
	frames []map[string]any
}

func decode(t *testing.T, s *stream) decoded {
	t.Helper()
	d := decoded{s: s, frames: make([]map[string]any, len(s.frames))}
	for i, f := range s.frames {
		_ = json.Unmarshal(f, &d.frames[i])
	}
	return d
}

func (d *decoded) signature(t *testing.T) contract.Digest {
	t.Helper()
	frames := slices.Clone(d.s.frames)
	for i, f := range d.frames {
		if f == nil {
			continue
		}
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		frames[i] = b
	}
	return signature(t, string(joined(frames)), d.s.d)
}

// spots lists the places of all frames whose presence is not by chance.
func (d *decoded) spots(t *testing.T) []spot {
	t.Helper()
	var out []spot
	for i, f := range d.frames {
		if f == nil {
			continue
		}
		frame, err := rawjson.Parse(d.s.frames[i])
		if err != nil {
			t.Fatal(err)
		}
		if meetsAny(t, frame, d.s.d.Optional) {
			continue
		}
		collectSpots(f, "$", rulesOf(t, d.s.d, frame).Root(), false, &out)
	}
	return out
}

func rulesOf(t *testing.T, d *contract.Dialect, frame rawjson.Value) *paths.Set {
	t.Helper()
	set := &paths.Set{}
	add := func(list []string, f paths.Flags) {
		for _, p := range list {
			if err := set.Add(p, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(d.Opaque, isHidden)
	add(d.Maps, isMap)
	add(d.Racy, isRacy)
	add(d.Enums, isEnum)
	add(d.EventType, isEnum)
	for _, k := range d.Kind {
		add([]string{k.Path}, isEnum)
	}
	for _, s := range d.Sampled {
		if meetsAny(t, frame, []contract.Match{s.When}) {
			add([]string{s.Path}, isHidden)
		}
	}
	return set
}

func collectSpots(v any, path string, st paths.State, hidden bool, out *[]spot) {
	hidden = hidden || st.Flags()&isHidden != 0
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			next := st.Key(k)
			sub := paths.Join(path, k)
			*out = append(*out, spot{path: sub, object: v, key: k, hidden: hidden || st.Flags()&isMap != 0, flags: next.Flags()})
			collectSpots(v[k], sub, next, hidden, out)
		}
	case []any:
		for i, e := range v {
			*out = append(*out, spot{path: paths.Elem(path), array: v, index: i, hidden: hidden, flags: st.Elem().Flags()})
			collectSpots(e, paths.Elem(path), st.Elem(), hidden, out)
		}
	}
}

func meetsAny(t *testing.T, frame rawjson.Value, list []contract.Match) bool {
	t.Helper()
	return slices.ContainsFunc(list, func(m contract.Match) bool {
		c, err := paths.CompileMatch(m)
		if err != nil {
			t.Fatal(err)
		}
		return c.Match(frame)
	})
}

func otherStreams(t *testing.T) []stream {
	t.Helper()
	var out []stream
	for _, s := range otherSamples(t) {
		x := stream{sample: s, base: signature(t, s.text, s.d)}
		for line := range strings.SplitSeq(strings.TrimSuffix(s.text, "\n"), "\n") {
			x.frames = append(x.frames, []byte(line))
		}
		out = append(out, x)
	}
	return out
}

// Other texts, other numbers and more deltas are the same run.
func TestContentOfOtherDialectsIsNotInTheShape(t *testing.T) {
	for _, s := range otherStreams(t) {
		texts, numbers := decode(t, &s), decode(t, &s)
		for _, p := range texts.spots(t) {
			if v, ok := p.get().(string); ok && v != "" && p.flags&isEnum == 0 {
				p.set("some other text, " + v)
			}
		}
		for _, p := range numbers.spots(t) {
			if v, ok := p.get().(float64); ok && p.flags&isEnum == 0 {
				p.set(v + 3)
			}
		}
		if texts.signature(t) != s.base {
			t.Errorf("%s: other texts changed the shape", s.name)
		}
		if numbers.signature(t) != s.base {
			t.Errorf("%s: other numbers changed the shape", s.name)
		}
		if more := moreDeltas(t, &s); signature(t, string(joined(more)), s.d) != s.base {
			t.Errorf("%s: more deltas changed the shape", s.name)
		}
	}
}

// moreDeltas triples every frame of a kind that folds.
func moreDeltas(t *testing.T, s *stream) [][]byte {
	t.Helper()
	var out [][]byte
	for _, f := range s.frames {
		out = append(out, f)
		v, err := rawjson.Parse(f)
		if err == nil && meetsAny(t, v, s.d.Stream) {
			out = append(out, f, f)
		}
	}
	return out
}

// A path that is dropped, renamed or retyped in all frames is seen, however
// deep it lies, unless the dialect declares what is there opaque or racy.
func TestEveryPathOfOtherDialectsCounts(t *testing.T) {
	tried := 0
	for _, s := range otherStreams(t) {
		visible := map[string]bool{}
		d := decode(t, &s)
		for _, p := range d.spots(t) {
			visible[p.path] = visible[p.path] || !p.hidden
		}
		for i, path := range slices.Sorted(maps.Keys(visible)) {
			if !visible[path] || raced && i%8 != 0 {
				continue
			}
			for what, change := range pathChanges {
				m := decode(t, &s)
				changed := false
				for _, p := range m.spots(t) {
					if p.path == path && !p.hidden {
						changed = change(&p) || changed
					}
				}
				if !changed {
					continue
				}
				tried++
				if m.signature(t) == s.base {
					t.Errorf("%s: %s %s is not seen", s.name, what, path)
				}
			}
		}
	}
	if tried < 1000 && !raced {
		t.Errorf("only %d changes tried", tried)
	}
}

var pathChanges = map[string]func(*spot) bool{
	"dropping": func(p *spot) bool {
		if p.object == nil {
			return false
		}
		delete(p.object, p.key)
		return true
	},
	"renaming": func(p *spot) bool {
		if p.object == nil {
			return false
		}
		p.object[p.key+"X"] = p.object[p.key]
		delete(p.object, p.key)
		return true
	},
	"retyping": func(p *spot) bool {
		switch p.get().(type) {
		case string:
			p.set(7.5)
		default:
			p.set("x")
		}
		return p.flags&isRacy == 0
	},
}

// What pi shows of an answer while it is written is state by chance; the
// finished answer counts member by member.
func TestSampledStateIsOpaque(t *testing.T) {
	d := dialect(t, "pi-json")
	update := func(message string) string {
		return `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x"},"message":` + message + "}\n"
	}
	ended := func(message string) string { return `{"type":"message_end","message":` + message + "}\n" }
	early, late := `{"role":"assistant","usage":{"input":0}}`, `{"role":"assistant","usage":{"input":1,"reasoning":2},"responseId":"r"}`
	if signature(t, update(early), d) != signature(t, update(late), d) {
		t.Error("the state of an answer that is being written is in the shape")
	}
	if signature(t, ended(early), d) == signature(t, ended(late), d) {
		t.Error("members of a finished answer are not in the shape")
	}
	if signature(t, update(early), d) == signature(t, update(`"text"`), d) {
		t.Error("the type of the sampled state is not in the shape")
	}
}
