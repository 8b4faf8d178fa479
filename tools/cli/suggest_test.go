package cli

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestNearest(t *testing.T) {
	words := []string{"validate", "matrix", "compare", "capture", "cache", "classify"}
	for word, want := range map[string]string{
		"valdate":  "validate",
		"validaet": "validate",
		"vali":     "validate", // the only one that starts so
		"ca":       "",         // two start so, none is near
		"cpature":  "capture",
		"matrix":   "matrix",
		"teleport": "",
		"":         "",
	} {
		if got := nearest(word, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-c]{0,8}`)
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		if (contract.EditDistance(a, b) == 0) != (a == b) {
			t.Fatal("zero for different words, or not zero for equal ones")
		}
		if contract.EditDistance(a, b) != contract.EditDistance(b, a) {
			t.Fatal("not symmetric")
		}
		if contract.EditDistance(a, c) > contract.EditDistance(a, b)+contract.EditDistance(b, c) {
			t.Fatal("a detour is shorter")
		}
	})
}
