package jobs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// gone is a machine on which no recorded process lives.
func gone() *System { return elsewhere(here, func(int) (*Process, error) { return nil, nil }) }

// A producer that died before the start leaves a run that its key starts, and
// whatever the dead one may have started does nothing any more.
func TestKeyStartsWhatADeadProducerLeft(t *testing.T) {
	s := testStore(t)
	program := testProgram(t)
	sub := Submission{Kind: KindCapture, Args: []string{"ok"}, Dir: t.TempDir(), Key: "k"}
	id, reused, err := s.admit(context.Background(), &sub)
	if err != nil || reused {
		t.Fatal(err)
	}
	if generation, err := s.takeOver(id); err != nil || generation != 0 {
		t.Errorf("taken from a producer that lives: generation %d, %v", generation, err)
	}
	if _, err := change(filepath.Join(s.dir, id), byProducer, func(r *Record) error { r.Producer.StartTicks++; return nil }); err != nil {
		t.Fatal(err)
	}
	job, reused, err := s.Submit(context.Background(), sub, program)
	if err != nil || !reused || job.RunID != id {
		t.Fatalf("%+v, reused %v, %v", job, reused, err)
	}
	if job = settled(t, s, id); !job.Terminal || *job.Outcome != Succeeded {
		t.Errorf("%+v", job.Lifecycle)
	}
	if err := s.started(filepath.Join(s.dir, id), byRun, 1, 1); !errors.Is(err, ErrEnded) {
		t.Errorf("the child of the dead producer: %v", err)
	}
	// Before its end it is the older incarnation.
	other := recorded(t, s, idA, func(r *Record) { r.Generation = 2 })
	if err := s.started(filepath.Join(s.dir, other), byRun, 1, 1); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the child of the dead producer: %v", err)
	}
}

// A resumption whose caller died can be asked for again.
func TestResumeAgain(t *testing.T) {
	s := testStore(t)
	id := submit(t, s, Submission{Args: []string{"suspend"}}).RunID
	until(t, s, id, func(j *Job) bool { return j.Status == StatusSuspended })
	_, err := change(filepath.Join(s.dir, id), byProducer, func(r *Record) error {
		r.Suspended, r.SpawnState, r.Process, r.PID = false, Preparing, nil, 0
		r.Generation++
		r.Producer.StartTicks++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resume(id, testProgram(t)); err != nil {
		t.Fatal(err)
	}
	if job := settled(t, s, id); !job.Terminal || *job.Outcome != Succeeded {
		t.Errorf("%+v", job.Lifecycle)
	}
}

// A producer that died between noting that it could not start the run and
// ending it leaves no run that is being started for ever.
func TestUnstartedRunIsEnded(t *testing.T) {
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, func(r *Record) { r.SpawnState = SpawnFailed })
	job, err := s.Status(idA)
	if err != nil || !job.Terminal || *job.Outcome != Failed || *job.ReasonCode != ReasonSpawnFailed {
		t.Errorf("%+v %v", job, err)
	}
}

// An older producer that could not start the run does not end what a newer one
// started.
func TestLateSpawnFailureIsFenced(t *testing.T) {
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return &Process{StartTicks: 7}, nil }))
	recorded(t, s, idA, func(r *Record) { startedAs(1, 7)(r); r.Generation = 2 })
	if err := s.spawnFailed(idA, 1, errors.New("x")); !errors.Is(err, ErrSuperseded) {
		t.Errorf("error %v", err)
	}
	if job, err := s.Status(idA); err != nil || job.Status != StatusRunning || job.SpawnState != Started {
		t.Errorf("%+v %v", job, err)
	}
}

// The window of a wait is not moved by a wall clock that is set back.
func TestWaitOutlastsAClockJump(t *testing.T) {
	sys := elsewhere(here, func(int) (*Process, error) { return &Process{StartTicks: 7}, nil })
	looks := 0
	sys.Now = func() time.Time { looks++; return time.Now().Round(0).Add(-time.Duration(looks) * time.Hour) }
	s := Open(t.TempDir(), sys)
	recorded(t, s, idA, startedAs(1, 7))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w, err := s.Wait(ctx, []string{idA}, MinPoll, MinPoll)
	if err != nil || !w.TimedOut {
		t.Errorf("%+v %v", w, err)
	}
}

// A reaper that was stopped with a run's lock in its hand holds up nobody: its
// run is one whose end could not be recorded, until it goes on or is gone.
func TestStoppedReaperHoldsUpNobody(t *testing.T) {
	whole := lockPatience
	lockPatience = 50 * time.Millisecond
	t.Cleanup(func() { lockPatience = whole })
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, startedAs(2, 7))
	recorded(t, s, idB, func(r *Record) { r.Suspended = true })
	recorded(t, s, idC, startedAs(2, 7))
	unlock, err := lock(filepath.Join(s.dir, idA), byReaper)
	if err != nil {
		t.Fatal(err)
	}
	other, err := lock(filepath.Join(s.dir, idB), byReaper)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Wait(context.Background(), []string{idA, idC}, 0, 0)
	if err != nil || !slices.Equal(w.StoppedWithoutEnd, []string{idA}) || !slices.Equal(w.Terminal, []string{idC}) {
		t.Errorf("%+v %v", w, err)
	}
	var busy *BusyError
	if _, err := s.Resume(idB, "none"); !errors.As(err, &busy) || Refusal(err).Kind != machine.Unavailable {
		t.Errorf("resuming: %v", err)
	}
	if _, err := s.Kill(idB, "TERM"); !errors.As(err, &busy) {
		t.Errorf("killing: %v", err)
	}
	unlock()
	other()
	if job, err := s.Status(idA); err != nil || !job.Terminal || *job.Outcome != Indeterminate {
		t.Errorf("after it: %+v %v", job, err)
	}
}

// What was told last is what is shown, however soon it came after the words
// before it.
func TestLastProgressIsKept(t *testing.T) {
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, startedAs(1, 7))
	run := &Run{store: s, dir: filepath.Join(s.dir, idA)}
	run.Tell(0, 9, "first")
	run.Tell(1, 9, "second")
	for deadline := time.Now().Add(time.Minute); ; {
		p := value[Progress](run.dir, progressFile)
		if p.Available && p.Value.What == "second" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("progress is %+v", p.Value)
		}
	}
	run.Tell(2, 9, "third")
	run.flush()
	if p := value[Progress](run.dir, progressFile); !p.Available || p.Value.What != "third" {
		t.Errorf("at the end it is %+v", p)
	}
}

// Whoever claimed a delivery and is gone without a word leaves it to the next
// reader, which says that it was not the run.
func TestAbandonedNoticeIsDelivered(t *testing.T) {
	s := Open(t.TempDir(), gone())
	notices := filepath.Join(t.TempDir(), "notices")
	recorded(t, s, idA, func(r *Record) {
		startedAs(1, 7)(r)
		r.Dir, r.Notify = t.TempDir(), "echo told >> '"+notices+"'"
	})
	dir := filepath.Join(s.dir, idA)
	end, err := newEnd(StatusCompleted, "", byRun)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.finish(dir, 1, end); err != nil {
		t.Fatal(err)
	}
	if err := publish(dir, claimFile, claim{Process: &Incarnation{here, 3, 7}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		job, err := s.Status(idA)
		if err != nil || !job.Notification.Available || !job.Notification.Value.Delivered || *job.Notification.Value.By != byReaper {
			t.Fatalf("%+v %v", job, err)
		}
	}
	if b, err := os.ReadFile(notices); err != nil || string(b) != "told\n" {
		t.Errorf("notices %q %v", b, err)
	}
}

// A console that was not written yet is not an empty one.
func TestLogThatIsNotThere(t *testing.T) {
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, func(r *Record) { r.SpawnState = Preparing })
	if _, err := s.Log(idA); !errors.Is(err, fs.ErrNotExist) || Refusal(err).Kind != machine.Unavailable {
		t.Errorf("error %v", err)
	}
}
