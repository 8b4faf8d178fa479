package matrix

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

type listing struct {
	N      int            `json:"n"`
	Nested map[string]any `json:"nested"`
	Agents []map[string]any
}

// without is the listing as a reader sees it who decodes everything.
func (l listing) without(want string) (out []map[string]any) {
	for _, a := range l.Agents {
		if id, isText := a["id"].(string); !isText || id == want {
			out = append(out, a)
		}
	}
	return out
}

// What is left is what a reader of the whole finds, however the text is laid out
// and cut.
func TestListedIsTheWhole(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"codex", "claude", "", "a\"b", `\`, "{", "]", "é", "id", "agents"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](1.5), word.AsAny()}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 3).AsAny(), rapid.MapOfN(word, value(depth-1), 0, 3).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	rapid.Check(t, func(rt *rapid.T) {
		whole := map[string]any{
			"n": 7, "nested": map[string]any{"agents": []any{map[string]any{"id": "kept"}}},
			"agents": rapid.SliceOfN(rapid.MapOfN(word, value(2), 0, 4), 0, 5).Draw(rt, "agents"),
		}
		text, err := json.Marshal(whole)
		if rapid.Bool().Draw(rt, "indented") {
			text, err = json.MarshalIndent(whole, "", "  ")
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := word.Draw(rt, "want")
		got, err := listed(iotest.OneByteReader(strings.NewReader(string(text))), "id", want)
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		if at, err := listed(strings.NewReader(string(text)), "id", want); err != nil || string(at) != string(got) {
			rt.Fatalf("read at once: %v\n%s\nread byte by byte:\n%s", err, at, got)
		}
		var all, some listing
		if err := json.Unmarshal(text, &all); err != nil {
			rt.Fatal(err)
		}
		if err := json.Unmarshal(got, &some); err != nil {
			rt.Fatalf("%v\n%s\nof\n%s", err, got, text)
		}
		// What cannot be told apart is left in; a reader sees the same without it.
		if !reflect.DeepEqual(some.without(want), all.without(want)) || some.N != all.N || !reflect.DeepEqual(some.Nested, all.Nested) {
			rt.Fatalf("%s\nof\n%s", got, text)
		}
	})
}

// What is spelled so that only a decoder can tell stays.
func TestListedKeepsWhatItCannotTell(t *testing.T) {
	t.Parallel()
	for text, left := range map[string]int{
		`{"agents":[{"id":"x"},{"id":"codex"},{"id":"y"}]}`:       1,
		`{"agents":[{"id":"c\u006fdex"},{"id":"x"}]}`:             1,
		`{"agents":[{"\u0069d":"codex"},{"id":"x"}]}`:             1,
		`{"agents":[{"ID":"codex"},{"id":"x"}]}`:                  1,
		`{"agents":[{"id":null},{"id":["codex"]},{"id":"x"}]}`:    2,
		`{"\u0061gents":[{"id":"x"}],"agents":[]}`:                0,
		`{"x":{"agents":[{"id":"x"}]},"agents":[{"id":"codex"}]}`: 1,
	} {
		got, err := listed(strings.NewReader(text), "id", "codex")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var all struct{ Agents []map[string]any }
		if err := json.Unmarshal(got, &all); err != nil || len(all.Agents) != left {
			t.Errorf("%s: %d objects left, want %d (%v): %s", text, len(all.Agents), left, err, got)
		}
	}
}

// Any other text is refused, or left to the decoder, which refuses it.
func FuzzListed(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `[]`, `{"agents":{}}`, `{"agents":[1]}`, `{"agents":[{"id":"x"},,{}]}`, `{"agents":[{"id":"x"} {}]}`, `{"agents":[{"id":"x"},]}`,
		`{"agents":[{"id":"x"`, `{"agents":[{"id":"x}]}`, `{"agents":[{"id":"codex"}]}}`, `{"agents":[{"id":"codex"}]]`, `]{"agents":[{}]}`,
		`{"agents":[[]]}`, `{"agents":[{"id":"x"}],"agents":[{"id":"codex"}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := listed(strings.NewReader(string(text)), "id", "codex")
		if err != nil {
			return
		}
		if json.Valid(text) && !json.Valid(got) {
			t.Fatalf("%q became %q", text, got)
		}
		if len(got) > len(text) {
			t.Fatalf("%q is longer than %q", got, text)
		}
		if slices.Contains([]string{``, `{}`, `[]`}, string(text)) {
			t.Fatalf("%q has no list", text)
		}
	})
}
