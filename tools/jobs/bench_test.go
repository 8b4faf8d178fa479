package jobs

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// many is a store of 10,000 runs that have ended and 100 that run, these the
// older ones: a list has to look past everything that is newer.
func many(b *testing.B) (s *Store, running []string) {
	b.Helper()
	s = Open(b.TempDir(), ThisSystem())
	me := s.sys.incarnation(1)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10_100 {
		id := recorded(b, s, fmt.Sprintf("%s-%06x", begin.Add(time.Duration(i)*time.Second).Format("20060102T150405"), i), func(r *Record) {
			r.SpawnState, r.PID, r.Process = Started, 1, me
		})
		if i < 100 {
			running = append(running, id)
			continue
		}
		end, err := newEnd(StatusCompleted, "", byRun)
		if err == nil {
			err = s.finish(filepath.Join(s.dir, id), 1, end)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	return s, running
}

func BenchmarkJobs(b *testing.B) {
	s, running := many(b)
	list := func(limit int, status Status, want int) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				l, err := s.List(limit, status)
				if err != nil || len(*l.Jobs.Value) != want {
					b.Fatal(err, len(*l.Jobs.Value))
				}
			}
		}
	}
	b.Run("list", list(DefaultLimit, "", DefaultLimit))
	b.Run("list-1000", list(MaxLimit, "", MaxLimit))
	b.Run("list-running", list(MaxLimit, StatusRunning, len(running)))
	b.Run("wait", func(b *testing.B) {
		for b.Loop() {
			w, err := s.Wait(context.Background(), running, 0, 0)
			if err != nil || len(w.Pending) != len(running) {
				b.Fatal(err)
			}
		}
	})
}
