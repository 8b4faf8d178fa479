package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The roles of the chaos test. Each is a process of its own, so that it can be
// killed with SIGKILL at any moment; they find each other by these variables.
const (
	chaosState = "JOBS_CHAOS_STATE" // the folder of the store
	chaosTruth = "JOBS_CHAOS_TRUTH" // the folder where works say what they did
	chaosHost  = "JOBS_CHAOS_HOST"  // the name of the machine that the process is on
	chaosSeed  = "JOBS_CHAOS_SEED"
	chaosTicks = 1 // the start of a process that has a reused pid: no real one
)

// chaosSystem is this machine under another name, with a wall clock that jumps
// and even pids that are in use again as soon as they are free. Whoever has a
// role is slow now and then.
func chaosSystem(role, name, truth string, r *rand.Rand) *System {
	sys := ThisSystem()
	host, look := sys.Host(), sys.Process
	sys.Host = func() Host {
		boot := "1"
		if exists(filepath.Join(truth, "rebooted-"+name)) {
			boot = "2"
		}
		return Host{ID: name, Boot: boot, Namespace: host.Namespace}
	}
	sys.Now = func() time.Time { // without the monotonic reading, which would hide the jumps
		return time.Now().Round(0).Add(time.Duration(r.Int64N(int64(48*time.Hour))) - 24*time.Hour)
	}
	sys.Process = func(pid int) (*Process, error) {
		p, err := look(pid)
		if err != nil || p != nil && !p.Dead {
			return p, err
		}
		if role != "" && r.IntN(4) == 0 { // stalled between the look and the decision
			time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
		}
		if pid%2 == 0 {
			p = &Process{StartTicks: chaosTicks}
		}
		return p, nil
	}
	return sys
}

// chaosRole plays a role of the chaos test, if the arguments are one.
func chaosRole(args []string) (isRole bool, err error) {
	if os.Getenv(chaosState) == "" || len(args) == 0 {
		return false, nil
	}
	seed, err := strconv.ParseUint(os.Getenv(chaosSeed), 10, 64)
	if err != nil {
		return true, err
	}
	r := rand.New(rand.NewPCG(seed, uint64(os.Getpid())))
	truth := os.Getenv(chaosTruth)
	s := Open(os.Getenv(chaosState), chaosSystem(args[0], os.Getenv(chaosHost), truth, r))
	switch {
	case len(args) == 5 && args[0] == "job" && args[1] == "exec":
		generation, err := strconv.Atoi(args[4])
		if err != nil {
			return true, err
		}
		return true, chaosExec(s, truth, args[2], generation, r)
	case args[0] == "producer":
		return true, chaosProducer(s, args[1], args[2:])
	case args[0] == "waiter":
		for {
			if ids, err := s.ids(); err == nil && len(ids) > 0 {
				_, _ = s.Wait(context.Background(), ids, 50*time.Millisecond, MinPoll)
			}
		}
	case args[0] == "reaper":
		for {
			_, _ = s.List(MaxLimit, "")
		}
	case args[0] == "resume":
		program, err := os.Executable()
		if err == nil {
			_, err = s.Resume(args[1], program)
		}
		return true, err
	case args[0] == "played":
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond) // it is the work
		return true, nil
	}
	return false, nil
}

// chaosProducer submits one run under a key, as a caller does who may have to
// ask again, and says its id.
func chaosProducer(s *Store, key string, work []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	job, _, err := s.Submit(context.Background(), Submission{Kind: KindCapture, Args: work, Dir: filepath.Dir(program), Key: key, Input: []byte("prompt")}, program)
	if err == nil {
		fmt.Println(job.RunID)
	}
	return err
}

// chaosExec does the work of a run, and tells on a reaper that ended this very
// incarnation, which was alive to see it.
func chaosExec(s *Store, truth, id string, generation int, r *rand.Rand) error {
	err := s.Exec(context.Background(), id, generation, func(_ context.Context, run *Run) Done { return chaosWork(truth, run, r) })
	if !errors.Is(err, ErrEnded) {
		return err
	}
	if _, end, loadErr := load(filepath.Join(s.dir, id)); loadErr == nil && end != nil && end.By == byReaper && end.Generation == generation && !exists(filepath.Join(truth, "rebooted-"+os.Getenv(chaosHost))) {
		return errors.Join(err, os.WriteFile(filepath.Join(truth, "wrong-"+id), nil, 0o600))
	}
	return err
}

// chaosWork runs a few children, as a capture does, and says as its very last
// step that it did all that it was asked for.
func chaosWork(truth string, run *Run, r *rand.Rand) Done {
	fmt.Println(strings.Repeat("working ", 200))
	steps := 1 + r.IntN(3)
	for i := range steps {
		program, err := os.Executable()
		if err == nil {
			err = exec.Command(program, "played").Run()
		}
		if err != nil {
			return Done{Status: StatusFailed, ReasonCode: ReasonPartial}
		}
		run.Tell(i+1, steps, "played")
	}
	switch what := run.Record.Args[0]; {
	case what == "hang":
		select {}
	case what == "fail":
		return Done{Status: StatusFailed, ReasonCode: ReasonPartial}
	case what == "suspend" && run.Record.Generation == 1:
		return Done{Status: StatusSuspended}
	}
	if err := run.Artifact("copy.txt", []byte("prompt")); err != nil {
		return Done{Status: StatusFailed, ReasonCode: ReasonPartial}
	}
	if err := os.WriteFile(filepath.Join(truth, "did-"+run.Record.RunID), nil, 0o600); err != nil {
		return Done{Status: StatusFailed, ReasonCode: ReasonPartial}
	}
	return Done{Status: StatusCompleted, Envelope: json.RawMessage(`{"ok":true}`)}
}
