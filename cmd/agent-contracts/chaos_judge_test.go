//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
)

// watch holds every end against the one that was seen before. Who was ended by a
// reaper must not be there any more.
func (c *chaos) watch() {
	names, _ := filepath.Glob(filepath.Join(c.runs, "[0-9]*", "end.json"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			b, err = os.ReadFile(name) // a list of names is older than its reader
		}
		if err != nil {
			c.t.Errorf("the end of a run that could be seen can no longer be read: %v", err)
			continue
		}
		id := filepath.Base(filepath.Dir(name))
		c.mu.Lock()
		had, seen := c.ends[id]
		c.ends[id] = b
		c.mu.Unlock()
		switch {
		case seen && !bytes.Equal(had, b):
			c.t.Errorf("run %s is terminal twice", id)
		case !seen:
			c.checkReaped(id, b)
		}
	}
}

func (c *chaos) checkReaped(id string, b []byte) {
	var end jobs.End
	if err := json.Unmarshal(b, &end); err != nil {
		c.t.Errorf("the end of run %s: %v", id, err)
		return
	}
	for _, pid := range c.executing(id) {
		if end.By == "reaper" && strings.HasSuffix(strings.TrimSpace(cmdline(pid)), fmt.Sprintf("--generation %d", end.Generation)) {
			c.t.Errorf("a reaper ended run %s, which was alive", id)
		}
	}
}

// settle ends what is still to be ended, with nobody in the way any more.
func (c *chaos) settle() {
	c.reboot("rebooted")
	for _, host := range chaosHosts {
		for _, id := range c.ids() {
			if of := c.of(id); !there(filepath.Join(c.runs, id, "end.json")) && (of == host || of == "") {
				c.settleOne(host, id)
			}
		}
	}
	c.watch()
}

// settleOne brings one run of a host to its end, or to where only a person can
// decide: a run whose start was never recorded.
func (c *chaos) settleOne(host, id string) {
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); {
		var w struct {
			Entries           []jobs.Entry
			StoppedWithoutEnd []string `json:"stopped_without_end"`
			Pending           []string
			UnresolvedSpawn   []string `json:"unresolved_spawn"`
			Terminal          []string
			AllTerminal       bool `json:"all_terminal"`
		}
		if err := c.ask(host, &w, "job", "wait", id, "--max-wait", "2", "--poll-interval", "0.1"); err != nil {
			c.t.Errorf("run %s: %v", id, err)
			return
		}
		e := w.Entries[0]
		switch {
		case e.Error != nil:
			c.t.Errorf("run %s: %s", id, e.Error.Message)
			return
		case e.Terminal:
			return
		case e.Status == jobs.StatusPreparing && len(c.executing(id)) == 0:
			return
		case e.Label != nil && strings.HasPrefix(*e.Label, "hang-"):
			var killed struct{}
			_ = c.ask(host, &killed, "job", "kill", id, "--signal", "KILL")
		}
	}
	c.t.Errorf("run %s never came to its end", id)
}

// of returns the machine that a run's process was on.
func (c *chaos) of(id string) string {
	var r jobs.Record
	b, err := os.ReadFile(filepath.Join(c.runs, id, "run.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil || r.Process == nil {
		return ""
	}
	return r.Process.Host.ID
}

// reboot ends every process of a machine and starts it again, with other
// processes under the same pids.
func (c *chaos) reboot(host string) {
	for {
		n := 0
		for _, pid := range c.processes() {
			env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if bytes.Contains(env, []byte(chaosHost+"="+host+"\x00")) {
				n++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if n == 0 {
			break
		}
	}
	must(c.t, os.WriteFile(filepath.Join(c.truth, "rebooted-"+host), nil, 0o600))
}

func (c *chaos) endEverything() {
	for range 100 {
		pids := c.processes()
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if len(pids) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond) // the kernel has to end them
	}
}

// judge counts what became of the captures, and holds it against the truth.
func (c *chaos) judge(captures int) {
	var l struct {
		Jobs      struct{ Value []jobs.Entry }
		Truncated bool
	}
	must(c.t, c.ask("one", &l, "job", "list", "--limit", "1000"))
	if l.Truncated {
		c.t.Fatal("the list is not whole")
	}
	var seen []string
	for _, e := range l.Jobs.Value {
		seen = append(seen, e.RunID)
		if e.Error != nil {
			c.t.Errorf("run %s: %s", e.RunID, e.Error.Message)
			continue
		}
		if e.Terminal != (e.Outcome != nil) || e.Terminal != (c.ends[e.RunID] != nil) {
			c.t.Errorf("run %s: terminal %v, outcome %v", e.RunID, e.Terminal, e.Outcome)
		}
		if !e.Terminal {
			c.did("stay " + string(e.Status))
			if e.Status != jobs.StatusPreparing {
				c.t.Errorf("run %s stays %s", e.RunID, e.Status)
			}
			continue
		}
		why := ""
		if e.ReasonCode != nil {
			why = " (" + *e.ReasonCode + ")"
		}
		c.did("are " + string(*e.Outcome) + why)
		// A CLI that was killed is a finding of its capture: that is drift.
		if *e.Outcome == jobs.Succeeded && why == "" && !there(filepath.Join(c.truth, "did-"+*e.Label)) {
			c.t.Errorf("run %s (%s) is reported as succeeded and did not succeed", e.RunID, *e.Label)
		}
	}
	for key, id := range c.said {
		if !slices.Contains(seen, id) {
			c.t.Errorf("%s: run %s is lost", key, id)
		}
	}
	if len(c.said) < captures {
		c.t.Errorf("%d of %d captures could be submitted", len(c.said), captures)
	}
	c.validates()
	c.leavesNobody()
	c.t.Logf("%d runs of %d captures: %v", len(seen), captures, c.count)
}
