package store

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
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

// RawStore keeps raw bundles by the hash of their bytes, readable by their
// owner only. Nothing in it ever enters a registry.
type RawStore struct{ dir string }

// RawMeta says what a raw bundle is and how long it is kept.
type RawMeta struct {
	SHA256      contract.Digest `json:"sha256"`
	Bytes       int64           `json:"bytes"`
	StoredAt    time.Time       `json:"stored_at"`
	RetainUntil time.Time       `json:"retain_until"`
	Agent       string          `json:"agent"`
	CLIVersion  string          `json:"cli_version"`
	Probe       string          `json:"probe"`
}

// RawRetention is how long a raw bundle is kept at least.
const RawRetention = 180 * 24 * time.Hour

// OpenRaw opens the raw store below the private state folder and makes it on
// first use.
func OpenRaw(stateDir string) (*RawStore, error) {
	// The state folder itself may be walked through, not listed: children of
	// another user have their workspaces below it.
	if err := os.MkdirAll(stateDir, 0o711); err != nil {
		return nil, fmt.Errorf("opening the private raw store: %w", err)
	}
	dir := filepath.Join(stateDir, "raw")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the private raw store: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the private raw store: %w", err)
	}
	return &RawStore{dir: dir}, nil
}

func (s *RawStore) path(d contract.Digest, ext string) string {
	return filepath.Join(s.dir, d.Hex()[:2], d.Hex()+ext)
}

// Put moves the finished bundle file into the store. Its bytes must hash to
// meta.SHA256; a bundle that is already there keeps the later retention date.
func (s *RawStore) Put(bundle string, meta RawMeta) error {
	b, err := os.ReadFile(bundle)
	if err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	if contract.Sum(b) != meta.SHA256 {
		return fmt.Errorf("storing a raw bundle: its bytes are not those that were recorded")
	}
	meta.Bytes = int64(len(b))
	if old, err := s.Stat(meta.SHA256); err == nil && old.RetainUntil.After(meta.RetainUntil) {
		meta.RetainUntil = old.RetainUntil
	}
	if err := os.MkdirAll(filepath.Dir(s.path(meta.SHA256, "")), 0o700); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	if err := WritePrivate(s.path(meta.SHA256, ".bundle"), b); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	j, err := contract.Encode(meta)
	if err != nil {
		return err
	}
	if err := WritePrivate(s.path(meta.SHA256, ".json"), j); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	return nil
}

// Begin returns the place of a new bundle for a recording that ends with Keep.
// One that never does stays there, readable up to where it was cut.
func (s *RawStore) Begin() (string, error) {
	dir := filepath.Join(s.dir, "begun")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("storing a raw bundle: %w", err)
	}
	return filepath.Join(dir, rand.Text()+".bundle"), nil
}

// Keep is Put for a finished bundle at a place of Begin, however large: it only
// gets its name. meta.SHA256 is what its writer returned.
func (s *RawStore) Keep(bundle string, meta RawMeta) error {
	info, err := os.Stat(bundle)
	if err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	meta.Bytes = info.Size()
	if err := os.MkdirAll(filepath.Dir(s.path(meta.SHA256, "")), 0o700); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	if err := os.Rename(bundle, s.path(meta.SHA256, ".bundle")); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	j, err := contract.Encode(meta)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.path(meta.SHA256, ".json"), j, 0o600); err != nil {
		return fmt.Errorf("storing a raw bundle: %w", err)
	}
	return nil
}

// WritePrivate replaces a file of the private side atomically, readable by its
// owner only.
func WritePrivate(path string, b []byte) error { return WriteAtomic(path, b, 0o600) }

// Stat returns what is known of a bundle, or an error that wraps
// fs.ErrNotExist.
func (s *RawStore) Stat(d contract.Digest) (RawMeta, error) {
	var m RawMeta
	b, err := os.ReadFile(s.path(d, ".json"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return m, fmt.Errorf("raw bundle %s is not on this machine: %w", d.Short(), fs.ErrNotExist)
		}
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

// Path returns the bundle's file, for transcript.OpenBundle.
func (s *RawStore) Path(d contract.Digest) string { return s.path(d, ".bundle") }
