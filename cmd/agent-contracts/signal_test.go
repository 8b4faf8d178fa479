//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe that somebody holds open and does not write to keeps no command from
// ending: the first signal asks it to, a second one ends it.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	child := exec.CommandContext(t.Context(), "agent-contracts", "normalize", pipe)
	child.Dir = filepath.Join("..", "..")
	must(t, child.Start())
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when it is read
	must(t, err)
	defer writer.Close()
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for again := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ended:
			if s := child.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGTERM {
				t.Errorf("it ended otherwise: %v", child.ProcessState)
			}
			return
		case <-again.C:
			_ = child.Process.Signal(syscall.SIGTERM)
		}
	}
}
