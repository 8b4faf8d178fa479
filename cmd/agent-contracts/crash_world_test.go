//go:build linux

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// world is everything that one capture can touch: a registry without records,
// the private folders, and a program that plays codex. The captures in it are
// processes of their own, so that they can be killed.
type world struct {
	t    *testing.T
	dir  string
	reg  string // the registry
	priv string // the private state folder
	bin  string // agent-contracts
	fake string // the program that plays codex
	// marker is a word that only the raw output of the program holds.
	marker string
}

// Output of the fake in the form of codex exec --json; MARKER becomes the
// marker of the world.
const (
	fakeVersion = `if [ "$1" = --version ]; then echo "codex-cli 0.133.0"; exit 0; fi
cat >/dev/null
`
	fakeTurn = `echo "MARKER on stderr" >&2
echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"MARKER is ready"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}'
`
)

// newWorld makes a world whose codex is a shell script.
func newWorld(t *testing.T, script string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{
		t: t, dir: dir, reg: filepath.Join(dir, "reg"), priv: filepath.Join(dir, "state", "agent-contracts"),
		bin: filepath.Join(dir, "bin", "agent-contracts"), fake: filepath.Join(dir, "bin", "codex"),
		marker: "rawmark" + strings.ToLower(rand.Text()[:12]),
	}
	// Children may be another user, who must be able to walk in.
	for _, d := range []string{filepath.Dir(dir), dir, w.reg, filepath.Join(dir, "bin"), filepath.Join(dir, "cache"), filepath.Join(dir, "tmp"), filepath.Join(dir, "state")} {
		must(t, os.MkdirAll(d, 0o755))
		must(t, os.Chmod(d, 0o755))
	}
	must(t, setup(&testscript.Env{WorkDir: w.reg}))
	must(t, install(program, w.bin))
	w.write(w.fake, "#!/bin/sh\n"+fakeVersion+script, 0o755)
	return w
}

// raced makes this very binary the program: one with the race detector, if the
// tests have it.
func (w *world) raced() *world {
	w.t.Helper()
	self, err := os.Executable()
	must(w.t, err)
	must(w.t, os.Remove(w.bin))
	must(w.t, install(self, w.bin))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) write(file, content string, mode fs.FileMode) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(w.t, os.WriteFile(file, []byte(strings.ReplaceAll(content, "MARKER", w.marker)), mode))
	must(w.t, os.Chmod(file, mode))
}

// edit replaces a text that must be there in a file of the registry.
func (w *world) edit(rel, from, to string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.reg, rel))
	must(w.t, err)
	if !bytes.Contains(b, []byte(from)) {
		w.t.Fatalf("%s does not hold %q", rel, from)
	}
	must(w.t, os.WriteFile(filepath.Join(w.reg, rel), bytes.Replace(b, []byte(from), []byte(to), 1), 0o644))
}

// command is agent-contracts with these arguments, its output in files.
type command struct {
	*exec.Cmd
	w *world
	// peak is the most memory in bytes that the program of a run used.
	peak int64
}

func (w *world) command(args ...string) *command {
	w.t.Helper()
	cmd := exec.Command(w.bin, append(args, "--registry", w.reg)...)
	cmd.Dir = w.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "TMPDIR=" + filepath.Join(w.dir, "tmp"),
		"XDG_STATE_HOME=" + filepath.Join(w.dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(w.dir, "cache"),
	}
	logs := filepath.Join(w.dir, "logs")
	must(w.t, os.MkdirAll(logs, 0o755))
	var err error
	cmd.Stdout, err = os.CreateTemp(logs, "stdout-")
	must(w.t, err)
	cmd.Stderr, err = os.CreateTemp(logs, "stderr-")
	must(w.t, err)
	return &command{Cmd: cmd, w: w}
}

// capture is the capture of the fake with these further arguments.
func (w *world) capture(args ...string) *command {
	return w.command(append([]string{"capture", "codex", "--bin", w.fake}, args...)...)
}

// finish waits for a started command and returns its exit code, -1 for a
// signal, and what it said.
func (c *command) finish() (code int, stdout, stderr string) {
	c.w.t.Helper()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.w.t.Fatal(err)
	}
	read := func(f any) string {
		b, err := os.ReadFile(f.(*os.File).Name())
		must(c.w.t, err)
		must(c.w.t, f.(*os.File).Close())
		return string(b)
	}
	return c.ProcessState.ExitCode(), read(c.Stdout), read(c.Stderr)
}

// run runs the command to its end and checks its exit code.
func (c *command) run(want int) (stdout, stderr string) {
	c.w.t.Helper()
	must(c.w.t, c.Start())
	stop := c.watchMemory()
	code, stdout, stderr := c.finish()
	stop()
	if code != want {
		c.w.t.Fatalf("%s: exit code %d, want %d; it said\n%s%s", strings.Join(c.Args[1:], " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

// watchMemory reads the high-water mark of the started program until stop. The
// kernel's own account of a finished child will not do: it begins with what the
// process that forked it had, which is this test's.
func (c *command) watchMemory() (stop func()) {
	status := "/proc/" + strconv.Itoa(c.Process.Pid) + "/status"
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			b, _ := os.ReadFile(status)
			if _, rest, found := strings.Cut(string(b), "VmHWM:"); found {
				kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				c.peak = max(c.peak, kib<<10)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-watched }
}

// observations counts the records of each probe.
func (w *world) observations() map[string]int {
	w.t.Helper()
	reg, err := store.Open(w.reg)
	must(w.t, err)
	all, err := reg.Observations("")
	must(w.t, err)
	n := map[string]int{}
	for _, o := range all {
		n[o.Probe]++
	}
	return n
}

// validates checks that the registry is true.
func (w *world) validates() {
	w.t.Helper()
	reg, err := store.Open(w.reg)
	must(w.t, err)
	res, err := validate.Run(reg, nil)
	must(w.t, err)
	for _, p := range res.Problems {
		if p.Severity == contract.SeverityError {
			w.t.Errorf("the registry is not valid: %s", p)
		}
	}
	if _, err := os.Stat(filepath.Join(w.reg, ".pending")); err == nil {
		w.t.Error("a transaction that nobody finished is left in the registry")
	}
}

// keepsSecret checks that a word of the raw output is nowhere but in the
// private state folder and the program that prints it. The program under test,
// which is a link to this very file, is not read: it is larger than all the rest.
func (w *world) keepsSecret(words ...string) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.dir, func(p string, d fs.DirEntry, err error) error {
		if p == w.priv || p == w.bin || strings.HasPrefix(p, w.fake) {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		for _, word := range words {
			if strings.Contains(p, word) {
				w.t.Error("the name of a file outside the private store holds raw output")
			}
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		for i, word := range words {
			if bytes.Contains(b, []byte(word)) {
				w.t.Errorf("%s holds raw output (word %d)", strings.TrimPrefix(p, w.dir), i)
			}
		}
		return err
	}))
}

// leavesNobody checks that every process of a capture in this world ends.
// Whoever was there is watched until the end; nothing may be there afterwards.
func (w *world) leavesNobody() {
	w.t.Helper()
	for range 100 { // somebody may be starting somebody just now
		pids := w.processes()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				continue // gone
			}
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 60_000)
			must(w.t, unix.Close(fd))
			if n == 0 && err == nil {
				w.t.Fatalf("a process of the capture survived: %s", cmdline(pid))
			}
		}
	}
	w.t.Fatal("the processes of the capture start each other again and again")
}

// processes lists living processes of this world, found by their program,
// arguments and working folder.
func (w *world) processes() (pids []int) {
	entries, err := os.ReadDir("/proc")
	must(w.t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if strings.Contains(exe+cwd+cmdline(pid), w.dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func cmdline(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}
