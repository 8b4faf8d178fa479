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

// deliveryContext is a variable for tests alone.
var deliveryContext = func() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), deliveryTime)
}

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
	PID     int          `json:"pid"` // of Process, also where that cannot be told
}

func (s *Store) claimFor(pid int) claim { return claim{s.sys.incarnation(pid), pid} }

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
	s.claimAndDeliver(dir, r, end, end.By, unlock)
}

// claimAndDeliver takes the delivery, if nobody has it, and the lock back. A run
// delivers itself; a reader hands it to a process of its own, so that nobody who
// asks about a run waits for somebody's command (D10: the end is recorded before
// the notice, and the answer need not wait for it).
func (s *Store) claimAndDeliver(dir string, r *Record, end *End, by string, unlock func()) {
	if err := publish(dir, claimFile, s.claimFor(os.Getpid())); err != nil {
		unlock()
		return
	}
	handed := s.program != "" && by != byRun && s.handOver(dir, by) == nil
	unlock()
	if !handed {
		s.deliver(dir, r, end, by)
	}
}

// handOver starts the process that delivers, and gives it the claim. It waits for
// the lock that the caller holds, and does nothing when the claim is not its own:
// a caller who dies in between leaves an abandoned one.
func (s *Store) handOver(dir, by string) error {
	c := exec.Command(s.program, "job", "deliver", filepath.Base(dir), "--by", by)
	detach(c)
	if err := c.Start(); err != nil {
		return err
	}
	err := writeRun(dir, claimFile, s.claimFor(c.Process.Pid))
	go func() { _ = c.Wait() }() // a reader that lives on leaves no zombie
	return err
}

// Deliver runs the delivery command of a run that has ended, for a reader who
// handed that over to this process.
func (s *Store) Deliver(id, by string) error {
	dir, err := s.run(id)
	if err != nil {
		return err
	}
	unlock, err := lock(dir, byReaper)
	if err != nil {
		return err
	}
	var c claim
	err = readRun(dir, claimFile, &c)
	r, end, err2 := load(dir)
	unlock()
	switch err := errors.Join(err, err2); {
	case err != nil:
		return err
	case end == nil || c.PID != os.Getpid() || exists(filepath.Join(dir, noticeFile)):
		return ErrSuperseded
	}
	s.deliver(dir, r, end, by)
	return nil
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
	s.claimAndDeliver(dir, r, end, byReaper, unlock)
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
		ctx, cancel := deliveryContext()
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
