package capture

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func newRunID(now time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails (package documentation)
	return now.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(b[:])
}

// run is one folder of state: what was asked, and what each cell came to. All
// of it is private, since it holds raw bundles until they are stored. It is what
// a capture needs to go on after an interruption, and no authority on any run:
// package jobs alone answers for those (specification 000, D6).
type run struct {
	dir    string
	lock   *flock.Flock
	waited bool // the former attempt was suspended

	ID        string          `json:"run_id"`
	PlanHash  contract.Digest `json:"plan"`
	CreatedAt time.Time       `json:"created_at"`
	Finished  bool            `json:"finished"`
	// Status is running, suspended or finished. A suspended run is not over: it
	// waits for a person as long as it takes (FINE-PRINT 22).
	Status string `json:"status"`
	// Reason says why it is suspended: requests.ReasonAwaitingAnswer.
	Reason string `json:"reason,omitempty"`
	// Incarnation counts the attempts from 1.
	Incarnation int `json:"incarnation"`
}

const (
	runRunning   = "running"
	runSuspended = "suspended"
	runFinished  = "finished"
)

// resumeWindow is how long an interrupted run may be taken up again; after
// that the world has moved on and a new run is more honest.
const resumeWindow = 24 * time.Hour

// openRun takes up the newest interrupted run of the same plan, or starts one.
// Interrupted runs that nobody may take up any more are removed.
// A new one has the id, or one of its own where that is "".
func openRun(stateDir, id string, plan contract.Digest, now time.Time) (r *run, resumed bool, err error) {
	captures := filepath.Join(stateDir, "captures")
	if err := os.MkdirAll(captures, 0o700); err != nil {
		return nil, false, fmt.Errorf("keeping the state of the run: %w", err)
	}
	old, err := findInterrupted(captures, plan, now)
	if err != nil {
		return nil, false, err
	}
	if old != nil {
		old.Incarnation++
		old.waited = old.Status == runSuspended
		old.Status, old.Reason = runRunning, ""
		return old, true, old.save()
	}
	if id == "" {
		id = newRunID(now)
	}
	r = &run{ID: id, PlanHash: plan, CreatedAt: now.UTC(), Status: runRunning, Incarnation: 1}
	r.dir = filepath.Join(captures, r.ID)
	if err := os.MkdirAll(filepath.Join(r.dir, "cells"), 0o700); err != nil {
		return nil, false, fmt.Errorf("keeping the state of the run: %w", err)
	}
	r.lock = flock.New(filepath.Join(r.dir, "lock"))
	if ok, err := r.lock.TryLock(); err != nil || !ok {
		return nil, false, fmt.Errorf("locking run %s: %w", r.ID, errors.Join(err, fs.ErrExist))
	}
	return r, false, r.save()
}

func findInterrupted(captures string, plan contract.Digest, now time.Time) (*run, error) {
	entries, err := os.ReadDir(captures)
	if err != nil {
		return nil, fmt.Errorf("looking for interrupted runs: %w", err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() > entries[j].Name() })
	for _, e := range entries {
		if !contract.ValidRunID(e.Name()) {
			continue
		}
		r := &run{dir: filepath.Join(captures, e.Name())}
		b, err := os.ReadFile(filepath.Join(r.dir, "run.json"))
		if err != nil || json.Unmarshal(b, r) != nil {
			continue // it was killed before its first write
		}
		expired := now.Sub(r.CreatedAt) > resumeWindow && r.Status != runSuspended
		if r.Finished || r.PlanHash != plan && !expired {
			continue
		}
		r.lock = flock.New(filepath.Join(r.dir, "lock"))
		if ok, err := r.lock.TryLock(); err != nil || !ok {
			continue // somebody works on it
		}
		if !expired {
			return r, nil
		}
		// Its recordings are not in the raw store, so nobody else removes them.
		if err := errors.Join(os.RemoveAll(r.dir), r.lock.Close()); err != nil {
			return nil, fmt.Errorf("removing an expired run: %w", err)
		}
	}
	return nil, nil
}

func (r *run) save() error {
	b, err := contract.Encode(r)
	if err != nil {
		return err
	}
	if err := store.WritePrivate(filepath.Join(r.dir, "run.json"), b); err != nil {
		return fmt.Errorf("keeping the state of run %s: %w", r.ID, err)
	}
	return nil
}

// finish ends the run. Its outcomes stay for who wants to look.
func (r *run) finish() error {
	r.Finished, r.Status = true, runFinished
	return r.save()
}

// suspend leaves the run to a later attempt, when somebody has answered.
func (r *run) suspend() error {
	r.Status, r.Reason = runSuspended, requests.ReasonAwaitingAnswer
	return r.save()
}

func (r *run) close() { _ = r.lock.Unlock() }

func (r *run) cellDir(id string) string { return filepath.Join(r.dir, "cells", id) }

// loadCell returns the result of a cell that a former attempt finished, or
// nil.
func (r *run) loadCell(id string) *CellResult {
	b, err := os.ReadFile(filepath.Join(r.cellDir(id), "result.json"))
	if err != nil {
		return nil
	}
	c := &CellResult{}
	if json.Unmarshal(b, c) != nil {
		return nil
	}
	return c
}

// done counts the cells that a former attempt finished.
func (r *run) done(cells []Cell) int {
	n := 0
	for _, c := range cells {
		if r.loadCell(c.ID) != nil {
			n++
		}
	}
	return n
}

func (r *run) saveCell(id string, c *CellResult) error {
	b, err := contract.Encode(c)
	if err != nil {
		return err
	}
	if err := store.WritePrivate(filepath.Join(r.cellDir(id), "result.json"), b); err != nil {
		return fmt.Errorf("keeping the result of %s: %w", id, err)
	}
	return nil
}
