//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leakgate"
)

// A named pipe is read to its end, and one into which nobody writes is waited for
// until an interrupt.
func TestCheckOfAPipe(t *testing.T) {
	gate, err := leakgate.Open("")
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	c := &checking{ctx: ctx, gate: gate}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("ghp_"+strings.Repeat("aB3dE6gH9", 4)+"\n"), 0o600) }()
	if err := errors.Join(c.place(pipe), <-written); err != nil || len(c.found) == 0 || c.files != 1 {
		t.Errorf("a pipe with a token: %d findings in %d files, %v", len(c.found), c.files, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.place(pipe) }()
	interrupt()
	if err := <-ended; !errors.Is(err, context.Canceled) || c.files != 1 {
		t.Errorf("a pipe that nobody writes into: %v, %d files", err, c.files)
	}
}
