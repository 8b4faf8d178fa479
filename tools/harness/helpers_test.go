//go:build unix

package harness

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// childSpec is a run of a role without stdin.
func childSpec(role string, args ...string) Spec {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return Spec{
		Path: exe, Args: args, Env: []string{"AC_TEST_CHILD=" + role}, Dir: "/",
		Stdin: Stdin{Mode: contract.StdinNone},
	}
}

func newTestSandbox(t testing.TB) *Sandbox {
	t.Helper()
	s, err := NewSandbox(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.clock.term = time.Minute // on a loaded machine a child hears of SIGTERM late
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// record runs a child in a sandbox of its own and returns the result with
// what was recorded.
func record(t *testing.T, spec Spec) (Result, *transcript.Transcript) {
	t.Helper()
	return recordIn(t, context.Background(), newTestSandbox(t), spec)
}

func recordIn(t *testing.T, ctx context.Context, s *Sandbox, spec Spec) (Result, *transcript.Transcript) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw")
	w, err := transcript.CreateBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	spec.Bundle = w
	res, err := s.Run(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := transcript.OpenBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tr, err := transcript.Assemble(r)
	if err != nil {
		t.Fatal(err)
	}
	if r.Truncated() {
		t.Error("the bundle is truncated")
	}
	return res, tr
}

func stdout(tr *transcript.Transcript) string {
	return string(tr.Bytes(transcript.CLIToServer, transcript.Stdout))
}

// events returns the process events as "event reason signal".
func events(tr *transcript.Transcript) []string {
	var list []string
	for _, r := range tr.Records {
		if r.Dir == transcript.Process {
			s := r.Event
			for _, word := range []string{r.Reason, r.Signal} {
				if word != "" {
					s += " " + word
				}
			}
			list = append(list, s)
		}
	}
	return list
}

// lifeline is a FIFO that processes hold open as long as they live.
type lifeline struct {
	path string
	open chan *bufio.Reader
	r    *bufio.Reader
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	l := &lifeline{path: filepath.Join(t.TempDir(), "life"), open: make(chan *bufio.Reader, 1)}
	if err := syscall.Mkfifo(l.path, 0o666); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.Open(l.path) // waits for the first process
		if err == nil {
			l.open <- bufio.NewReader(f)
		}
	}()
	return l
}

// up waits until n processes hold the line.
func (l *lifeline) up(t *testing.T, n int) {
	t.Helper()
	if l.r == nil {
		l.r = <-l.open
	}
	for range n {
		if s, err := l.r.ReadString('\n'); err != nil || s != "up\n" {
			t.Fatalf("a process reports %q, %v", s, err)
		}
	}
}

// gone waits until no process holds the line.
func (l *lifeline) gone(t *testing.T) {
	t.Helper()
	if _, err := io.Copy(io.Discard, l.r); err != nil {
		t.Fatal(err)
	}
}
