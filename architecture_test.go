package agentcontracts_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/nexu-io/open-design-agent-contracts"

// levels is the import order of docs/ARCHITECTURE.md: a package may import
// packages of a lower level, and of its own level only where siblings says so.
var levels = [][]string{
	{"schemas", "tools/lazyregexp"},
	{"tools/contract"},
	{"tools/transcript", "tools/store", "tools/machine"},
	{"tools/harness", "tools/provider", "tools/install", "tools/agents", "tools/record", "tools/requests"},
	{"tools/compare", "tools/normalize", "tools/redact"},
	{"tools/replay"},
	{"tools/capture", "tools/bisect", "tools/discover", "tools/merge", "tools/sourcescan", "tools/recordings"},
	{"tools/compat", "tools/matrix", "tools/health", "tools/plan", "tools/review", "tools/jobs", "tools/play"},
	{"tools/validate", "tools/scaffold", "tools/consume", "tools/campaign"},
	{"tools/serve", "tools/site", "tools/publish", "tools/report", "tools/evidence", "tools/mcp", "tools/conformance"},
	{".", "tools/cli"},
	{"cmd/agent-contracts", ".ci"},
}

// siblings lists the imports inside one level.
var siblings = map[[2]string]bool{
	{"tools/install", "tools/agents"}: true, // what to install is part of an agent's definition
	{"tools/bisect", "tools/capture"}: true, // what captures a release
	{"tools/cli", "."}:                true, // the embedded registry
	{"tools/health", "tools/matrix"}:  true, // what counts as a dispute
	{"tools/compat", "tools/matrix"}:  true, // what is claimed about an installed version
	{"tools/merge", "tools/capture"}:  true, // what a capture is to a registry
	{"tools/plan", "tools/matrix"}:    true, // what counts, and what is confirmed (docs/decisions/0015)
	{"tools/plan", "tools/health"}:    true, // which runs are worth repeating
	{"tools/serve", "tools/site"}:     true, // the pages and documents that are served
}

// place returns the level of a package's folder and the tool it belongs to.
func place(dir string) (level int, tool string) {
	for i, l := range levels {
		for _, t := range l {
			if dir == t || t != "." && strings.HasPrefix(dir, t+"/") {
				return i, t
			}
		}
	}
	return -1, ""
}

func goFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == ".pending") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(p, ".go") {
			out = append(out, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("found only %d Go files: the test looks in the wrong place", len(out))
	}
	return out
}

func TestImportsGoDown(t *testing.T) {
	for _, f := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.ToSlash(filepath.Dir(f))
		from, fromTool := place(dir)
		if from < 0 {
			t.Errorf("%s: folder %s has no place in the import order (levels in this test, docs/ARCHITECTURE.md)", f, dir)
			continue
		}
		if strings.HasSuffix(f, "_test.go") {
			continue // tests may look anywhere
		}
		for _, imp := range parsed.Imports {
			p := strings.Trim(imp.Path.Value, `"`)
			if p != module && !strings.HasPrefix(p, module+"/") {
				continue
			}
			target := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
			if target == "" {
				target = "."
			}
			to, toTool := place(target)
			if to < from || toTool == fromTool || to == from && siblings[[2]string{fromTool, toTool}] {
				continue
			}
			t.Errorf("%s imports %s: imports go down the list in docs/ARCHITECTURE.md, never up or sideways", f, target)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b, []byte("\n")); n >= 400 && !bytes.Contains(append([]byte("\n"), b...), []byte("\n// Code generated ")) {
			t.Errorf("%s has %d lines: split it (limit 400)", f, n)
		}
	}
}

func TestExportsAreDocumented(t *testing.T) {
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range undocumented(parsed) {
			t.Errorf("%s: exported %s has no comment", f, name)
		}
	}
}

func undocumented(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
						names = append(names, s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
							names = append(names, n.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// exportedReceiver reports whether a function is reachable from outside: a
// method of an unexported type is not.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

// Every package says what it owns, once.
func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		dir := filepath.Dir(f)
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || parsed.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package in %s has no package comment", dir)
		}
	}
}

// The repository names no machine path and no registry host (they differ from
// machine to machine), and no folder of shared material is copied in.
func TestNothingLocalIsCommitted(t *testing.T) {
	bad := []string{"/wo" + "rk/main", "/wo" + "rk/shared", "/wo" + "rk/.library", "regis" + "try.npmjs", "proxy.gol" + "ang"}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == ".pending") {
			return fs.SkipDir
		}
		if d.IsDir() || d.Name() == "go.sum" || strings.HasSuffix(p, ".png") {
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, w := range bad {
			if bytes.Contains(b, []byte(w)) {
				t.Errorf("%s contains %q", p, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
