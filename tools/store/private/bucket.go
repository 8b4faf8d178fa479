package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bucket keeps blobs by name. A name is relative with forward slashes, as
// fs.ValidPath takes it, and no part of it starts with a dot. Package
// privatetest says what every Bucket must do.
type Bucket interface {
	// Put keeps size bytes of r under a name, in place of what was there. It
	// happens whole or not at all, also when r fails or the process dies.
	Put(ctx context.Context, name string, r io.Reader, size int64) error
	// Get returns a blob, or an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the names that start with a prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes a blob. One that is not there is none to remove.
	Delete(ctx context.Context, name string) error
}

// CheckName refuses what is no name of a blob.
func CheckName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return fmt.Errorf("%q is no name of a blob", name)
	}
	return nil
}

// Folder is a Bucket in a folder that only its owner reads.
type Folder struct{ dir string }

// NewFolder makes the folder on first use.
func NewFolder(dir string) (*Folder, error) {
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return nil, fmt.Errorf("opening the private store: %w", err)
	}
	return &Folder{dir}, nil
}

func (f *Folder) file(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// Put implements Bucket.
func (f *Folder) Put(_ context.Context, name string, r io.Reader, size int64) error {
	if err := CheckName(name); err != nil {
		return err
	}
	file := f.file(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".put-")
	if err != nil {
		return err
	}
	n, err := io.Copy(tmp, r)
	if err == nil && n != size {
		err = fmt.Errorf("it has %d bytes, not %d", n, size)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping %s: %w", name, err), os.Remove(tmp.Name()))
	}
	return syncDir(filepath.Dir(file))
}

// syncDir makes names survive a power cut too, where a folder can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// Get implements Bucket.
func (f *Folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return os.Open(f.file(name))
}

// List implements Bucket.
func (f *Folder) List(_ context.Context, prefix string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.dir, p)
		if err != nil || p == f.dir {
			return err
		}
		hidden := strings.HasPrefix(path.Base(p), ".")
		if d.IsDir() && hidden {
			return fs.SkipDir
		}
		if name := filepath.ToSlash(rel); !d.IsDir() && !hidden && strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

// Delete implements Bucket.
func (f *Folder) Delete(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := os.Remove(f.file(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sweep removes what writers that were killed before now left half written.
func (f *Folder) sweep(before time.Time) error {
	left, err := filepath.Glob(filepath.Join(f.dir, "*", ".put-*"))
	if err != nil {
		return err
	}
	return removeOld(left, before)
}

// removeOld removes the files that nobody has written to since a time.
func removeOld(files []string, before time.Time) error {
	for _, f := range files {
		info, err := os.Stat(f)
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(f)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
