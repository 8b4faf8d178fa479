package agentcontracts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every command waits for what packages do while they are initialised, so they
// compile nothing then (docs/BENCHMARKS.md, "A cold call").
func TestPackagesCompileNothingAtStart(t *testing.T) {
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false // called later
				}
				if call, ok := n.(*ast.CallExpr); ok {
					switch name := qualified(call.Fun); name {
					case "regexp.MustCompile", "template.Must", "semver.MustParse":
						t.Errorf("%s: %s runs at the start of every command: use package lazyregexp, or sync.OnceValue", fset.Position(call.Pos()), name)
					}
				}
				return true
			})
		}
	}
}

// A faulty expression is found here, and not by who is the first to use it.
func TestLazyExpressionsCompile(t *testing.T) {
	consts := map[string]ast.Expr{} // by folder and name
	var calls []*ast.CallExpr
	folders := map[*ast.CallExpr]string{}
	fset := token.NewFileSet()
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(fset, f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(filepath.ToSlash(f))
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) {
						consts[dir+"."+name.Name] = n.Values[i]
					}
				}
			case *ast.CallExpr:
				if qualified(n.Fun) == "lazyregexp.New" {
					calls, folders[n] = append(calls, n), dir
				}
			}
			return true
		})
	}
	if len(calls) < 20 {
		t.Fatalf("found only %d expressions: the test looks for another name", len(calls))
	}
	for _, call := range calls {
		expr, ok := text(call.Args[0], folders[call], consts)
		if !ok {
			t.Errorf("%s: write the expression as constant text, so that this test can compile it", fset.Position(call.Pos()))
		} else if _, err := regexp.Compile(expr); err != nil {
			t.Errorf("%s: %v", fset.Position(call.Pos()), err)
		}
	}
}

// text evaluates literals, constants of the folder, and what + joins of them.
func text(e ast.Expr, dir string, consts map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.Ident:
		if value, known := consts[dir+"."+e.Name]; known {
			return text(value, dir, consts)
		}
	case *ast.BinaryExpr:
		left, ok := text(e.X, dir, consts)
		right, also := text(e.Y, dir, consts)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}

// qualified is a selector as it is written, such as regexp.MustCompile.
func qualified(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if p, ok := s.X.(*ast.Ident); ok {
			return p.Name + "." + s.Sel.Name
		}
	}
	return ""
}
