package jobs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestPruneKeepsATombstone(t *testing.T) {
	s := testStore(t)
	ended := settled(t, s, submit(t, s, Submission{Args: []string{"ok"}}).RunID).RunID
	open := submit(t, s, Submission{Args: []string{"suspend"}}).RunID
	until(t, s, open, func(j *Job) bool { return j.Status == StatusSuspended })
	if p, err := s.Prune(context.Background(), 0, true); err != nil || len(p.Removed) != 1 {
		t.Fatalf("dry run: %+v %v", p, err)
	}
	if p, err := s.Prune(context.Background(), time.Hour, false); err != nil || len(p.Removed) != 0 {
		t.Fatalf("too young: %+v %v", p, err)
	}
	p, err := s.Prune(context.Background(), 0, false)
	if err != nil || !slices.Equal(p.Removed, []string{ended}) || p.Kept != 1 {
		t.Fatalf("%+v %v", p, err)
	}
	var none *NotFoundError
	if _, err := s.Status(ended); !errors.As(err, &none) || none.PrunedAt == "" {
		t.Errorf("a pruned id: %v", err)
	}
	if _, err := s.Status("20260725T175010-97f334"); !errors.As(err, &none) || none.PrunedAt != "" {
		t.Errorf("an id that never was: %v", err)
	}
}

func TestListIsNewestFirstAndBounded(t *testing.T) {
	s := testStore(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, recorded(t, s, fmt.Sprintf("20260101T00000%d-00000%d", i, i), func(r *Record) {}))
	}
	slices.Reverse(ids)
	l, err := s.List(3, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range *l.Jobs.Value {
		got = append(got, e.RunID)
	}
	if !slices.Equal(got, ids[:3]) || !l.Truncated {
		t.Errorf("%v, truncated %v", got, l.Truncated)
	}
	if l, err = s.List(5, ""); err != nil || l.Truncated {
		t.Errorf("all of them are said to be cut: %v", err)
	}
	end, err := newEnd(StatusCompleted, "", byRun)
	if err == nil {
		err = s.finish(filepath.Join(s.dir, ids[0]), 1, end)
	}
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[Status][]string{StatusPreparing: ids[1:], StatusCompleted: ids[:1]} {
		l, err := s.List(5, status)
		if err != nil || !slices.EqualFunc(*l.Jobs.Value, want, func(e Entry, id string) bool { return e.RunID == id }) {
			t.Errorf("%s: %+v %v", status, l.Jobs.Value, err)
		}
	}
	if l, err = s.List(5, StatusRunning); err != nil || len(*l.Jobs.Value) != 0 {
		t.Errorf("a status that none has: %+v %v", l.Jobs.Value, err)
	}
}

// Ids are in the order of their runs within a second too.
func TestNewIDsAreInOrder(t *testing.T) {
	now := time.Date(2026, 12, 1, 16, 41, 11, 0, time.UTC)
	s := Open(t.TempDir(), &System{Now: func() time.Time { return now }})
	last := ""
	for range 3000 {
		id, err := s.newID()
		if err != nil {
			t.Fatal(err)
		}
		if !contract.ValidRunID(id) || id <= last {
			t.Fatalf("%s comes behind %s", id, last)
		}
		last, now = id, now.Add(999*time.Microsecond)
	}
}
