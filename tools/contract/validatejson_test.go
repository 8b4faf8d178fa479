package contract

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Text that readers could take in two ways is refused where it stands.
func TestStrictText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"integer as fraction", `{"a":{"b":[1.0]}}`, "JSON-NUMBER /a/b/0"},
		{"integer with exponent", `{"a":1e2}`, "JSON-NUMBER /a"},
		{"minus zero", `{"a":-0}`, "JSON-NUMBER /a"},
		{"beyond 2^53", `{"a":9007199254740993}`, "JSON-NUMBER /a"},
		{"beyond a double", `{"a":1e400}`, "JSON-NUMBER /a"},
		{"fraction", `{"a":0.5}`, ""},
		{"large but exact", `{"a":9007199254740992}`, ""},
		{"negative", `{"a":-12}`, ""},
		{"leading zero", `{"a":01}`, "JSON-SYNTAX /a"},
		{"plus", `{"a":+1}`, "JSON-SYNTAX /a"},
		{"infinity", `{"a":Infinity}`, "JSON-SYNTAX /a"},
		{"minus infinity", `{"a":-Infinity}`, "JSON-SYNTAX /a"},
		{"duplicate in a list", `[{"x":1,"x":2}]`, "JSON-DUPLICATE-KEY /0/x"},
		{"duplicate by escape", `{"x":1,"\u0078":2}`, "JSON-DUPLICATE-KEY /x"},
		{"slash and tilde in a name", `{"a/b~c":1.0}`, "JSON-NUMBER /a~1b~0c"},
		{"lone surrogate", `{"a":"\ud800"}`, "JSON-UTF8 /a"},
		{"low surrogate first", `{"a":"\udc00\ud800"}`, "JSON-UTF8 /a"},
		{"surrogate pair", `{"a":"\ud83d\ude00"}`, ""},
		{"backslash before u", `{"a":"\\ud800"}`, ""},
		{"replacement character", `{"a":"\ufffd"}`, ""},
		{"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", "JSON-UTF8 "},
		{"control character", "{\"a\":\"\x01\"}", "JSON-SYNTAX /a"},
		{"unknown escape", `{"a":"\x"}`, "JSON-SYNTAX /a"},
		{"open string", `{"a":"`, "JSON-SYNTAX /a"},
		{"open escape", `{"a":"\`, "JSON-SYNTAX /a"},
		{"open object", `{"a":1`, "JSON-SYNTAX "},
		{"comma at the end", `{"a":[1,]}`, "JSON-SYNTAX /a/1"},
		{"comma before a brace", `{"a":1,}`, "JSON-SYNTAX "},
		{"comment", `{"a":1} // why`, "JSON-TRAILING "},
		{"empty", ``, "JSON-SYNTAX "},
		{"too deep", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "JSON-SYNTAX " + strings.Repeat("/0", maxDepth+1)},
		{"white space around", " \n{}\r\n\t", ""},
	} {
		_, found, ok := decode(KindObservation, []byte(c.text))
		got := ""
		if len(found) > 0 {
			got = found[0].code + " " + found[0].pointer
		}
		if got != c.want || len(found) > 1 {
			t.Errorf("%s: %v, want %q", c.name, found, c.want)
		}
		if isText := !strings.HasPrefix(c.want, "JSON-SYNTAX") && !strings.HasPrefix(c.want, "JSON-TRAILING"); c.name != "overlong UTF-8" && ok != isText {
			t.Errorf("%s: ok is %v", c.name, ok)
		}
	}
}

func TestSyntaxErrorNamesTheLine(t *testing.T) {
	t.Parallel()
	ps := Validate(KindShape, "x.shape.json", []byte("{\n  \"ä\": tru\n}"))
	if len(ps) != 1 || !strings.Contains(ps[0].Message, "line 2, column 8") || ps[0].Pointer != "/ä" {
		t.Errorf("%v", ps)
	}
}

// A CLI's own JSON inside a transcript keeps its duplicates and spellings.
func TestForeignFrames(t *testing.T) {
	t.Parallel()
	_, found, ok := decode(KindTranscript, []byte(`{"at_ms":1.0,"frame":{"id":1.0,"id":2,"t":"\ud800"},"frame2":1,"frame2":2}`))
	var got []string
	for _, f := range found {
		got = append(got, f.code+" "+f.pointer)
	}
	if d := cmp.Diff([]string{"JSON-NUMBER /at_ms", "JSON-DUPLICATE-KEY /frame2"}, got); d != "" || !ok {
		t.Error(d)
	}
}

func FuzzValidate(f *testing.F) {
	reg := validRegistry(f)
	for place, b := range reg {
		if kind, ok := KindOf(place); ok {
			f.Add(string(kind), b)
		}
	}
	f.Add("observation", []byte(`{"a":1e999999999,"cli_version":"unknown"}`))
	f.Add("transcript", []byte(`{"frame":{"a":1,"a":[{}]}}`))
	f.Add("request", []byte(`{"data_schema":{"$ref":"#/a"}}`))
	f.Add("request", []byte(`{"data_schema":{"$ref":"#"},"schema_version":1}`))
	f.Fuzz(func(t *testing.T, kind string, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		ps := Validate(RecordKind(kind), "f", b)
		for _, p := range ps {
			if _, ok := RuleOf(p.Code); !ok || strings.ContainsAny(p.String(), "\n\r\x1b") {
				t.Errorf("%q", p.String())
			}
			if p.Pointer != "" && p.Pointer[0] != '/' {
				t.Errorf("pointer %q", p.Pointer)
			}
		}
		if len(ps) > 0 || !RecordKind(kind).Valid() {
			return
		}
		// What we accept, encoding/json reads the same way.
		var want any
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("accepted and not JSON: %v", err)
		}
		got, _, _ := decode(RecordKind(kind), b)
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again any
		if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(want, again) {
			t.Error("read differently from encoding/json")
		}
	})
}

func BenchmarkValidateObservation(b *testing.B) {
	reg := validRegistry(b)
	place := firstOf(reg, KindObservation)
	text, err := os.ReadFile("testdata/valid/" + place)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if ps := Validate(KindObservation, place, text); len(ps) > 0 {
			b.Fatal(ps)
		}
	}
}
