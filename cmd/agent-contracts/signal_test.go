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

// reading starts a command that reads a pipe which nobody writes to.
func reading(t *testing.T) (child *exec.Cmd, writer *os.File, ended chan error) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	child = exec.CommandContext(t.Context(), "agent-contracts", "normalize", pipe)
	child.Dir = filepath.Join("..", "..")
	must(t, child.Start())
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when it is read
	must(t, err)
	t.Cleanup(func() { _ = writer.Close() })
	ended = make(chan error, 1)
	go func() { ended <- child.Wait() }()
	return child, writer, ended
}

// A pipe that somebody holds open and does not write to keeps no command from
// ending: the first signal asks it to, a later one ends it.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	child, _, ended := reading(t)
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

// A signal that is sent several times at once, for much less than oneSignal, asks
// as one does.
func TestSignalAtOnce(t *testing.T) {
	t.Parallel()
	child, writer, ended := reading(t)
	again, first := time.NewTicker(5*time.Millisecond), time.Now()
	for ; time.Since(first) < oneSignal/20; <-again.C {
		_ = child.Process.Signal(syscall.SIGTERM)
	}
	must(t, writer.Close())
	if <-ended; !child.ProcessState.Exited() {
		t.Errorf("it was ended: %v", child.ProcessState)
	}
}
