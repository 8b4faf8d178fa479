package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leakgate"
)

// scan runs the leak gate over files and folders.
func (a *app) scan(f format, places []string) error {
	program := leakgate.Find(a.env.Getenv)
	g, err := leakgate.Open(program)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err, Hint: "AGENT_CONTRACTS_GITLEAKS names a program that does not start: build it again (docs/REDACTION.md) or unset it"}
	}
	found, files := []leakgate.Finding{}, 0
	for _, p := range places {
		err := eachFile(p, func(name string) error {
			list, err := a.scanFile(g, name)
			files++
			found = append(found, list...)
			return err
		})
		if err != nil {
			g.Close()
			return err
		}
	}
	if err := g.Close(); err != nil {
		return err
	}
	if err := a.printFindings(f, found); err != nil {
		return err
	}
	second := "gitleaks too"
	if program == "" {
		second = "without gitleaks, which is not installed (docs/REDACTION.md)"
	}
	a.talk("%s scanned, %s: %s", count(files, "file"), second, count(len(found), "finding"))
	if len(found) > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func (a *app) scanFile(g *leakgate.Gate, name string) ([]leakgate.Finding, error) {
	var r io.Reader = a.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	return g.File(name, r)
}

func (a *app) printFindings(f format, found []leakgate.Finding) error {
	switch f {
	case "json":
		return a.printJSON(found)
	case "sarif":
		b, err := contract.Encode(leakgate.SARIF(found, contract.ToolVersion))
		if err != nil {
			return err
		}
		_, err = a.env.Stdout.Write(b)
		return err
	}
	for _, x := range found {
		place := fmt.Sprintf("%s:%d:%d-%d", oneLine(x.File), x.Line, x.Start, x.End)
		if x.Engine == leakgate.EngineGitleaks {
			place = fmt.Sprintf("%s:%d", oneLine(x.File), x.Line)
			x.View = "gitleaks, " + x.View
		}
		if _, err := fmt.Fprintf(a.env.Stdout, "%s %s %s\n", x.Rule, place, x.View); err != nil {
			return err
		}
	}
	return nil
}

// eachFile calls do with a file, or with every regular file below a folder in
// the order of their names.
func eachFile(place string, do func(name string) error) error {
	if place == "-" {
		return do(place)
	}
	return filepath.WalkDir(place, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git" && p != place:
			return fs.SkipDir
		case p == place && !d.IsDir(), d.Type().IsRegular():
			return do(p)
		}
		return nil
	})
}
