package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/conformance"
)

type conformanceFlags struct {
	profile string
	list    bool
	json    bool
	format  format
}

func (a *app) conformanceCommand() *cobra.Command {
	f := &conformanceFlags{}
	c := &cobra.Command{
		Use:   "conformance -- EXECUTABLE",
		Short: "Judge a program that claims the machine-result contract",
		Long: `Conformance runs a table of numbered requirements, one for each normative sentence
of the machine-result contract that can be seen from outside, against any
executable, with fresh processes for each. What the profile has no entry for is
not tested, and that is not a pass; what this machine cannot make happen is
blocked. Without --profile the executable is taken for an agent-contracts.

The judged program really submits, runs and kills work, in folders of its own.

Exit codes: 0 every requirement holds; 1 one does not, or was not tested; 2
usage; 3 the executable cannot be judged here.`,
		Example: `  agent-contracts conformance -- $(command -v agent-contracts)
  agent-contracts conformance --profile docs/conformance-li.json -- /opt/li/bin/li
  agent-contracts conformance --list`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.conformance(c, f, args) },
	}
	c.Flags().StringVar(&f.profile, "profile", "", "how the executable spells its commands (default: as this program does)")
	c.Flags().BoolVar(&f.list, "list", false, "print the requirements and judge nothing")
	c.Flags().BoolVar(&f.json, "json", false, "the same as --format json")
	a.formatFlag(c, &f.format, "text", "json")
	return c
}

func (a *app) conformance(c *cobra.Command, f *conformanceFlags, args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	if f.json {
		f.format = "json"
	}
	if f.list {
		return a.printRequirements(f.format)
	}
	if len(args) != 1 {
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("name one executable"), Hint: "for example: agent-contracts conformance -- " + thisProgram()}
	}
	path, err := exec.LookPath(args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err}
	}
	profile := conformance.Ours()
	if f.profile != "" {
		if profile, err = conformance.LoadProfile(f.profile); err != nil {
			return &Exit{Code: ExitUsage, Err: err}
		}
	}
	report, err := conformance.Run(c.Context(), profile, conformance.Executables(profile, path), func(r conformance.Result) {
		a.talk("%-7s %s", r.ID, oneLine(string(r.Verdict)+" "+r.Why))
	})
	if err != nil {
		return &Exit{Code: ExitCannotKnow, Err: err}
	}
	return a.printConformance(f.format, report)
}

func (a *app) printRequirements(f format) error {
	all := conformance.Requirements()
	if f == "json" {
		return a.printJSON(all)
	}
	rows := [][]string{{"id", "requirement", "specification"}}
	for _, r := range all {
		rows = append(rows, []string{r.ID, r.Sentence, r.Cites})
	}
	return table(a.env.Stdout, rows)
}

func (a *app) printConformance(f format, r *conformance.Report) error {
	if f == "json" {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		rows := [][]string{{"id", "verdict", "requirement", "why"}}
		for _, x := range r.Results {
			rows = append(rows, []string{x.ID, string(x.Verdict), x.Sentence, oneLine(x.Why)})
		}
		if err := table(a.env.Stdout, rows); err != nil {
			return err
		}
	}
	a.talk("%d passed, %d failed, %d not tested, %d blocked", r.Passed, r.Failed, r.NotTested, r.Blocked)
	if !r.Conforms() {
		return &Exit{Code: ExitFindings}
	}
	return nil
}
