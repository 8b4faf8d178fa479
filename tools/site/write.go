package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// MaxFile is the size that no written file exceeds: pages are meant for slow
// lines too.
const MaxFile = 100_000

// marker is the file by which a folder is known to be one of ours.
const marker = ".agent-contracts-site"

// Write makes the site's files in a folder and returns how many there are. The
// folder is replaced as a whole, when every file is written; one that exists and
// is not such a site is refused.
func (s *Site) Write(ctx context.Context, dir string) (int, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	if err := replaceable(dir); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	defer func() { _ = os.RemoveAll(fresh) }()
	paths := s.Paths()
	if err := s.writeAll(ctx, fresh, paths); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(fresh, marker), nil, 0o644); err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	if err := swap(fresh, dir); err != nil {
		return 0, fmt.Errorf("writing the site: %w", err)
	}
	return len(paths), nil
}

// replaceable refuses a folder that holds something else.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("writing the site: %w", err)
	case len(entries) == 0, slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == marker }):
		return nil
	}
	return &NotASiteError{Dir: dir}
}

// NotASiteError says that a folder holds something else than a site.
type NotASiteError struct{ Dir string }

// Error implements error.
func (e *NotASiteError) Error() string {
	return fmt.Sprintf("%s is not empty and was not written by this command", e.Dir)
}

func (s *Site) writeAll(ctx context.Context, dir string, paths []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, at := range paths {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f, err := s.Get(at)
			if err != nil {
				return err
			}
			if len(f.Body) > MaxFile {
				return fmt.Errorf("/%s has %d bytes; no file of a site has more than %d", at, len(f.Body), MaxFile)
			}
			name := at
			if at == "" || strings.HasSuffix(at, "/") {
				name += "index.html"
			}
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			return os.WriteFile(name, f.Body, 0o644)
		})
	}
	return group.Wait()
}

// swap puts a folder in the place of another one.
func swap(fresh, dir string) error {
	old := fresh + "-old"
	err := os.Rename(dir, old)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		_ = os.Rename(old, dir)
		return err
	}
	return os.RemoveAll(old)
}
