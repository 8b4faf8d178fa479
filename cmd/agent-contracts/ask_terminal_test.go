//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

// terminal opens a pseudo-terminal: what the person sees and types, and what the
// program gets.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	must(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	must(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return person, program
}

// On a terminal a capture asks at once. The cell runs again as it would after a
// day, and the agent hears the same.
func TestAskAtTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, typed, heard, state string
		code                      []int
	}{
		{"granted", "maybe\nyes\n", "granted", requests.StateUsed, []int{0, 1}},
		{"rejected", "no\n", "rejected", requests.StateUsed, []int{0, 1}},
		{"later", "later\n", "", requests.StatePending, []int{5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newAskingWorld(t)
			person, program := terminal(t)
			cmd := w.captureAsking()
			cmd.Stdin, cmd.Cmd.Stderr = program, program
			must(t, cmd.Start())
			must(t, program.Close())
			seen := answerWhenAsked(t, person, c.typed)
			code := exitOf(cmd)
			if !slices.Contains(c.code, code) || w.heard() != c.heard {
				t.Errorf("exit code %d, the agent heard %q, want %v and %q", code, w.heard(), c.code, c.heard)
			}
			if all := w.entries(); len(all) != 1 || all[0].State != c.state {
				t.Errorf("the requests are %s, want one that is %s", told(all), c.state)
			}
			if s := <-seen; !strings.Contains(s, "opencode asks (permission, request ") || !strings.Contains(s, "write index.html (edit)?") {
				t.Errorf("the person saw\n%s", s)
			}
			w.keepsSecret(w.marker)
			w.leavesNobody()
		})
	}
}

// answerWhenAsked types as soon as the question is there, and returns everything
// that was shown when the program has gone.
func answerWhenAsked(t *testing.T, person *os.File, typed string) <-chan string {
	t.Helper()
	must(t, person.SetReadDeadline(time.Now().Add(2*time.Minute)))
	seen := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			before := bytes.Contains(all.Bytes(), []byte("later? "))
			all.Write(buf[:n])
			if !before && bytes.Contains(all.Bytes(), []byte("later? ")) {
				_, _ = io.WriteString(person, typed)
			}
			if err != nil {
				seen <- all.String()
				return
			}
		}
	}()
	return seen
}

func exitOf(c *command) int {
	_ = c.Wait()
	return c.ProcessState.ExitCode()
}
