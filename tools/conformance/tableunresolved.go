package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A judge does not measure: these tell "at once" from "after one interval".
const (
	interval = 30.0 // seconds; what must not be waited for
	soon     = 20 * time.Second
)

// windowTable is the rest of D10 about its window.
func windowTable() []Requirement {
	slow := []need{needSlow, needKill, needWait, needStatus}
	return []Requirement{
		{"D10.14", "A wait whose window closes keeps what it learned: the runs that ended are in it.", "D10, expiry", append([]need{needEnds}, slow...), func(b *bench) error {
			w, ids, err := b.mixed(0.5)
			if err != nil {
				return err
			}
			entries, err := b.entries(w)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e["run_id"] == ids[1] && e["terminal"] == true {
					return nil
				}
			}
			return errors.New("the run that has ended is not reported as ended")
		}},
		{"D10.15", "An observation whose window closes, or whose caller is killed, leaves the run as it was.", "D10, observing does not touch the run", slow, func(b *bench) error {
			d, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			b.target.Run(b.ctx, Call{Args: machine(b.in(fill(b.profile.Wait, map[string]string{"max_wait": "0.3", "poll": "0.1"}, id)))})
			b.target.Run(b.ctx, Call{Args: machine(b.in(fill(b.profile.Wait, map[string]string{"max_wait": "50", "poll": "0.1"}, id))), Interrupt: "KILL"})
			n, _ := pid(d)
			p, err := b.target.Process(n)
			if err == nil && p == nil {
				err = errors.New("the run's process ended with the observation")
			}
			return err
		}},
		{"D10.16", "An orphan has ended on every path or on none: status, wait and list agree.", "D10, one authority", append([]need{needList}, slow...), func(b *bench) error {
			s, err := b.orphan()
			if err != nil {
				return err
			}
			id, _ := s["run_id"].(string)
			waited, err := b.entry(id)
			if err != nil {
				return err
			}
			list, err := b.list(10, "")
			if err != nil {
				return err
			}
			for _, e := range append(list, waited) {
				if terminal, has := e["terminal"]; has && e["run_id"] == id && terminal != s["terminal"] {
					return fmt.Errorf("status says terminal %v, another answer %v", s["terminal"], e["terminal"])
				}
			}
			return nil
		}},
		{"D10.17", "An id that cannot be observed is in none of the lists.", "D10, partition; unknown ids", append([]need{needEnds}, slow...), func(b *bench) error {
			w, ids, err := b.mixed(0)
			if err != nil {
				return err
			}
			for _, n := range []string{b.profile.TerminalField, "pending", "stopped_without_end", "unresolved_spawn"} {
				if slices.Contains(texts(w[n]), ids[2]) {
					return fmt.Errorf("a run that never was is in %s", n)
				}
			}
			return nil
		}},
	}
}

// unresolvedTable is the rest of D10 about what waiting cannot resolve.
func unresolvedTable() []Requirement {
	slow := []need{needSlow, needKill, needWait, needStatus}
	stuck := []need{needSlow, needStatus, needList, needWait, needThreshold}
	return []Requirement{
		{"D10.18", "A snapshot costs nothing, with ids that stopped without an end, too.", "D10, floor", slow, func(b *bench) error {
			a, _, err := b.stopped(0, interval)
			if err == nil && a.Took > soon {
				err = fmt.Errorf("it took %v", a.Took)
			}
			return err
		}},
		{"D10.19", "Ids that waiting cannot resolve do not hold the window open.", "D10, the call stops re-observing", slow, func(b *bench) error {
			a, _, err := b.stopped(60, 1)
			if err == nil && a.Took > soon {
				err = fmt.Errorf("it took %v", a.Took)
			}
			return err
		}},
		{"D10.20", "The floor is bounded by what is left of the window.", "D10, floor", slow, func(b *bench) error {
			a, _, err := b.stopped(1, interval+1)
			if err == nil && a.Took > soon {
				err = fmt.Errorf("it took %v in a window of one second", a.Took)
			}
			return err
		}},
		{"D10.21", "An id that stopped without an end is no error, non-terminal and without an outcome, and all_terminal is false.", "D10, stopped_without_end", slow, func(b *bench) error {
			_, w, err := b.stopped(0, 1)
			if err != nil {
				return err
			}
			entries, err := b.entries(w)
			if err != nil || len(entries) == 0 {
				return err
			}
			if e := entries[0]; e["terminal"] != false || e["outcome"] != nil || e["error"] != nil || w["all_terminal"] != false {
				return fmt.Errorf("terminal %v, outcome %v, all_terminal %v", e["terminal"], e["outcome"], w["all_terminal"])
			}
			return nil
		}},
		{"D10.22", "A run that stopped and records an end later has ended at the next observation.", "D10, stopped_without_end", slow, func(b *bench) error {
			_, w, err := b.stopped(0, 2)
			if err != nil {
				return err
			}
			id := texts(w["stopped_without_end"])[0]
			if _, err := b.data(b.profile.Kill, map[string]string{"run_id": id}); err != nil {
				return err
			}
			if s, err := b.settle(id); err != nil || s["terminal"] != true {
				return err // what a kill must do is another requirement
			}
			a, err := b.elsewhere(id, 0, 2)
			if err != nil {
				return err
			}
			if w, err = dataOf(a); err == nil && !slices.Contains(texts(w[b.profile.TerminalField]), id) {
				err = errors.New("from elsewhere it has not ended")
			}
			return err
		}},
		{"D10.23", "A run that is being prepared since a moment stays pending.", "D10, the records kept out", stuck, func(b *bench) error {
			id, err := b.prepared(b.profile.SubmitSlow)
			if err != nil || id == "" {
				return err
			}
			w, err := b.wait(0, 2, id)
			if err == nil && !slices.Contains(texts(w["pending"]), id) {
				err = errors.New("it is not in pending")
			}
			return err
		}},
		{"D10.24", "A run that is being prepared for too long is in unresolved_spawn, with the age from which it is.", "D10, the fourth list", stuck, func(b *bench) error {
			_, w, err := b.unresolved(0, 2)
			if err == nil && w != nil && w[b.profile.ThresholdField] == nil {
				err = fmt.Errorf("there is no %s", b.profile.ThresholdField)
			}
			return err
		}},
		{"D10.25", "The floor is paid for ids in unresolved_spawn, too.", "D10, floor", stuck, func(b *bench) error {
			a, w, err := b.unresolved(60, 2)
			if w != nil && a.Took < 2*time.Second {
				return fmt.Errorf("it came back after %v without having waited", a.Took)
			}
			return ignoreMissing(err)
		}},
		{"D10.26", "A snapshot costs nothing, with ids in unresolved_spawn, too.", "D10, floor", stuck, func(b *bench) error {
			a, w, err := b.unresolved(0, interval)
			if w != nil && a.Took > soon {
				return fmt.Errorf("it took %v", a.Took)
			}
			return ignoreMissing(err)
		}},
	}
}

// stopped waits from elsewhere for work that goes on.
func (b *bench) stopped(seconds, poll float64) (Answer, object, error) {
	_, id, err := b.submit(b.profile.SubmitSlow, nil)
	if err != nil {
		return Answer{}, nil, err
	}
	a, err := b.elsewhere(id, seconds, poll)
	if err != nil {
		return a, nil, err
	}
	w, err := dataOf(a)
	if err == nil && !slices.Contains(texts(w["stopped_without_end"]), id) {
		err = &BlockedError{"from another process namespace the run can still be judged"}
	}
	return a, w, err
}

// errNotUnresolved says that an aged record is not where it belongs, which is
// one requirement of its own.
var errNotUnresolved = errors.New("it is not in unresolved_spawn")

func ignoreMissing(err error) error {
	if errors.Is(err, errNotUnresolved) {
		return nil
	}
	return err
}

// unresolved waits for a run that is being prepared for too long. The answer is
// nil when there is no such run, which is another requirement.
func (b *bench) unresolved(seconds, poll float64) (Answer, object, error) {
	id, err := b.stale()
	if err != nil || id == "" {
		return Answer{}, nil, err
	}
	a := b.run(fill(b.profile.Wait, map[string]string{"max_wait": number(seconds), "poll": number(poll)}, id))
	w, err := dataOf(a)
	if err == nil && !slices.Contains(texts(w["unresolved_spawn"]), id) {
		return a, nil, errNotUnresolved
	}
	return a, w, err
}
