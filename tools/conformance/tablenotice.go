package conformance

import (
	"errors"
	"fmt"
	"path/filepath"
)

// noticeTable is the rest of D6, D7 and D9: kills, readers that cannot judge,
// and notices of runs that ended without a word or never began.
func noticeTable() []Requirement {
	slow := []need{needSlow, needStatus, needKill, needWait}
	return []Requirement{
		{"D6.12", "kill says whether it delivered a signal: true for work that goes on, false for what has ended.", "D6, kill", append([]need{needDelivered, needEnds}, slow...), func(b *bench) error {
			_, over, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			for id, want := range map[string]bool{id: true, over: false} {
				e, err := envelope(b.run(fill(b.profile.Kill, map[string]string{"run_id": id})))
				if err != nil {
					return err
				}
				if d, ok := e["data"].(object); ok && d[b.profile.DeliveredField] != want {
					return fmt.Errorf("%s is %v, want %v", b.profile.DeliveredField, d[b.profile.DeliveredField], want)
				}
			}
			return nil
		}},
		{"D6.13", "Who cannot judge a run's process leaves its record as it was.", "D6, liveness may not establish terminality; orphan", slow, func(b *bench) error {
			_, id, err := b.submit(b.profile.SubmitSlow, nil)
			if err != nil {
				return err
			}
			if _, err := b.elsewhere(id, 0, 1); err != nil {
				return err
			}
			s, err := b.status(id)
			if err == nil && s["terminal"] != false {
				err = fmt.Errorf("it goes on, and after a look from elsewhere terminal is %v", s["terminal"])
			}
			return err
		}},
		{"D6.14", "kill signals the whole process group: no process of it is left.", "D6, kill", slow, func(b *bench) error {
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
			leader, _ := pid(d)
			left, err := b.target.Group(leader)
			for _, p := range left { // the leader is another requirement
				if p != leader {
					return fmt.Errorf("%d processes of its group are left", len(left))
				}
			}
			return err
		}},
		{"D7.7", "A value is either there, without a reason, or missing, with one short word for it.", "D7, exact semantics", []need{needEnds, needStatus, needWait, needOutput}, func(b *bench) error {
			s, id, err := b.ended(b.profile.SubmitEnds)
			if err != nil {
				return err
			}
			o, err := b.data(b.profile.Output, map[string]string{"run_id": id, "tail": "10000"})
			if err != nil {
				return err
			}
			for name, v := range map[string]any{"console": o["console"], "artifacts": o["artifacts"], "manifest": o["manifest"], "notification": s["notification"]} {
				w, _ := v.(object)
				there := w["available"] == true && w["reason_code"] == nil
				missing := w["available"] == false && w["value"] == nil && w["reason_code"] != nil && isReason(w["reason_code"])
				if _, is := w["available"].(bool); is && !there && !missing {
					return fmt.Errorf("%s is available %v with reason_code %v", name, w["available"], w["reason_code"])
				}
			}
			return nil
		}},
		{"D7.8", "What is intrinsically optional, such as label, is not wrapped.", "D7, the wrapper does not apply", []need{needEnds, needStatus, needWait}, func(b *bench) error {
			s, _, err := b.ended(b.profile.SubmitEnds)
			if _, isText := s["label"].(string); err == nil && s["label"] != nil && !isText {
				err = fmt.Errorf("label is neither a text nor null")
			}
			return err
		}},
		{"D9.6", "An orphan that is ended sends the notice that its own process would have sent.", "D9, the reap winner", []need{needSlowNotify, needStatus, needKill, needWait}, func(b *bench) error {
			file := filepath.Join(b.target.Dir(), "notice")
			d, id, err := b.submit(b.profile.SubmitSlowNotify, map[string]string{"notify": "touch '" + file + "'"})
			if err != nil {
				return err
			}
			n, ok := pid(d)
			if !ok || b.target.Kill(n) != nil {
				return &BlockedError{"the process of the run could not be killed"}
			}
			s, err := b.settle(id)
			if err != nil || s["terminal"] != true {
				return err // one that is not ended sends nothing
			}
			if b.target.Wait(b.ctx, file) != nil {
				err = errors.New("the delivery command was never run")
			}
			return err
		}},
		{"D9.7", "A run that is being prepared sends no notice.", "D9, a preparing orphan", []need{needSlowNotify, needStatus, needList, needWait}, func(b *bench) error {
			file := filepath.Join(b.target.Dir(), "notice")
			id, err := b.prepared(fill(b.profile.SubmitSlowNotify, map[string]string{"notify": "touch '" + file + "'"}))
			if err != nil || id == "" {
				return err
			}
			if _, err := b.wait(1, 0.5, id); err != nil {
				return err
			}
			if b.target.There(file) {
				err = errors.New("the delivery command was run")
			}
			return err
		}},
	}
}

// elsewhere waits for a run where its process cannot be judged, and returns how
// that answered.
func (b *bench) elsewhere(id string, seconds, poll float64) (Answer, error) {
	values := map[string]string{"max_wait": number(seconds), "poll": number(poll)}
	a := b.target.Run(b.ctx, Call{Args: machine(b.in(fill(b.profile.Wait, values, id))), Elsewhere: true})
	if a.Err != nil {
		return a, &BlockedError{"no other process namespace can be made here"}
	}
	return a, nil
}
