package normalize_test

import (
	"bytes"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Whatever a CLI prints, there is a shape or an error, the shape is the same a
// second time, and it grows no faster than the input.
func FuzzShape(f *testing.F) {
	for _, s := range samples(f) {
		f.Add([]byte(s.text), []byte("Reading prompt from stdin...\n"))
	}
	f.Add([]byte("{\"type\":\"x\",\"type\":[]}\n\xff\x00\n[[[\n"), []byte("\x1b]8;;x"))
	var dialects []*contract.Dialect
	fam := families(f)
	for i := range fam.Dialects {
		dialects = append(dialects, &fam.Dialects[i])
	}
	f.Fuzz(func(t *testing.T, out, errs []byte) {
		tr := stdout(string(out))
		for line := range bytes.SplitAfterSeq(errs, []byte("\n")) {
			add(tr, transcript.CLIToServer, transcript.Stderr, string(line))
		}
		for _, d := range dialects {
			a, notes, err := normalize.Shape(tr, d, contract.LevelSyntheticMock)
			if err != nil {
				continue
			}
			b, _, err := normalize.Shape(tr, d, contract.LevelSyntheticMock)
			if err != nil || a.Signature != b.Signature {
				t.Fatalf("%s: two shapes of one transcript (%v)", d.ID, err)
			}
			if a.FrameCount > len(out)+1 || notes.Frames > len(out)+1 {
				t.Fatalf("%s: %d kinds and %d frames of %d bytes", d.ID, a.FrameCount, notes.Frames, len(out))
			}
		}
		if _, err := normalize.DetectDialect(fam, tr); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
	})
}
