package conformance

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// longArgument can still be handed to the executable on Linux (128 KiB), and not
// much besides it to a child.
const longArgument = 120 << 10

// preparingTable is the rest of D5: what is refused, what is copied, and a start
// that was never finished.
func preparingTable() []Requirement {
	slow := []need{needSlow, needStatus, needKill}
	stuck := []need{needSlow, needStatus, needList}
	return []Requirement{
		{"D5.10", "Detaching needs no setsid program.", "D5, detached", slow, func(b *bench) error {
			_, _, err := b.submit(b.profile.SubmitSlow, nil)
			if err == nil && b.target.Trapped("setsid") {
				err = errors.New("it ran the program setsid")
			}
			return err
		}},
		{"D5.11", "An instruction file that cannot be read is refused before anything is recorded.", "D5, input validation", []need{needUnreadable, needList}, func(b *bench) error {
			return b.noTrace(b.profile.SubmitUnreadable, nil)
		}},
		{"D5.12", "An argument vector that is too large is refused before anything is recorded.", "D5, input validation", []need{needLong, needList}, func(b *bench) error {
			return b.noTrace(b.profile.SubmitLong, map[string]string{"long": strings.Repeat("x", longArgument)})
		}},
		{"D5.13", "Editing an instruction file after the submission does not change what the run executes.", "D5, long instruction text", []need{needInput, needStatus, needWait, needOutput}, func(b *bench) error {
			return b.editedInput()
		}},
		{"D5.14", "The record is there, preparing, before the child is started.", "D5, spawn failure; spawn_state", stuck, func(b *bench) error {
			id, err := b.prepared(b.profile.SubmitSlow)
			if err == nil && id == "" {
				err = errors.New("when it started its child there was no record of a run that is being prepared")
			}
			return err
		}},
		{"D5.15", "A run that is being prepared has not ended and has no outcome, though it has no process.", "D5, a missing pid", stuck, func(b *bench) error {
			id, err := b.prepared(b.profile.SubmitSlow)
			if err != nil || id == "" {
				return err
			}
			return b.unended(id)
		}},
		{"D5.16", "A run that is being prepared for long is shown with its age and never ended for it.", "D5, stale", append([]need{needAge, needWait, needThreshold}, stuck...), func(b *bench) error {
			id, err := b.stale()
			if err != nil || id == "" {
				return err
			}
			s, err := b.status(id)
			if err != nil {
				return err
			}
			if age, ok := s[b.profile.AgeField].(float64); !ok || age <= 0 {
				return fmt.Errorf("%s is %v", b.profile.AgeField, s[b.profile.AgeField])
			}
			return b.unended(id)
		}},
	}
}

// unended checks that a run is being prepared, and nothing more is claimed.
func (b *bench) unended(id string) error {
	s, err := b.status(id)
	if err != nil {
		return err
	}
	if s["terminal"] != false || s["outcome"] != nil || s["spawn_state"] != "preparing" {
		return fmt.Errorf("terminal %v, outcome %v, spawn_state %v", s["terminal"], s["outcome"], s["spawn_state"])
	}
	return nil
}

// noTrace submits what must be refused, or may be taken where it can be started.
func (b *bench) noTrace(args []string, values map[string]string) error {
	e, err := envelope(b.run(fill(args, values)))
	if err != nil {
		return err
	}
	r, refused := e["error"].(object)
	if !refused {
		if d, ok := e["data"].(object); ok && values != nil { // a longer argument may be no trouble here
			if id, ok := d["run_id"].(string); ok {
				b.runs = append(b.runs, id)
				return nil
			}
		}
		return errors.New("it was not refused")
	}
	if r["kind"] == "internal" {
		return errors.New("it is an internal error")
	}
	list, err := b.list(10, "")
	if err == nil && len(list) > 0 {
		err = errors.New("a refused submission left a run")
	}
	return err
}

func (b *bench) editedInput() error {
	name := filepath.Join(b.target.Dir(), "instructions")
	if err := b.target.Write("instructions", b.profile.InputText); err != nil {
		return &BlockedError{"the instruction file could not be written"}
	}
	args := fill(b.in(b.profile.SubmitInput), map[string]string{"input": name})
	var edited error
	a, err := b.target.Held(b.ctx, Call{Args: machine(args)}, func() { edited = b.target.Write("instructions", b.profile.InputEdited) })
	if err != nil {
		return err
	}
	if edited != nil {
		return &BlockedError{"the instruction file could not be edited"}
	}
	d, err := dataOf(a)
	if err != nil {
		return fmt.Errorf("submitting: %w", err)
	}
	id, _ := d["run_id"].(string)
	b.runs = append(b.runs, id)
	if _, err := b.settle(id); err != nil {
		return err
	}
	o := b.run(fill(b.profile.Output, map[string]string{"run_id": id, "tail": "10000"}))
	if !strings.Contains(string(o.Stdout), b.profile.InputSeen) {
		return errors.New("its output does not show what was submitted")
	}
	return nil
}

// prepared leaves a run between its record and its process, and returns its id:
// "" when a submission never comes by there.
func (b *bench) prepared(args []string) (id string, err error) {
	found, err := b.target.Prepared(b.ctx, Call{Args: machine(b.in(args))}, func() bool {
		list, err := b.list(10, "")
		if err != nil || len(list) == 0 {
			return false
		}
		id, _ = list[0]["run_id"].(string)
		s, err := b.status(id)
		return err == nil && s["spawn_state"] == "preparing"
	})
	if err != nil || !found {
		return "", err
	}
	return id, nil
}

// stale leaves a run that is being prepared for longer than the executable says
// that it waits: by ageing its record, or by waiting as long.
func (b *bench) stale() (id string, err error) {
	if id, err = b.prepared(b.profile.SubmitSlow); err != nil || id == "" {
		return "", err
	}
	w, err := b.wait(0, 1, id)
	if err != nil {
		return "", err
	}
	threshold, ok := w[b.profile.ThresholdField].(float64)
	if !ok {
		return "", fmt.Errorf("%s is %v", b.profile.ThresholdField, w[b.profile.ThresholdField])
	}
	s, err := b.status(id)
	if err != nil {
		return "", err
	}
	stamp, _ := s["submitted_at"].(string)
	if err := b.target.Age(stamp); err != nil {
		return "", &BlockedError{"the record could not be aged"}
	}
	if s, err = b.status(id); err != nil || s["submitted_at"] != stamp {
		return id, err
	}
	if threshold > 300 {
		return "", &BlockedError{fmt.Sprintf("the record would have to age for %v seconds", threshold)}
	}
	select {
	case <-time.After(time.Duration((threshold + 1) * float64(time.Second))):
	case <-b.ctx.Done():
	}
	return id, b.ctx.Err()
}
