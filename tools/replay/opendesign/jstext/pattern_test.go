package jstext

import "testing"

func TestPatternsMatchAsJavaScriptDoes(t *testing.T) {
	for _, c := range []struct {
		p    *Patterns
		text string
		want bool
	}{
		{Words("overloaded"), "Error: OVERLOADED now", true},
		{Words("overloaded"), "overloaded_error", false}, // underscore is a word character
		{Words("overloaded"), "zu overloaded余", true},    // CJK is not
		{Words("quota"), "aquota, no quotas, quota", true},
		{Words("quota"), "quota\u017f", true}, // ſ is no s in /i
		{Words("too .*large"), "too\u2028large", false},
		{Words("too .*large"), "too very LARGE.", true},
		{Words("timed?\\s*out"), "time\u00a0out", true},
		{Words("timed?\\s*out"), "x_timed out", false},
		{Any(`\bfoo[^]*bar`), "FOO\n\nbar", true},
		{Any(`rate[ _-]?limit`), "RateLimited", true},
		{Any(`/login\b`), "run /loginx", false},
		{Any(`[\s:=]+x`), "a\ufeff=x", true},
		{Words("s"), "\u017f", false},
		{Words("k"), "\u212a", false},
		{Any(`code\s*:\s*401`), "code: 401", true},
		{Any(`code\s*:\s*401`), "code: 402, 401", false},
		{Any(`a(?:bc)+d(ef|gh)`), "ABCBCDGH", true},
		{Any(`x(?i:\x{4b2})y`), "x\u04b3y", true}, // what ignores case is in no text for certain
	} {
		if got := c.p.Match(Fold(c.text)); got != c.want {
			t.Errorf("%q in %q: got %v", c.p.source, c.text, got)
		}
	}
}
