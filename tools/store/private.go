package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// StateDir returns the private folder of this program: $XDG_STATE_HOME (or its
// default) /agent-contracts. For root it is /var/lib/agent-contracts, because
// children run as another user and must be able to reach their run folders
// below it.
func StateDir(getenv func(string) string) (string, error) {
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "agent-contracts"), nil
	}
	if runtime.GOOS != "windows" && os.Geteuid() == 0 {
		return "/var/lib/agent-contracts", nil
	}
	if runtime.GOOS == "windows" {
		if d := getenv("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "agent-contracts"), nil
		}
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("finding the private state folder: neither XDG_STATE_HOME nor HOME is set")
	}
	return filepath.Join(home, ".local", "state", "agent-contracts"), nil
}

// MakeStateDir makes the private folder of this program. Every user may walk
// through it and nobody list it: CLIs that captures start as another user have
// their run folders below it, whatever made it first.
func MakeStateDir(dir string) error { return os.MkdirAll(dir, 0o711) }

// MakePrivateDir makes a folder directly below the private one, for its owner
// only.
func MakePrivateDir(dir string) error {
	if err := MakeStateDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// WritePrivate replaces a file of the private side atomically, readable by its
// owner only.
func WritePrivate(path string, b []byte) error { return WriteAtomic(path, b, 0o600) }
