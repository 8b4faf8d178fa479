package contract

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Strings are read as encoding/json reads them, or not at all.
func TestQuickTextIsThatOfJSON(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"", "a", "seven..", "eight...", "é", "\u2028", "\U0001f600", "\x7f", `\n`, `\"`, `\\`, `\/`, `\t`, `\u0041`, `\u00e9`, `\u0000`, // read
		`\ud83d\ude00`, `\ud800`, `\ufffd`, `\x`, `\u12`, `\u+123`, `\`, "\x01", "\n", "\x1f", `"`, "\ufffd", // not all of them
	})
	rapid.Check(t, func(rt *rapid.T) {
		src := `"` + strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, "pieces"), "") + rapid.SampledFrom([]string{`"`, `"`, `", 1`, ""}).Draw(rt, "end")
		s := scan{src: src, ok: true}
		got := s.text()
		if !s.ok {
			return
		}
		var want string
		if err := json.Unmarshal([]byte(src[:s.pos]), &want); err != nil || got != want {
			rt.Fatalf("%s is read as %q, want %q (%v)", src, got, want, err)
		}
	})
	for _, usual := range []string{`"é\n\"\\\t\u0000<&>"`, `""`, `"1234567\n"`, `"12345678"`} {
		s := scan{src: usual, ok: true}
		if text := s.text(); !s.ok || s.pos != len(usual) || !utf8.ValidString(text) {
			t.Errorf("%s is not read", usual)
		}
	}
}
