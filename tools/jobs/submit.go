package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// maxArgs bounds the bytes of a run's arguments, well below what systems allow.
const maxArgs = 96 << 10

// Submission is work that shall outlive its caller.
type Submission struct {
	Kind, Label string
	// Args are the arguments of this program that do the work.
	Args []string
	Dir  string
	// Input is what the work reads from stdin, nil for nothing. It is copied
	// before the start, so that a later edit changes nothing.
	Input []byte
	// Notify is a shell command that is told of the end, "" for none.
	Notify string
	// Key makes a second submission of the same work return the first run.
	Key string
}

// InvalidError says what is wrong with a submission. Nothing was written.
type InvalidError struct{ What string }

// Error implements error.
func (e *InvalidError) Error() string { return e.What }

// ConflictError says that a key belongs to another submission.
type ConflictError struct{ RunID string }

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the idempotency key belongs to run %s, which does something else", e.RunID)
}

// SpawnError says that the work could not be started. The run is recorded as
// failed.
type SpawnError struct {
	RunID string
	Err   error
}

// Error implements error.
func (e *SpawnError) Error() string { return fmt.Sprintf("starting run %s: %v", e.RunID, e.Err) }

// Unwrap returns the cause.
func (e *SpawnError) Unwrap() error { return e.Err }

func (sub *Submission) check() error {
	size := 0
	for _, a := range sub.Args {
		size += len(a) + 1
		if bytes.IndexByte([]byte(a), 0) >= 0 {
			return &InvalidError{"an argument holds a NUL byte"}
		}
	}
	switch {
	case size > maxArgs:
		return &InvalidError{fmt.Sprintf("the arguments have %d bytes: at most %d are taken; put long text into a file", size, maxArgs)}
	case len(sub.Label) > 200:
		return &InvalidError{"the label has more than 200 bytes"}
	case len(sub.Key) > 200:
		return &InvalidError{"the idempotency key has more than 200 bytes"}
	case len(sub.Notify) > 4096:
		return &InvalidError{"the notify command has more than 4096 bytes"}
	}
	return nil
}

// digest tells submissions apart that use one key.
func (sub *Submission) digest() string {
	b, _ := json.Marshal([]any{sub.Kind, sub.Args, sub.Dir, sub.Input})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// keyed is the file of an idempotency key.
type keyed struct {
	RunID  string `json:"run_id"`
	Digest string `json:"digest"`
}

// Submit records the run, starts program in a session of its own, and returns.
// reused says that the key's run is returned instead. Its errors are
// *InvalidError and *ConflictError, which leave no trace, *SpawnError, or what
// kept the record from being written.
func (s *Store) Submit(ctx context.Context, sub Submission, program string) (job *Job, reused bool, err error) {
	if err := sub.check(); err != nil {
		return nil, false, err
	}
	id, reused, err := s.admit(ctx, &sub)
	if err != nil {
		return nil, false, err
	}
	generation := 1
	if reused {
		generation, err = s.takeOver(id)
	}
	if err == nil && generation > 0 {
		err = s.spawn(id, generation, sub.Dir, program)
	}
	if err != nil {
		return nil, false, err
	}
	job, err = s.Status(id)
	return job, reused, err
}

// takeOver gives a run of a key a new incarnation when the producer that should
// have started it is gone before it could say that it did. A child that it did
// start belongs to the old incarnation and does nothing. The generation is 0
// where there is nothing to take over.
func (s *Store) takeOver(id string) (generation int, err error) {
	stays := errors.New("the run stays as it is")
	r, err := change(filepath.Join(s.dir, id), byProducer, func(r *Record) error {
		if !s.unstarted(r) {
			return stays
		}
		r.Generation++
		r.PreparedAt, r.Producer = s.now(), s.sys.incarnation(os.Getpid())
		return nil
	})
	switch {
	case errors.Is(err, stays), errors.Is(err, ErrEnded):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("starting run %s again: %w", id, err)
	}
	return r.Generation, nil
}

// unstarted reports that a run waits for a start that nobody is left to make.
func (s *Store) unstarted(r *Record) bool {
	return r.SpawnState == Preparing && s.sys.find(r.Producer) == Gone
}

// admit makes the run's folder, all at once, or finds the one of its key.
func (s *Store) admit(ctx context.Context, sub *Submission) (id string, reused bool, err error) {
	if err := store.MakePrivateDir(s.dir); err != nil {
		return "", false, fmt.Errorf("making the folder of runs: %w", err)
	}
	if sub.Key == "" {
		id, err := s.create(sub, func(string) error { return nil })
		return id, false, err
	}
	sum := sha256.Sum256([]byte(sub.Key))
	keys := filepath.Join(s.dir, "keys")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return "", false, fmt.Errorf("making the folder of runs: %w", err)
	}
	unlock, err := lock(keys, byProducer)
	if err != nil {
		return "", false, err
	}
	defer unlock()
	file := filepath.Join(keys, hex.EncodeToString(sum[:])+".json")
	var k keyed
	if b, err := os.ReadFile(file); err == nil && store.Decode(filepath.Base(file), b, &k) == nil {
		if _, err := s.run(k.RunID); err == nil {
			if k.Digest != sub.digest() {
				return "", false, &ConflictError{k.RunID}
			}
			return k.RunID, true, nil
		}
	}
	id, err = s.create(sub, func(id string) error {
		b, err := contract.Encode(keyed{id, sub.digest()})
		if err == nil {
			err = store.WritePrivate(file, b)
		}
		return err
	})
	return id, false, err
}

// create makes the folder of a run. keep notes its id first: a key without its
// run is as good as none, and a run without its key would be made twice.
func (s *Store) create(sub *Submission, keep func(id string) error) (string, error) {
	tmp, err := os.MkdirTemp(s.dir, newPrefix)
	if err != nil {
		return "", fmt.Errorf("making the folder of a run: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	unlock, err := lock(tmp, byProducer) // until it has its name, so that nobody takes it for a dead producer's
	if err != nil {
		return "", err
	}
	defer unlock()
	for range 16 {
		id, err := s.newID()
		if err != nil {
			return "", err
		}
		now := s.now()
		r := &Record{SchemaVersion: contract.SchemaVersion, RunID: id, Kind: sub.Kind, Label: sub.Label, Args: sub.Args,
			Dir: sub.Dir, SubmittedAt: now, PreparedAt: now, SpawnState: Preparing, Generation: 1, Notify: sub.Notify,
			Producer: s.sys.incarnation(os.Getpid())}
		err = fill(tmp, r, sub.Input)
		if err == nil {
			err = keep(id)
		}
		if err != nil {
			return "", fmt.Errorf("recording a run: %w", err)
		}
		err = os.Rename(tmp, filepath.Join(s.dir, id))
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, fs.ErrExist) && !exists(filepath.Join(s.dir, id)) {
			return "", fmt.Errorf("recording a run: %w", err)
		}
	}
	return "", errors.New("recording a run: found no free id")
}

func fill(dir string, r *Record, input []byte) error {
	if err := os.MkdirAll(filepath.Join(dir, artifactsDir), 0o700); err != nil {
		return err
	}
	if input != nil {
		if err := store.WritePrivate(filepath.Join(dir, inputFile), input); err != nil {
			return err
		}
	}
	return writeRun(dir, recordFile, r)
}

// spawn starts an incarnation of a recorded run.
func (s *Store) spawn(id string, generation int, in, program string) error {
	dir := filepath.Join(s.dir, id)
	console, err := os.OpenFile(filepath.Join(dir, consoleFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return s.spawnFailed(id, generation, err)
	}
	defer console.Close()
	c := exec.Command(program, "job", "exec", id, "--generation", strconv.Itoa(generation))
	c.Dir, c.Stdout, c.Stderr = in, console, console
	detach(c)
	if err := c.Start(); err != nil {
		return s.spawnFailed(id, generation, err)
	}
	// A refused write leaves it to the child, which records the same; and a
	// child that was quicker has recorded it.
	_ = s.started(dir, byProducer, generation, c.Process.Pid)
	_ = c.Process.Release()
	return nil
}

// started records the process of an incarnation. The producer and the child
// both do it: whoever comes first.
func (s *Store) started(dir, by string, generation, pid int) error {
	_, err := change(dir, by, func(r *Record) error {
		if r.Generation != generation {
			return ErrSuperseded
		}
		if r.SpawnState == Preparing {
			r.SpawnState, r.PID, r.Process = Started, pid, s.sys.incarnation(pid)
		}
		return nil
	})
	return err
}

func (s *Store) spawnFailed(id string, generation int, cause error) error {
	dir := filepath.Join(s.dir, id)
	r, err := change(dir, byProducer, func(r *Record) error {
		if r.Generation != generation {
			return ErrSuperseded
		}
		r.SpawnState = SpawnFailed
		return nil
	})
	if err == nil {
		err = s.endUnstarted(dir, r)
	}
	return &SpawnError{id, errors.Join(cause, err)}
}

// endUnstarted records the end of a run whose record says that it could not be
// started. It is the producer's step, or, where that died before it, a reader's.
func (s *Store) endUnstarted(dir string, r *Record) error {
	end, err := newEnd(StatusFailed, ReasonSpawnFailed, byProducer)
	if err != nil {
		return err
	}
	if err := s.finish(dir, r.Generation, end); err != nil {
		return err
	}
	s.notify(dir, r, end)
	return nil
}
