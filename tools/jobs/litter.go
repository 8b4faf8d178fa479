package jobs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// What a submission and a prune work in before and after a folder is a run.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
)

// litterAge is how old a folder that is no run must be to be litter. A producer
// fills one in a moment.
const litterAge = time.Hour

// sweep removes what producers and prunes left that were killed in the middle,
// and returns how much that is. A folder is taken only when it is old by the
// clock of its own file system, which no wall clock that is set can make it, and
// nobody holds its lock, which a producer does until its run has a name.
func (s *Store) sweep(dryRun bool) (n int, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var now time.Time
	for _, e := range entries {
		isNew := strings.HasPrefix(e.Name(), newPrefix)
		if !e.IsDir() || !isNew && !strings.HasPrefix(e.Name(), gonePrefix) {
			continue
		}
		if now.IsZero() {
			if now, err = diskTime(s.dir); err != nil {
				return n, err
			}
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < litterAge {
			continue
		}
		if dir := filepath.Join(s.dir, e.Name()); dryRun || sweepOne(dir, isNew) {
			n++
		}
	}
	return n, nil
}

// sweepOne removes one folder. One that was being made gets another name first,
// under its lock: a producer that is not dead after all finds it gone, and says
// that it could not record the run.
func sweepOne(dir string, isNew bool) bool {
	if isNew {
		l := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
		if held, err := l.TryLock(); err != nil || !held {
			return false
		}
		defer func() { _ = l.Unlock() }()
		gone := filepath.Join(filepath.Dir(dir), gonePrefix+strings.TrimPrefix(filepath.Base(dir), newPrefix))
		if err := os.Rename(dir, gone); err != nil {
			return false
		}
		dir = gone
	}
	return os.RemoveAll(dir) == nil
}

// diskTime is the time by the clock that stamps the files of a folder.
func diskTime(dir string) (time.Time, error) {
	f, err := os.CreateTemp(dir, ".time-")
	if err != nil {
		return time.Time{}, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}
