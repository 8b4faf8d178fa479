package jstext

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

func TestTrimIsJavaScripts(t *testing.T) {
	if got := Trim("\ufeff \u00a0\t\r\n\v\fx\u0085\u2028\u3000\u202f"); got != "x\u0085" {
		t.Errorf("got %q: U+FEFF, NBSP and U+2028 are white space, U+0085 is not", got)
	}
}

// The wanted texts are those of Buffer.toString('utf8').
func TestDecodeReplacesMaximalParts(t *testing.T) {
	for in, want := range map[string]string{
		"a\xe2\x82":        "a\ufffd",
		"a\xe2\x82b":       "a\ufffdb",
		"\xed\xa0\x80":     "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98":     "\ufffd",
		"\xc0\xaf\xff":     "\ufffd\ufffd\ufffd",
		"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
		"\xe0\x80\x80":     "\ufffd\ufffd\ufffd",
		"é\x00\xfe":        "é\x00\ufffd",
	} {
		if got := Decode([]byte(in)); got != want {
			t.Errorf("% x: got %q, want %q", in, got, want)
		}
	}
}

func TestIncompleteTail(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "a\xe2": 1, "a\xe2\x82": 2, "€": 0, "\xf0\x9f\x98": 3, "😀": 0,
		"\x80": 0, "\xff": 0, "\xed\xa0": 0, "\xe2\x82a": 0,
	} {
		if got := Incomplete([]byte(in)); got != want {
			t.Errorf("% x: got %d, want %d", in, got, want)
		}
	}
}

func TestUTF16Cuts(t *testing.T) {
	hi, lo := "\xed\xa0\xbd", "\xed\xb8\x80" // the halves of U+1F600
	for _, c := range []struct{ got, want string }{
		{From("a😀b", 1), "😀b"}, {From("a😀b", 2), lo + "b"}, {From("a😀b", 3), "b"}, {From("ab", 5), ""},
		{Head("a😀b", 1), "a"}, {Head("a😀b", 2), "a" + hi}, {Head("a😀b", 3), "a😀"}, {Head("ab", 0), ""}, {Head("ab", 5), "ab"},
		{Tail("a😀b", 2), lo + "b"}, {Tail("a😀b", 3), "😀b"}, {Tail("a😀b", 9), "a😀b"},
		{Tail(strings.Repeat("é", 3000), 2000), strings.Repeat("é", 2000)},
		{Join("x"+hi, lo+"y"), "x😀y"}, {Join("x"+lo, hi), "x" + lo + hi}, {Join("", "y"), "y"},
		{string(AppendJoin([]byte("x"+hi), lo+"y")), "x😀y"}, {string(AppendJoin([]byte("ab"), "c")), "abc"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if rest, ok := CutPrefix("😀b", hi); !ok || rest != lo+"b" {
		t.Errorf("a prefix may end inside a pair: %q %v", rest, ok)
	}
	if _, ok := CutPrefix("😀b", "\xed\xa0\xbe"); ok {
		t.Error("another high surrogate is no prefix")
	}
}

func TestConversions(t *testing.T) {
	for in, want := range map[string]string{
		`null`: "null", `1.0`: "1", `-0`: "0", `1e999`: "Infinity", `{"a":1}`: "[object Object]",
		`[1,null,[2,"x"],{}]`: "1,,2,x,[object Object]", `true`: "true", `1e21`: "1e+21",
	} {
		v, err := rawjson.Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := ToString(v); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
	if ToString(rawjson.Value{}) != "undefined" || Truthy(rawjson.Value{}) {
		t.Error("no value is undefined")
	}
	for in, want := range map[string]float64{
		"": 0, " 12 ": 12, "0x1F": 31, "0b101": 5, "0o17": 15, "1e3": 1000, "Infinity": math.Inf(1), "-5.5": -5.5, "007": 7, "1e999": math.Inf(1),
	} {
		if got := ToNumber(in); got != want {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
	for _, in := range []string{"a", "1_000", "0x", "inf", "NaN", "1 2", "-0x1", "0b2", "."} {
		if got := ToNumber(in); !math.IsNaN(got) {
			t.Errorf("%q: got %v, want NaN", in, got)
		}
	}
}

func FuzzTextCuts(f *testing.F) {
	f.Add("a😀b\xff", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		s = Decode([]byte(s))
		if !utf8.ValidString(s) {
			t.Fatal("decoded text must be UTF-8")
		}
		units := rawjson.UTF16Len(s)
		if n < 0 || n > units {
			return
		}
		rest := From(s, n)
		if got := rawjson.UTF16Len(rest); got != units-n {
			t.Fatalf("From left %d units, want %d", got, units-n)
		}
		if n < units && Tail(s, units-n) != rest {
			t.Fatal("Tail and From must agree")
		}
	})
}
