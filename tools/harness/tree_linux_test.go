package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Descendants that hold the pipes, or that left the session, end with the run,
// and the run does not wait for them.
func TestLeftoversAreKilled(t *testing.T) {
	for _, how := range []string{"hold", "daemon"} {
		t.Run(how, func(t *testing.T) {
			life := newLifeline(t)
			res, tr := record(t, childSpec("leave", how, life.path))
			if *res.ExitCode != 0 || res.Ended != "exit" || res.LeftoversKilled != 2 {
				t.Errorf("result %+v", res)
			}
			if got := events(tr); !slices.Equal(got, []string{"spawn", "exit", "kill leftover_killed SIGKILL"}) {
				t.Errorf("events %q", got)
			}
			if stdout(tr) != "left\n" {
				t.Errorf("stdout %q", stdout(tr))
			}
			life.up(t, 2)
			life.gone(t)
		})
	}
}

// A cancelled run takes its whole tree along, also what ignores SIGTERM.
func TestCancelKillsTheTree(t *testing.T) {
	life := newLifeline(t)
	spec := childSpec("leave", "daemon", life.path, "stay")
	ctx, cancel := context.WithCancel(context.Background())
	spec.Tap = func(transcript.Stream, []byte) { cancel() }
	res, _ := recordIn(t, ctx, newTestSandbox(t), spec)
	if res.Reason != transcript.ReasonCancelled || res.LeftoversKilled != 2 {
		t.Errorf("result %+v", res)
	}
	life.up(t, 2)
	life.gone(t)
}

// kill -9 of this program leaves nothing of the child but what was recorded.
func TestKilledParentLeavesNothing(t *testing.T) {
	life := newLifeline(t)
	raw := filepath.Join(t.TempDir(), "raw")
	cmd := exec.Command("/proc/self/exe", life.path, raw)
	cmd.Env = []string{"AC_TEST_CHILD=parent"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	life.up(t, 2)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	life.gone(t)
	r, err := transcript.OpenBundle(raw)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if tr, err := transcript.Assemble(r); err != nil || !r.Truncated() || events(tr)[0] != "spawn" {
		t.Errorf("the bundle: %v, truncated %v", err, r.Truncated())
	}
}

// Close while a child runs ends it, and the Run under way fails.
func TestCloseDuringARun(t *testing.T) {
	life := newLifeline(t)
	s, err := NewSandbox(context.Background(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := childSpec("leave", "daemon", life.path, "stay")
	done := make(chan error)
	go func() {
		_, err := s.Run(context.Background(), spec)
		done <- err
	}()
	life.up(t, 2)
	if _, err := s.Run(context.Background(), spec); err == nil {
		t.Error("a second run starts while the first is under way")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, errLost) {
		t.Errorf("the run ends with %v", err)
	}
	life.gone(t)
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := s.Run(context.Background(), spec); err == nil {
		t.Error("a closed sandbox runs a child")
	}
}

// Even a supervisor that is killed itself takes the child's group along.
func TestKilledSupervisor(t *testing.T) {
	s := newTestSandbox(t)
	s.clock.drain = time.Second
	spec := childSpec("chatter")
	spec.Tap = func(transcript.Stream, []byte) { s.b.(*client).cmd.Process.Kill() }
	if _, err := s.Run(context.Background(), spec); !errors.Is(err, errLost) {
		t.Errorf("the run ends with %v", err)
	}
}

func TestTwoSandboxesAtOnce(t *testing.T) {
	for i := range 2 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			life := newLifeline(t)
			s := newTestSandbox(t)
			for range 3 {
				res, tr := recordIn(t, context.Background(), s, childSpec("print", strconv.Itoa(i), "0"))
				if *res.ExitCode != 0 || stdout(tr) != strconv.Itoa(i) || res.LeftoversKilled != 0 {
					t.Errorf("%+v", res)
				}
			}
			if res, _ := recordIn(t, context.Background(), s, childSpec("leave", "daemon", life.path)); res.LeftoversKilled != 2 {
				t.Errorf("%+v", res)
			}
			life.up(t, 2)
			life.gone(t)
		})
	}
}

// The scan must not be fooled by names, nor see what is dead or not ours.
func TestDescendants(t *testing.T) {
	link := filepath.Join(t.TempDir(), "odd) S 1 (name") // becomes the name in /proc
	if err := os.Symlink("/proc/self/exe", link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link)
	cmd.Env = []string{"AC_TEST_CHILD=silent"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := descendants(os.Getpid()); !slices.Contains(got, cmd.Process.Pid) || slices.Contains(got, os.Getpid()) {
		t.Errorf("descendants %v lack %d or have %d", got, cmd.Process.Pid, os.Getpid())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if slices.Contains(descendants(os.Getpid()), cmd.Process.Pid) {
		t.Error("a reaped process is listed")
	}
}
