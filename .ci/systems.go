//go:build ignore

// Systems says whether the module compiles for other systems:
//
//	go run .ci/systems.go darwin windows
//
// It checks the types of every package and of all that it imports, from source.
// A build for another system compiles the standard library and every dependency
// for it, which takes a machine with an empty cache three minutes for each.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

func main() {
	failed := len(os.Args) < 2
	for _, system := range os.Args[1:] {
		n, err := check(system)
		if err != nil {
			fmt.Fprintf(os.Stderr, "the module does not compile for %s:\n%v\n", system, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %d packages\n", system, n)
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list describes it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

// check returns how many packages of the module were checked.
func check(system string) (int, error) {
	list := exec.Command("go", "list", "-e", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,DepOnly,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	n, done, fset := 0, packages{"unsafe": types.Unsafe}, token.NewFileSet()
	var faults []error
	for d := json.NewDecoder(out); ; { // a package comes after all that it imports
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if !p.DepOnly {
			n++
		}
		if err := done.add(fset, p); err != nil {
			faults = append(faults, err)
		}
	}
	if n == 0 {
		faults = append(faults, errors.New("no package is built for it"))
	}
	return n, errors.Join(append(faults, list.Wait())...)
}

// packages are those that were checked, by their paths.
type packages map[string]*types.Package

func (done packages) add(fset *token.FileSet, p listed) error {
	if p.Error != nil {
		return errors.New(p.Error.Err)
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	var faults []error
	conf := types.Config{
		Importer:         importer{done, p.ImportMap},
		Sizes:            types.SizesFor("gc", runtime.GOARCH),
		IgnoreFuncBodies: p.DepOnly, // their authors compiled them
		Error:            func(err error) { faults = append(faults, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	done[p.ImportPath], _ = conf.Check(p.ImportPath, fset, files, nil)
	return errors.Join(faults...)
}

// importer finds what one package imports; some paths stand for vendored ones.
type importer struct {
	packages
	vendored map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.vendored[path]; ok {
		path = to
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}
