//go:build unix

package harness

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The bars are in DESIGN.md section 4: more than 300 MB/s of child output, and
// at most 2 % slower than the CLI alone, which here is the same child on
// os/exec with a reader that throws everything away.

const floodMiB = "64"

func BenchmarkFloodRecorded(b *testing.B) {
	s := newTestSandbox(b)
	b.SetBytes(64 << 20)
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "raw")
		w, err := transcript.CreateBundle(path)
		if err != nil {
			b.Fatal(err)
		}
		spec := childSpec("flood", floodMiB)
		spec.Bundle = w
		if res, err := s.Run(context.Background(), spec); err != nil || res.Bytes != 64<<20 {
			b.Fatal(res, err)
		}
		if _, err := w.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFloodAlone(b *testing.B) {
	b.SetBytes(64 << 20)
	for b.Loop() {
		runAlone(b, childSpec("flood", floodMiB))
	}
}

// A short child shows what a run costs beside the child itself.
func BenchmarkShortRecorded(b *testing.B) {
	s := newTestSandbox(b)
	for b.Loop() {
		if _, err := s.Run(context.Background(), childSpec("print", "x", "0")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShortAlone(b *testing.B) {
	for b.Loop() {
		runAlone(b, childSpec("print", "x", "0"))
	}
}

func BenchmarkSandbox(b *testing.B) {
	for b.Loop() {
		s, err := NewSandbox(context.Background(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func runAlone(b *testing.B, spec Spec) {
	b.Helper()
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env, cmd.Dir = spec.Env, spec.Dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}
