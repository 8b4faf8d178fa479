package sourcescan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

// Ask runs a short command of an installed program in a sandbox and returns what
// it printed and the files that it wrote.
type Ask func(ctx context.Context, in *install.Installed, args []string, timeout time.Duration) (stdout, stderr []byte, files map[string][]byte, err error)

// askTimeout bounds one question to a program.
const askTimeout = 60 * time.Second

// Side is one of two versions.
type Side struct {
	Name    string // version, or the folder as it was named
	Version string // "" for a folder
	Source  string // npm:<package>@<version>, or folder:<name>
	*Surface
	// Schemas is the part of the surface that comes from the JSON Schemas which
	// the program wrote about its own protocol: the vendor's own document.
	Schemas *Surface
	// Notes say what could not be looked at.
	Notes []string
}

// ErrNoSources says that a folder has nothing in it that could be compared.
var ErrNoSources = errors.New("holds no TypeScript, Rust, Go, JSON Schema or JavaScript")

// ReadFolder reads a folder of sources.
func ReadFolder(dir string) (*Side, error) {
	s, err := Folder(dir)
	if err == nil && s.Files == 0 {
		err = fmt.Errorf("%s %w", dir, ErrNoSources)
	}
	return &Side{Name: dir, Source: "folder:" + filepath.Base(dir), Surface: s, Schemas: newSurface()}, err
}

// ReadRelease reads an installed release: its package, the program in it, and
// what the program says about itself. A question that it does not answer is a
// note.
func ReadRelease(ctx context.Context, a *contract.Agent, in *install.Installed, ask Ask) (*Side, error) {
	side := &Side{Name: in.Version, Version: in.Version, Source: in.Source, Schemas: newSurface()}
	pkg, _, _ := cutLast(strings.TrimPrefix(in.Source, "npm:"), "@")
	modules := filepath.Join(in.Dir, "node_modules")
	s, err := Folder(filepath.Join(modules, filepath.FromSlash(pkg)))
	if err != nil {
		return nil, err
	}
	side.Surface = s
	if in.Launcher == install.LauncherNative {
		info, err := os.Stat(in.Path)
		if err != nil {
			return nil, fmt.Errorf("reading the program: %w", err)
		}
		if info.Size() > maxFile {
			side.Notes = append(side.Notes, "the program is too large to be searched")
		} else if b, err := os.ReadFile(in.Path); err != nil {
			return nil, fmt.Errorf("reading the program: %w", err)
		} else {
			s.bundle("program", b)
			s.Files++
		}
	}
	help, schema := [][]string{{"--help"}}, []string(nil)
	if a.Source != nil {
		schema = a.Source.JSONSchema
		if len(a.Source.Help) > 0 {
			help = a.Source.Help
		}
	}
	for _, args := range help {
		stdout, stderr, _, err := ask(ctx, in, args, askTimeout)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			side.Notes = append(side.Notes, strings.Join(args, " ")+" could not be asked")
			continue
		}
		s.help(strings.Join(args[:len(args)-1], " "), slices.Concat(stdout, []byte("\n"), stderr))
	}
	if schema != nil {
		_, _, files, err := ask(ctx, in, schema, askTimeout)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || len(files) == 0 {
			side.Notes = append(side.Notes, "it writes no JSON Schemas")
		}
		for name, b := range files {
			side.Schemas.jsonSchema(name, b)
			side.Schemas.Files++
		}
	}
	return side, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i > 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Report is the difference between two versions.
type Report struct {
	SchemaVersion int      `json:"schema_version"`
	Agent         string   `json:"agent"`
	From          string   `json:"from"`
	To            string   `json:"to"`
	Refs          []string `json:"source_refs"`
	// Derived are changes in sources, Documented those in the schemas that the
	// vendor's own program writes.
	Derived    []Change `json:"derived"`
	Documented []Change `json:"documented"`
	Notes      []string `json:"notes"`
	to         *Side
}

// Scan compares two sides. A side that has no schemas says nothing about them.
func Scan(agent string, a, b *Side) *Report {
	r := &Report{SchemaVersion: contract.SchemaVersion, Agent: agent, From: a.Name, To: b.Name, Refs: []string{a.Source, b.Source}, Documented: []Change{}, Notes: []string{}, to: b}
	was, is := a.Surface, b.Surface
	if len(was.Flags) == 0 || len(is.Flags) == 0 {
		was, is = withoutFlags(was), withoutFlags(is)
	}
	r.Derived = Compare(was, is)
	if a.Schemas.Files > 0 && b.Schemas.Files > 0 {
		r.Documented = Compare(a.Schemas, b.Schemas)
	}
	for _, s := range []*Side{a, b} {
		for _, n := range s.Notes {
			r.Notes = append(r.Notes, s.Name+": "+n)
		}
	}
	return r
}

func withoutFlags(s *Surface) *Surface {
	out := *s
	out.Flags = map[string]string{}
	return &out
}

// Found reports whether anything differs.
func (r *Report) Found() bool { return len(r.Derived)+len(r.Documented) > 0 }
