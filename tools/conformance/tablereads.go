package conformance

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// availabilityTable is D7: absence and failure never look alike.
func availabilityTable() []Requirement {
	needs := []need{needEnds, needStatus, needWait, needOutput}
	field := func(id, name string) Requirement {
		return Requirement{id, name + " carries its own availability.", "D7, the wrapper applies", needs, func(b *bench) error {
			o, err := b.output("10000")
			if err == nil {
				_, err = wrapped(name, o[name])
			}
			return err
		}}
	}
	return []Requirement{
		field("D7.1", "console"), field("D7.2", "artifacts"), field("D7.3", "manifest"),
		{"D7.4", "The console says whether it is only its end.", "D7, truncated", needs, func(b *bench) error {
			o, err := b.output("10000")
			if err != nil {
				return err
			}
			if w, ok := o["console"].(object); ok {
				if _, ok := w["truncated"].(bool); !ok {
					return fmt.Errorf("console.truncated is %v", w["truncated"])
				}
			}
			return nil
		}},
		{"D7.5", "What cannot be read is unavailable, with a reason, and never empty.", "D7, exact semantics; P6", needs, func(b *bench) error {
			d, id, err := b.submit(b.profile.SubmitEnds, nil)
			if err != nil {
				return err
			}
			if _, err := b.settle(id); err != nil {
				return err
			}
			log, _ := d["log"].(string)
			if err := b.target.Obstruct(log); err != nil {
				return &BlockedError{"the log could not be made unreadable"}
			}
			o, err := b.data(b.profile.Output, map[string]string{"run_id": id, "tail": "100"})
			if err != nil {
				return err
			}
			w, _ := o["console"].(object)
			if w == nil || w["available"] != false || w["value"] != nil || w["reason_code"] == nil {
				return fmt.Errorf("an unreadable console is %v", w)
			}
			return nil
		}},
		{"D7.6", "A console that is cut is no longer than was asked for, and says so.", "D7, truncated; D6, output", needs, func(b *bench) error {
			_, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			var whole string
			for _, tail := range []string{"10000", "1"} {
				o, err := b.data(b.profile.Output, map[string]string{"run_id": id, "tail": tail})
				if err != nil {
					return err
				}
				w, _ := o["console"].(object)
				text, ok := w["value"].(string)
				switch {
				case !ok:
					return nil // what that must look like is another requirement
				case tail != "1":
					whole = text
				case utf8.RuneCountInString(text) > 1 || text != whole && w["truncated"] == false:
					return fmt.Errorf("of %d characters one was asked for: there are %d, truncated %v", utf8.RuneCountInString(whole), utf8.RuneCountInString(text), w["truncated"])
				}
			}
			return nil
		}},
	}
}

func (b *bench) output(tail string) (object, error) {
	_, id, err := b.ended(b.profile.SubmitEnds)
	if err != nil {
		return nil, err
	}
	return b.data(b.profile.Output, map[string]string{"run_id": id, "tail": tail})
}

const neverWas = "20200101T000000-00000f"

// waitTable is D10: bounded observation.
func waitTable() []Requirement {
	ends := []need{needEnds, needStatus, needWait}
	slow := []need{needSlow, needKill, needWait}
	mixed := append(slices.Clone(slow), needEnds, needStatus)
	return []Requirement{
		{"D10.1", "A wait has one entry an id, in the order of the request.", "D10", mixed, func(b *bench) error {
			w, ids, err := b.mixed(0)
			if err != nil {
				return err
			}
			entries, err := b.entries(w)
			if err != nil {
				return err
			}
			var got []string
			for _, e := range entries {
				id, _ := e["run_id"].(string)
				got = append(got, id)
			}
			if !slices.Equal(got, ids) {
				return fmt.Errorf("asked for %d ids, got %d in another order", len(ids), len(got))
			}
			return nil
		}},
		{"D10.2", "Every entry has kind, status, terminal and reason_code.", "D10", mixed, eachEntryHas("kind", "status", "terminal", "reason_code")},
		{"D10.3", "Every entry carries outcome as well as terminal.", "D10, additions", mixed, eachEntryHas("outcome")},
		{"D10.4", "A wait says whether all have ended, whether the window closed, and which ids are pending.", "D10", ends, func(b *bench) error {
			_, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			w, err := b.wait(0, 1, id)
			if err != nil {
				return err
			}
			if w["all_terminal"] != true || w["timed_out"] != false {
				return fmt.Errorf("all have ended: all_terminal %v, timed_out %v", w["all_terminal"], w["timed_out"])
			}
			return has(w, "pending")
		}},
		{"D10.5", "Expiry is no error: it reports what was learned.", "D10, expiry", slow, func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			w, err := b.wait(0.2, 0.1, id)
			if err == nil && w["timed_out"] != true {
				err = fmt.Errorf("timed_out is %v with an id pending", w["timed_out"])
			}
			return err
		}},
		{"D10.6", "all_terminal is false while an id has not ended.", "D10", mixed, func(b *bench) error {
			w, _, err := b.mixed(0)
			if err == nil && w["all_terminal"] != false {
				err = fmt.Errorf("all_terminal is %v", w["all_terminal"])
			}
			return err
		}},
		{"D10.7", "An unknown id is an error of its entry and keeps no other from being observed.", "D10, unknown ids", ends, func(b *bench) error {
			_, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			w, err := b.wait(0, 1, neverWas, id)
			if err != nil {
				return err
			}
			entries, err := b.entries(w)
			if err != nil {
				return err
			}
			var wrong, right bool
			for _, e := range entries {
				wrong = wrong || e["error"] != nil
				right = right || e["error"] == nil && e["terminal"] == true
			}
			if !wrong || !right {
				return fmt.Errorf("error said: %v, the other observed: %v", wrong, right)
			}
			return nil
		}},
		{"D10.8", "Both bounds are clamped, and the values used are echoed.", "D10", ends, func(b *bench) error {
			_, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			w, err := b.wait(1e9, 1e9, id)
			if err != nil {
				return err
			}
			for _, n := range []string{b.profile.MaxWaitField, b.profile.PollField} {
				if f, ok := w[n].(float64); !ok || f <= 0 || f >= 1e9 || math.IsNaN(f) {
					return fmt.Errorf("%s is %v for 1e9", n, w[n])
				}
			}
			if w, err = b.wait(0, 0, id); err != nil {
				return err
			}
			if f, ok := w[b.profile.PollField].(float64); !ok || f <= 0 {
				return fmt.Errorf("%s is %v for 0", b.profile.PollField, w[b.profile.PollField])
			}
			return nil
		}},
		{"D10.9", "A maximum wait of 0 is a snapshot.", "D10", slow, func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			a := b.run(fill(b.profile.Wait, map[string]string{"max_wait": "0", "poll": "30"}, id))
			if _, err := dataOf(a); err != nil {
				return err
			}
			if a.Took > 20*time.Second {
				return fmt.Errorf("it took %v", a.Took)
			}
			return nil
		}},
		{"D10.10", "pending, stopped_without_end, unresolved_spawn and the ended ids are disjoint and hold every observed id.", "D10, partition", mixed, func(b *bench) error {
			w, ids, err := b.mixed(0)
			if err != nil {
				return err
			}
			seen := map[string]int{}
			for _, n := range []string{b.profile.TerminalField, "pending", "stopped_without_end", "unresolved_spawn"} {
				if _, ok := w[n].([]any); !ok {
					return fmt.Errorf("there is no list %s", n)
				}
				for _, id := range texts(w[n]) {
					seen[id]++
				}
			}
			for _, id := range ids[:2] {
				if seen[id] != 1 {
					return fmt.Errorf("an observed id is in %d of the four lists", seen[id])
				}
			}
			return nil
		}},
		{"D10.11", "status and wait say the same of one run.", "D10, one authority", append([]need{needStatus}, slow...), func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			w, err := b.wait(0, 1, id)
			if err != nil {
				return err
			}
			s, err := b.status(id)
			if err != nil {
				return err
			}
			entries, err := b.entries(w)
			if err != nil || len(entries) == 0 {
				return err
			}
			if entries[0]["terminal"] != s["terminal"] {
				return fmt.Errorf("wait says terminal %v, status %v", entries[0]["terminal"], s["terminal"])
			}
			return nil
		}},
		{"D10.12", "An observation that is signalled leaves the run as it was.", "D10, observing does not touch the run", append([]need{needStatus}, slow...), func(b *bench) error {
			d, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			b.target.Run(b.ctx, Call{Args: machine(b.in(fill(b.profile.Wait, map[string]string{"max_wait": "60", "poll": "0.1"}, id))), Interrupt: "INT"})
			n, _ := pid(d)
			p, err := b.target.Process(n)
			if err == nil && p == nil {
				err = fmt.Errorf("the run's process ended with the observer")
			}
			return err
		}},
		{"D10.13", "A call that would return at once with ids that stopped without an end sleeps one interval first.", "D10, floor", append([]need{needStatus}, slow...), func(b *bench) error {
			a, _, err := b.stopped(60, 2)
			if err != nil {
				return err
			}
			if a.Took < 2*time.Second {
				return fmt.Errorf("it came back after %v without having waited", a.Took)
			}
			return nil
		}},
	}
}

// mixed waits for a run that ended, one that goes on, and one that never was.
func (b *bench) mixed(seconds float64) (object, []string, error) {
	_, ended, err := b.ended(b.profile.SubmitEnds)
	if err != nil {
		return nil, nil, err
	}
	_, slow, err := b.submit(b.profile.SubmitSlow, nil)
	if err != nil {
		return nil, nil, err
	}
	ids := []string{slow, ended, neverWas}
	w, err := b.wait(seconds, 1, ids...)
	return w, ids, err
}

func eachEntryHas(names ...string) func(*bench) error {
	return func(b *bench) error {
		w, _, err := b.mixed(0)
		if err != nil {
			return err
		}
		entries, err := b.entries(w)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e["error"] == nil {
				if err := has(e, names...); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
