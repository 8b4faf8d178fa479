package errorcase

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A form writes what Encode writes, of any run: also of one whose members are
// empty, need escaping, or stand in the transcript's part too.
func TestFormsWriteTheCase(t *testing.T) {
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
		if got, err := forms.Encode(r, read); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("error %v, the case is written as\n%s\nnot as\n%s", err, got, want)
		}
	})
}
