package leak

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is decoded of a long text's ends is what the whole text has there, and
// what must be read whole is.
func TestEdgesAreThoseOfTheWhole(t *testing.T) {
	pieces := []string{"plain words ", `\n`, `\t`, `\"`, `\\`, `\\\\`, `\\\\\\n`, `\u0041`, `\u00e9`, `\ud83d\ude00`, `\x41`, `\101`, `\u{1f600}`, `\e[0m`, `\q`, "é", "AbC9"}
	decoded := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for n := rapid.IntRange(900, 4000).Draw(t, "length"); b.Len() < n; {
			piece := rapid.SampledFrom(pieces).Draw(t, "piece")
			b.WriteString(strings.Repeat(piece, rapid.SampledFrom([]int{1, 1, 1, 3, 40, 300}).Draw(t, "times")))
		}
		raw := b.String()
		head, tail, ok := edges(raw)
		if !ok {
			return
		}
		decoded++
		text, _ := unescape(raw, false)
		if len(text) <= 2*pieceKeep || head != text[:pieceKeep] || tail != text[len(text)-pieceKeep:] {
			t.Fatalf("the ends of %q differ", raw)
		}
		if _, is := wholeBase64(text); is || word(text) || text[0] == '{' || text[0] == '[' {
			t.Fatalf("%q was to be read whole", raw)
		}
	})
	if decoded == 0 {
		t.Error("no text had its ends decoded")
	}
}

// Decoding base64 with and without places is the same.
func TestLetters64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[A-Za-z0-9+/_-]{0,40}`).Draw(t, "letters")
		a, _ := base64(s, false)
		b, _ := base64(s, true)
		if a != b {
			t.Fatalf("%q is %q and %q", s, a, b)
		}
	})
}
