//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// crashProbes are what the captures of these tests ask for.
const crashProbes = "version-probe,chat-text-success"

// slowTurn prints its turn with pauses, so that a kill finds it alive.
var slowTurn = strings.ReplaceAll(fakeTurn, "\n", "\nsleep 0.02\n")

// TestKill kills a capture at random moments: after a random delay, or at a
// random change of a file. AGENT_CONTRACTS_KILLS says how often, and
// AGENT_CONTRACTS_KILL_SEED repeats a run.
func TestKill(t *testing.T) {
	t.Parallel()
	kills, random := killPlan(t)
	whole, events := undisturbed(t)
	var alive atomic.Int64
	t.Run("at", func(t *testing.T) {
		for i := range kills {
			delay, event := time.Duration(random.Int64N(int64(whole))), 1+random.IntN(events)
			if i%2 == 0 {
				event = 0
			} else {
				delay = 0
			}
			t.Run(fmt.Sprintf("%d_delay_%s_event_%d", i, delay.Round(time.Millisecond), event), func(t *testing.T) {
				t.Parallel()
				if killAt(t, delay, event) {
					alive.Add(1)
				}
			})
		}
	})
	t.Logf("%d of %d kills found the capture alive", alive.Load(), kills)
	if alive.Load() == 0 && kills > 1 {
		t.Error("no kill found the capture alive: the test proves nothing")
	}
}

// killPlan says how often to kill, and when.
func killPlan(t *testing.T) (kills int, random *rand.Rand) {
	t.Helper()
	kills, seed := 10, uint64(time.Now().UnixNano())
	if s := os.Getenv("AGENT_CONTRACTS_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		must(t, err)
		kills = n
	}
	if s := os.Getenv("AGENT_CONTRACTS_KILL_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		must(t, err)
		seed = n
	}
	t.Logf("AGENT_CONTRACTS_KILLS=%d AGENT_CONTRACTS_KILL_SEED=%d", kills, seed)
	return kills, rand.New(rand.NewPCG(seed, 0))
}

// undisturbed measures a capture that nobody kills.
func undisturbed(t *testing.T) (whole time.Duration, events int) {
	w := newWorld(t, slowTurn)
	watch, tmp := w.newWatch(w.places(), 0, nil), w.newWatch([]string{filepath.Join(w.dir, "tmp")}, 0, nil)
	c := w.capture("--probe", crashProbes)
	start := time.Now()
	c.run(0)
	whole = time.Since(start)
	w.complete(1)
	w.keepsSecret(w.marker)
	w.leavesNobody()
	if n := tmp.stop(); n > 0 {
		t.Errorf("TMPDIR changed %d times: what lies there can be left there", n)
	}
	events = watch.stop()
	t.Logf("a whole capture takes %s and changes files %d times", whole.Round(time.Millisecond), events)
	return whole, events
}

// killAt kills one capture and checks everything that must hold then. It
// reports whether the capture was still alive.
func killAt(t *testing.T, delay time.Duration, event int) (alive bool) {
	w := newWorld(t, slowTurn)
	c := w.capture("--probe", crashProbes)
	started := make(chan struct{})
	kill := func() {
		<-started
		_ = c.Process.Kill() // it may have ended
	}
	watch := w.newWatch(w.places(), event, kill)
	must(t, c.Start())
	close(started)
	if event == 0 {
		time.AfterFunc(delay, kill)
	}
	code, _, _ := c.finish()
	watch.stop()
	w.leavesNobody()
	w.keepsSecret(w.marker)
	runs, finished := w.runs()
	w.validates()

	_, stderr := w.capture("--probe", crashProbes).run(0)
	if resumed := strings.Contains(stderr, "went on with run"); resumed != (runs > 0 && !finished) {
		t.Errorf("with %d runs begun, the last one finished: %v, the second attempt says\n%s", runs, finished, stderr)
	}
	each := 1
	if finished { // the kill came too late for it to matter
		each = 2
	}
	w.complete(each)
	w.keepsSecret(w.marker)
	w.leavesNobody()
	return code == -1 && !finished
}

// complete checks that the registry is true and has each cell so often.
func (w *world) complete(each int) {
	w.t.Helper()
	w.validates()
	n := w.observations()
	for _, probe := range strings.Split(crashProbes, ",") {
		if n[probe] != each {
			w.t.Errorf("the registry has %d observations of %s, want %d", n[probe], probe, each)
		}
	}
}

// runs counts the begun runs and says whether all of them are finished.
func (w *world) runs() (n int, finished bool) {
	files, err := filepath.Glob(filepath.Join(w.priv, "captures", "*", "run.json"))
	must(w.t, err)
	finished = len(files) > 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(w.t, err)
		var run struct {
			Finished bool `json:"finished"`
		}
		must(w.t, json.Unmarshal(b, &run))
		finished = finished && run.Finished
	}
	return len(files), finished
}

// A Ctrl-C ends the whole group, also who left it and who ignores signals.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `if [ -e "${0%/*}/../quick" ]; then
`+fakeTurn+`
exit 0
fi
trap '' TERM INT
echo MARKER
setsid sleep 600 &
echo go > "${0%/*}/../ready"
sleep 601
`).raced()
	ready := w.fifo("ready")
	before := w.tree(w.reg)
	c := w.capture("--probe", crashProbes)
	must(t, c.Start())
	_, err := ready.Read(make([]byte, 1))
	must(t, err)
	must(t, c.Process.Signal(unix.SIGINT))
	code, _, stderr := c.finish()
	if code != 130 || !strings.Contains(stderr, "same command again") {
		t.Errorf("exit code %d, want 130 and how to go on; it said\n%s", code, stderr)
	}
	w.leavesNobody()
	if after := w.tree(w.reg); after != before {
		t.Errorf("the registry changed:\n%s\nbefore:\n%s", after, before)
	}
	w.write(filepath.Join(filepath.Dir(w.fake), "..", "quick"), "", 0o644)
	w.keepsSecret(w.marker)
	if _, stderr := w.capture("--probe", crashProbes).run(0); !strings.Contains(stderr, "went on with run") {
		t.Errorf("the second attempt does not say that it resumes:\n%s", stderr)
	}
	w.complete(1)
}

// Two captures of the same at once share the registry.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, slowTurn).raced()
	one, two := w.capture("--probe", crashProbes, "--repeat", "2"), w.capture("--probe", crashProbes, "--repeat", "2")
	must(t, one.Start())
	must(t, two.Start())
	for _, c := range []*command{one, two} {
		if code, stdout, stderr := c.finish(); code != 0 {
			t.Errorf("exit code %d, want 0; it said\n%s%s", code, stdout, stderr)
		}
	}
	w.complete(4)
	w.keepsSecret(w.marker)
	w.leavesNobody()
}

// fifo makes a named pipe that children can write to, and opens it. Nobody
// waits for it longer than a minute.
func (w *world) fifo(name string) *os.File {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	must(w.t, unix.Mkfifo(p, 0o666))
	must(w.t, os.Chmod(p, 0o666))
	f, err := os.OpenFile(p, os.O_RDWR|unix.O_NONBLOCK, 0)
	must(w.t, err)
	w.t.Cleanup(func() { _ = f.Close() })
	must(w.t, f.SetReadDeadline(time.Now().Add(time.Minute)))
	return f
}

// tree lists the files below a folder with their sizes and times, without the
// lock that a writer leaves.
func (w *world) tree(root string) string {
	w.t.Helper()
	var b strings.Builder
	must(w.t, filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".lock" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, strings.TrimPrefix(p, root), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}))
	return b.String()
}

// watch counts changes of files in the folders that a capture writes to.
type watch struct {
	f     *os.File
	count chan int
}

// places are the folders that a capture writes to, made before it does.
func (w *world) places() []string {
	w.t.Helper()
	dirs := []string{w.reg, filepath.Join(w.reg, "registry")}
	for _, d := range []string{"", "run", "captures", "raw"} {
		dir := filepath.Join(w.priv, d)
		must(w.t, os.MkdirAll(dir, 0o711))
		dirs = append(dirs, dir)
	}
	return dirs
}

// newWatch starts to count. At change number at, from 1, it calls act.
func (w *world) newWatch(dirs []string, at int, act func()) *watch {
	w.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(w.t, err)
	for _, d := range dirs {
		_, err := unix.InotifyAddWatch(fd, d, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_DELETE|unix.IN_CLOSE_WRITE)
		must(w.t, err)
	}
	v := &watch{f: os.NewFile(uintptr(fd), "inotify"), count: make(chan int, 1)}
	go v.read(at, act)
	return v
}

func (v *watch) read(at int, act func()) {
	count := 0
	buf := make([]byte, 64<<10)
	for {
		n, err := v.f.Read(buf)
		if err != nil {
			v.count <- count
			return
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; b = b[unix.SizeofInotifyEvent+binary.NativeEndian.Uint32(b[12:]):] {
			if count++; count == at {
				act()
			}
		}
	}
}

// stop returns how many changes there were.
func (v *watch) stop() int {
	_ = v.f.Close()
	return <-v.count
}
