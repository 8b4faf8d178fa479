package conformance

import (
	"fmt"
	"path/filepath"
	"slices"
)

// lifecycleTable is D4: what a status says.
func lifecycleTable() []Requirement {
	slow := []need{needSlow, needStatus, needKill}
	ends := []need{needEnds, needStatus, needWait}
	return []Requirement{
		{"D4.1", "A status has the run's identity, its status, terminal, outcome, reason, liveness and times.", "D4", ends, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			return has(s, "run_id", "kind", "label", "status", "terminal", "outcome", "reason_code", "alive", "pid", "submitted_at", "finished_at")
		}},
		{"D4.2", "outcome is null whenever terminal is false.", "D4, outcome", slow, func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			s, err := b.status(id)
			if err == nil && s["terminal"] == false && s["outcome"] != nil {
				err = fmt.Errorf("a run that goes on has outcome %v", s["outcome"])
			}
			return err
		}},
		{"D4.3", "A run that ended has an outcome of the closed set.", "D4, outcome", ends, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err == nil && s["terminal"] == true && !isOutcome(s["outcome"]) {
				err = fmt.Errorf("outcome is %v", s["outcome"])
			}
			return err
		}},
		{"D4.4", "Work that came out right succeeded.", "D4, outcome", ends, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err == nil && isOutcome(s["outcome"]) && s["outcome"] != "succeeded" {
				err = fmt.Errorf("outcome is %v", s["outcome"])
			}
			return err
		}},
		{"D4.5", "Work that failed never succeeded.", "P2; D4, outcome", []need{needFails, needStatus, needWait}, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitFails)
			if err == nil && isOutcome(s["outcome"]) && s["outcome"] != "failed" {
				err = fmt.Errorf("outcome is %v", s["outcome"])
			}
			return err
		}},
		{"D4.6", "terminal is true when and only when an end is recorded.", "D4, terminal", append(slices.Clone(ends), needSlow, needKill), func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			if s["terminal"] != true {
				return fmt.Errorf("a run that ended has terminal %v", s["terminal"])
			}
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if s, err = b.status(id); err == nil && s["terminal"] != false {
				err = fmt.Errorf("a run that goes on has terminal %v", s["terminal"])
			}
			return err
		}},
		{"D4.7", "A run has a finishing time when it has ended, and none before.", "D4; D6, orphan", append(slices.Clone(ends), needSlow, needKill), func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			if t, ok := s["finished_at"].(string); !ok || t == "" {
				return fmt.Errorf("finished_at of a run that ended is %v", s["finished_at"])
			}
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if s, err = b.status(id); err == nil && s["finished_at"] != nil {
				err = fmt.Errorf("a run that goes on has finished_at")
			}
			return err
		}},
	}
}

// submitTable is D5: how work begins.
func submitTable() []Requirement {
	slow := []need{needSlow, needKill}
	return []Requirement{
		{"D5.1", "A submission returns the run's id and process while the work goes on, and where its log is.", "D5", slow, func(b *bench) error {
			d, _, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if _, ok := pid(d); !ok {
				return fmt.Errorf("pid is %v", d["pid"])
			}
			if log, ok := d["log"].(string); !ok || !filepath.IsAbs(log) {
				return fmt.Errorf("log is %v", d["log"])
			}
			return nil
		}},
		{"D5.2", "A submission does not wait and reports nothing about the work.", "D5, exact semantics", slow, func(b *bench) error {
			d, _, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if d["terminal"] != false || d["outcome"] != nil {
				return fmt.Errorf("terminal %v, outcome %v", d["terminal"], d["outcome"])
			}
			for _, n := range []string{"result", "output", "console", "artifacts"} {
				if _, found := d[n]; found {
					return fmt.Errorf("it has a field %s", n)
				}
			}
			return nil
		}},
		{"D5.3", "The id of a submission is known to the next call.", "D5, run_id; P3", append([]need{needStatus}, slow...), func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			s, err := b.status(id)
			if err == nil && s["run_id"] != id {
				err = fmt.Errorf("the status is about run %v", s["run_id"])
			}
			return err
		}},
		{"D5.4", "The child has a session and a process group of its own.", "D5, detached", slow, func(b *bench) error {
			d, _, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			n, _ := pid(d)
			p, err := b.target.Process(n)
			if err != nil {
				return err
			}
			if p == nil || p.Session != n || p.Group != n {
				return fmt.Errorf("the process leads no session and group of its own")
			}
			return nil
		}},
		{"D5.5", "Bad input is refused before anything is recorded.", "D5, input validation", []need{needRefused, needList}, func(b *bench) error {
			r, err := b.refusal(b.profile.SubmitInvalid)
			if err != nil {
				return err
			}
			if r["kind"] == "internal" {
				return fmt.Errorf("it is an internal error")
			}
			list, err := b.list(10, "")
			if err == nil && len(list) > 0 {
				err = fmt.Errorf("a refused submission left a run")
			}
			return err
		}},
		{"D5.6", "A spawn that fails is refused.", "D5, spawn failure", []need{needStdin}, func(b *bench) error {
			_, err := b.spawnRefused()
			return err
		}},
		{"D5.7", "A spawn that failed is recorded as an end, failed, with a reason that names it.", "D5, spawn failure", []need{needStdin, needList, needStatus}, func(b *bench) error {
			if _, err := b.spawnRefused(); err != nil {
				return nil // that is D5.6
			}
			list, err := b.list(10, "")
			if err != nil {
				return err
			}
			if len(list) != 1 {
				return fmt.Errorf("%d runs are recorded", len(list))
			}
			id, _ := list[0]["run_id"].(string)
			s, err := b.status(id)
			if err == nil && (s["terminal"] != true || s["outcome"] != "failed" || s["reason_code"] == nil || s["spawn_state"] != "failed") {
				err = fmt.Errorf("terminal %v, outcome %v, reason %v, spawn_state %v", s["terminal"], s["outcome"], s["reason_code"], s["spawn_state"])
			}
			return err
		}},
		{"D5.8", "The spawn phase is recorded.", "D5, spawn_state", append([]need{needStatus}, slow...), func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			s, err := b.status(id)
			if err == nil && s["spawn_state"] != "started" && s["spawn_state"] != "preparing" {
				err = fmt.Errorf("spawn_state of a run that goes on is %v", s["spawn_state"])
			}
			return err
		}},
		{"D5.9", "The answer to a submission carries status, terminal and outcome.", "D5; D4, every status-bearing response", slow, func(b *bench) error {
			d, _, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			return has(d, "status", "terminal", "outcome")
		}},
	}
}

// spawnRefused submits what cannot be started.
func (b *bench) spawnRefused() (object, error) {
	a, err := b.target.SpawnRefused(b.ctx, Call{Args: machine(b.in(b.profile.SubmitStdin)), Stdin: []byte(b.profile.SubmitStdinText)})
	if err != nil {
		return nil, err
	}
	e, err := envelope(a)
	if err != nil {
		return nil, err
	}
	r, ok := e["error"].(object)
	if !ok {
		return nil, fmt.Errorf("it is no refusal")
	}
	return r, nil
}

// list returns the entries of a list of runs.
func (b *bench) list(limit int, status string) ([]object, error) {
	args, values := b.profile.List, map[string]string{"limit": fmt.Sprint(limit)}
	if status != "" {
		args, values["status"] = b.profile.ListStatus, status
	}
	d, err := b.data(args, values)
	if err != nil {
		return nil, err
	}
	v := d[b.profile.ListField]
	if w, ok := v.(object); ok {
		v = w["value"]
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("the list has no %s", b.profile.ListField)
	}
	var out []object
	for _, x := range list {
		if o, ok := x.(object); ok {
			out = append(out, o)
		}
	}
	return out, nil
}
