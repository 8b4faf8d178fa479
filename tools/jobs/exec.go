package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Run is a run from the inside of its process.
type Run struct {
	Record *Record
	// Input is the file with what the work reads from stdin, "" for nothing.
	Input string

	store *Store
	dir   string
	mu    sync.Mutex
	told  time.Time   // when progress was written last
	later *time.Timer // writes what was held back since, nil for nothing
	held  Progress
}

// Done is what the work came to.
type Done struct {
	// Status is a status that a run ends with, or suspended.
	Status     Status
	ReasonCode string
	// Envelope is the work's own machine result.
	Envelope json.RawMessage
}

// progressEvery keeps a quick run from writing more than anybody reads.
const progressEvery = 200 * time.Millisecond

// Tell writes how far the run is, or does so a moment later: the last word is
// never lost. A disk that refuses it does not stop the work.
func (r *Run) Tell(done, total int, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = Progress{done, total, what, r.store.now()}
	now := r.store.sys.Now()
	if since := now.Sub(r.told); done < total && since >= 0 && since < progressEvery {
		if r.later == nil {
			r.later = time.AfterFunc(progressEvery-since, r.flush)
		}
		return
	}
	r.told = now
	r.write()
}

// flush writes what Tell held back.
func (r *Run) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.later != nil {
		r.told = r.store.sys.Now()
		r.write()
	}
}

func (r *Run) write() {
	if r.later != nil {
		r.later.Stop()
		r.later = nil
	}
	_ = writeRun(r.dir, progressFile, r.held)
}

// Artifact writes a file that readers find when the run has ended.
func (r *Run) Artifact(name string, b []byte) error {
	return store.WritePrivate(filepath.Join(r.dir, artifactsDir, filepath.Base(name)), b)
}

// Exec is the child's side: it does the work of one incarnation and records its
// end. ErrEnded and ErrSuperseded mean that there was nothing to do any more.
func (s *Store) Exec(ctx context.Context, id string, generation int, work func(context.Context, *Run) Done) error {
	dir, err := s.run(id)
	if err != nil {
		return err
	}
	if err := patiently(func() error { return s.started(dir, byRun, generation, os.Getpid()) }); err != nil {
		return err // without a record nobody could find or stop this process
	}
	r, _, err := load(dir)
	if err != nil {
		return err
	}
	run := &Run{Record: r, store: s, dir: dir}
	if in := filepath.Join(dir, inputFile); exists(in) {
		run.Input = in
	}
	done := work(ctx, run)
	run.flush() // before the end: nothing of an ended run changes
	if done.Status == StatusSuspended {
		return patiently(func() error { return s.suspend(dir, generation) })
	}
	return s.end(dir, r, generation, &done)
}

func (s *Store) suspend(dir string, generation int) error {
	_, err := change(dir, byRun, func(r *Record) error {
		if r.Generation != generation {
			return ErrSuperseded
		}
		r.Suspended = true
		return nil
	})
	return err
}

// end keeps the result, then the end, then sends the notice: who is woken by it
// finds everything in its place (D9).
func (s *Store) end(dir string, r *Record, generation int, done *Done) error {
	end, err := newEnd(done.Status, done.ReasonCode, byRun)
	if err != nil {
		return err
	}
	err = patiently(func() error {
		if done.Envelope != nil {
			if err := writeRun(dir, resultFile, done.Envelope); err != nil {
				return err
			}
		}
		return s.finish(dir, generation, end)
	})
	if err != nil {
		return err
	}
	s.notify(dir, r, end)
	return nil
}

// patiently tries again what a full disk refused: the end of a long run is
// worth a minute.
func patiently(f func() error) error {
	var err error
	for wait := 100 * time.Millisecond; wait < 30*time.Second; wait *= 2 {
		err = f()
		if err == nil || errors.Is(err, ErrEnded) || errors.Is(err, ErrSuperseded) || errors.Is(err, fs.ErrNotExist) {
			return err // where its folder is gone there is no run any more
		}
		time.Sleep(wait)
	}
	return err
}
