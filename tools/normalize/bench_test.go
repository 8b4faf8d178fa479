package normalize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// longRun repeats the frames between a stream's first and last line.
func longRun(text string, times int) *transcript.Transcript {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	last := len(lines) - 1
	var b strings.Builder
	b.WriteString(lines[0])
	for range times {
		b.WriteString(strings.Join(lines[1:last], ""))
	}
	b.WriteString(lines[last])
	return stdout(b.String())
}

// BenchmarkShape measures normalization with parsing and signing, as MB of
// stdout a second.
func BenchmarkShape(b *testing.B) {
	for _, s := range samples(b) {
		if s.name != "codex" && s.name != "claude" && !strings.HasPrefix(s.name, "claude-2") {
			continue
		}
		for _, times := range []int{1, 1000} {
			tr := longRun(s.text, times)
			b.Run(fmt.Sprintf("%s/%d", s.name, times), func(b *testing.B) {
				b.SetBytes(int64(len(tr.Bytes(transcript.CLIToServer, transcript.Stdout))))
				b.ReportAllocs()
				n, err := normalize.New(s.d)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, _, err := n.Shape(tr, contract.LevelRuntimeObserved); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
