package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// UserDir returns the user's own registry, which captures outside any checkout
// write to: $XDG_DATA_HOME (or its default) /agent-contracts/registry
// (FINE-PRINT 26).
func UserDir(getenv func(string) string) (string, error) {
	if d := getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "agent-contracts", "registry"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("finding the user's registry: neither XDG_DATA_HOME nor HOME is set")
	}
	return filepath.Join(home, ".local", "share", "agent-contracts", "registry"), nil
}

// Create makes a registry without records in dir, with the agents, families,
// vocabulary and probes of from. It appears all at once; where a registry
// stands already it is left as it is.
func Create(dir string, from *Registry) error {
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(AgentsFile))); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("making a registry: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return fmt.Errorf("making a registry: %w", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	for _, folder := range []string{"registry", "probes"} {
		files, err := from.Walk(folder, "")
		if err != nil {
			return err
		}
		for _, f := range files {
			if f == "registry/support-matrix.json" {
				continue // it claims what this registry has no records of
			}
			if err := copyFile(from, f, filepath.Join(tmp, filepath.FromSlash(f))); err != nil {
				return fmt.Errorf("making a registry: %w", err)
			}
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("making a registry: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a registry: %w", err)
	}
	return nil
}

func copyFile(from *Registry, rel, to string) error {
	b, err := from.ReadFile(rel)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return writeSynced(to, b)
}
