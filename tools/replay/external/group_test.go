//go:build unix

package external_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestGroupDies: what the adapter started dies with it. The child holds a
// named pipe open, which ends when the child does.
func TestGroupDies(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := adapter(t, "parent", pipe).Read(ctx, input("x"))
		failed <- err
	}()
	f, err := os.Open(pipe) // waits for the child
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if line, err := in.ReadString('\n'); err != nil || line != "here\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("after the end of its parent: %v", err)
	}
}
