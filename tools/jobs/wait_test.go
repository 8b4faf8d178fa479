package jobs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Waiting for what waiting cannot resolve costs one interval and one more look
// a call, and nothing as a snapshot.
func TestWaitFloor(t *testing.T) {
	var looks atomic.Int32
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { looks.Add(1); return nil, os.ErrPermission }))
	recorded(t, s, idA, startedAs(3, 7))
	for _, c := range []struct {
		window time.Duration
		looks  int32
	}{{0, 1}, {time.Hour, 2}} {
		looks.Store(0)
		w, err := s.Wait(context.Background(), []string{idA}, c.window, MinPoll)
		if err != nil || !slices.Equal(w.StoppedWithoutEnd, []string{idA}) || w.TimedOut {
			t.Fatalf("%+v %v", w, err)
		}
		if looks.Load() != c.looks {
			t.Errorf("window %v: %d looks, want %d", c.window, looks.Load(), c.looks)
		}
	}
}

// A call that waited for a run that went on has paid: ids that waiting cannot
// resolve charge it no further interval.
func TestWaitThatWaitedPaysNoFloor(t *testing.T) {
	var looks atomic.Int32 // at the run that cannot be judged: one a round
	s := Open(t.TempDir(), elsewhere(here, func(pid int) (*Process, error) {
		if pid == 3 {
			looks.Add(1)
			return nil, os.ErrPermission
		}
		if looks.Load() < 2 {
			return &Process{StartTicks: 7}, nil
		}
		return nil, nil
	}))
	recorded(t, s, idA, startedAs(3, 7))
	recorded(t, s, idB, startedAs(1, 7))
	w, err := s.Wait(context.Background(), []string{idA, idB}, time.Hour, MinPoll)
	if err != nil || !slices.Equal(w.StoppedWithoutEnd, []string{idA}) || !slices.Equal(w.Terminal, []string{idB}) {
		t.Fatalf("%+v %v", w, err)
	}
	if n := looks.Load(); n != 2 {
		t.Errorf("%d rounds of looks, want 2", n)
	}
}

func TestWaitLeavesTheRunAlone(t *testing.T) {
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return &Process{StartTicks: 7}, nil }))
	recorded(t, s, idA, startedAs(1, 7))
	before, err := os.ReadFile(filepath.Join(s.dir, idA, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Wait(ctx, []string{idA}, time.Hour, MaxPoll); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	after, err := os.ReadFile(filepath.Join(s.dir, idA, recordFile))
	if err != nil || string(before) != string(after) || exists(filepath.Join(s.dir, idA, endFile)) {
		t.Errorf("the run changed: %v", err)
	}
}
