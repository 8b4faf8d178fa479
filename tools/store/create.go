package store

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
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
// vocabulary and probes of from. Its maintainers are its own: those of from are
// left out, and who keeps the new one names them. Its policy says that the
// coverage marks of the agents speak of from. It appears all at once; where a
// registry stands already it is left as it is.
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
	files, err := rules(from)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(16) // together: a disk settles many small files in the time of one
	for _, f := range files {
		group.Go(func() error { return copyFile(from, f, filepath.Join(tmp, filepath.FromSlash(f))) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("making a registry: %w", err)
	}
	if err := ownPolicy(from, tmp); err != nil {
		return fmt.Errorf("making a registry: %w", err)
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

// ownPolicy writes the policy of a registry in dir that was made from another.
func ownPolicy(from *Registry, dir string) error {
	p, err := from.Policy()
	if err != nil {
		return err
	}
	var file struct{ Agents []struct{ ID string } }
	if err := from.ReadJSON(AgentsFile, &file); err != nil {
		return err
	}
	ids := make([]string, len(file.Agents))
	for i, a := range file.Agents {
		ids[i] = a.ID
	}
	p.SchemaVersion, p.Maintainers = contract.SchemaVersion, nil
	if p.Agents == nil {
		p.Agents = []contract.AgentPolicy{}
	}
	p.InheritMarks(ids)
	b, err := contract.Encode(p)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(dir, filepath.FromSlash(PolicyFile)), b)
}

// Alone is a registry in memory of the given records, by their places, and of
// the rules of from: what is judged in it lies beside nothing else. It is an
// error that a record lies in the place of a rule.
func Alone(from *Registry, records map[string][]byte) (*Registry, error) {
	files, err := rules(from)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(place string, content []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: place, Method: zip.Store})
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	}
	for _, f := range files {
		content, err := from.ReadFile(f)
		if err == nil {
			err = add(f, content)
		}
		if err != nil {
			return nil, fmt.Errorf("making a registry: %w", err)
		}
	}
	for place, content := range records {
		if slices.Contains(files, place) {
			return nil, fmt.Errorf("making a registry: a record lies in the place of the rules %s", place)
		}
		if err := add(place, content); err != nil {
			return nil, fmt.Errorf("making a registry: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("making a registry: %w", err)
	}
	fsys, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return nil, fmt.Errorf("making a registry: %w", err)
	}
	return Embedded(fsys), nil
}

// rules are the files by which records are made and judged: all of registry and
// probes but the claims, which speak of records.
func rules(from *Registry) ([]string, error) {
	files, err := from.Walk("registry", "")
	if err != nil {
		return nil, err
	}
	probes, err := from.Walk("probes", "")
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return f == "registry/support-matrix.json" })
	return append(files, probes...), nil
}
