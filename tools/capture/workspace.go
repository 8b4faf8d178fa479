package capture

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// workspace is the world of one child: an empty HOME, a temporary folder and a
// working folder with the probe's files, below a name that says nothing (CLIs
// echo paths, and classifiers read what they echo; DESIGN D1).
type workspace struct {
	root, home, tmp, cwd string
	uid, gid             int // 0: the child keeps our user
	lock                 *flock.Flock
}

// childUser returns the unprivileged user for children when we are root, and
// zeros otherwise. It has to be one that exists: several CLIs look their user
// up and fail without an entry.
func childUser() (uid, gid int, err error) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		return 0, 0, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, fmt.Errorf("finding an unprivileged user for the child: %w", err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return uid, gid, errors.Join(err1, err2)
}

func newWorkspace(stateDir string) (*workspace, error) {
	base := filepath.Join(stateDir, "run")
	if err := errors.Join(store.MakeStateDir(stateDir), os.MkdirAll(base, 0o711)); err != nil {
		return nil, fmt.Errorf("making a workspace: %w", err)
	}
	w := &workspace{}
	var err error
	if w.uid, w.gid, err = childUser(); err != nil {
		return nil, err
	}
	if err := reachable(base, w.uid); err != nil {
		return nil, err
	}
	if err := w.claim(base); err != nil {
		return nil, fmt.Errorf("making a workspace: %w", err)
	}
	w.home, w.tmp, w.cwd = filepath.Join(w.root, "h"), filepath.Join(w.root, "t"), filepath.Join(w.root, "w")
	for _, d := range []string{w.home, w.tmp, w.cwd} {
		if err := w.mkdir(d); err != nil {
			return nil, errors.Join(err, w.remove())
		}
	}
	return w, nil
}

// claim removes the workspaces of killed captures and takes a new folder, both
// under one lock, so that nobody sweeps a folder that is being made.
func (w *workspace) claim(base string) error {
	gate := flock.New(filepath.Join(base, ".lock"))
	if err := gate.Lock(); err != nil {
		return err
	}
	defer func() { _ = gate.Unlock() }()
	sweep(base)
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails (package documentation)
	w.root = filepath.Join(base, hex.EncodeToString(b[:]))
	if err := os.Mkdir(w.root, 0o711); err != nil {
		return err
	}
	w.lock = flock.New(filepath.Join(w.root, ".lock"))
	if ok, err := w.lock.TryLock(); err != nil || !ok {
		return errors.Join(err, fs.ErrExist)
	}
	return nil
}

// reachable says whether another user can walk into the folder.
func reachable(dir string, uid int) error {
	if uid == 0 {
		return nil
	}
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return fmt.Errorf("making a workspace: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("making a workspace: children run as an unprivileged user, who cannot enter %s: set XDG_STATE_HOME to a folder that every user may enter", d)
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
}

func (w *workspace) mkdir(d string) error {
	if err := os.MkdirAll(d, 0o700); err != nil {
		return fmt.Errorf("making a workspace: %w", err)
	}
	return w.own(d)
}

func (w *workspace) own(p string) error {
	if w.uid == 0 {
		return nil
	}
	if err := os.Lchown(p, w.uid, w.gid); err != nil {
		return fmt.Errorf("giving a workspace to the child's user: %w", err)
	}
	return nil
}

// write puts a file into the workspace. rel is relative to dir and may not
// leave it.
func (w *workspace) write(dir, rel string, content []byte, mode fs.FileMode) error {
	if !filepath.IsLocal(filepath.FromSlash(rel)) {
		return fmt.Errorf("writing %q into a workspace: the path leaves it", rel)
	}
	p := filepath.Join(dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		return fmt.Errorf("writing into a workspace: %w", err)
	}
	for d := filepath.Dir(p); len(d) > len(dir); d = filepath.Dir(d) {
		if err := w.own(d); err != nil {
			return err
		}
	}
	if err := os.WriteFile(p, content, mode); err != nil {
		return fmt.Errorf("writing into a workspace: %w", err)
	}
	return w.own(p)
}

// remove deletes the workspace with everything that the child left in it.
func (w *workspace) remove() error {
	err := removeAll(w.root)
	return errors.Join(err, w.lock.Close())
}

// removeAll removes a tree even where the child took away its own write
// permission.
func removeAll(root string) error {
	err := os.RemoveAll(root)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(root)
}

// sweep removes the workspaces of captures that were killed: those whose lock
// nobody holds.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p := filepath.Join(base, e.Name())
		lock := flock.New(filepath.Join(p, ".lock"))
		if ok, err := lock.TryLock(); err == nil && ok {
			_ = removeAll(p)
			_ = lock.Close()
		}
	}
}
