package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

func (a *app) validateCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Check the registry, or the files below PATH",
		Long: `Validate checks every record by itself, every reference between records, and
everything that can be derived again: fixture to shape, fixture to goldens,
records to matrix. With PATH it checks those files and what they refer to, but
not what only the whole registry tells (orphans, coverage, the matrix).

Each problem is one line: CODE severity file json-pointer message. "-" stands
for the whole record. agent-contracts explain CODE says what a rule asks for.

Exit codes: 0 nothing but warnings; 1 errors; 2 usage; 3 a file cannot be read.`,
		Example: `  agent-contracts validate
  agent-contracts validate registry/agents.json observations/codex
  agent-contracts validate --format json`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.validate(f, args)
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) validate(f format, args []string) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	places := make([]string, len(args))
	for i, p := range args {
		if places[i], err = a.place(reg, p); err != nil {
			return err
		}
	}
	r, err := validate.Run(reg, places)
	if err != nil {
		return err
	}
	if err := a.printProblems(f, r); err != nil {
		return err
	}
	a.summarize(r)
	if !r.OK() {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func (a *app) printProblems(f format, r *validate.Result) error {
	if f == "json" {
		return a.printJSON(r)
	}
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(a.env.Stdout, p); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) summarize(r *validate.Result) {
	files, errs := 0, 0
	for _, n := range r.Checked {
		files += n
	}
	for _, p := range r.Problems {
		if p.Severity == contract.SeverityError {
			errs++
		}
	}
	a.talk("%s checked: %s, %s", count(files, "file"), count(errs, "error"), count(len(r.Problems)-errs, "warning"))
	if len(r.Problems) > 0 {
		a.talk("hint: agent-contracts explain %s", r.Problems[0].Code)
	}
}

// place turns a path of the user's into a place in the registry. A path that
// exists counts from the working folder, any other from the registry.
func (a *app) place(reg *store.Registry, path string) (string, error) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(a.env.Dir, path)
	}
	if _, err := os.Lstat(full); err == nil {
		rel, err := relative(reg.Dir(), full)
		if err != nil {
			return "", &Exit{Code: ExitUsage, Err: fmt.Errorf("%s is not in the registry %s", path, reg.Dir()), Hint: "name its registry with --registry DIR"}
		}
		return rel, nil
	}
	rel := filepath.ToSlash(filepath.Clean(path))
	if files, err := reg.Walk(rel, ""); err != nil || len(files) == 0 {
		return "", &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("there is no file at %s, nor at that place in the registry", path)}
	}
	return rel, nil
}

// relative returns the place of a file below a folder, whatever symbolic links
// lead to the two.
func relative(dir, file string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(dir, file)
	if err == nil && (rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))) {
		err = os.ErrInvalid
	}
	return filepath.ToSlash(rel), err
}

// count spells a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
