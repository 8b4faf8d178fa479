package requests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// folder is the name of the folder in the private state and, below registry/,
// in a registry.
const folder = "requests"

const lockName = ".lock"

// place is a folder of Requests and their Answers. Names are file names.
type place interface {
	names() ([]string, error)
	read(name string) ([]byte, error) // wraps fs.ErrNotExist
	write(ctx context.Context, name string, b []byte) error
}

// private is the folder in the private state. Its lock is held for every
// change, also of a public Request.
type private struct{ dir string }

// lock waits until no other process changes anything, and removes what a killed
// one left half written.
func (p private) lock(ctx context.Context) (unlock func(), err error) {
	if err := store.MakePrivateDir(p.dir); err != nil {
		return nil, fmt.Errorf("keeping requests: %w", err)
	}
	l := flock.New(filepath.Join(p.dir, lockName))
	if ok, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("locking %s: %w", p.dir, err)
	}
	left, err := filepath.Glob(filepath.Join(p.dir, ".sha256-*"))
	for _, f := range left {
		err = errors.Join(err, os.Remove(f))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keeping requests: %w", err), l.Unlock())
	}
	return func() { _ = l.Unlock() }, nil
}

func (p private) names() ([]string, error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing requests: %w", err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

func (p private) read(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	return b, nil
}

func (p private) write(_ context.Context, name string, b []byte) error {
	if err := store.WritePrivate(filepath.Join(p.dir, name), b); err != nil {
		return fmt.Errorf("keeping a request: %w", err)
	}
	if d, err := os.Open(p.dir); err == nil { // so that the name survives a power cut too, where a folder can be synced
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

func (p private) remove(name string) error {
	if err := os.Remove(filepath.Join(p.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keeping a request: %w", err)
	}
	return nil
}

// public is the folder in a registry, whose transactions order its writers.
type public struct{ reg *store.Registry }

func (p public) names() ([]string, error) {
	files, err := p.reg.Walk(path.Join("registry", folder), ".json")
	for i, f := range files {
		files[i] = path.Base(f)
	}
	return files, err
}

func (p public) read(name string) ([]byte, error) {
	return p.reg.ReadFile(path.Join("registry", folder, name))
}

// write adds a file; one that another machine's writer put there stays.
func (p public) write(ctx context.Context, name string, b []byte) error {
	tx, err := p.reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	rel := path.Join("registry", folder, name)
	if tx.Has(rel) {
		return fmt.Errorf("keeping %s: %w", rel, fs.ErrExist)
	}
	if err := tx.Write(rel, b); err != nil {
		return err
	}
	return tx.Commit()
}
