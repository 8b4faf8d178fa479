package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func newRegistry(t *testing.T) *Registry {
	t.Helper()
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "registry", "agents.json"), `{"schema_version":1,"agents":[]}`)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustWrite(t *testing.T, p, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, r *Registry) *Transaction {
	t.Helper()
	tx, err := r.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	var want *NotRegistryError
	if !errors.As(err, &want) || want.Dir != dir {
		t.Fatalf("Open(empty folder) = %v, want NotRegistryError for the folder", err)
	}
}

func TestFindWalksUp(t *testing.T) {
	r := newRegistry(t)
	deep := filepath.Join(r.Dir(), "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, ok := Find(deep); !ok || got != r.Dir() {
		t.Fatalf("Find = %q, %v", got, ok)
	}
	if _, ok := Find(t.TempDir()); ok {
		t.Fatal("Find found a registry where there is none")
	}
}

func TestTransactionIsAllOrNothing(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	for _, rel := range []string{"shapes/x/a.json", "observations/x/b.json"} {
		if err := tx.Write(rel, []byte(rel)); err != nil {
			t.Fatal(err)
		}
		if r.Exists(rel) {
			t.Fatalf("%s is visible before the commit", rel)
		}
		if !tx.Has(rel) {
			t.Fatalf("the transaction does not see its own %s", rel)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	tx.Discard() // after Commit it must not undo anything
	for _, rel := range []string{"shapes/x/a.json", "observations/x/b.json"} {
		if b, err := r.ReadFile(rel); err != nil || string(b) != rel {
			t.Fatalf("after the commit %s = %q, %v", rel, b, err)
		}
	}
	assertClean(t, r)
}

func TestDiscardLeavesNothing(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	if err := tx.Write("shapes/x/a.json", nil); err != nil {
		t.Fatal(err)
	}
	tx.Discard()
	if r.Exists("shapes/x/a.json") {
		t.Fatal("a discarded file is visible")
	}
	assertClean(t, r)
}

// A crash leaves a transaction's folder behind, with or without the marker,
// and possibly half moved.
func TestOpenRecoversFromCrash(t *testing.T) {
	for _, c := range []struct {
		name      string
		committed bool
		moved     bool
		want      bool
	}{
		{"before the commit", false, false, false},
		{"right after the commit", true, false, true},
		{"in the middle of moving", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(t)
			txn := filepath.Join(r.Dir(), pendingDir, "t1")
			mustWrite(t, filepath.Join(txn, "files", "shapes", "a.json"), "new")
			mustWrite(t, filepath.Join(txn, "files", "shapes", "b.json"), "new")
			if c.committed {
				mustWrite(t, filepath.Join(txn, commitMarker), "")
			}
			if c.moved {
				if err := os.MkdirAll(filepath.Join(r.Dir(), "shapes"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(txn, "files", "shapes", "a.json"), filepath.Join(r.Dir(), "shapes", "a.json")); err != nil {
					t.Fatal(err)
				}
			}
			r2, err := Open(r.Dir())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []string{"shapes/a.json", "shapes/b.json"} {
				if r2.Exists(f) != c.want {
					t.Errorf("%s exists = %v, want %v", f, !c.want, c.want)
				}
			}
			assertClean(t, r2)
		})
	}
}

func TestOpenLeavesALiveWriterAlone(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	if err := tx.Write("shapes/a.json", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if !r.Exists("shapes/a.json") {
		t.Fatal("a reader destroyed the writer's transaction")
	}
}

func TestSecondWriterWaits(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Begin(ctx); err == nil {
		t.Fatal("two transactions at once")
	}
	tx.Discard()
	begin(t, r).Discard()
}

func TestWriteRefusesPlacesOutside(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	defer tx.Discard()
	for _, rel := range []string{"../x", "/etc/x", "a/../../x", ".git/config", ""} {
		if err := tx.Write(rel, nil); err == nil {
			t.Errorf("Write(%q) was accepted", rel)
		}
	}
}

func TestEmbeddedIsReadOnly(t *testing.T) {
	r := Embedded(fstest.MapFS{"registry/agents.json": {Data: []byte("{}")}})
	_, err := r.Begin(context.Background())
	var want *ReadOnlyError
	if !errors.As(err, &want) {
		t.Fatalf("Begin on the embedded registry = %v", err)
	}
}

func assertClean(t *testing.T, r *Registry) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(r.Dir(), pendingDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left behind: %v", pendingDir, err)
	}
}

func TestPaths(t *testing.T) {
	d := contract.Sum([]byte("x"))
	at := time.Date(2026, 6, 27, 10, 0, 0, 123e6, time.UTC)
	for _, c := range []struct{ got, want string }{
		{ObservationPath("codex", "0.133.0", "linux-x64", at, "p"), "observations/codex/0.133.0/linux-x64/2026-06-27T100000.123Z.p.observation.json"},
		{FixturePath(contract.FamilyEvents, d, d, true), "fixtures/json-event-stream/" + d.FileName() + ".sanitized.jsonl"},
		{FixturePath(contract.FamilyACP, d, d, false), "fixtures/acp-json-rpc/" + d.FileName() + "." + d.Hex()[:12] + ".transcript.jsonl"},
		{GoldenPath("reference", contract.FamilyClaude, d, d, true, "amp"), "goldens/reference/claude-stream-json/" + d.FileName() + ".amp.events.json"},
		{GoldenPath("reference", contract.FamilyClaude, d, d, true, ""), "goldens/reference/claude-stream-json/" + d.FileName() + ".events.json"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if got, err := FixtureShape(FixturePath(contract.FamilyEvents, d, d, false)); err != nil || got != d {
		t.Errorf("FixtureShape = %v, %v", got, err)
	}
}

func TestCreateMakesARegistryWithoutClaims(t *testing.T) {
	from := Embedded(fstest.MapFS{
		"registry/agents.json":         {Data: []byte(`{"schema_version":1,"agents":[]}`)},
		"registry/support-matrix.json": {Data: []byte(`{}`)},
		"probes/p/prompt.md":           {Data: []byte("x")},
	})
	dir := filepath.Join(t.TempDir(), "data", "registry")
	for range 2 { // the second call changes nothing
		if err := Create(dir, from); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Exists("probes/p/prompt.md") || r.Exists("registry/support-matrix.json") {
		t.Fatal("the new registry lacks a probe or has claims")
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Fatalf("beside the registry: %v, %v", entries, err)
	}
}

// In a registry alone are the rules of another and the records given; a record
// replaces no rule.
func TestAlone(t *testing.T) {
	from := Embedded(fstest.MapFS{
		"registry/agents.json":         {Data: []byte(`{"schema_version":1,"agents":[]}`)},
		"registry/support-matrix.json": {Data: []byte(`{}`)},
		"probes/p/prompt.md":           {Data: []byte("x")},
		"observations/other.json":      {Data: []byte(`{}`)},
	})
	if _, err := Alone(from, map[string][]byte{"registry/agents.json": []byte("forged")}); err == nil {
		t.Error("a record replaced a rule")
	}
	r, err := Alone(from, map[string][]byte{"shapes/x.json": []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := r.Walk("shapes", "")
	if err != nil || len(shapes) != 1 || !r.Exists("probes/p/prompt.md") || r.Exists("registry/support-matrix.json") || r.Exists("observations/other.json") {
		t.Errorf("shapes %v, %v; or a rule is missing, or a record came along", shapes, err)
	}
}
