package agentcontracts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sweepsStep = regexp.MustCompile(`(?m)^go test -vet=off -count=1 (.*) -run '\^\((.*)\)\$'$`)

// A test that does less under the race detector is whole in the sweeps of
// .ci/run, which have none.
func TestSweepsAreWholeSomewhere(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	step := sweepsStep.FindStringSubmatch(string(script))
	if step == nil {
		t.Fatal(".ci/run has no step of sweeps")
	}
	packages, names := strings.Fields(step[1]), strings.Split(step[2], "|")
	var found []string
	for _, f := range goFiles(t) {
		if !strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !partOnly(fn) {
				continue
			}
			found = append(found, fn.Name.Name)
			if !slices.Contains(packages, "./"+path.Dir(f)) || !slices.Contains(names, fn.Name.Name) {
				t.Errorf("%s of %s does a part only under the race detector, and .ci/run has it nowhere else: add it to the sweeps", fn.Name.Name, path.Dir(f))
			}
		}
	}
	for _, name := range names {
		if !slices.Contains(found, name) {
			t.Errorf(".ci/run sweeps with %s, which does all of it anyway or is not there", name)
		}
	}
}

// partOnly reports whether a function asks for the race detector.
func partOnly(fn *ast.FuncDecl) (yes bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			yes = yes || s.Sel.Name == "Raced"
			return false // w.raced() is a method
		}
		id, ok := n.(*ast.Ident)
		yes = yes || ok && (id.Name == "raced" || id.Name == "Raced") && fn.Name != id
		return true
	})
	return yes
}
