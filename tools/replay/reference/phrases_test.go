package reference

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNeededWords(t *testing.T) {
	for expr, want := range map[string]string{
		`usage limit`:          "usage limit",
		`foo|bar`:              "foo bar",
		`a\d+long words[.]?x`:  "long words",
		`(?:ab|cd)(?:efg|hij)`: "efg hij",
		`(?:abc)?d`:            "d",
		`(?:abc)+`:             "abc",
		`(?:abc){2,3}`:         "abc",
		`abc|\d+`:              "", // a number alone matches
		`(?i)abc`:              "", // so do other cases
		`.*`:                   "",
	} {
		if got := strings.Join(compilePhrases(expr).words, " "); got != want {
			t.Errorf("%s needs %q, want %q", expr, got, want)
		}
	}
}

// TestPhrasesFindWhatTheExpressionFinds holds every row of the table against
// its bare expression, on texts put together from the rows' own words.
func TestPhrasesFindWhatTheExpressionFinds(t *testing.T) {
	parts := []string{" ", " ", ":", "\"", "(", "=", ".", "'", "<text:1>", "a", "http", "status code", "error", "401", "403", "429", "500", "529", "1m", "exit"}
	for i := range texts() {
		for _, w := range texts()[i].pattern().words {
			parts = append(parts, w)
			parts = append(parts, strings.Fields(w)...)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(rt, "parts"), rapid.SampledFrom([]string{"", " "}).Draw(rt, "between"))
		for i := range texts() {
			p := texts()[i].pattern()
			if got, want := p.find(text), p.expr.FindStringIndex(text); !slices.Equal(got, want) {
				rt.Fatalf("row %d finds %v in %q, its expression %v", i, got, text, want)
			}
		}
	})
	named := 0
	for i := range texts() {
		if texts()[i].pattern().words != nil {
			named++
		}
	}
	if named < len(texts())*9/10 {
		t.Errorf("only %d of %d rows need a word: the others are slow", named, len(texts()))
	}
}
