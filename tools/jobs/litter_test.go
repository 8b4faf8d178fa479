package jobs

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A prune removes what a killed producer left, and nothing that a living one
// works in: not a young folder, not a locked one, whatever the wall clock says.
func TestPruneSweeps(t *testing.T) {
	sys := ThisSystem()
	sys.Now = func() time.Time { return time.Now().Add(365 * 24 * time.Hour) }
	s := Open(t.TempDir(), sys)
	id := recorded(t, s, idA, func(*Record) {})
	folder := func(name string, age time.Duration) string {
		dir := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Join(dir, artifactsDir), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	gone := []string{folder(newPrefix+"1", 2*time.Hour), folder(gonePrefix+idB, 2*time.Hour)}
	kept := []string{folder(newPrefix+"2", 0), folder(newPrefix+"3", 2*time.Hour), folder("keys", 2*time.Hour), filepath.Join(s.dir, id)}
	unlock, err := lock(kept[1], byProducer)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	old := time.Now().Add(-2 * time.Hour) // making the lock made it young
	if err := os.Chtimes(kept[1], old, old); err != nil {
		t.Fatal(err)
	}
	for _, dryRun := range []bool{true, false} {
		p, err := s.Prune(context.Background(), 0, dryRun)
		want := 2
		if dryRun {
			want = 3 // it tries no lock
		}
		if err != nil || p.Litter != want || len(p.Removed) != 0 || p.Kept != 1 {
			t.Errorf("dry run %v: %+v, %v", dryRun, p, err)
		}
		for _, dir := range gone {
			if exists(dir) != dryRun {
				t.Errorf("dry run %v: %s is there: %v", dryRun, filepath.Base(dir), exists(dir))
			}
		}
		for _, dir := range kept {
			if !exists(dir) {
				t.Errorf("%s was removed", filepath.Base(dir))
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, ".time-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A submission holds the lock of the folder that it works in.
func TestProducerHoldsItsFolder(t *testing.T) {
	s := Open(t.TempDir(), ThisSystem())
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := s.create(&Submission{Kind: KindCapture}, func(string) error {
		found, err := filepath.Glob(filepath.Join(s.dir, newPrefix+"*"))
		if err != nil || len(found) != 1 || sweepOne(found[0], true) {
			t.Errorf("the folder of a living producer was taken: %v, %v", found, err)
		}
		return nil
	})
	if err != nil || !exists(filepath.Join(s.dir, id, recordFile)) {
		t.Errorf("run %q: %v", id, err)
	}
}
