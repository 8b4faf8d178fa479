package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// compare checks one text against encoding/json: the same texts are JSON, and
// they hold the same values. The two differ, on purpose, in depth and in how a
// lone surrogate is decoded.
func compare(t interface{ Errorf(string, ...any) }, src []byte) {
	v, err := Parse(src)
	if errors.Is(err, ErrDepth) {
		return
	}
	if (err == nil) != json.Valid(src) {
		t.Errorf("we say %v, encoding/json says %v: %q", err, json.Valid(src), src)
		return
	}
	if err != nil {
		var se *SyntaxError
		if !errors.As(err, &se) || se.Offset < 0 || se.Offset > len(src) {
			t.Errorf("error outside the text: %v", err)
		}
		return
	}
	checkRanges(t, src, v, 0, len(src))
	again, err := Parse([]byte(v.Stringify()))
	if err != nil || again.Stringify() != v.Stringify() {
		t.Errorf("Stringify of %q is not stable: %v", src, err)
	}
	if !utf8.Valid(src) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		t.Errorf("encoding/json: %v", err)
		return
	}
	if got := toAny(v); !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nhas %#v\nwant %#v", src, got, want)
	}
}

// checkRanges checks that every token lies inside its parent's and parses by
// itself.
func checkRanges(t interface{ Errorf(string, ...any) }, src []byte, v Value, from, to int) {
	s, e := v.Range()
	if s < from || e > to || !bytes.Equal(v.Raw(), src[s:e]) || !json.Valid(src[s:e]) {
		t.Errorf("token [%d,%d) in [%d,%d) of %q", s, e, from, to, src)
		return
	}
	for c := range v.Children() {
		if ks, ke := c.KeyRange(); v.Kind() == Object && (ks <= s || ke > e || !json.Valid(src[ks:ke])) {
			t.Errorf("key [%d,%d) in [%d,%d) of %q", ks, ke, s, e, src)
		}
		checkRanges(t, src, c, s+1, e-1)
	}
}

func toAny(v Value) any {
	switch v.Kind() {
	case Boolean:
		return v.Bool()
	case Number:
		return json.Number(v.Raw())
	case String:
		return plain(v.Str())
	case Array:
		list := []any{}
		for c := range v.Children() {
			list = append(list, toAny(c))
		}
		return list
	case Object:
		m := map[string]any{}
		for c := range v.Children() {
			m[plain(c.Key())] = toAny(c)
		}
		return m
	}
	return nil
}

// plain decodes lone surrogates as encoding/json does.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if _, ok := surrogate(s[i:]); ok {
			b.WriteRune(utf8.RuneError)
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

func TestDifferential(t *testing.T) {
	alphabet := []string{
		"{", "}", "[", "]", ":", ",", `"`, `\`, "u", "d83d", "de00", "00e9", "0", "1", "-", ".", "e", "E", "+", "true", "null", "fals",
		" ", "\t", "\n", "\r", "é", "😀", "\xff", "\x01", "a", `"a"`, `"b":`, "{}", "[]", "\u2028", "\ufeff", "/", `\n`,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(t, "text"), "")
		compare(t, []byte(text))
	})
}

// Texts that are JSON are rare among random ones, so draw some.
func TestDifferentialValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { compare(t, []byte(drawJSON(t, 4))) })
}

func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\r\n\t"}).Draw(t, "space")
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 && kind > 4 {
		kind = 0
	}
	switch kind {
	case 5, 6:
		var parts []string
		for range rapid.IntRange(0, 4).Draw(t, "children") {
			part := drawJSON(t, depth-1)
			if kind == 6 {
				part = space + drawString(t) + space + ":" + part
			}
			parts = append(parts, part)
		}
		list := strings.Join(parts, ",") + space
		if kind == 6 {
			return space + "{" + list + "}" + space
		}
		return space + "[" + list + "]" + space
	case 4:
		return space + rapid.SampledFrom([]string{"0", "-0", "1.50", "1e5", "2E-3", "12345678901234567890", "-1.5e+300"}).Draw(t, "number") + space
	case 3:
		return space + rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word") + space
	}
	return space + drawString(t) + space
}

func drawString(t *rapid.T) string {
	pieces := []string{"a", "b", "0", "1", `\"`, `\\`, `\/`, `\n`, `\u0000`, `\u00E9`, `\ud83d`, `\ude00`, `\udbff\udfff`, "é", "😀", "\u2028", " "}
	return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 5).Draw(t, "string"), "") + `"`
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,2.5e-3,"x\ud83d\ude00"],"a":null}`, `"\ud800"`, "[\"\xff\xc3\"]", ` {"":{}} `, `[[[[]]]]`, `-0`, `{"a":`, "\"\xed\xa0\x80\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) { compare(t, src) })
}
