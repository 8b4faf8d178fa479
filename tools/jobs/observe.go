package jobs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// PreparingThreshold is the age at which a preparing record is no longer waited
// for. It is advisory: a loaded machine and a dead producer look the same.
const PreparingThreshold = time.Minute

// Lifecycle is what every answer about a run carries (D4). Outcome is nil
// whenever Terminal is false; Alive is nil where it cannot be told from here.
type Lifecycle struct {
	RunID      string   `json:"run_id"`
	Kind       string   `json:"kind"`
	Label      *string  `json:"label"`
	Status     Status   `json:"status"`
	Terminal   bool     `json:"terminal"`
	Outcome    *Outcome `json:"outcome"`
	ReasonCode *string  `json:"reason_code"`
	// Alive is a look at a process at this moment. It is advice and never
	// decides anything.
	Alive            *bool      `json:"alive"`
	PossiblyOrphaned bool       `json:"possibly_orphaned"`
	SpawnState       SpawnState `json:"spawn_state"`
	// PreparingSeconds is the age of a run that is still being started.
	PreparingSeconds *float64 `json:"preparing_seconds"`
	PID              *int     `json:"pid"`
	SubmittedAt      string   `json:"submitted_at"`
	FinishedAt       *string  `json:"finished_at"`
}

// Delivery is what became of a run's notice (D9).
type Delivery struct {
	Attempted bool    `json:"attempted"` // false when no delivery command is configured
	Delivered bool    `json:"delivered"`
	At        *string `json:"at"`
	ExitCode  *int    `json:"exit_code"`
	Problem   *string `json:"problem"`
	By        *string `json:"by"` // run or reaper
}

// Signalled is a signal that job kill delivered.
type Signalled struct {
	Signal string `json:"signal"`
	At     string `json:"at"`
}

// Progress is how far a run has come, in steps of its own.
type Progress struct {
	Done  int    `json:"done"`
	Total int    `json:"total"`
	What  string `json:"what"`
	At    string `json:"at"`
}

// Job is the whole status of a run.
type Job struct {
	Lifecycle
	Args            []string                  `json:"args"`
	Log             string                    `json:"log"`
	Progress        machine.Value[Progress]   `json:"progress"`
	DeliveredSignal machine.Value[*Signalled] `json:"delivered_signal"`
	Notification    machine.Value[Delivery]   `json:"notification"`
}

// place is where a look at a run leaves it, for wait.
type place int

const (
	placeTerminal place = iota
	placePending
	placeStopped    // it stopped, or cannot be shown to go on
	placeUnresolved // it is being started for too long
)

// observed is one look at a run.
type observed struct {
	dir    string
	record *Record
	end    *End
	place  place
	view   Lifecycle
}

// observe looks at a run, and records the end of one whose process is
// conclusively gone (the only change that looking ever makes).
func (s *Store) observe(id string) (*observed, error) {
	dir, err := s.run(id)
	if err != nil {
		return nil, err
	}
	o := &observed{dir: dir}
	for range 3 { // a run that is resumed while we look is looked at again
		if o.record, o.end, err = load(dir); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				if _, gone := s.run(id); gone != nil {
					return nil, gone // it was pruned while we looked
				}
			}
			return nil, err
		}
		found, settle := s.judge(o)
		if settle != nil {
			if err := settle(dir, o.record); err == nil || errors.Is(err, ErrEnded) || errors.Is(err, ErrSuperseded) {
				continue
			}
		}
		if o.end != nil {
			s.notifyAgain(dir, o.record, o.end)
		}
		s.describe(o, found)
		return o, nil
	}
	s.describe(o, Unknown)
	return o, nil
}

// judge says what is to be recorded of a run that has no end though it can have
// none but one; nil for nothing.
func (s *Store) judge(o *observed) (found Finding, settle func(dir string, r *Record) error) {
	switch {
	case o.end != nil || o.record.Suspended:
	case o.record.SpawnState == SpawnFailed:
		return Unknown, s.endUnstarted
	case o.record.SpawnState == Started:
		if found = s.sys.find(o.record.Process); found == Gone {
			return found, s.reap
		}
	}
	return found, nil
}

// reap records the end of a run whose process is gone without having recorded
// one, and sends the notice that it would have sent.
func (s *Store) reap(dir string, r *Record) error {
	status, reason := StatusExited, ReasonProcessGone
	var sig Signalled
	if readRun(dir, signalFile, &sig) == nil {
		status, reason = StatusKilled, ReasonSignalled
	}
	end, err := newEnd(status, reason, byReaper)
	if err != nil {
		return err
	}
	if err := s.finish(dir, r.Generation, end); err != nil {
		return err
	}
	s.notify(dir, r, end)
	return nil
}

// describe derives what is shown; it decides nothing.
func (s *Store) describe(o *observed, found Finding) {
	r := o.record
	v := Lifecycle{RunID: r.RunID, Kind: r.Kind, SpawnState: r.SpawnState, SubmittedAt: r.SubmittedAt}
	if r.Label != "" {
		v.Label = &r.Label
	}
	if r.PID != 0 {
		v.PID = &r.PID
	}
	switch {
	case o.end != nil:
		o.place = placeTerminal
		v.Status, v.Terminal, v.Outcome, v.FinishedAt = o.end.Status, true, &o.end.Outcome, &o.end.FinishedAt
		if o.end.ReasonCode != "" {
			v.ReasonCode = &o.end.ReasonCode
		}
		v.Alive = s.alive(r)
	case r.Suspended:
		reason := ReasonAwaitingAnswer
		o.place, v.Status, v.ReasonCode = placePending, StatusSuspended, &reason
		no := false
		v.Alive = &no
	case r.SpawnState == Started:
		s.describeStarted(o, &v, found)
	default:
		age := max(0, s.sys.Now().Sub(parseTime(r.PreparedAt)))
		seconds := age.Seconds()
		o.place, v.Status, v.PreparingSeconds = placePending, StatusPreparing, &seconds
		if age >= PreparingThreshold {
			o.place, v.PossiblyOrphaned = placeUnresolved, true
		}
	}
	o.view = v
}

func (s *Store) describeStarted(o *observed, v *Lifecycle, found Finding) {
	yes, no := true, false
	switch found {
	case Alive:
		o.place, v.Status, v.Alive = placePending, StatusRunning, &yes
	case Gone: // and its end could not be recorded; the next look tries again
		o.place, v.Status, v.Alive, v.PossiblyOrphaned = placeStopped, StatusExited, &no, true
	default:
		o.place, v.Status, v.PossiblyOrphaned = placeStopped, StatusUnknown, true
	}
}

// alive is the advisory look at a process of a run that has ended.
func (s *Store) alive(r *Record) *bool {
	if r.Process == nil {
		no := false
		return &no
	}
	switch s.sys.find(r.Process) {
	case Alive:
		yes := true
		return &yes
	case Gone:
		no := false
		return &no
	}
	return nil
}

// Status returns everything about a run but its output. Its errors are
// *IDError, *NotFoundError and *BrokenError.
func (s *Store) Status(id string) (*Job, error) {
	o, err := s.observe(id)
	if err != nil {
		return nil, err
	}
	return o.job(), nil
}

func (o *observed) job() *Job {
	j := &Job{Lifecycle: o.view, Args: slices.Clone(o.record.Args), Log: filepath.Join(o.dir, consoleFile)}
	j.Progress = final(o, value[Progress](o.dir, progressFile))
	sig := value[*Signalled](o.dir, signalFile)
	if sig.ReasonCode != nil && *sig.ReasonCode == machine.ReasonNotYet {
		sig = machine.Got[*Signalled](nil) // no signal was delivered: that is known
	}
	j.DeliveredSignal = sig
	if o.record.Notify == "" {
		j.Notification = machine.Got(Delivery{})
	} else {
		j.Notification = value[Delivery](o.dir, noticeFile)
	}
	return j
}

// value reads a file of a run that its writer may not have come to yet.
func value[T any](dir, file string) machine.Value[T] {
	var v T
	err := readRun(dir, file, &v)
	if err == nil {
		return machine.Got(v)
	}
	code, detail := unavailable(err)
	return machine.Missing[T](code, file+": "+detail)
}

// final is what became of a value by the time that the run has ended: what was
// not written by then never will be.
func final[T any](o *observed, v machine.Value[T]) machine.Value[T] {
	if o.end != nil && v.ReasonCode != nil && *v.ReasonCode == machine.ReasonNotYet {
		return machine.Missing[T](machine.ReasonAbsent, "the run ended without writing it")
	}
	return v
}

// unavailable says in a word and in a sentence why a file could not be read.
func unavailable(err error) (code, detail string) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return machine.ReasonNotYet, "it has not been written"
	case errors.As(err, &syntax), errors.As(err, &kind):
		return machine.ReasonMalformed, "it is not the JSON that it should be"
	case errors.Is(err, fs.ErrPermission):
		return machine.ReasonUnreadable, "permission denied"
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return machine.ReasonUnreadable, path.Err.Error()
	}
	return machine.ReasonUnreadable, "the read failed"
}
