package conformance

import (
	"fmt"
	"path/filepath"
	"reflect"
)

// controlTable is D6: one authority, and liveness beside it.
func controlTable() []Requirement {
	slow := []need{needSlow, needStatus, needKill, needWait}
	list := []need{needEnds, needWait, needStatus, needList}
	return []Requirement{
		{"D6.1", "A process that vanished without a recorded end never succeeded.", "D6, liveness; P2", slow, func(b *bench) error {
			s, err := b.orphan()
			if err == nil && (s["outcome"] == "succeeded" || s["outcome"] == "failed") {
				err = fmt.Errorf("outcome is %v", s["outcome"])
			}
			return err
		}},
		{"D6.2", "A conclusive orphan is ended as indeterminate, or stays without an end and says that it may be orphaned.", "D6, orphan", slow, func(b *bench) error {
			s, err := b.orphan()
			if err == nil && s["terminal"] != true && s["alive"] != false {
				err = fmt.Errorf("its process is gone, and alive is %v", s["alive"])
			}
			return err
		}},
		{"D6.3", "Two reads of one ended run say the same.", "D6, durable state is authoritative; P3", []need{needEnds, needStatus, needWait}, func(b *bench) error {
			s, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			again, err := b.status(id)
			if err != nil {
				return err
			}
			for _, n := range []string{"terminal", "outcome", "reason_code", "finished_at"} {
				if s[n] != again[n] {
					return fmt.Errorf("%s was %v and is %v", n, s[n], again[n])
				}
			}
			return nil
		}},
		{"D6.4", "kill ends the work.", "D6, kill", slow, func(b *bench) error {
			d, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if _, err := b.data(b.profile.Kill, map[string]string{"run_id": id}); err != nil {
				return err
			}
			if _, err := b.wait(60, 0.1, id); err != nil {
				return err
			}
			n, _ := pid(d)
			p, err := b.target.Process(n)
			if err == nil && p != nil && p.Session == n {
				err = fmt.Errorf("its process is still there")
			}
			return err
		}},
		{"D6.5", "Killing what has ended is an ordinary answer.", "D6, kill", []need{needEnds, needStatus, needWait, needKill}, func(b *bench) error {
			_, id, err := b.ended(b.profile.SubmitEnds)
			if err == nil {
				_, err = b.data(b.profile.Kill, map[string]string{"run_id": id})
			}
			return err
		}},
		{"D6.6", "A list is ordered newest first.", "D6, list", list, func(b *bench) error {
			entries, ids, err := b.twoRuns(10)
			if err != nil {
				return err
			}
			if len(entries) < 2 || entries[0]["run_id"] != ids[1] {
				return fmt.Errorf("the newer run is not the first of %d", len(entries))
			}
			return nil
		}},
		{"D6.7", "A list is bounded by its limit.", "D6, list", list, func(b *bench) error {
			entries, _, err := b.twoRuns(1)
			if err == nil && len(entries) > 1 {
				err = fmt.Errorf("%d entries under a limit of 1", len(entries))
			}
			return err
		}},
		{"D6.8", "A list says when it is truncated, and only then.", "D6, list", list, func(b *bench) error {
			if _, _, err := b.twoRuns(1); err != nil {
				return err
			}
			for limit, want := range map[string]bool{"1": true, "10": false} {
				d, err := b.data(b.profile.List, map[string]string{"limit": limit})
				if err != nil {
					return err
				}
				if d["truncated"] != want {
					return fmt.Errorf("with a limit of %s truncated is %v", limit, d["truncated"])
				}
			}
			return nil
		}},
		{"D6.9", "A list can be narrowed to a status.", "D6, list", append([]need{needFilter}, list...), func(b *bench) error {
			if _, _, err := b.ended(b.profile.SubmitEnds); err != nil {
				return err
			}
			all, err := b.list(10, "")
			if err != nil || len(all) == 0 {
				return err
			}
			status, _ := all[0]["status"].(string)
			for filter, want := range map[string]int{"no-such-status": 0, status: len(all)} {
				entries, err := b.list(10, filter)
				if err != nil {
					return err
				}
				if len(entries) != want {
					return fmt.Errorf("%d runs have the status %s, want %d", len(entries), filter, want)
				}
			}
			return nil
		}},
		{"D6.10", "Killing what has ended leaves its end as it was.", "D6, kill; liveness", []need{needEnds, needStatus, needWait, needKill}, func(b *bench) error {
			s, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			b.run(fill(b.profile.Kill, map[string]string{"run_id": id})) // what it answers is another requirement
			again, err := b.status(id)
			if err == nil && (s["status"] != again["status"] || s["outcome"] != again["outcome"]) {
				err = fmt.Errorf("it ended as %v, %v and is %v, %v after a kill", s["status"], s["outcome"], again["status"], again["outcome"])
			}
			return err
		}},
		{"D6.11", "Every row of a list carries status, terminal and outcome.", "D4, every status-bearing response", list, func(b *bench) error {
			entries, _, err := b.twoRuns(10)
			for _, e := range entries {
				if err == nil {
					err = has(e, "status", "terminal", "outcome")
				}
			}
			return err
		}},
		{"D9.1", "The terminal status is recorded before the notice is sent.", "D9", []need{needNotify, needStatus}, func(b *bench) error {
			s, err := b.notified("touch ")
			if err == nil && s["terminal"] != true {
				err = fmt.Errorf("the notice came, and terminal is %v", s["terminal"])
			}
			return err
		}},
		{"D9.2", "The outcome of the delivery is on the status, wrapped.", "D9; D7", []need{needNotify, needStatus, needWait}, func(b *bench) error {
			return b.delivery("touch ", true, true)
		}},
		{"D9.3", "A delivery that failed is a fact of its own, and changes nothing about the run.", "D9, outcome of the delivery", []need{needNotify, needStatus, needWait}, func(b *bench) error {
			return b.delivery("exit 3; touch ", true, false)
		}},
		{"D9.4", "attempted is false when no delivery is configured.", "D9, outcome of the delivery", []need{needEnds, needStatus, needWait}, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			w, err := wrapped("notification", s["notification"])
			if err != nil {
				return err
			}
			if v, ok := w["value"].(object); !ok || v["attempted"] != false {
				return fmt.Errorf("notification is %v", w["value"])
			}
			return nil
		}},
		{"D9.5", "The artifacts are there before the notice is sent.", "D9, artifacts", []need{needNotify, needStatus, needWait, needOutput}, func(b *bench) error {
			s, err := b.notified("touch ")
			if err != nil {
				return err
			}
			id, _ := s["run_id"].(string)
			var seen [2]any
			for i := range seen {
				o, err := b.data(b.profile.Output, map[string]string{"run_id": id, "tail": "1"})
				if err != nil {
					return err
				}
				seen[i], _ = o["artifacts"].(object)
				if _, err := b.settle(id); err != nil {
					return err
				}
			}
			if !reflect.DeepEqual(seen[0], seen[1]) {
				return fmt.Errorf("they were %v at the notice and are %v", seen[0], seen[1])
			}
			return nil
		}},
	}
}

// orphan submits work, kills its process, and returns the status after that.
func (b *bench) orphan() (object, error) {
	d, id, err := b.submit(b.profile.SubmitSlow, nil)
	if err != nil {
		return nil, err
	}
	n, ok := pid(d)
	if !ok {
		return nil, fmt.Errorf("the submission has no pid")
	}
	if err := b.target.Kill(n); err != nil {
		return nil, &BlockedError{"the process of the run could not be killed"}
	}
	if _, err := b.wait(30, 0.1, id); err != nil {
		return nil, err
	}
	return b.status(id)
}

// twoRuns makes two runs, the second after the first, and lists them.
func (b *bench) twoRuns(limit int) ([]object, [2]string, error) {
	var ids [2]string
	for i := range ids {
		_, id, err := b.ended(b.profile.SubmitEnds)
		if err != nil {
			return nil, ids, err
		}
		ids[i] = id
	}
	entries, err := b.list(limit, "")
	return entries, ids, err
}

// notified submits work with a delivery command that makes a file, waits for the
// file, and returns the status at that moment.
func (b *bench) notified(command string) (object, error) {
	file := filepath.Join(b.target.Dir(), "notice")
	_, id, err := b.submit(b.profile.SubmitNotify, map[string]string{"notify": command + "'" + file + "'"})
	if err != nil {
		return nil, err
	}
	if err := b.target.Wait(b.ctx, file); err != nil {
		return nil, fmt.Errorf("the delivery command was never run")
	}
	return b.status(id)
}

func (b *bench) delivery(command string, attempted, delivered bool) error {
	file := filepath.Join(b.target.Dir(), "notice")
	_, id, err := b.submit(b.profile.SubmitNotify, map[string]string{"notify": command + "'" + file + "'"})
	if err != nil {
		return err
	}
	if _, err := b.settle(id); err != nil {
		return err
	}
	var w object
	for range 100 { // the run has ended; its notice may still be on its way
		s, err := b.status(id)
		if err != nil {
			return err
		}
		if w, err = wrapped("notification", s["notification"]); err != nil {
			return err
		}
		if !delivered && s["outcome"] != "succeeded" {
			return fmt.Errorf("the run's outcome became %v", s["outcome"])
		}
		if w["available"] == true {
			break
		}
	}
	v, _ := w["value"].(object)
	if v == nil || v["attempted"] != attempted || v["delivered"] != delivered {
		return fmt.Errorf("notification is %v", w["value"])
	}
	return nil
}
