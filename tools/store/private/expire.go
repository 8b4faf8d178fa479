package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Expire removes the bundles whose time is over and keeps what is known of
// them, their hash above all. dry only says what it would remove. It can be
// interrupted anywhere and repeated. It goes on after a bundle that fails: what
// was removed is returned with the errors of the others, among them a *StrayError
// for each bundle of which nobody knows how long it is kept.
func (s *Store) Expire(ctx context.Context, now time.Time, dry bool) ([]Meta, error) {
	all, sealed, failed := s.list(ctx)
	var out []Meta
	for _, m := range all {
		there := sealed[sealedName(m.SHA256)]
		delete(sealed, sealedName(m.SHA256))
		if m.ExpiredAt != nil && !there || m.ExpiredAt == nil && m.RetainUntil.After(now) {
			continue
		}
		if !dry {
			if err := s.expire(ctx, &m, now); err != nil {
				failed = errors.Join(failed, fmt.Errorf("removing raw bundle %s: %w", m.SHA256.Short(), err))
				continue
			}
		}
		out = append(out, m)
	}
	failed = errors.Join(failed, s.strays(ctx, sealed))
	if dry {
		return out, failed
	}
	return out, errors.Join(failed, s.sweep(now))
}

// strays names the ciphertexts without a record, which would never expire.
func (s *Store) strays(ctx context.Context, sealed map[string]bool) (out error) {
	for _, name := range slices.Sorted(maps.Keys(sealed)) {
		_, err := s.meta(ctx, strings.TrimSuffix(name, ".age")+".json")
		if errors.Is(err, fs.ErrNotExist) { // and not one that is damaged, or was stored meanwhile
			out = errors.Join(out, &StrayError{name})
		}
	}
	return out
}

// StrayError says that nothing is known of a bundle that is there.
type StrayError struct{ Name string }

// Error implements error.
func (e *StrayError) Error() string {
	return "the private store does not say how long " + e.Name + " is kept: the record beside it is missing"
}

// expire removes the bundle first: what says that it is gone must be true.
func (s *Store) expire(ctx context.Context, m *Meta, now time.Time) error {
	if err := s.bucket.Delete(ctx, sealedName(m.SHA256)); err != nil {
		return err
	}
	at := now.UTC().Truncate(time.Second)
	m.ExpiredAt = &at
	return s.putMeta(ctx, *m)
}

// abandoned is how old a half-written file is before its writer counts as dead.
const abandoned = 24 * time.Hour

// sweep removes what writers that were killed left: ciphertexts on their way
// after a day, recordings when a bundle of their age would go too.
func (s *Store) sweep(now time.Time) error {
	sealed, err1 := filepath.Glob(filepath.Join(s.begun, "*.age"))
	begun, err2 := filepath.Glob(filepath.Join(s.begun, "*.bundle"))
	err := errors.Join(err1, err2, removeOld(sealed, now.Add(-abandoned)), removeOld(begun, now.Add(-Retention)))
	if s.folder != nil {
		err = errors.Join(err, s.folder.sweep(now.Add(-abandoned)))
	}
	return err
}
