package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the program that the tests submit: like agent-contracts it
// does the work of a run when it is called as `job exec RUN_ID --generation N`.
func TestMain(m *testing.M) {
	if is, err := chaosRole(os.Args[1:]); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the role failed")
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 6 && os.Args[1] == "job" && os.Args[2] == "exec" {
		generation, err := strconv.Atoi(os.Args[5])
		if err != nil {
			panic(err)
		}
		s := Open(os.Getenv("JOBS_TEST_STATE"), ThisSystem())
		if err := s.Exec(context.Background(), os.Args[3], generation, testWork); err != nil {
			fmt.Fprintln(os.Stderr, "exec failed")
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 6 && os.Args[1] == "job" && os.Args[2] == "deliver" {
		if err := Open(os.Getenv("JOBS_TEST_STATE"), ThisSystem()).Deliver(os.Args[3], os.Args[5]); err != nil {
			os.Exit(1)
		}
		return
	}
	lockPatience = time.Minute // the tests wait for each other, on a loaded machine
	os.Exit(m.Run())
}

func testWork(_ context.Context, run *Run) Done {
	fmt.Println("working")
	run.Tell(1, 2, "half")
	switch run.Record.Args[0] {
	case "hang":
		select {} // until it is killed
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "fail":
		return Done{Status: StatusFailed, ReasonCode: ReasonPartial}
	case "suspend":
		if run.Record.Generation == 1 {
			return Done{Status: StatusSuspended}
		}
	case "input":
		b, err := os.ReadFile(run.Input)
		if err != nil {
			return Done{Status: StatusFailed}
		}
		if err := run.Artifact("copy.txt", b); err != nil {
			return Done{Status: StatusFailed}
		}
	}
	return Done{Status: StatusCompleted, Envelope: json.RawMessage(`{"ok":true}`)}
}

func testStore(t *testing.T) *Store {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("JOBS_TEST_STATE", dir)
	s := Open(dir, ThisSystem())
	t.Cleanup(func() { // what a test leaves running
		ids, _ := s.ids()
		for _, id := range ids {
			_, _ = s.Kill(id, "KILL")
		}
	})
	return s
}

func testProgram(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func submit(t *testing.T, s *Store, sub Submission) *Job {
	t.Helper()
	if sub.Kind == "" {
		sub.Kind = KindCapture
	}
	sub.Dir = t.TempDir()
	job, _, err := s.Submit(context.Background(), sub, testProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// settled waits until a run is no longer pending.
func settled(t *testing.T, s *Store, id string) *Job {
	t.Helper()
	if _, err := s.Wait(context.Background(), []string{id}, time.Minute, MinPoll); err != nil {
		t.Fatal(err)
	}
	job, err := s.Status(id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// until looks at a run until it is as it should be.
func until(t *testing.T, s *Store, id string, ok func(*Job) bool) *Job {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		job, err := s.Status(id)
		if err != nil {
			t.Fatal(err)
		}
		if ok(job) {
			return job
		}
	}
	t.Fatal("the run never came to the awaited state")
	return nil
}

func TestRunsToItsEnd(t *testing.T) {
	s := testStore(t)
	job := submit(t, s, Submission{Args: []string{"input"}, Label: "mine", Input: []byte("a long prompt")})
	if job.Terminal || job.Outcome != nil {
		if job.Outcome == nil || *job.Outcome != Succeeded {
			t.Fatalf("submit reports on the work: %+v", job.Lifecycle)
		}
	}
	job = settled(t, s, job.RunID)
	if !job.Terminal || *job.Outcome != Succeeded || job.Status != StatusCompleted || job.ReasonCode != nil || job.FinishedAt == nil {
		t.Errorf("status %+v", job.Lifecycle)
	}
	if *job.Progress.Value != (Progress{1, 2, "half", job.Progress.Value.At}) {
		t.Errorf("progress %+v", job.Progress.Value)
	}
	if n := job.Notification; !n.Available || n.Value.Attempted {
		t.Errorf("a run without a delivery command: %+v", n)
	}
	out, err := s.Output(job.RunID, 4)
	if err != nil {
		t.Fatal(err)
	}
	if *out.Console.Value.Value != "ing\n" || !out.Console.Truncated {
		t.Errorf("console %+v", out.Console)
	}
	if got := *out.Artifacts.Value; len(got) != 1 || got[0] != (Artifact{"copy.txt", 13}) {
		t.Errorf("artifacts %+v", got)
	}
	var result struct{ OK bool }
	if err := json.Unmarshal(*out.Result.Value, &result); err != nil || !result.OK {
		t.Errorf("result %s", *out.Result.Value)
	}
}

func TestFailureKeepsItsReason(t *testing.T) {
	s := testStore(t)
	job := settled(t, s, submit(t, s, Submission{Args: []string{"fail"}}).RunID)
	if !job.Terminal || *job.Outcome != Failed || *job.ReasonCode != ReasonPartial {
		t.Errorf("%+v", job.Lifecycle)
	}
	out, err := s.Output(job.RunID, 100)
	if err != nil {
		t.Fatal(err)
	}
	if out.Result.Available || *out.Result.ReasonCode != "absent" {
		t.Errorf("a result that was never written: %+v", out.Result)
	}
}

// A run whose process is killed without a word gets an end that says so, once,
// and the notice that it would have sent itself.
func TestReaperEndsWhatIsGone(t *testing.T) {
	s := testStore(t)
	notices := filepath.Join(t.TempDir(), "notices")
	job := submit(t, s, Submission{Args: []string{"die"}, Notify: "cat >> '" + notices + "'; echo >> '" + notices + "'"})
	job = settled(t, s, job.RunID)
	if !job.Terminal || *job.Outcome != Indeterminate || job.Status != StatusExited || *job.ReasonCode != ReasonProcessGone {
		t.Errorf("%+v", job.Lifecycle)
	}
	if n := job.Notification.Value; n == nil || !n.Delivered || *n.By != "reaper" {
		t.Errorf("notification %+v", job.Notification)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = s.Status(job.RunID) })
	}
	wg.Wait()
	b, err := os.ReadFile(notices)
	if err != nil {
		t.Fatal(err)
	}
	if n := slices.Index(b, '\n'); n != len(b)-1 {
		t.Errorf("delivered more than once: %d bytes", len(b))
	}
}

func TestKill(t *testing.T) {
	s := testStore(t)
	for _, signal := range []string{"TERM", "KILL"} {
		job := submit(t, s, Submission{Args: []string{"hang"}})
		until(t, s, job.RunID, func(j *Job) bool { return j.Progress.Available })
		k, err := s.Kill(job.RunID, signal)
		if err != nil || !k.Delivered || k.Explanation != nil {
			t.Fatalf("%s: %+v %v", signal, k, err)
		}
		job = settled(t, s, job.RunID)
		if *job.Outcome != Indeterminate || job.Status != StatusKilled || *job.ReasonCode != ReasonSignalled {
			t.Errorf("%s: %+v", signal, job.Lifecycle)
		}
		if got := *job.DeliveredSignal.Value; got == nil || got.Signal != signal {
			t.Errorf("delivered signal %+v", got)
		}
		if k, err = s.Kill(job.RunID, signal); err != nil || k.Delivered || k.Explanation == nil || !k.Terminal {
			t.Errorf("killing what has ended: %+v %v", k, err)
		}
	}
}

func TestSuspendedRunIsNeverJudged(t *testing.T) {
	s := testStore(t)
	id := submit(t, s, Submission{Args: []string{"suspend"}}).RunID
	job := until(t, s, id, func(j *Job) bool { return j.Status == StatusSuspended })
	if job.Terminal || job.Outcome != nil || *job.ReasonCode != ReasonAwaitingAnswer {
		t.Errorf("%+v", job.Lifecycle)
	}
	w, err := s.Wait(context.Background(), []string{id}, 0, 0)
	if err != nil || !slices.Equal(w.Pending, []string{id}) {
		t.Errorf("wait: %+v %v", w, err)
	}
	program, _ := os.Executable()
	if _, err := s.Resume(id, program); err != nil {
		t.Fatal(err)
	}
	job = settled(t, s, id)
	if !job.Terminal || *job.Outcome != Succeeded {
		t.Errorf("after resuming: %+v", job.Lifecycle)
	}
	if _, err := s.Resume(id, program); !errors.Is(err, ErrEnded) {
		t.Errorf("resuming what has ended: %v", err)
	}
}

func TestKillCancelsASuspendedRun(t *testing.T) {
	s := testStore(t)
	id := submit(t, s, Submission{Args: []string{"suspend"}}).RunID
	until(t, s, id, func(j *Job) bool { return j.Status == StatusSuspended })
	k, err := s.Kill(id, "TERM")
	if err != nil || k.Delivered || !k.Terminal || *k.Outcome != Cancelled {
		t.Errorf("%+v %v", k, err)
	}
}

func TestSpawnFailureIsRecorded(t *testing.T) {
	s := testStore(t)
	_, _, err := s.Submit(context.Background(), Submission{Kind: KindCapture, Args: []string{"ok"}, Dir: t.TempDir()}, filepath.Join(t.TempDir(), "none"))
	var spawn *SpawnError
	if !errors.As(err, &spawn) {
		t.Fatalf("error %v", err)
	}
	job, err := s.Status(spawn.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if job.SpawnState != SpawnFailed || !job.Terminal || *job.Outcome != Failed || *job.ReasonCode != ReasonSpawnFailed {
		t.Errorf("%+v", job.Lifecycle)
	}
}

func TestInvalidSubmissionLeavesNoTrace(t *testing.T) {
	s := testStore(t)
	for name, sub := range map[string]Submission{
		"too long": {Args: []string{string(make([]byte, maxArgs+1))}},
		"NUL":      {Args: []string{"a\x00b"}},
		"label":    {Label: string(make([]byte, 300))},
	} {
		var invalid *InvalidError
		if _, _, err := s.Submit(context.Background(), sub, "/bin/true"); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if exists(s.dir) {
		t.Error("a refused submission made the folder of runs")
	}
}

// The CLIs of captures run as another user, whose workspaces are below the state
// folder: the first job of a machine must not lock them out.
func TestStateFolderStaysOpen(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "agent-contracts"), ThisSystem())
	var spawn *SpawnError
	if _, _, err := s.Submit(context.Background(), Submission{Args: []string{"ok"}}, "/nonexistent"); !errors.As(err, &spawn) {
		t.Fatal(err)
	}
	state, err := os.Stat(filepath.Dir(s.dir))
	runs, err2 := os.Stat(s.dir)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if state.Mode().Perm()&0o011 != 0o011 || runs.Mode().Perm() != 0o700 {
		t.Errorf("modes %o and %o", state.Mode().Perm(), runs.Mode().Perm())
	}
}

func TestIdempotencyKey(t *testing.T) {
	s := testStore(t)
	program, _ := os.Executable()
	sub := Submission{Kind: KindCapture, Args: []string{"ok"}, Dir: t.TempDir(), Key: "k/../1"}
	var wg sync.WaitGroup
	var fresh atomic.Int32
	ids := make([]string, 8)
	for i := range ids {
		wg.Go(func() {
			job, reused, err := s.Submit(context.Background(), sub, program)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = job.RunID
			if !reused {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if slices.Sort(ids); fresh.Load() != 1 || ids[0] != ids[7] {
		t.Errorf("%d runs of one key: %v", fresh.Load(), ids)
	}
	sub.Args = []string{"fail"}
	var conflict *ConflictError
	if _, _, err := s.Submit(context.Background(), sub, program); !errors.As(err, &conflict) || conflict.RunID != ids[0] {
		t.Errorf("another submission with the key: %v", err)
	}
	settled(t, s, ids[0])
}
