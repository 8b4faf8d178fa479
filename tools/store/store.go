// Package store reads and writes a registry: a folder of JSON records (or the
// one embedded in the binary, read-only). It owns where a record lives
// (FINE-PRINT 3), that writes are atomic, and that a crash at any moment leaves
// the registry as it was before or after a transaction, never between.
//
// It also says where the private side is, outside every registry (FINE-PRINT
// 26); what lies there is encrypted and belongs to package private.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// AgentsFile is the file that marks a folder as a registry.
const AgentsFile = "registry/agents.json"

// FamiliesFile has the rules of every protocol family and dialect.
const FamiliesFile = "registry/families.json"

// PolicyFile has what people decided (FINE-PRINT 2).
const PolicyFile = "registry/policy.json"

// Registry is a registry opened for reading; on-disk ones can be written by a
// Transaction. Paths in a registry are relative and use forward slashes.
type Registry struct {
	dir  string // "" for the embedded registry
	fsys fs.FS
}

// NotRegistryError says that a folder is not a registry.
type NotRegistryError struct{ Dir string }

// Error implements error.
func (e *NotRegistryError) Error() string {
	return fmt.Sprintf("%s is not a registry: it has no %s", e.Dir, AgentsFile)
}

// Find returns the nearest folder, from start upwards, that is a registry.
func Find(start string) (dir string, found bool) {
	dir, err := filepath.Abs(start)
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(AgentsFile))); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Open opens the registry in dir. A transaction that a crash interrupted is
// finished or removed first, if the folder can be written.
func Open(dir string) (*Registry, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening registry %q: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(abs, filepath.FromSlash(AgentsFile))); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, &NotRegistryError{Dir: dir}
		}
		return nil, fmt.Errorf("opening registry: %w", err)
	}
	if err := recoverPending(abs); err != nil {
		return nil, fmt.Errorf("opening registry %q: %w", dir, err)
	}
	return &Registry{dir: abs, fsys: os.DirFS(abs)}, nil
}

// Embedded returns a read-only registry over the files of the binary.
func Embedded(fsys fs.FS) *Registry { return &Registry{fsys: fsys} }

// Dir returns the registry's folder, or "" for the embedded one.
func (r *Registry) Dir() string { return r.dir }

// ReadOnly reports whether the registry is the embedded one.
func (r *Registry) ReadOnly() bool { return r.dir == "" }

// Versioned reports whether git keeps the registry: its folder or one around it
// is a work tree.
func (r *Registry) Versioned() bool {
	for dir := r.dir; dir != ""; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}

// FS returns the registry's files.
func (r *Registry) FS() fs.FS { return r.fsys }

// ReadFile returns one file of the registry.
func (r *Registry) ReadFile(rel string) ([]byte, error) {
	b, err := fs.ReadFile(r.fsys, rel)
	if err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	return b, nil
}

// Exists reports whether the registry has the file.
func (r *Registry) Exists(rel string) bool {
	_, err := fs.Stat(r.fsys, rel)
	return err == nil
}

// ReadJSON decodes one file into v and names the file when that fails.
func (r *Registry) ReadJSON(rel string, v any) error {
	b, err := r.ReadFile(rel)
	if err != nil {
		return err
	}
	return Decode(rel, b, v)
}

// BrokenError says that a file of a registry is not what it should be.
type BrokenError struct {
	File string
	Line int // 0 when the file as a whole is meant
	Err  error
}

// Error implements error.
func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("reading %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("reading %s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// Decode decodes the JSON of a file of the registry. Its error is a
// *BrokenError.
func Decode(rel string, b []byte, v any) error {
	err := contract.Unmarshal(b, v)
	if err == nil {
		return nil
	}
	broken := &BrokenError{File: rel, Err: err}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	} else if errors.As(err, &kind) {
		offset = kind.Offset
	}
	if 0 <= offset && offset <= int64(len(b)) {
		broken.Line = 1 + bytes.Count(b[:offset], []byte("\n"))
	}
	return broken
}

// Families returns registry/families.json.
func (r *Registry) Families() (*contract.Families, error) {
	f := &contract.Families{}
	return f, r.ReadJSON(FamiliesFile, f)
}

// Policy returns what people decided; nothing where the registry has no such
// file.
func (r *Registry) Policy() (*contract.Policy, error) {
	p := &contract.Policy{}
	if !r.Exists(PolicyFile) {
		return p, nil
	}
	return p, r.ReadJSON(PolicyFile, p)
}

// Shape returns the shape with the signature, or an error that wraps
// fs.ErrNotExist.
func (r *Registry) Shape(f contract.ProtocolFamily, sig contract.Digest) (*contract.Shape, error) {
	s := &contract.Shape{}
	return s, r.ReadJSON(contract.ShapePath(f, sig), s)
}

// Observed is an observation with its place.
type Observed struct {
	Path string
	contract.Observation
}

// Observations returns the observations of an agent, or of all agents when
// agent is "", sorted by path. A record that cannot be read is an error.
func (r *Registry) Observations(agent string) ([]Observed, error) {
	files, err := r.Walk(path.Join("observations", agent), ".observation.json")
	if err != nil {
		return nil, err
	}
	out := make([]Observed, len(files))
	err = r.ReadEach(files, func(i int, text []byte) error {
		out[i].Path = files[i]
		return Decode(files[i], text, &out[i].Observation)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
