package jobs

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Adding a status without saying what it means fails here.
func TestEveryStatusIsClassified(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "lifecycle.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Status" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if _, ok := outcomes[Status(text)]; !ok {
			t.Errorf("%s is not in outcomes", spec.Names[0].Name)
		}
		return true
	})
	if n == 0 || n != len(outcomes) {
		t.Errorf("%d statuses are declared, %d classified", n, len(outcomes))
	}
}

// elsewhere is a machine of the tests: what it sees is what the test says.
func elsewhere(host Host, look func(int) (*Process, error)) *System {
	return &System{Now: time.Now, Host: func() Host { return host }, Process: look,
		Signal: func(int, string) error { return errors.New("no process here") }}
}

var here = Host{ID: "a", Boot: "b", Namespace: "n"}

func TestFind(t *testing.T) {
	there := func(p *Process, err error) func(int) (*Process, error) {
		return func(int) (*Process, error) { return p, err }
	}
	same := there(&Process{StartTicks: 7}, nil)
	for _, c := range []struct {
		name string
		host Host
		look func(int) (*Process, error)
		in   *Incarnation
		want Finding
	}{
		{"the same process", here, same, &Incarnation{here, 5, 7}, Alive},
		{"the pid belongs to another process", here, there(&Process{StartTicks: 8}, nil), &Incarnation{here, 5, 7}, Gone},
		{"no process", here, there(nil, nil), &Incarnation{here, 5, 7}, Gone},
		{"a zombie", here, there(&Process{StartTicks: 7, Dead: true}, nil), &Incarnation{here, 5, 7}, Gone},
		{"the look was refused", here, there(nil, os.ErrPermission), &Incarnation{here, 5, 7}, Unknown},
		{"another boot of this machine", Host{"a", "c", "n"}, same, &Incarnation{here, 5, 7}, Gone},
		{"another machine", Host{"z", "b", "n"}, there(nil, nil), &Incarnation{here, 5, 7}, Unknown},
		{"another machine, another boot", Host{"z", "c", "n"}, there(nil, nil), &Incarnation{here, 5, 7}, Unknown},
		{"another namespace", Host{"a", "b", "m"}, there(nil, nil), &Incarnation{here, 5, 7}, Unknown},
		{"this machine has no identity", Host{}, there(nil, nil), &Incarnation{Host{}, 5, 7}, Unknown},
		{"the boot is not known", Host{"a", "", "n"}, there(nil, nil), &Incarnation{here, 5, 7}, Unknown},
		{"the start was never recorded", here, there(nil, nil), &Incarnation{here, 5, 0}, Unknown},
		{"nothing was recorded", here, same, nil, Unknown},
	} {
		if got := elsewhere(c.host, c.look).find(c.in); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// recorded makes the folder of a run as a producer would have left it.
func recorded(t testing.TB, s *Store, id string, edit func(*Record)) string {
	t.Helper()
	r := &Record{SchemaVersion: 1, RunID: id, Kind: KindCapture, Args: []string{"ok"}, SubmittedAt: s.now(), PreparedAt: s.now(), SpawnState: Preparing, Generation: 1}
	edit(r)
	dir := filepath.Join(s.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fill(dir, r, nil); err != nil {
		t.Fatal(err)
	}
	return id
}

func startedAs(pid int, ticks uint64) func(*Record) {
	return func(r *Record) { r.SpawnState, r.PID, r.Process = Started, pid, &Incarnation{here, pid, ticks} }
}

const (
	idA = "20260101T000000-00000a"
	idB = "20260101T000000-00000b"
	idC = "20260101T000000-00000c"
	idD = "20260101T000000-00000d"
	idE = "20260101T000000-00000e"
)

// The four lists of a wait, an id that is asked for twice, and ids that cannot
// be observed.
func TestWaitPartition(t *testing.T) {
	look := func(pid int) (*Process, error) {
		switch pid {
		case 1:
			return &Process{StartTicks: 7}, nil
		case 2:
			return nil, nil
		}
		return nil, os.ErrPermission
	}
	s := Open(t.TempDir(), elsewhere(here, look))
	recorded(t, s, idA, startedAs(1, 7)) // lives
	recorded(t, s, idB, startedAs(2, 7)) // gone: reaped
	recorded(t, s, idC, startedAs(3, 7)) // cannot be judged
	recorded(t, s, idD, func(r *Record) {})
	recorded(t, s, idE, func(r *Record) { r.PreparedAt = "2020-01-01T00:00:00.000000Z" })
	unknown := "20200101T000000-00000f"
	w, err := s.Wait(context.Background(), []string{idE, "../x", idA, idB, idC, idD, unknown, idA}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"terminal", w.Terminal, []string{idB}},
		{"pending", w.Pending, []string{idA, idD}},
		{"stopped_without_end", w.StoppedWithoutEnd, []string{idC}},
		{"unresolved_spawn", w.UnresolvedSpawn, []string{idE}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	var order []string
	for _, e := range w.Entries {
		order = append(order, e.RunID)
	}
	if !slices.Equal(order, []string{idE, "../x", idA, idB, idC, idD, unknown, idA}) {
		t.Errorf("entries %v", order)
	}
	if w.Entries[1].Error == nil || w.Entries[1].Error.Kind != "invalid_input" || w.Entries[6].Error == nil || w.Entries[6].Error.Kind != "not_found" {
		t.Errorf("errors %+v, %+v", w.Entries[1].Error, w.Entries[6].Error)
	}
	if w.AllTerminal || !w.TimedOut || w.MaxWait != 0 || w.PollInterval != MinPoll.Seconds() || w.PreparingThreshold != PreparingThreshold.Seconds() {
		t.Errorf("%+v", w)
	}
	if e := w.Entries[4]; e.Terminal || e.Outcome != nil || !e.PossiblyOrphaned || e.Alive != nil {
		t.Errorf("a run that cannot be judged: %+v", e.Lifecycle)
	}
}

// A finding whose end cannot be recorded stays non-terminal, for everybody, and
// the next look tries again.
func TestUnpublishableReap(t *testing.T) {
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return nil, nil }))
	recorded(t, s, idA, startedAs(2, 7))
	obstacle := filepath.Join(s.dir, idA, endFile+".new")
	if err := os.MkdirAll(filepath.Join(obstacle, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	job, err := s.Status(idA)
	if err != nil || job.Terminal || job.Outcome != nil || job.Status != StatusExited || !job.PossiblyOrphaned {
		t.Fatalf("%+v %v", job, err)
	}
	w, err := s.Wait(context.Background(), []string{idA}, 0, 0)
	if err != nil || !slices.Equal(w.StoppedWithoutEnd, []string{idA}) {
		t.Fatalf("%+v %v", w, err)
	}
	if err := os.RemoveAll(obstacle); err != nil {
		t.Fatal(err)
	}
	if job, err = s.Status(idA); err != nil || !job.Terminal || *job.Outcome != Indeterminate {
		t.Errorf("%+v %v", job, err)
	}
}

// Of all who want to end a run exactly one does, and one who decided about an
// older incarnation does not.
func TestFinishOnce(t *testing.T) {
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return nil, nil }))
	recorded(t, s, idA, startedAs(2, 7))
	var wg sync.WaitGroup
	var won atomic.Int32
	statuses := []Status{StatusCompleted, StatusFailed, StatusExited, StatusCancelled}
	for i := range 16 {
		wg.Go(func() {
			end, err := newEnd(statuses[i%4], "", byRun)
			if err != nil {
				t.Error(err)
				return
			}
			switch err := s.finish(filepath.Join(s.dir, idA), 1, end); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, ErrEnded):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d ends", won.Load())
	}
	recorded(t, s, idB, func(r *Record) { startedAs(2, 7)(r); r.Generation = 2 })
	end, err := newEnd(StatusExited, ReasonProcessGone, byReaper)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.finish(filepath.Join(s.dir, idB), 1, end); !errors.Is(err, ErrSuperseded) {
		t.Errorf("a stalled reaper: %v", err)
	}
	if exists(filepath.Join(s.dir, idB, endFile)) {
		t.Error("it overwrote the newer decision")
	}
	// The run suspended itself after the reaper had looked.
	recorded(t, s, idC, func(r *Record) { startedAs(2, 7)(r); r.Suspended = true })
	if err := s.finish(filepath.Join(s.dir, idC), 1, end); !errors.Is(err, ErrSuperseded) {
		t.Errorf("a reaper of a suspended run: %v", err)
	}
}

// Reading what cannot be read never looks like reading nothing.
func TestUnreadableIsNotNone(t *testing.T) {
	s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return &Process{StartTicks: 7}, nil }))
	recorded(t, s, idA, startedAs(1, 7))
	dir := filepath.Join(s.dir, idA)
	for _, f := range []string{consoleFile, progressFile} { // a folder cannot be read as a file, by root neither
		if err := os.Mkdir(filepath.Join(dir, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, resultFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, artifactsDir)); err != nil {
		t.Fatal(err)
	}
	out, err := s.Output(idA, 10)
	if err != nil {
		t.Fatal(err)
	}
	job, err := s.Status(idA)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		available bool
		reason    *string
		want      string
	}{
		{"console", out.Console.Available, out.Console.ReasonCode, "unreadable"},
		{"result", out.Result.Available, out.Result.ReasonCode, "malformed"},
		{"artifacts", out.Artifacts.Available, out.Artifacts.ReasonCode, "absent"},
		{"progress", job.Progress.Available, job.Progress.ReasonCode, "unreadable"},
	} {
		if c.available || c.reason == nil || *c.reason != c.want {
			t.Errorf("%s: available %v, reason %v, want %s", c.name, c.available, c.reason, c.want)
		}
	}
}

// Whatever bytes stand in a run's folder, a look gives an answer or an error,
// and the outcome is there exactly when the run has ended.
func FuzzObserve(f *testing.F) {
	f.Add([]byte(`{"run_id":"20260101T000000-00000a","spawn_state":"started","generation":1}`), []byte(`{"status":"completed","outcome":"succeeded"}`))
	f.Add([]byte(`{`), []byte(``))
	f.Fuzz(func(t *testing.T, record, end []byte) {
		s := Open(t.TempDir(), elsewhere(here, func(int) (*Process, error) { return nil, os.ErrPermission }))
		dir := filepath.Join(s.dir, idA)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, recordFile), record, 0o600), os.WriteFile(filepath.Join(dir, endFile), end, 0o600)); err != nil {
			t.Fatal(err)
		}
		job, err := s.Status(idA)
		if err == nil && job.Terminal != (job.Outcome != nil) {
			t.Errorf("terminal %v, outcome %v", job.Terminal, job.Outcome)
		}
	})
}

// The lists of a wait are disjoint and hold every id that was observed.
func TestWaitPartitionProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		s := Open(dir, elsewhere(here, func(pid int) (*Process, error) {
			return []*Process{nil, {StartTicks: 7}, {StartTicks: 8}}[pid%3], []error{nil, nil, nil, os.ErrPermission}[pid%4]
		}))
		ids := []string{idA, idB, idC, idD, idE}
		made := map[string]bool{}
		for _, id := range ids[:rapid.IntRange(0, 5).Draw(rt, "runs")] {
			made[id] = true
			pid := rapid.IntRange(1, 12).Draw(rt, "pid")
			recorded(t, s, id, func(r *Record) {
				switch rapid.IntRange(0, 3).Draw(rt, "state") {
				case 0:
					startedAs(pid, 7)(r)
				case 1:
					startedAs(pid, 7)(r)
					r.Suspended = true
				case 2:
					r.PreparedAt = "2020-01-01T00:00:00.000000Z"
				}
			})
		}
		w, err := s.Wait(context.Background(), ids, 0, 0)
		if err != nil {
			rt.Fatal(err)
		}
		seen := map[string]int{}
		for _, list := range [][]string{w.Terminal, w.Pending, w.StoppedWithoutEnd, w.UnresolvedSpawn} {
			for _, id := range list {
				seen[id]++
			}
		}
		for i, id := range ids {
			if e := w.Entries[i]; made[id] != (seen[id] == 1) || made[id] == (e.Error != nil) || e.Terminal != slices.Contains(w.Terminal, id) || e.Terminal != (e.Outcome != nil) {
				rt.Errorf("%s: in %d lists, entry %+v", id, seen[id], e)
			}
		}
	})
}
