//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// The machines of the chaos. Two share the folder of runs to the end; the third
// is started anew before it.
var chaosHosts = []string{"one", "two", "rebooted"}

// chaosWorks are what a CLI of the chaos does: it plays a recording at once,
// slowly, and to a bad end, or it never ends.
var chaosWorks = []string{"ok", "ok", "ok", "slow", "broken", "hang"}

const (
	chaosHost  = "CHAOS_HOST"  // the name of the machine that a process is on
	chaosTruth = "CHAOS_TRUTH" // the folder where CLIs say what they did
	chaosName  = "chaos-agent-contracts"
)

func init() { commands[chaosName] = chaosMain }

// chaosMain is the program on a machine of the chaos: another name, a wall clock
// that jumps, and even pids that are in use again as soon as they are free.
func chaosMain() {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(os.Getpid())))
	env, name, sys := surroundings(), os.Getenv(chaosHost), jobs.ThisSystem()
	host, look := sys.Host(), sys.Process
	var mu sync.Mutex // of r
	number := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
	sys.Host = func() jobs.Host {
		boot := "1"
		if there(filepath.Join(os.Getenv(chaosTruth), "rebooted-"+name)) {
			boot = "2"
		}
		return jobs.Host{ID: name, Boot: boot, Namespace: host.Namespace}
	}
	sys.Now = func() time.Time { // without the monotonic reading, which would hide the jumps
		return time.Now().Round(0).Add(time.Duration(number(48*3600)-24*3600) * time.Second)
	}
	sys.Process = func(pid int) (*jobs.Process, error) {
		p, err := look(pid)
		if err != nil || p != nil && !p.Dead {
			return p, err
		}
		if number(4) == 0 { // stalled between the look and the decision
			time.Sleep(time.Duration(number(30)) * time.Millisecond)
		}
		if pid%2 == 0 {
			p = &jobs.Process{StartTicks: 1} // the start of no real one
		}
		return p, nil
	}
	env.System = sys
	os.Exit(run(env))
}

func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// chaos is one chaos test: what it does to the program, and what it has seen.
type chaos struct {
	*world
	truth, runs string // folders
	mu          sync.Mutex
	rand        *rand.Rand
	ends        map[string][]byte // the end of each run, as it was first seen
	said        map[string]string // key to the id that a producer said
	count       map[string]int    // of what was done
}

// TestChaos captures children that play a recording, as jobs of several machines
// with one state folder, while producers, jobs, CLIs, waiters and reapers are
// killed at any moment, the disk fills, the clocks jump and the pids are used
// again. AGENT_CONTRACTS_CHAOS is the number of captures.
func TestChaos(t *testing.T) {
	t.Parallel()
	captures := 10
	if n, err := strconv.Atoi(os.Getenv("AGENT_CONTRACTS_CHAOS")); err == nil {
		captures = n
	}
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	c := newChaos(t, captures)
	ctx, calm := context.WithCancel(context.Background())
	var storm sync.WaitGroup
	for _, host := range chaosHosts {
		storm.Go(func() { c.disturbed(ctx, host, "waiter") })
		storm.Go(func() { c.disturbed(ctx, host, "reaper") })
	}
	storm.Go(func() { c.killRuns(ctx) })
	storm.Go(func() { c.fillDisk(ctx) })
	storm.Go(func() {
		for ctx.Err() == nil {
			c.watch()
			c.between(20 * time.Millisecond)
		}
	})
	keys := make(chan int)
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			for i := range keys {
				c.submit(ctx, i)
			}
		})
	}
	for i := range captures {
		keys <- i
	}
	close(keys)
	work.Wait()
	c.between(2 * time.Second) // some more of it on the last runs
	calm()
	storm.Wait()
	c.settle()
	c.judge(captures)
}

func newChaos(t *testing.T, captures int) *chaos {
	t.Helper()
	w := newWorld(t, "")
	must(t, os.Remove(w.bin))
	w.bin = filepath.Join(filepath.Dir(w.bin), chaosName)
	must(t, install(program, w.bin))
	must(t, install(program, filepath.Join(w.dir, "bin", "agent-contracts")))
	c := &chaos{world: w, truth: filepath.Join(w.dir, "truth"), runs: filepath.Join(w.priv, "runs"), rand: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)),
		ends: map[string][]byte{}, said: map[string]string{}, count: map[string]int{}}
	must(t, os.MkdirAll(c.truth, 0o777))
	must(t, os.Chmod(c.truth, 0o777)) // CLIs are another user
	recording, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "json-event-stream", "sha256-12aa2e3ca6b1*.sanitized.jsonl"))
	if err != nil || len(recording) == 0 {
		t.Fatal("the registry has no recording of a short answer of codex")
	}
	must(t, copyFile(recording[0], filepath.Join(w.dir, "played.sanitized.jsonl")))
	must(t, os.Chmod(filepath.Join(w.dir, "played.sanitized.jsonl"), 0o644))
	state := filepath.Dir(w.priv)
	if err := unix.Mount("tmpfs", state, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", 6+captures/4)); err != nil {
		t.Skipf("a disk that fills needs to be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(state, unix.MNT_DETACH) })
	t.Cleanup(c.endEverything) // before the disk is taken away
	return c
}

func (c *chaos) number(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

func (c *chaos) did(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what]++
}

// between lets a random moment pass, which is what the test is about.
func (c *chaos) between(most time.Duration) { time.Sleep(time.Duration(c.number(int(most)))) }

// on is the program with these arguments on a machine, its talk thrown away.
func (c *chaos) on(host string, args ...string) *exec.Cmd {
	cmd := exec.Command(c.bin, append(args, "--registry", c.reg, "--machine")...)
	cmd.Dir = c.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + filepath.Join(c.dir, "tmp"), chaosHost + "=" + host, chaosTruth + "=" + c.truth,
		"XDG_STATE_HOME=" + filepath.Join(c.dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(c.dir, "cache"),
	}
	return cmd
}

// ask runs the program and reads the data of its envelope.
func (c *chaos) ask(host string, data any, args ...string) error {
	out, err := c.on(host, args...).Output()
	if err != nil {
		return err
	}
	return answered(out, data)
}

func answered(stdout []byte, data any) error {
	e, err := machine.ParseEnvelope(stdout)
	if err != nil {
		return err
	}
	if !e.OK {
		return e.Error
	}
	return json.Unmarshal(e.Data, data)
}

// cli makes the CLI of one capture. Its last step says that it did all of it.
func (c *chaos) cli(key, work string) string {
	play := fmt.Sprintf("%s play %s --no-delay", filepath.Join(c.dir, "bin", "agent-contracts"), filepath.Join(c.dir, "played.sanitized.jsonl"))
	step := map[string]string{
		"ok": play + " || exit 1", "slow": "sleep 0.7\n" + play + " || exit 1\nsleep 0.7",
		"broken": "echo '{\"type\":\"turn.started\"}'", "hang": "sleep 600",
	}[work]
	file := filepath.Join(c.dir, "bin", key, "codex")
	c.write(file, fmt.Sprintf("#!/bin/sh\n%s%s\n: > %s\n", fakeVersion, step, filepath.Join(c.truth, "did-"+key)), 0o755)
	return file
}

// submit has one capture submitted, by one producer after the other until one of
// them lives long enough to say its id.
func (c *chaos) submit(ctx context.Context, i int) {
	work := chaosWorks[c.number(len(chaosWorks))]
	key, host := fmt.Sprintf("%s-%d", work, i), chaosHosts[c.number(len(chaosHosts))]
	bin := c.cli(key, work)
	for len(c.executing("")) > 5 && ctx.Err() == nil {
		c.between(200 * time.Millisecond)
	}
	for range 60 {
		cmd := c.on(host, "capture", "codex", "--bin", bin, "--probe", "chat-text-success", "--detach", "--idempotency-key", key, "--label", key)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			c.t.Error(err)
			return
		}
		c.did("producers")
		if c.number(3) > 0 {
			timer := time.AfterFunc(time.Duration(c.number(int(400*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() < 0 {
			c.did("killed producers")
		}
		var job struct {
			RunID string `json:"run_id"`
		}
		if answered(out.Bytes(), &job) == nil {
			c.mu.Lock()
			c.said[key] = job.RunID
			c.mu.Unlock()
			return
		}
	}
}

// disturbed starts a waiter or a reaper, stalls it, kills it, and starts the
// next.
func (c *chaos) disturbed(ctx context.Context, host, role string) {
	for ctx.Err() == nil {
		args := []string{"job", "list", "--limit", "1000"}
		if role == "waiter" {
			ids := c.ids()
			if len(ids) == 0 {
				c.between(100 * time.Millisecond)
				continue
			}
			args = append([]string{"job", "wait", "--max-wait", "5", "--poll-interval", "0.1"}, ids...)
		}
		cmd := c.on(host, args...)
		if err := cmd.Start(); err != nil {
			c.t.Error(err)
			return
		}
		ended := time.AfterFunc(time.Duration(c.number(int(time.Second))), func() { _ = cmd.Process.Kill() })
		if c.number(3) == 0 { // it wakes up when others have decided
			c.between(200 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			c.between(300 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
		_ = cmd.Wait()
		ended.Stop()
		if c.did(role + "s"); cmd.ProcessState.ExitCode() < 0 {
			c.did("killed " + role + "s")
		}
	}
}

func (c *chaos) ids() (ids []string) {
	names, _ := filepath.Glob(filepath.Join(c.runs, "[0-9]*"))
	for _, name := range names {
		ids = append(ids, filepath.Base(name))
	}
	return ids
}

// killRuns kills what works on runs: mostly the job, of which it spares some, so
// that there are successes to be doubted, and sometimes a supervisor or a CLI.
func (c *chaos) killRuns(ctx context.Context) {
	for ctx.Err() == nil {
		c.between(1500 * time.Millisecond)
		role := []string{"job exec", "job exec", "job exec", "__supervise", "play"}[c.number(5)]
		var pids []int
		for _, pid := range c.processes() {
			line := cmdline(pid)
			m := execArgs.FindStringSubmatch(line)
			if strings.Contains(line, " "+role+" ") && (m == nil || strings.ContainsAny(m[1][len(m[1])-1:], "01234")) {
				pids = append(pids, pid)
			}
		}
		if len(pids) > 0 && syscall.Kill(pids[c.number(len(pids))], syscall.SIGKILL) == nil {
			c.did("kills of " + role)
		}
	}
}

// fillDisk fills the disk of the state folder, and makes room again.
func (c *chaos) fillDisk(ctx context.Context) {
	filler := filepath.Join(filepath.Dir(c.priv), "filler")
	for ctx.Err() == nil {
		c.between(4 * time.Second)
		f, err := os.Create(filler)
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		_ = f.Close()
		c.did("full disks")
		c.between(300 * time.Millisecond)
		_ = os.Remove(filler)
	}
}

var execArgs = regexp.MustCompile(` job exec ([0-9]{8}T[0-9]{6}-[0-9a-f]{6}) --generation ([0-9]+)`)

// executing returns the processes that do the work of a run, or of any.
func (c *chaos) executing(id string) (pids []int) {
	for _, pid := range c.processes() {
		if m := execArgs.FindStringSubmatch(cmdline(pid)); m != nil && (id == "" || m[1] == id) {
			pids = append(pids, pid)
		}
	}
	return pids
}
