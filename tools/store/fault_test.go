package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestBrokenFileIsNamedWithItsLine(t *testing.T) {
	r := newRegistry(t)
	for _, c := range []struct {
		content string
		line    int
	}{
		{"{\n\"a\": 1,\n}", 3},
		{"{\n\n\"schema_version\": \"x\"\n}", 3},
		{"", 1},
	} {
		mustWrite(t, filepath.Join(r.Dir(), FamiliesFile), c.content)
		var broken *BrokenError
		if _, err := r.Families(); !errors.As(err, &broken) || broken.File != FamiliesFile || broken.Line != c.line {
			t.Errorf("%q: %v, want %s:%d", c.content, err, FamiliesFile, c.line)
		}
	}
}

func TestCheckWritable(t *testing.T) {
	r := newRegistry(t)
	if err := r.CheckWritable(t.Context()); err != nil {
		t.Fatal(err)
	}
	assertClean(t, r)
	begin(t, r).Discard() // the lock is free again
}

// A commit that fails leaves the registry as it was, and free for the next.
func TestFailedCommitLeavesNothing(t *testing.T) {
	r := newRegistry(t)
	tx := begin(t, r)
	if err := tx.Write("shapes/a.json", []byte("x")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(tx.dir, commitMarker, "in the way"), "") // a folder cannot be replaced
	if err := tx.Commit(); err == nil {
		t.Fatal("Commit succeeded")
	}
	if r.Exists("shapes/a.json") {
		t.Error("a file of a failed commit is visible")
	}
	assertClean(t, r)
	begin(t, r).Discard()
}

// A capture may be killed before its transaction has anything in it.
func TestOpenRemovesAnEmptyPendingFolder(t *testing.T) {
	r := newRegistry(t)
	if err := os.Mkdir(filepath.Join(r.Dir(), pendingDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.Dir()); err != nil {
		t.Fatal(err)
	}
	assertClean(t, r)
}

// Who cannot take the lock still reads what counts, unless a commit is half
// done. A folder in the lock's place stands for a registry that is read-only.
func TestOpenWithoutTheLock(t *testing.T) {
	for _, committed := range []bool{false, true} {
		r := newRegistry(t)
		txn := filepath.Join(r.Dir(), pendingDir, "t1")
		mustWrite(t, filepath.Join(txn, "files", "shapes", "a.json"), "new")
		if committed {
			mustWrite(t, filepath.Join(txn, commitMarker), "")
		}
		if err := os.Mkdir(filepath.Join(r.Dir(), lockFile), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(r.Dir(), pendingDir), 0o555); err != nil {
			t.Fatal(err)
		}
		_, err := Open(r.Dir())
		if os.Geteuid() == 0 && err == nil {
			continue // root locks a folder and writes everywhere
		}
		if (err != nil) != committed {
			t.Errorf("committed %v: %v", committed, err)
		}
	}
}

// Private files are replaced in one step, by a file beside them: what passes
// through TMPDIR can be left there.
func TestWritePrivate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	file := filepath.Join(dir, "private", "f")
	mustWrite(t, file, "old")
	if err := WritePrivate(file, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "new" {
		t.Errorf("content %q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%d files beside it, %v", len(left)-1, err)
	}
	if err := WritePrivate(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that the folder is not there", err)
	}
}

// A writer that was killed while it tidied up has nothing left to move.
func TestOpenAfterACrashWhileTidyingUp(t *testing.T) {
	r := newRegistry(t)
	txn := filepath.Join(r.Dir(), pendingDir, "t1")
	mustWrite(t, filepath.Join(txn, commitMarker), "")
	if _, err := Open(r.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir(), pendingDir)); err == nil {
		t.Error("the folder of the writer is left behind")
	}
}
