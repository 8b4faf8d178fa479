package errorcase

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A form is what Encode writes, and nothing else, of any run: also of one whose members are
// empty, need escaping, or stand in the transcript's part too.
func TestFormsAreTheCase(t *testing.T) {
	t.Parallel()
	text := "it failed at <<run-member-3>>"
	reads := []*contract.ErrorCase{
		{SchemaVersion: 1, Extensions: contract.ErrorCaseExtensions{Dialect: "codex"}},
		{SchemaVersion: 1, ClassifierInput: contract.ClassifierInput{Status: contract.RunStatus{Status: "failed", Error: &text}, Events: []contract.ClassifierEvent{}}},
	}
	forms := &Forms{}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"", "codex", "0.1.0", `a "quoted" word`, "é", "<b>", "<<run-member-1>>", "line\n", "2026-11-30T04:16:54.519Z"})
		var r Run
		for _, v := range r.values() {
			*v = word.Draw(t, "member")
		}
		read := rapid.SampledFrom(reads).Draw(t, "read")
		want, err := contract.Encode(r.Case(read))
		if err != nil {
			t.Fatal(err)
		}
		if same, err := forms.Is(want, r, read); err != nil || !same {
			t.Fatalf("error %v, the case is not taken for\n%s", err, want)
		}
		at := rapid.IntRange(0, len(want)).Draw(t, "at")
		for _, other := range [][]byte{want[:at], slices.Concat(want, want[at:]), slices.Concat(want[:at], []byte("x"), want[at:])} {
			if same, err := forms.Is(other, r, read); err != nil || same != bytes.Equal(other, want) {
				t.Fatalf("error %v, the case is taken for\n%s", err, other)
			}
		}
	})
}
