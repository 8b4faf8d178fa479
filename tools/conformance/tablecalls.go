package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// pagers are the programs that show a long text page by page.
var pagers = []string{"less", "more", "most", "pager"}

// callTable is the rest of D1 and D8: calls on a terminal, and what a damaged
// installation and a start that failed may say.
func callTable() []Requirement {
	return []Requirement{
		{"D1.4", "Under --machine nothing asks: on a terminal where nobody types a command ends with its envelope.", "D1, contract surface", []need{needRead, needNotFound, needAsks}, func(b *bench) error {
			for _, args := range [][]string{b.profile.Read, b.profile.NotFound, b.profile.Asks} {
				if _, err := envelope(b.onTerminal(args)); err != nil {
					return fmt.Errorf("on a terminal: %w", err)
				}
			}
			return nil
		}},
		{"D1.5", "Under --machine nothing is shown page by page, on a terminal neither.", "D1, contract surface", []need{needRead, needNotFound}, func(b *bench) error {
			for _, args := range [][]string{b.profile.Read, b.profile.NotFound} {
				var blocked *BlockedError // what else it answers is another requirement
				if a := b.onTerminal(args); errors.As(a.Err, &blocked) {
					return blocked
				}
			}
			if i := slices.IndexFunc(pagers, b.target.Trapped); i >= 0 {
				return fmt.Errorf("it started %s", pagers[i])
			}
			return nil
		}},
		{"D8.4", "A run that exists and could not be started is no damaged installation: its submission does not exit 78.", "D8, 78", []need{needStdin}, func(b *bench) error {
			a, err := b.target.SpawnRefused(b.ctx, Call{Args: machine(b.in(b.profile.SubmitStdin)), Stdin: []byte(b.profile.SubmitStdinText)})
			if err == nil && a.Code == 78 {
				err = fmt.Errorf("it exits 78")
			}
			return err
		}},
		{"D8.5", "Where it exits 78 no run was allocated: nothing was executed.", "D8, 78", []need{needDamage, needEnds, needList}, func(b *bench) error {
			a, err := b.target.Damaged(b.ctx, Call{Args: machine(b.in(b.profile.SubmitEnds))})
			if err != nil || a.Code != 78 {
				return err // that it exits 78 is another requirement
			}
			list, err := b.list(10, "")
			if err == nil && len(list) > 0 {
				err = fmt.Errorf("a submission that exits 78 left a run")
			}
			return err
		}},
	}
}

func (b *bench) onTerminal(args []string) Answer {
	return b.target.Run(b.ctx, Call{Args: machine(b.in(args)), Terminal: true})
}

// reasonTable is the rest of D4: reasons, liveness, and every answer that has a
// status.
func reasonTable() []Requirement {
	slow := []need{needSlow, needStatus, needKill}
	fails := []need{needFails, needStatus, needWait}
	return []Requirement{
		{"D4.8", "reason_code is null or one short word for machines, never a sentence.", "D4, reason_code", append([]need{needEnds}, fails...), func(b *bench) error {
			for _, args := range [][]string{b.profile.SubmitEnds, b.profile.SubmitFails} {
				s, _, err := b.ended(args)
				if err != nil {
					return err
				}
				if !isReason(s["reason_code"]) {
					return fmt.Errorf("reason_code is %v", s["reason_code"])
				}
			}
			return nil
		}},
		{"D4.9", "The reason of a run is one: status, wait and list give the same.", "D4, reason_code; D10, one authority", append([]need{needList}, fails...), func(b *bench) error {
			s, id, err := b.ended(b.profile.SubmitFails)
			if err != nil {
				return err
			}
			waited, err := b.entry(id)
			if err != nil {
				return err
			}
			list, err := b.list(10, "")
			if err != nil {
				return err
			}
			for _, e := range append(list, waited) {
				if reason, has := e["reason_code"]; has && e["run_id"] == id && reason != s["reason_code"] {
					return fmt.Errorf("status says %v, another answer %v", s["reason_code"], e["reason_code"])
				}
			}
			return nil
		}},
		{"D4.10", "alive is what a look at the process says now: true, false, or null where it cannot tell.", "D4, alive", slow, func(b *bench) error {
			d, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			s, err := b.status(id)
			if err != nil {
				return err
			}
			if _, is := s["alive"].(bool); !is && s["alive"] != nil {
				return fmt.Errorf("alive is %v", s["alive"])
			}
			n, _ := pid(d)
			p, err := b.target.Process(n)
			if err == nil && p != nil && s["alive"] == false {
				err = fmt.Errorf("alive is false of a process that is there")
			}
			return err
		}},
		{"D4.11", "An answer about a run that has a status has terminal and outcome, too, whatever was asked.", "D4, every status-bearing response", append(slices.Clone(slow), needOutput), func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			values := map[string]string{"run_id": id, "tail": "1"}
			for _, args := range [][]string{b.profile.Output, b.profile.Kill} {
				d, err := b.data(args, values)
				if err != nil {
					return err
				}
				if _, bears := d["status"]; bears {
					if err := has(d, "terminal", "outcome"); err != nil {
						return err
					}
				}
			}
			return nil
		}},
	}
}

// entry is what a snapshot says of one run.
func (b *bench) entry(id string) (object, error) {
	w, err := b.wait(0, 1, id)
	if err != nil {
		return nil, err
	}
	entries, err := b.entries(w)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("a wait for one id has %d entries", len(entries))
	}
	if err != nil {
		return nil, err
	}
	return entries[0], nil
}

// isReason reports that a value is null or a short word without spaces.
func isReason(v any) bool {
	s, ok := v.(string)
	return v == nil || ok && s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/") == ""
}
