//go:build linux

package jobs

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settle ends what is still to be ended, with nobody in the way any more.
func (c *chaos) settle() {
	c.reboot("rebooted")
	for _, host := range chaosHosts {
		s := c.store(host)
		ids, err := s.ids()
		if err != nil {
			c.t.Fatal(err)
		}
		for _, id := range ids {
			c.settleOne(s, id, host)
		}
	}
	c.watch()
}

// settleOne brings one run of a host to its end, or to where only a person can
// decide: a run whose start was never recorded.
func (c *chaos) settleOne(s *Store, id, host string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		job, err := s.Status(id)
		if err != nil {
			c.t.Errorf("run %s: %v", id, err)
			return
		}
		r, _, err := load(filepath.Join(s.dir, id))
		if err != nil {
			c.t.Errorf("run %s: %v", id, err)
			return
		}
		switch {
		case job.Terminal, r.Process != nil && r.Process.Host.ID != host && !r.Suspended:
			return // it is another machine's
		case job.Status == StatusSuspended:
			cmd := c.role(host, "resume", id)
			if err := cmd.Run(); err != nil {
				c.t.Errorf("run %s cannot be resumed", id)
				return
			}
		case job.Status == StatusPreparing && !c.executes(id):
			return
		case r.Args[0] == "hang":
			_, _ = s.Kill(id, "KILL")
		}
	}
	c.t.Errorf("run %s never came to its end", id)
}

// executes reports whether a process does the work of a run.
func (c *chaos) executes(id string) bool { return len(c.processes(id)) > 0 }

// processes returns the processes of this test that have a word among their
// arguments or their variables.
func (c *chaos) processes(word string) []int {
	var pids []int
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		env, err := os.ReadFile(filepath.Join(name, "environ"))
		if err != nil || !bytes.Contains(env, []byte(chaosState+"="+c.state+"\x00")) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(name, "cmdline"))
		pid, err := strconv.Atoi(filepath.Base(name))
		if err == nil && bytes.Contains(append(args, env...), []byte(word+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// reboot ends every process of a machine and starts it again, with other
// processes under the same pids.
func (c *chaos) reboot(host string) {
	for pids := c.processes(chaosHost + "=" + host); len(pids) > 0; pids = c.processes(chaosHost + "=" + host) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if err := os.WriteFile(filepath.Join(c.truth, "rebooted-"+host), nil, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chaos) endEverything() {
	for _, pid := range c.processes("") {
		if pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// judge counts what became of the runs, and holds it against the truth.
func (c *chaos) judge(runs int) {
	s := c.store("one")
	l, err := s.List(MaxLimit, "")
	if err != nil || !l.Jobs.Available || l.Truncated {
		c.t.Fatalf("the list: %v, truncated %v", err, l.Truncated)
	}
	seen, count := map[string]bool{}, map[string]int{}
	for _, e := range *l.Jobs.Value {
		seen[e.RunID] = true
		if e.Error != nil {
			c.t.Errorf("run %s: %s", e.RunID, e.Error.Message)
			continue
		}
		if e.Terminal != (e.Outcome != nil) || e.Terminal != (c.ends[e.RunID] != nil) {
			c.t.Errorf("run %s: terminal %v, outcome %v", e.RunID, e.Terminal, e.Outcome)
		}
		if !e.Terminal {
			count[string(e.Status)]++
			if e.Status != StatusPreparing {
				c.t.Errorf("run %s stays %s", e.RunID, e.Status)
			}
			continue
		}
		count[string(*e.Outcome)]++
		if *e.Outcome == Succeeded && !exists(filepath.Join(c.truth, "did-"+e.RunID)) {
			c.t.Errorf("run %s is reported as succeeded and did not succeed", e.RunID)
		}
	}
	for key, id := range c.said {
		if !seen[id] {
			c.t.Errorf("%s: run %s is lost", key, id)
		}
	}
	if wrong, _ := filepath.Glob(filepath.Join(c.truth, "wrong-*")); len(wrong) > 0 {
		c.t.Errorf("a reaper ended runs that were alive: %s", strings.Join(wrong, " "))
	}
	if len(c.said) < runs {
		c.t.Errorf("%d of %d runs could be submitted", len(c.said), runs)
	}
	c.t.Logf("%d runs of %d keys: %v; %d producers, %d kills of runs, %d write faults", len(seen), runs, count, c.producer, c.kills, c.filled)
}
