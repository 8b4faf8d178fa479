// Package jobs keeps runs that outlive the program that submitted them: one
// folder a run below the private state folder, written atomically and under a
// lock, without a daemon and without a database. It is the one lifecycle
// authority of specification 000: every answer about a run comes from here.
package jobs

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// The kinds of jobs (FINE-PRINT 24).
const (
	KindCapture  = "capture"
	KindBisect   = "bisect"
	KindDiscover = "discover"
	KindReplay   = "replay"
	KindCampaign = "campaign"
)

// SpawnState is how far the start of a run came. It is recorded, never inferred
// from a missing pid (D5).
type SpawnState string

// The spawn states.
const (
	Preparing   SpawnState = "preparing"
	Started     SpawnState = "started"
	SpawnFailed SpawnState = "failed"
)

// Record is what is durable of a run, beside its end.
type Record struct {
	SchemaVersion int    `json:"schema_version"`
	RunID         string `json:"run_id"`
	Kind          string `json:"kind"`
	Label         string `json:"label"`
	// Args are the program's arguments without its name; Dir is the working
	// folder.
	Args        []string   `json:"args"`
	Dir         string     `json:"dir"`
	SubmittedAt string     `json:"submitted_at"`
	PreparedAt  string     `json:"prepared_at"` // of this incarnation
	SpawnState  SpawnState `json:"spawn_state"`
	// Generation counts the incarnations of the run; a resumed run has a new
	// one.
	Generation int          `json:"generation"`
	Process    *Incarnation `json:"process"`
	PID        int          `json:"pid"` // of Process, also where that cannot be told
	// Producer is the process that starts this incarnation.
	Producer *Incarnation `json:"producer"`
	// Suspended says that the run waits for a person.
	Suspended bool `json:"suspended"`
	// Notify is the delivery command, "" for none.
	Notify string `json:"notify"`
}

// The files of a run's folder.
const (
	recordFile   = "run.json"
	endFile      = "end.json"
	inputFile    = "input"
	consoleFile  = "console.log"
	resultFile   = "result.json"
	progressFile = "progress.json"
	signalFile   = "signal.json"
	noticeFile   = "notice.json"
	claimFile    = "notice.claim"
	lockFile     = "lock"
	artifactsDir = "artifacts"
)

// NotFoundError says that there is no such run. PrunedAt is when it was removed,
// "" if nobody knows of it.
type NotFoundError struct{ RunID, PrunedAt string }

// Error implements error.
func (e *NotFoundError) Error() string {
	if e.PrunedAt != "" {
		return fmt.Sprintf("run %s was pruned at %s", e.RunID, e.PrunedAt)
	}
	return fmt.Sprintf("no run with id %q", e.RunID)
}

// IDError says that a text is no run id.
type IDError struct{ Text string }

// Error implements error.
func (e *IDError) Error() string {
	return fmt.Sprintf("%q is no run id: want one such as 20260725T175010-97f334", e.Text)
}

// Store is the folder of all runs.
type Store struct {
	dir     string
	sys     *System
	program string // that delivers notices for readers; "" for this process
}

// Open returns the runs below the private state folder. Nothing is made before
// the first is submitted.
func Open(stateDir string, sys *System) *Store {
	return &Store{dir: filepath.Join(stateDir, "runs"), sys: sys}
}

// DeliverBy makes readers hand the notices that they have to send to a process of
// this program, which is called as `job deliver RUN_ID --by WHO`.
func (s *Store) DeliverBy(program string) *Store {
	s.program = program
	return s
}

func (s *Store) now() string { return s.sys.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// newID returns an id that comes behind those of before in the order of texts, in
// which runs are listed: half of what follows the second is its part, in 4096ths.
func (s *Store) newID() (string, error) {
	var b [2]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	now := s.sys.Now().UTC()
	part := int64(now.Nanosecond()) * 4096 / int64(time.Second)
	return fmt.Sprintf("%s-%03x%03x", now.Format("20060102T150405"), part, binary.BigEndian.Uint16(b[:])&0xfff), nil
}

// run returns the folder of a run that exists.
func (s *Store) run(id string) (string, error) {
	if !contract.ValidRunID(id) {
		return "", &IDError{id}
	}
	dir := filepath.Join(s.dir, id)
	info, err := os.Lstat(dir)
	if err == nil && info.IsDir() {
		return dir, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading run %s: %w", id, err)
	}
	return "", &NotFoundError{RunID: id, PrunedAt: s.prunedAt(id)}
}

// BrokenError says that a file of a run is not what it should be.
type BrokenError struct {
	RunID, File string
	Err         error
}

// Error implements error.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("reading %s of run %s: %v", e.File, e.RunID, e.Err)
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// readRun reads one file of a run. A missing file is fs.ErrNotExist.
func readRun(dir, file string, v any) error {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err == nil {
		err = store.Decode(file, b, v)
	}
	if err != nil {
		return &BrokenError{filepath.Base(dir), file, err}
	}
	return nil
}

func writeRun(dir, file string, v any) error {
	b, err := contract.Encode(v)
	if err != nil {
		return err
	}
	return store.WritePrivate(filepath.Join(dir, file), b)
}

// BusyError says that somebody else has had a run to themselves for too long:
// nothing was changed, and asking again may do.
type BusyError struct{ RunID string }

// Error implements error.
func (e *BusyError) Error() string {
	return fmt.Sprintf("another process has held the lock of %s for %v: ask again", e.RunID, lockPatience)
}

// How long the lock of a run is waited for. Only the run itself has nobody to
// leave its decision to; for all others a stopped process that holds it is a
// refused write, which the next look makes up for.
var (
	lockPatience = 2 * time.Second // a variable for tests alone
	lockEvery    = 5 * time.Millisecond
)

// lock takes the run's lock. Who decides about a run holds it from the look to
// the write, however long that takes.
func lock(dir, by string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	if by == byRun {
		err = l.Lock()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
		defer cancel()
		_, err = l.TryLockContext(ctx, lockEvery)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, &BusyError{filepath.Base(dir)}
	case err != nil:
		return nil, fmt.Errorf("locking run %s: %w", filepath.Base(dir), err)
	}
	return func() { _ = l.Unlock() }, nil
}

// load reads the record and the end, which is nil while there is none.
func load(dir string) (*Record, *End, error) {
	r := &Record{}
	if err := readRun(dir, recordFile, r); err != nil {
		return nil, nil, err
	}
	e := &End{}
	if err := readRun(dir, endFile, e); errors.Is(err, fs.ErrNotExist) {
		return r, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	return r, e, nil
}

// change edits the record of a run that has not ended, under its lock.
func change(dir, by string, edit func(*Record) error) (*Record, error) {
	unlock, err := lock(dir, by)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, e, err := load(dir)
	if err != nil {
		return nil, err
	}
	if e != nil {
		return nil, ErrEnded
	}
	if err := edit(r); err != nil {
		return nil, err
	}
	return r, writeRun(dir, recordFile, r)
}

// finish records the end of a run's incarnation, once: it holds the lock, looks
// again, and links the file into its place, which fails where one is.
func (s *Store) finish(dir string, generation int, end *End) error {
	unlock, err := lock(dir, end.By)
	if err != nil {
		return err
	}
	defer unlock()
	r, had, err := load(dir)
	switch {
	case err != nil:
		return err
	case had != nil:
		return ErrEnded
	case r.Generation != generation, r.Suspended && end.By == byReaper:
		return ErrSuperseded // it was resumed, or suspended itself between the look and now
	}
	end.FinishedAt, end.Generation = s.now(), generation
	return publish(dir, endFile, end)
}

// publish writes a file that must not be there yet.
func publish(dir, file string, v any) error {
	b, err := contract.Encode(v)
	if err != nil {
		return err
	}
	tmp := filepath.Join(dir, file+".new")
	if err := store.WritePrivate(tmp, b); err != nil {
		return err
	}
	err = os.Link(tmp, filepath.Join(dir, file))
	_ = os.Remove(tmp)
	if errors.Is(err, fs.ErrExist) {
		return ErrEnded
	}
	return err
}

// parseTime reads a time of a record; the zero time if it is none.
func parseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}
