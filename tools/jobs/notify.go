package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// deliveryTime bounds a delivery command: it only says "go and read".
const deliveryTime = 10 * time.Second

// notice is what a delivery command reads from stdin. It proves nothing (D9).
type notice struct {
	RunID      string  `json:"run_id"`
	Kind       string  `json:"kind"`
	Status     Status  `json:"status"`
	Terminal   bool    `json:"terminal"`
	Outcome    Outcome `json:"outcome"`
	ReasonCode string  `json:"reason_code"`
}

// claim says who delivers.
type claim struct {
	Process *Incarnation `json:"process"`
}

// notify tells the delivery command of an end that is recorded, and records
// what became of it. At most one of those who try gets to it.
func (s *Store) notify(dir string, r *Record, end *End) {
	if r.Notify == "" {
		return
	}
	unlock, err := lock(dir, end.By)
	if err != nil {
		return
	}
	err = publish(dir, claimFile, claim{s.sys.incarnation(os.Getpid())})
	unlock()
	if err == nil {
		s.deliver(dir, r, end, end.By)
	}
}

// notifyAgain delivers where whoever should have done it is gone without a word.
func (s *Store) notifyAgain(dir string, r *Record, end *End) {
	if r.Notify == "" || exists(filepath.Join(dir, noticeFile)) || !s.abandoned(dir, r) {
		return
	}
	unlock, err := lock(dir, byReaper)
	if err != nil {
		return
	}
	if exists(filepath.Join(dir, noticeFile)) || !s.abandoned(dir, r) {
		unlock()
		return
	}
	_ = os.Remove(filepath.Join(dir, claimFile))
	err = publish(dir, claimFile, claim{s.sys.incarnation(os.Getpid())})
	unlock()
	if err == nil {
		s.deliver(dir, r, end, byReaper)
	}
}

// abandoned reports that the one who claimed the delivery, or the run that
// ended before it could, is gone.
func (s *Store) abandoned(dir string, r *Record) bool {
	var c claim
	if err := readRun(dir, claimFile, &c); err == nil {
		return s.sys.find(c.Process) == Gone
	} else if !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return s.sys.find(r.Process) == Gone
}

func (s *Store) deliver(dir string, r *Record, end *End, by string) {
	now := s.now()
	d := Delivery{Attempted: true, At: &now, By: &by}
	b, err := json.Marshal(notice{r.RunID, r.Kind, end.Status, true, end.Outcome, end.ReasonCode})
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), deliveryTime)
		defer cancel()
		c := shell(ctx, r.Notify)
		c.Dir, c.Stdin, c.WaitDelay = r.Dir, bytes.NewReader(b), time.Second
		c.Env = append(os.Environ(), "AGENT_CONTRACTS_RUN_ID="+r.RunID)
		err = c.Run()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		zero := 0
		d.Delivered, d.ExitCode = true, &zero
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		code := exit.ExitCode()
		d.ExitCode = &code
	default:
		problem := "the delivery command could not be run to its end"
		d.Problem = &problem
	}
	_ = writeRun(dir, noticeFile, d)
}
