package jobs

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
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
	if _, err := change(filepath.Join(s.dir, id), func(r *Record) error { r.Producer.StartTicks++; return nil }); err != nil {
		t.Fatal(err)
	}
	job, reused, err := s.Submit(context.Background(), sub, program)
	if err != nil || !reused || job.RunID != id {
		t.Fatalf("%+v, reused %v, %v", job, reused, err)
	}
	if job = settled(t, s, id); !job.Terminal || *job.Outcome != Succeeded {
		t.Errorf("%+v", job.Lifecycle)
	}
	if err := s.started(filepath.Join(s.dir, id), 1, 1); !errors.Is(err, ErrEnded) {
		t.Errorf("the child of the dead producer: %v", err)
	}
	// Before its end it is the older incarnation.
	other := recorded(t, s, idA, func(r *Record) { r.Generation = 2 })
	if err := s.started(filepath.Join(s.dir, other), 1, 1); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the child of the dead producer: %v", err)
	}
}

// A resumption whose caller died can be asked for again.
func TestResumeAgain(t *testing.T) {
	s := testStore(t)
	id := submit(t, s, Submission{Args: []string{"suspend"}}).RunID
	until(t, s, id, func(j *Job) bool { return j.Status == StatusSuspended })
	_, err := change(filepath.Join(s.dir, id), func(r *Record) error {
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
