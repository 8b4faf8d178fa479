package rawjson

import (
	"errors"
	"strings"
	"testing"
)

// What JSON.parse of Node 20 accepts and refuses.
func TestGrammarIsJavaScripts(t *testing.T) {
	for _, text := range []string{
		"\"\u007f\"", "-0", "1E+2", "\r\n\t 1", `{"":{"":[]}}`, `"\ud800"`, "\"\xff\"", `1e400`,
	} {
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, offset := range map[string]int{
		"": 0, "01": 1, "1.": 2, ".5": 0, "-": 1, "+1": 0, "1e": 2, "0x1": 1, "NaN": 0, "'a'": 0, "[1,]": 3,
		`{"a":1,}`: 7, "{a:1}": 1, "\"\t\"": 1, `"\x41"`: 2, `"\u12"`: 5, "\u00a01": 0, "\ufeff1": 0, "1 2": 2,
		"tru": 3, "[": 1, `{"a"`: 4, `{"a":`: 5, `"`: 1, "// c\n1": 0, "\v1": 0, `"\`: 2, "[1 2]": 3, `{"a" 1}`: 5,
	} {
		var se *SyntaxError
		if _, err := Parse([]byte(text)); !errors.As(err, &se) || se.Offset != offset {
			t.Errorf("%q: %v, want an error at byte %d", text, err, offset)
		} else if se.Incomplete(len(text)) != (offset == len(text)) {
			t.Errorf("%q: incomplete is %v", text, se.Incomplete(len(text)))
		} else if len(text) > 3 && strings.Contains(err.Error(), text) {
			t.Errorf("the error quotes %q", text)
		}
	}
}

func TestDepth(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Parse(deep(MaxDepth)); err != nil {
		t.Errorf("depth %d: %v", MaxDepth, err)
	}
	if _, err := Parse(deep(10 * MaxDepth)); !errors.Is(err, ErrDepth) {
		t.Errorf("too deep: %v", err)
	}
}

// Each pair is what Node 20 makes of JSON.stringify(JSON.parse(text)).
func TestStringifyIsJavaScripts(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"a":2,"b":3}`: `{"b":3,"a":2}`,
		`{"2":0,"1":0,"b":0,"-1":0,"01":0,"4294967294":0,"4294967295":0,"0":0}`: `{"0":0,"1":0,"2":0,"4294967294":0,"b":0,"-1":0,"01":0,"4294967295":0}`,
		`{"__proto__":1,"a":{"__proto__":2}}`:                                   `{"__proto__":1,"a":{"__proto__":2}}`,
		`[1.0,-0,1e2,1E-7,1e21,1e20,123456789012345680000]`:                     `[1,0,100,1e-7,1e+21,100000000000000000000,123456789012345680000]`,
		`[0.000001,0.0000001,1e400,-1e400,5e-324,1.7976931348623157e308]`:       `[0.000001,1e-7,null,null,5e-324,1.7976931348623157e+308]`,
		`[9007199254740993,0.1,1e-10,100e-2]`:                                   `[9007199254740992,0.1,1e-10,1]`,
		`"\u0041\u00e9\ud83d\ude00\ud800\udc00x\ud800y\udc00"`:                  `"Aé😀𐀀x\ud800y\udc00"`,
		`"\ud800\ud800\udc00\ud83d\u0041"`:                                      `"\ud800𐀀\ud83dA"`,
		`"\/\b\f\n\r\t\u0000\u001f\u007f\u2028<>&"`:                             "\"/\\b\\f\\n\\r\\t\\u0000\\u001f\u007f\u2028<>&\"",
		" [ true , false , null , { } , [ ] ] ":                                 `[true,false,null,{},[]]`,
		`{"a":[{"1":[],"0":{}}],"1":{"1":1,"0":0}}`:                             `{"1":{"0":0,"1":1},"a":[{"0":{},"1":[]}]}`,
	} {
		v, err := Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := v.Stringify(); got != want {
			t.Errorf("%s\ngives %s\nwant  %s", text, got, want)
		}
	}
}

// The second value is what Node 20 decodes, the third its length.
func TestBrokenUTF8IsDecodedAsNodeDoes(t *testing.T) {
	const r = "\ufffd"
	for _, tc := range []struct {
		raw, want string
		length    int
	}{
		{"\xe2\x82", r, 1}, {"\xe2\x82A", r + "A", 2}, {"\xf0\x9f\x98", r, 1}, {"\xf0\x9fA", r + "A", 2},
		{"\xff\xfe", r + r, 2}, {"\xc0\x80", r + r, 2}, {"\xf4\x90\x80\x80", r + r + r + r, 4}, {"\xe0\x80\x80", r + r + r, 3},
		{"\x80\x80", r + r, 2}, {"\xc3", r, 1}, {"\xe2(\xa1", r + "(" + r, 3}, {"\xf1\x80\x80\xff", r + r, 2}, {"\xf5\x80", r + r, 2},
		{"é😀", "é😀", 3},
	} {
		if got := string(AppendQuote(nil, tc.raw)); got != `"`+tc.want+`"` {
			t.Errorf("%q gives %s", tc.raw, got)
		}
		if got := UTF16Len(tc.raw); got != tc.length {
			t.Errorf("%q has length %d, want %d", tc.raw, got, tc.length)
		}
	}
	v, err := Parse([]byte(`"\ud83d\ude00\ud800"`))
	if err != nil || UTF16Len(v.Str()) != 3 {
		t.Errorf("an astral character and a lone surrogate have length %d, %v", UTF16Len(v.Str()), err)
	}
}

func TestValueAccess(t *testing.T) {
	src := []byte(`{"a":{"b":[1,"x\n"]},"a":{"b":[2,"y"],"c":false}, "\u0064":"e"}`)
	v, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.At("a", "b").Stringify(); got != `[2,"y"]` {
		t.Errorf("of duplicate keys the last does not win: %s", got)
	}
	if v.Len() != 3 || len(v.Members()) != 2 || !v.HasDuplicateKeys() || v.Get("d").HasDuplicateKeys() {
		t.Errorf("%d children, %d members", v.Len(), len(v.Members()))
	}
	if d := v.Get("d"); !d.IsStr("e") || d.Key() != "d" {
		t.Error("an escaped key is not found")
	}
	from, to := v.Get("d").KeyRange()
	if got := string(src[from:to]); got != `"\u0064"` {
		t.Errorf("key range %q", got)
	}
	from, to = v.At("a", "c").Range()
	if got := string(src[from:to]); got != "false" || v.At("a", "c").Bool() {
		t.Errorf("range %q", got)
	}
	for c := range v.Children() {
		if got := c.Get("b").Stringify(); got != `[1,"x\n"]` {
			t.Errorf("children come in another order: %s", got)
		}
		break
	}
	if e, err := Parse([]byte(`"a\"b"`)); err != nil || !e.IsStr(`a"b`) || e.IsStr("a") {
		t.Error("a string with an escape is not compared decoded")
	}
}

// The zero Value answers everything without a panic.
func TestZeroValue(t *testing.T) {
	var v Value
	from, to := v.Range()
	keyFrom, keyTo := v.KeyRange()
	if v.Exists() || v.Kind() != Invalid || v.Raw() != nil || v.Str() != "" || v.Bool() || v.Float() != 0 || v.Key() != "" ||
		v.Len() != 0 || v.Get("x").Exists() || v.At("x", "y").Exists() || v.Stringify() != "" || v.HasDuplicateKeys() ||
		v.IsStr("") || from+to+keyFrom+keyTo != 0 {
		t.Error("the zero value is not empty")
	}
	if Invalid.String() != "unknown" || Object.String() != "object" {
		t.Error("kinds have other names")
	}
}

func TestDocIsReused(t *testing.T) {
	var d Doc
	for _, text := range []string{`[1,2,3]`, `{"a":`, `{"a":1}`, `"s"`} {
		err := d.Parse([]byte(text))
		if (err != nil) != (text == `{"a":`) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && d.Root().Stringify() != text {
			t.Errorf("%s: a leftover of the text before", text)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"frame":   `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"bash -lc ls","aggregated_output":"a\nb\nc\n","exit_code":0,"status":"completed"}}`,
		"escapes": `"` + strings.Repeat(`\n`, 1<<20) + `"`,
		"text":    `"` + strings.Repeat("words and more ", 1<<16) + `"`,
	} {
		b.Run(name, func(b *testing.B) {
			var d Doc
			src := []byte(text)
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Parse(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
