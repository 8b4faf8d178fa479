//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts an empty file system of a few MiB over a folder and puts the
// folder's files into it.
func (w *world) smallDisk(dir string) {
	w.t.Helper()
	kept := filepath.Join(w.dir, "kept")
	must(w.t, os.MkdirAll(dir, 0o755))
	must(w.t, os.Rename(dir, kept))
	must(w.t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0755"); err != nil {
		w.t.Skipf("a test of a full disk needs to mount one: %v", err)
	}
	w.t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	must(w.t, copyTree(kept, dir))
	must(w.t, os.RemoveAll(kept))
}

// fill leaves so many free pages on the file system of a folder. Free makes
// room again.
func (w *world) fill(dir string, pages int64) (free func()) {
	w.t.Helper()
	var fs unix.Statfs_t
	must(w.t, unix.Statfs(dir, &fs))
	filler := filepath.Join(dir, ".filler")
	must(w.t, os.WriteFile(filler, make([]byte, (int64(fs.Bavail)-pages)*fs.Bsize), 0o600))
	return func() { must(w.t, os.Remove(filler)) }
}

// No room at all, room for a few records, room for nearly all of them.
func TestFullRegistry(t *testing.T) {
	testFull(t, func(w *world) string { return w.reg }, 0, 4, 10)
}

func TestFullState(t *testing.T) {
	testFull(t, func(w *world) string { return filepath.Dir(w.priv) }, 0, 4)
}

// A full disk does not hide that a redaction was refused: the exit code is what
// a merge job alerts by.
func TestFullRegistryTellsOfARefusal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `echo '{"type":"error","message":"You exceeded your current quota, please check your plan and billing details."}'
exit 1
`)
	w.forgets("quota", "billing", "exceeded")
	w.smallDisk(w.reg)
	w.fill(w.reg, 0)
	_, stderr := w.capture("--probe", "version-probe,quota-exhausted").run(4)
	if !strings.Contains(stderr, "no space left") {
		t.Errorf("it does not say what is wrong:\n%s", stderr)
	}
}

// testFull captures with so little room on one of the disks, and then with
// enough.
func testFull(t *testing.T, folder func(*world) string, room ...int64) {
	for _, pages := range room {
		t.Run(fmt.Sprintf("%d_pages", pages), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fakeTurn)
			full := folder(w)
			w.smallDisk(full)
			before := w.tree(w.reg)
			free := w.fill(full, pages)
			c := w.capture("--probe", crashProbes)
			must(t, c.Start())
			code, stdout, stderr := c.finish()
			if code == 0 {
				t.Skipf("a capture needs fewer than %d pages", pages)
			}
			if code != 3 || strings.Count(stderr, "error:") != 1 || !strings.Contains(stderr, "no space left") || !strings.Contains(stderr, "hint: free some space") {
				t.Errorf("exit code %d, want 3 and one message; it said\n%s%s", code, stdout, stderr)
			}
			free()
			if after := w.tree(w.reg); after != before {
				t.Errorf("the registry changed:\n%s\nbefore:\n%s", after, before)
			}
			w.validates()
			w.leavesNobody()
			w.capture("--probe", crashProbes).run(0)
			w.complete(1)
			w.keepsSecret(w.marker)
		})
	}
}

// A registry that nobody may write is noticed before anything runs.
func TestReadOnlyRegistry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `touch "${0%/*}/../started"`)
	err := unix.Mount(w.reg, w.reg, "", unix.MS_BIND, "")
	if err == nil {
		t.Cleanup(func() { _ = unix.Unmount(w.reg, unix.MNT_DETACH) })
		err = unix.Mount("", w.reg, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	if err != nil {
		t.Skipf("a test of a read-only registry needs to mount one: %v", err)
	}
	_, stderr := w.capture("--probe", crashProbes).run(2)
	if strings.Count(stderr, "error:") != 1 || !strings.Contains(stderr, "cannot be written") || !strings.Contains(stderr, "--registry DIR") {
		t.Errorf("want one message and the way out:\n%s", stderr)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "started")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a probe ran although its result could not be kept")
	}
	if n, _ := w.runs(); n > 0 {
		t.Error("a run was begun")
	}
	w.command("validate").run(0)
	w.command("capture", "codex", "--bin", w.fake, "--dry-run").run(0)
	w.leavesNobody()
}

// A private folder that children cannot reach or nobody may write.
func TestUnusableState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeTurn)
	must(t, os.Remove(filepath.Join(w.dir, "state")))
	w.write(filepath.Join(w.dir, "state"), "a file", 0o644)
	before := w.tree(w.reg)
	_, stderr := w.capture("--probe", crashProbes).run(3)
	if strings.Count(stderr, "error:") != 1 || !strings.Contains(stderr, filepath.Join(w.dir, "state")) {
		t.Errorf("want one message that names the folder:\n%s", stderr)
	}
	if w.tree(w.reg) != before {
		t.Error("the registry changed")
	}
}
