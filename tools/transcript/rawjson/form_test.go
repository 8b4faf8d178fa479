package rawjson

import (
	"testing"

	"pgregory.net/rapid"
)

// A text that has the form of another one is valid, and its tokens are those
// that a parser finds; one that is no JSON has no form.
func TestFormsReadWhatTheParserReads(t *testing.T) {
	first := []byte(` {"a":"x","b":[1,"y"],"c":{"d":-2.5,"e":null}} `)
	v, err := Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	differ := func(v Value) []Value {
		var list []Value
		var walk func(Value)
		walk = func(v Value) {
			if v.Kind() == String || v.Kind() == Number {
				list = append(list, v)
			}
			for c := range v.Children() {
				walk(c)
			}
		}
		walk(v)
		return list
	}
	f := NewForm(first, differ(v))
	if !f.Has(`"e":null`) || f.Has("x") {
		t.Error("the form does not have what the texts have in common")
	}
	value := rapid.SampledFrom([]string{`"x"`, `""`, `"a\n\ud83d\ude00"`, `"\x"`, `"`, "1", "01", "-", "1e5", "null", "{}", `"é"`, "\"\x01\""})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(` {"a":` + value.Draw(t, "a") + `,"b":[` + value.Draw(t, "b") + `,` + value.Draw(t, "c") + `],"c":{"d":` + value.Draw(t, "d") + `,"e":null}} ` + rapid.SampledFrom([]string{"", "", "x"}).Draw(t, "end"))
		tokens, ok := f.Match(text, nil)
		v, err := Parse(text)
		if !ok {
			return
		}
		if err != nil {
			t.Fatalf("%q is no JSON and has the form of some", text)
		}
		for i, w := range differ(v) {
			if got := tokens[i]; got != w.Token() || w.Kind() == String && (got.Text(text) != w.Str() || string(got.AppendText(nil, text)) != w.Str()) {
				t.Fatalf("%q: value %d is %v, want %v", text, i, got, w.Token())
			}
		}
	})
}
