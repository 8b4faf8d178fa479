package jobs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Who asks about a run is answered though the delivery command hangs: the notice
// is sent by a process of its own, once, and its fate is read later.
func TestReaderDoesNotWaitForTheNotice(t *testing.T) {
	s := testStore(t).DeliverBy(testProgram(t))
	folder := t.TempDir()
	gate, notices := filepath.Join(folder, "gate"), filepath.Join(folder, "notices")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both sides, so that the command reads from it and gets nothing.
	holder, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	id := submit(t, s, Submission{Args: []string{"die"}, Notify: "echo told >> '" + notices + "'; read x < '" + gate + "'"}).RunID
	job := settled(t, s, id)
	if !job.Terminal || *job.ReasonCode != ReasonProcessGone {
		t.Fatalf("%+v", job.Lifecycle)
	}
	if job.Notification.Available {
		t.Errorf("the reader waited for the delivery: %+v", job.Notification.Value)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = s.Status(id) })
	}
	wg.Wait()
	if _, err := holder.WriteString("go on\n"); err != nil {
		t.Fatal(err)
	}
	job = until(t, s, id, func(j *Job) bool { return j.Notification.Available })
	if d := job.Notification.Value; !d.Delivered || *d.By != byReaper {
		t.Errorf("%+v", d)
	}
	if b, err := os.ReadFile(notices); err != nil || string(b) != "told\n" {
		t.Errorf("notices %q %v", b, err)
	}
}

// A process that the delivery was handed to does nothing when it is somebody
// else's meanwhile, and a program that cannot be started leaves it to the reader.
func TestHandedOverNotice(t *testing.T) {
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, func(r *Record) {
		startedAs(1, 7)(r)
		r.Dir, r.Notify = t.TempDir(), "exit 3"
	})
	dir := filepath.Join(s.dir, idA)
	if err := s.Deliver(idA, byReaper); err == nil {
		t.Error("a notice was sent that nobody claimed")
	}
	s.DeliverBy(filepath.Join(t.TempDir(), "none"))
	job, err := s.Status(idA)
	if err != nil || !job.Notification.Available || *job.Notification.Value.ExitCode != 3 {
		t.Errorf("%+v %v", job, err)
	}
	if err := os.Remove(filepath.Join(dir, noticeFile)); err != nil {
		t.Fatal(err)
	}
	if err := writeRun(dir, claimFile, claim{PID: os.Getpid() + 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Deliver(idA, byReaper); err == nil || exists(filepath.Join(dir, noticeFile)) {
		t.Errorf("the notice of another was sent: %v", err)
	}
}

// A delivery command whose time is over leaves nobody behind.
func TestHangingDeliveryLeavesNobody(t *testing.T) {
	was := deliveryContext
	t.Cleanup(func() { deliveryContext = was })
	ctx, over := context.WithCancel(context.Background())
	defer over()
	deliveryContext = func() (context.Context, context.CancelFunc) { return ctx, over }
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(t.TempDir(), gone())
	recorded(t, s, idA, func(r *Record) {
		startedAs(1, 7)(r)
		r.Dir, r.Notify = t.TempDir(), "sleep 600 & echo $! > '"+gate+"'; wait"
	})
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = s.Status(idA) })
	b, err := os.ReadFile(gate) // when the command has started its child
	if err != nil {
		t.Fatal(err)
	}
	over()
	wg.Wait()
	child, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		p, err := ThisSystem().Process(child)
		if err == nil && (p == nil || p.Dead) {
			if d := value[Delivery](filepath.Join(s.dir, idA), noticeFile); !d.Available || d.Value.Delivered || d.Value.Problem == nil {
				t.Errorf("%+v", d)
			}
			return
		}
	}
	t.Error("what the delivery command started is still there", errors.Join(err, syscall.Kill(child, syscall.SIGKILL)))
}
