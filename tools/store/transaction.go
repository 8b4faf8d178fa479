package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// pendingDir holds transactions that are being written. A transaction counts
// once its folder holds commitMarker; until then a crash undoes it, from then
// on the next Open finishes it.
const (
	pendingDir   = ".pending"
	commitMarker = "COMMIT"
	lockFile     = ".lock"
)

// ReadOnlyError says that a registry cannot be written.
type ReadOnlyError struct {
	Dir string
	Err error
}

// Error implements error.
func (e *ReadOnlyError) Error() string {
	if e.Dir == "" {
		return "the embedded registry is read-only: name a registry folder with --registry"
	}
	return fmt.Sprintf("registry %s cannot be written: %v", e.Dir, e.Err)
}

// Unwrap returns the cause.
func (e *ReadOnlyError) Unwrap() error { return e.Err }

// Transaction is a set of files that appears in the registry all at once. It
// holds the registry's lock until Commit or Discard.
type Transaction struct {
	reg    *Registry
	lock   *flock.Flock
	dir    string
	staged map[string]bool
}

// Begin locks the registry and starts a transaction. It waits for another
// writer until ctx ends.
func (r *Registry) Begin(ctx context.Context) (*Transaction, error) {
	if r.ReadOnly() {
		return nil, &ReadOnlyError{}
	}
	lock, err := lockRegistry(ctx, r.dir)
	if err != nil {
		return nil, err
	}
	if err := applyPending(r.dir); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	base := filepath.Join(r.dir, pendingDir)
	err = os.MkdirAll(base, 0o755)
	dir := ""
	if err == nil {
		dir, err = os.MkdirTemp(base, "t")
	}
	if err != nil {
		return nil, errors.Join(writeError(r.dir, "starting a transaction in", err), lock.Unlock())
	}
	return &Transaction{reg: r, lock: lock, dir: dir, staged: map[string]bool{}}, nil
}

func lockRegistry(ctx context.Context, dir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dir, lockFile))
	ok, err := lock.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil || !ok {
		return nil, writeError(dir, "locking", err)
	}
	return lock, nil
}

// writeError is a ReadOnlyError where nobody may write, and otherwise what went
// wrong.
func writeError(dir, doing string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &ReadOnlyError{Dir: dir, Err: err}
	}
	return fmt.Errorf("%s registry %s: %w", doing, dir, err)
}

// CheckWritable says whether a transaction could begin, so that nobody works
// for a registry that cannot take the result.
func (r *Registry) CheckWritable(ctx context.Context) error {
	tx, err := r.Begin(ctx)
	if err == nil {
		tx.Discard()
	}
	return err
}

// Write stages one file. rel is its place in the registry.
func (t *Transaction) Write(rel string, content []byte) error {
	if !fs.ValidPath(rel) || strings.HasPrefix(rel, ".") {
		return fmt.Errorf("staging %q: not a place in a registry", rel)
	}
	p := filepath.Join(t.dir, "files", filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return fmt.Errorf("staging %s: %w", rel, err)
	}
	if err := writeSynced(p, content); err != nil {
		return fmt.Errorf("staging %s: %w", rel, err)
	}
	t.staged[rel] = true
	return nil
}

// Has reports whether the file is staged or in the registry.
func (t *Transaction) Has(rel string) bool { return t.staged[rel] || t.reg.Exists(rel) }

// ReadFile returns the staged file, or the registry's.
func (t *Transaction) ReadFile(rel string) ([]byte, error) {
	if t.staged[rel] {
		return os.ReadFile(filepath.Join(t.dir, "files", filepath.FromSlash(rel)))
	}
	return t.reg.ReadFile(rel)
}

// Commit makes every staged file visible.
func (t *Transaction) Commit() error {
	err := WriteAtomic(filepath.Join(t.dir, commitMarker), nil, 0o644)
	if err != nil {
		t.Discard()
		return fmt.Errorf("committing to registry %s: %w", t.reg.dir, err)
	}
	if err := applyPending(t.reg.dir); err != nil {
		return errors.Join(fmt.Errorf("committing to registry %s: %w", t.reg.dir, err), t.lock.Unlock())
	}
	return t.lock.Unlock()
}

// Discard undoes the transaction. After Commit it does nothing.
func (t *Transaction) Discard() {
	if t.lock.Locked() {
		_ = os.RemoveAll(t.dir)
		_ = os.Remove(filepath.Join(t.reg.dir, pendingDir))
		_ = t.lock.Unlock()
	}
}

// recoverPending finishes or removes what a crash left, unless another process
// is writing right now.
func recoverPending(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, pendingDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, lockFile))
	ok, err := lock.TryLock()
	if err == nil && ok {
		err = errors.Join(applyPending(dir), lock.Unlock())
	}
	if err != nil && !committed(dir, entries) {
		return nil // who may only read loses nothing that counts
	}
	if err != nil {
		return fmt.Errorf("finishing an interrupted write: %w", err)
	}
	return nil // or the writer is alive
}

// committed reports whether a transaction that counts is not in place yet.
func committed(dir string, pending []fs.DirEntry) bool {
	return slices.ContainsFunc(pending, func(e fs.DirEntry) bool {
		_, err := os.Stat(filepath.Join(dir, pendingDir, e.Name(), commitMarker))
		return err == nil
	})
}

// applyPending needs the lock. It can be interrupted anywhere and repeated: a
// file moves once, and files may be gone before the marker beside it is.
func applyPending(dir string) error {
	base := filepath.Join(dir, pendingDir)
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		t := filepath.Join(base, e.Name())
		if _, err := os.Stat(filepath.Join(t, commitMarker)); err == nil {
			if err := moveTree(filepath.Join(t, "files"), dir); err != nil {
				return fmt.Errorf("finishing an interrupted write: %w", err)
			}
		}
		if err := os.RemoveAll(t); err != nil {
			return err
		}
	}
	return os.Remove(base)
}

func moveTree(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if p == from && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.Rename(p, target)
	})
}

func writeSynced(p string, content []byte) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// WriteAtomic replaces a file in one step. The temporary file lies beside it and
// never in TMPDIR, where a kill -9 would leave raw bytes behind for everybody.
func WriteAtomic(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close(), os.Chmod(f.Name(), mode))
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
