package cli

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// finding is one place that looks like a secret, without the secret.
type finding struct {
	Rule  string `json:"rule"`
	File  string `json:"file"`
	Line  int    `json:"line"` // from 1
	Start int    `json:"start"`
	End   int    `json:"end"`
	View  string `json:"view"`
}

// scan runs the leak scan over files and folders.
func (a *app) scan(f format, places []string) error {
	scanner := leak.NewScanner(nil)
	found, files := []finding{}, 0
	for _, p := range places {
		err := eachFile(p, func(name string) error {
			b, err := a.readInput(name)
			if err != nil {
				return err
			}
			files++
			for _, x := range scanner.Scan(b) {
				found = append(found, finding{x.Rule, name, x.Line, x.Start, x.End, x.View})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := a.printFindings(f, found); err != nil {
		return err
	}
	a.talk("%s scanned: %s", count(files, "file"), count(len(found), "finding"))
	if len(found) > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func (a *app) printFindings(f format, found []finding) error {
	if f == "json" {
		return a.printJSON(found)
	}
	for _, x := range found {
		if _, err := fmt.Fprintf(a.env.Stdout, "%s %s:%d:%d-%d %s\n", x.Rule, oneLine(x.File), x.Line, x.Start, x.End, x.View); err != nil {
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
