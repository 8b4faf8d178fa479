package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Signals are the signals that Kill delivers.
var Signals = []string{"TERM", "INT", "KILL"}

// ErrNotSuspended says that a run does not wait for an answer.
var ErrNotSuspended = errors.New("the run is not suspended")

// Killed says what a kill did: the delivery of a signal, not the death of a
// process and not the end of the run (D6).
type Killed struct {
	Lifecycle
	Delivered bool   `json:"delivered"`
	Signal    string `json:"signal"`
	// Explanation says why nothing was delivered.
	Explanation *string `json:"explanation"`
}

// Kill signals the whole process group of a run: TERM, INT or KILL. A suspended
// run has no process; it ends at once as cancelled.
func (s *Store) Kill(id, signal string) (*Killed, error) {
	if !slices.Contains(Signals, signal) {
		return nil, &InvalidError{fmt.Sprintf("unknown signal %q: want TERM, INT or KILL", signal)}
	}
	o, err := s.observe(id)
	if err != nil {
		return nil, err
	}
	k := &Killed{Signal: signal}
	why := ""
	switch {
	case o.end != nil:
		why = "the run has ended"
	case o.record.Suspended:
		why, err = "the run had no process; it is cancelled", s.cancel(o)
	case o.record.SpawnState == Preparing:
		why = "the run has no process yet"
	case o.place == placeStopped:
		why = "the run's process is gone, or cannot be judged from here"
	default:
		why, err = s.signal(o, signal)
		k.Delivered = err == nil && why == ""
	}
	if err != nil {
		return nil, err
	}
	if why != "" {
		k.Explanation = &why
	}
	again, err := s.observe(id)
	if err != nil {
		return nil, err
	}
	k.Lifecycle = again.view
	return k, nil
}

func (s *Store) cancel(o *observed) error {
	end, err := newEnd(StatusCancelled, ReasonInterrupted, byKill)
	if err != nil {
		return err
	}
	err = s.finish(o.dir, o.record.Generation, end)
	if errors.Is(err, ErrEnded) || errors.Is(err, ErrSuperseded) {
		return nil
	}
	if err == nil {
		s.notify(o.dir, o.record, end)
	}
	return err
}

// signal notes the signal before it delivers it, so that the reaper can say why
// a process is gone. It looks once more, as near to the delivery as it can: the
// leader of a group keeps its pid from being reused while it lives.
func (s *Store) signal(o *observed, signal string) (why string, err error) {
	unlock, err := lock(o.dir, byKill)
	if err != nil {
		return "", err
	}
	defer unlock()
	r, end, err := load(o.dir)
	if err != nil {
		return "", err
	}
	if end != nil || r.Generation != o.record.Generation || s.sys.find(r.Process) != Alive {
		return "the run's process ended meanwhile", nil
	}
	if err := writeRun(o.dir, signalFile, Signalled{signal, s.now()}); err != nil {
		return "", fmt.Errorf("noting the signal: %w", err)
	}
	if err := s.sys.Signal(r.Process.PID, signal); err != nil {
		_ = os.Remove(filepath.Join(o.dir, signalFile))
		return "the signal could not be delivered", nil
	}
	return "", nil
}

// Resume starts a new incarnation of a suspended run: its work runs again with
// the answers that were given meanwhile. A resumption whose caller died before
// the start can be asked for again.
func (s *Store) Resume(id, program string) (*Job, error) {
	dir, err := s.run(id)
	if err != nil {
		return nil, err
	}
	r, err := change(dir, byProducer, func(r *Record) error {
		if !r.Suspended && !(r.Generation > 1 && s.unstarted(r)) {
			return ErrNotSuspended
		}
		r.Suspended, r.SpawnState, r.Process, r.PID = false, Preparing, nil, 0
		r.Generation++
		r.PreparedAt, r.Producer = s.now(), s.sys.incarnation(os.Getpid())
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.spawn(id, r.Generation, r.Dir, program); err != nil {
		return nil, err
	}
	return s.Status(id)
}

// Pruned is what a prune removed.
type Pruned struct {
	Removed []string `json:"removed"`
	Kept    int      `json:"kept"`
	// Litter counts the folders that killed producers and prunes left.
	Litter int `json:"litter"`
}

// tombstone is what stays of a pruned run.
type tombstone struct {
	RunID    string `json:"run_id"`
	PrunedAt string `json:"pruned_at"`
}

// Prune removes the runs that ended longer ago than age, and keeps a tombstone
// of each. A run without an end is never removed.
func (s *Store) Prune(ctx context.Context, age time.Duration, dryRun bool) (*Pruned, error) {
	out := &Pruned{Removed: []string{}}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		o, err := s.observe(id)
		if err != nil || o.end == nil || s.sys.Now().Sub(parseTime(o.end.FinishedAt)) < age {
			out.Kept++
			continue
		}
		if !dryRun {
			if err := s.remove(id, o.dir); err != nil {
				return out, fmt.Errorf("pruning run %s: %w", id, err)
			}
		}
		out.Removed = append(out.Removed, id)
	}
	if out.Litter, err = s.sweep(dryRun); err != nil {
		return out, fmt.Errorf("removing what killed producers left: %w", err)
	}
	return out, nil
}

// remove writes the tombstone first: whatever happens then, the id is known.
func (s *Store) remove(id, dir string) error {
	stones := filepath.Join(s.dir, "pruned")
	if err := os.MkdirAll(stones, 0o700); err != nil {
		return err
	}
	if err := writeRun(stones, id+".json", tombstone{id, s.now()}); err != nil {
		return err
	}
	trash := filepath.Join(s.dir, gonePrefix+id)
	if err := os.Rename(dir, trash); err != nil {
		return err
	}
	return os.RemoveAll(trash)
}

func (s *Store) prunedAt(id string) string {
	var t tombstone
	if readRun(filepath.Join(s.dir, "pruned"), id+".json", &t) != nil {
		return ""
	}
	return t.PrunedAt
}
