package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestResume(t *testing.T) {
	plan, other := contract.Sum([]byte("plan")), contract.Sum([]byte("other"))
	for _, c := range []struct {
		name string
		left func(*testing.T, *run) // what became of the former attempt
		plan contract.Digest
		now  time.Time
		want bool
	}{
		{name: "killed", plan: plan, now: now.Add(time.Hour), want: true},
		{name: "killed within the second", plan: plan, now: now, want: true},
		{name: "another plan", plan: other, now: now},
		{name: "too long ago", plan: plan, now: now.Add(25 * time.Hour)},
		{name: "suspended, and answered a month later", plan: plan, now: now.Add(30 * 24 * time.Hour), want: true, left: func(t *testing.T, r *run) { must(t, r.suspend()) }},
		{name: "suspended for another plan", plan: other, now: now.Add(30 * 24 * time.Hour), left: func(t *testing.T, r *run) { must(t, r.suspend()) }},
		{name: "finished", plan: plan, now: now, left: func(t *testing.T, r *run) { must(t, r.finish()) }},
		{name: "killed before its first write", plan: plan, now: now, left: func(t *testing.T, r *run) { must(t, os.Remove(filepath.Join(r.dir, "run.json"))) }},
		{name: "run.json is cut", plan: plan, now: now, left: func(t *testing.T, r *run) {
			must(t, os.WriteFile(filepath.Join(r.dir, "run.json"), []byte(`{"run_id":"x","pl`), 0o600))
		}},
		{name: "still at work", plan: plan, now: now, left: func(t *testing.T, r *run) {
			lock := flock.New(filepath.Join(r.dir, "lock"))
			if ok, err := lock.TryLock(); err != nil || !ok {
				t.Fatal(ok, err)
			}
			t.Cleanup(func() { _ = lock.Close() })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			first, resumed, err := openRun(state, "", plan, now)
			if err != nil || resumed || !contract.ValidRunID(first.ID) {
				t.Fatalf("first attempt: %+v, %v, %v", first, resumed, err)
			}
			must(t, os.MkdirAll(first.cellDir("c"), 0o700))
			must(t, first.saveCell("c", result("0.133.0", "s", "x")))
			first.close()
			if c.left != nil {
				c.left(t, first)
			}
			second, resumed, err := openRun(state, "", c.plan, c.now)
			must(t, err)
			defer second.close()
			if want := map[bool]int{true: 2, false: 1}[c.want]; second.Incarnation != want || second.Status != runRunning || second.Reason != "" {
				t.Errorf("the second attempt is incarnation %d, %s %s", second.Incarnation, second.Status, second.Reason)
			}
			if resumed != c.want || (second.ID == first.ID) != c.want {
				t.Fatalf("resumed = %v (run %s after %s), want %v", resumed, second.ID, first.ID, c.want)
			}
			if got := second.loadCell("c"); (got != nil) != c.want {
				t.Errorf("the finished cell is there: %v, want %v", got != nil, c.want)
			}
			if n := second.done([]Cell{{ID: "c"}, {ID: "d"}}); c.want && n != 1 {
				t.Errorf("%d cells are done, want 1", n)
			}
		})
	}
}

func TestExpiredRunIsRemoved(t *testing.T) {
	state := t.TempDir()
	plan := contract.Sum([]byte("plan"))
	old, _, err := openRun(state, "", contract.Sum([]byte("another plan")), now)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(old.dir, "raw.bundle"), []byte("raw"), 0o600))
	at := now.Add(resumeWindow + time.Second)
	r, _, err := openRun(state, "", plan, at)
	must(t, err)
	must(t, r.finish())
	r.close()
	if _, err := os.Stat(old.dir); err != nil {
		t.Errorf("a run at work was removed: %v", err)
	}
	old.close()
	r, _, err = openRun(state, "", plan, at.Add(time.Second))
	must(t, err)
	r.close()
	if _, err := os.Stat(old.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the recording of an expired run is still there: %v", err)
	}
}

func TestCellThatWasCutCountsAsNotDone(t *testing.T) {
	r, _, err := openRun(t.TempDir(), "", "p", now)
	must(t, err)
	defer r.close()
	must(t, os.MkdirAll(r.cellDir("c"), 0o700))
	must(t, r.saveCell("c", result("0.133.0", "s", "x")))
	file := filepath.Join(r.cellDir("c"), "result.json")
	b, err := os.ReadFile(file)
	must(t, err)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("result.json: %v, %v, want mode 0600", info.Mode(), err)
	}
	must(t, os.WriteFile(file, b[:len(b)/2], 0o600))
	if r.loadCell("c") != nil {
		t.Error("half a result was taken for a whole one")
	}
}

func TestPlanHash(t *testing.T) {
	reg := newRegistry(t)
	plan := &Plan{Cells: []Cell{{ID: "a", Probe: "chat-text-success"}}}
	base := Options{Registry: reg}
	hash := func(o Options, p *Plan) contract.Digest {
		t.Helper()
		d, err := planHash(o, p)
		must(t, err)
		return d
	}
	first := hash(base, plan)
	if hash(base, plan) != first {
		t.Error("the same plan has two hashes")
	}
	seen := map[contract.Digest]string{first: "the plan itself"}
	differ := func(what string, d contract.Digest) {
		if was := seen[d]; was != "" {
			t.Errorf("%s gives the hash of %s", what, was)
		}
		seen[d] = what
	}
	program := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(program, []byte("one"), 0o755))
	differ("--bin", hash(Options{Registry: reg, Bin: program}, plan))
	must(t, os.WriteFile(program, []byte("two"), 0o755))
	differ("a rebuilt --bin", hash(Options{Registry: reg, Bin: program}, plan))
	differ("--live", hash(Options{Registry: reg, Live: true}, plan))
	differ("--chunk-runes", hash(Options{Registry: reg, ChunkRunes: 1}, plan))
	differ("--ask", hash(Options{Registry: reg, AskAll: true}, plan))
	differ("another cell", hash(base, &Plan{Cells: []Cell{{ID: "b", Probe: "chat-text-success"}}}))
	for _, f := range []string{"probes/chat-text-success/prompt.md", "registry/vocabulary.json"} {
		must(t, os.WriteFile(filepath.Join(reg.Dir(), f), []byte("changed "+f), 0o644))
		differ(f, hash(base, plan))
	}
}
