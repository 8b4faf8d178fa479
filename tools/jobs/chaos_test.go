//go:build linux

package jobs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The machines of the chaos test. Two share the folder; the third is started
// anew before the end.
var chaosHosts = []string{"one", "two", "rebooted"}

// chaos is one chaos test: what it does to the store, and what it has seen.
type chaos struct {
	t                       *testing.T
	state, truth, self      string
	seed                    uint64
	mu                      sync.Mutex
	rand                    *rand.Rand
	ends                    map[string][]byte // the end of each run, as it was first seen
	said                    map[string]string // key to the id that a producer said
	kills, filled, producer int
}

// TestChaos submits runs from several machines at once, while everybody who
// works on them is killed at any moment, the disk fills, the clocks jump and
// the pids are used again. AGENT_CONTRACTS_CHAOS is the number of runs,
// AGENT_CONTRACTS_CHAOS_SEED repeats what a failure says.
func TestChaos(t *testing.T) {
	runs := 10
	if n, err := strconv.Atoi(os.Getenv("AGENT_CONTRACTS_CHAOS")); err == nil {
		runs = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("AGENT_CONTRACTS_CHAOS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%d runs, AGENT_CONTRACTS_CHAOS_SEED=%d", runs, seed)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &chaos{t: t, state: t.TempDir(), truth: t.TempDir(), self: self, seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), ends: map[string][]byte{}, said: map[string]string{}}
	small := c.smallDisk(runs)
	t.Cleanup(c.endEverything) // before the disk is taken away
	ctx, calm := context.WithCancel(context.Background())
	var storm sync.WaitGroup
	for _, host := range chaosHosts {
		storm.Go(func() { c.again(ctx, host, "waiter") })
		storm.Go(func() { c.again(ctx, host, "reaper") })
	}
	storm.Go(func() { c.killRuns(ctx) })
	storm.Go(func() { c.breakWrites(ctx, small) })
	storm.Go(func() {
		for ctx.Err() == nil {
			c.watch()
		}
	})
	var work sync.WaitGroup
	keys := make(chan int)
	for range 4 {
		work.Go(func() {
			for i := range keys {
				c.submit(i)
			}
		})
	}
	for i := range runs {
		keys <- i
	}
	close(keys)
	work.Wait()
	c.between(200 * time.Millisecond) // some more of it on the last runs
	calm()
	storm.Wait()
	c.submitCalm("last", "hang", "rebooted") // it lives when its machine is started anew
	c.settle()
	c.judge(runs + 1)
}

// smallDisk mounts a disk that has room for the runs, and little more, over the
// state folder where that is allowed. Elsewhere writes are kept from their place
// by folders.
func (c *chaos) smallDisk(runs int) bool {
	if err := syscall.Mount("tmpfs", c.state, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=700", 1024+64*runs)); err != nil {
		c.t.Logf("no disk can be mounted here (%v): single writes fail instead", err)
		return false
	}
	c.t.Cleanup(func() {
		if err := syscall.Unmount(c.state, syscall.MNT_DETACH); err != nil {
			c.t.Error(err)
		}
	})
	return true
}

func (c *chaos) number(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rand.IntN(n)
}

// between lets a random moment pass, which is what the test is about.
func (c *chaos) between(most time.Duration) {
	time.Sleep(time.Duration(c.number(int(most))))
}

func (c *chaos) role(host string, args ...string) *exec.Cmd {
	cmd := exec.Command(c.self, args...)
	cmd.Env = chaosEnv(c.state, c.truth, host, c.seed)
	return cmd
}

// again starts a waiter or a reaper, stalls it, kills it, and starts the next.
func (c *chaos) again(ctx context.Context, host, role string) {
	for ctx.Err() == nil {
		cmd := c.role(host, role)
		if err := cmd.Start(); err != nil {
			c.t.Error(err)
			return
		}
		c.between(200 * time.Millisecond)
		if c.number(2) == 0 { // it wakes up when others have decided
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			c.between(100 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
			c.between(20 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// submit has one run submitted, by one producer after the other until one of
// them lives long enough to say its id.
func (c *chaos) submit(i int) {
	key := fmt.Sprintf("key-%d", i)
	work := []string{"ok", "ok", "ok", "fail", "suspend", "hang"}[c.number(6)]
	host := chaosHosts[c.number(len(chaosHosts))]
	for range 50 {
		cmd := c.role(host, "producer", key, work)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			c.t.Error(err)
			return
		}
		lines := bufio.NewScanner(out)
		lines.Scan() // it is about to submit
		var timer *time.Timer
		if c.number(3) > 0 {
			timer = time.AfterFunc(time.Duration(c.number(int(30*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		}
		said := lines.Scan()
		id := lines.Text()
		_ = cmd.Wait()
		if timer != nil {
			timer.Stop()
		}
		c.mu.Lock()
		c.producer++
		if said {
			c.said[key] = id
		}
		c.mu.Unlock()
		if said {
			return
		}
	}
}

// submitCalm has a run submitted that nobody disturbs, and waits until it works.
func (c *chaos) submitCalm(key, work, host string) {
	b, err := c.role(host, "producer", key, work).Output()
	lines := strings.Fields(string(b))
	if err != nil || len(lines) != 2 {
		c.t.Fatalf("submitting a run in the calm: %v", err)
	}
	c.said[key] = lines[1]
	until(c.t, Open(c.state, ThisSystem()), lines[1], func(j *Job) bool { return j.SpawnState == Started })
}

// killRuns kills runs, with their children or without, and ends some by way of
// the store.
func (c *chaos) killRuns(ctx context.Context) {
	s := c.store("one")
	for ctx.Err() == nil {
		c.between(30 * time.Millisecond)
		ids, _ := s.ids()
		if len(ids) == 0 {
			continue
		}
		id := ids[c.number(min(len(ids), 8))] // the newest: they live
		r, end, err := load(filepath.Join(s.dir, id))
		if err != nil || end != nil || r.Process == nil || s.real(r.Process) != Alive {
			continue
		}
		switch c.number(4) {
		case 0:
			_ = syscall.Kill(-r.PID, syscall.SIGKILL)
		case 1:
			_ = syscall.Kill(r.PID, syscall.SIGKILL)
		case 2:
			_, _ = s.Kill(id, "TERM")
		default:
			continue
		}
		c.mu.Lock()
		c.kills++
		c.mu.Unlock()
	}
}

// real looks at a process without the tricks of the test.
func (s *Store) real(i *Incarnation) Finding {
	p, err := lookAt(i.PID)
	switch {
	case err != nil:
		return Unknown
	case p == nil || p.Dead || p.StartTicks != i.StartTicks:
		return Gone
	}
	return Alive
}

func (c *chaos) store(host string) *Store {
	return Open(c.state, chaosSystem("", host, c.truth, rand.New(rand.NewPCG(c.seed, 1))))
}

// breakWrites fills the disk and empties it again, or puts folders into the
// places of files that are to be written.
func (c *chaos) breakWrites(ctx context.Context, small bool) {
	for ctx.Err() == nil {
		c.between(150 * time.Millisecond)
		var obstacle string
		if small {
			obstacle = filepath.Join(c.state, "filler")
			if f, err := os.Create(obstacle); err == nil {
				for err == nil {
					_, err = f.Write(make([]byte, 4096))
				}
				_ = f.Close()
			}
		} else {
			ids, _ := c.store("one").ids()
			if len(ids) == 0 {
				continue
			}
			file := []string{endFile + ".new", resultFile, progressFile}[c.number(3)]
			obstacle = filepath.Join(c.state, "runs", ids[c.number(min(len(ids), 8))], file)
			_ = os.MkdirAll(filepath.Join(obstacle, "x"), 0o700)
		}
		c.mu.Lock()
		c.filled++
		c.mu.Unlock()
		c.between(80 * time.Millisecond)
		if info, err := os.Lstat(obstacle); err == nil && (small || info.IsDir()) {
			_ = os.RemoveAll(obstacle)
		}
	}
}

// watch holds every end against the one that was seen before.
func (c *chaos) watch() {
	names, _ := filepath.Glob(filepath.Join(c.state, "runs", "*", endFile))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			b, err = os.ReadFile(name) // a list of names is older than its reader
		}
		if err != nil {
			left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*"))
			c.t.Errorf("the end of a run that could be seen can no longer be read: %v; its folder has %v", err, left)
			continue
		}
		id := filepath.Base(filepath.Dir(name))
		c.mu.Lock()
		if had, seen := c.ends[id]; seen && !bytes.Equal(had, b) {
			c.t.Errorf("run %s is terminal twice", id)
		} else {
			c.ends[id] = b
		}
		c.mu.Unlock()
	}
}

// chaosEnv is the environment of a role.
func chaosEnv(state, truth, host string, seed uint64) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "JOBS_CHAOS_") })
	return append(env, chaosState+"="+state, chaosTruth+"="+truth, chaosHost+"="+host, chaosSeed+"="+strconv.FormatUint(seed, 10))
}
