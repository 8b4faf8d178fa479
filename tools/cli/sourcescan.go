package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan"
	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan/issues"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type sourceScanFlags struct {
	write, dryRun bool
	issues        string
	format        format
}

func (a *app) sourceScanCommand() *cobra.Command {
	f := &sourceScanFlags{}
	c := &cobra.Command{
		Use:   "source-scan AGENT A B",
		Short: "Compare what the sources of two versions say about the protocol",
		Long: `Source-scan compares two versions of an agent's package, or two folders of
sources, without running a model: event types in TypeScript, Rust, Go and JSON
Schema, the values of discriminators and what schema libraries let a value be in
bundled JavaScript (also minified, and inside a program), enumerations and schema
objects of bundles that keep their names, the flags of its help, and the schemas that the program writes about its own
protocol. A and B are versions, or folders that exist.

It is an early warning and no observation: it reads what is defined, not when the
code prints it. Gemini 0.44 and 0.61 define the same events, but do not print the
same ones for a run that failed. With --write, what is new goes to evidence/ as
source evidence, which plan turns into captures; with --issues, one
source_protocol_risk issue a release is opened, or updated.

Exit codes: 0 nothing differs; 1 something differs; 3 a version cannot be had; 2
usage.`,
		Example: `  agent-contracts source-scan codex 0.155.0 0.171.0
  agent-contracts source-scan codex ./codex-0.155 ./codex-0.171 --format json
  agent-contracts source-scan claude 2.1.300 2.1.332 --issues OWNER/REPO --dry-run`,
		Args:              argsError(cobra.ExactArgs(3)),
		ValidArgsFunction: a.completeAgents,
		RunE:              func(c *cobra.Command, args []string) error { return a.sourceScan(c.Context(), f, args) },
	}
	fl := c.Flags()
	fl.BoolVar(&f.write, "write", false, "write source evidence to the registry")
	fl.StringVar(&f.issues, "issues", "", "open or update the issue in OWNER/NAME (GITHUB_TOKEN)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "with --issues: only say what would happen")
	a.formatFlag(c, &f.format, "text", "json")
	return c
}

func (a *app) sourceScan(ctx context.Context, f *sourceScanFlags, args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	if f.dryRun && f.issues == "" {
		return usage("--dry-run goes with --issues")
	}
	if err := checkRepository(f.issues); err != nil {
		return err
	}
	open := a.open
	if f.write {
		open = a.openToWrite
	}
	reg, err := open()
	if err != nil {
		return err
	}
	known := &contract.AgentsFile{}
	if err := reg.ReadJSON(store.AgentsFile, known); err != nil {
		return err
	}
	ag, err := agents.Find(known, args[0])
	if err != nil {
		return err
	}
	var sides [2]*sourcescan.Side
	for i, name := range args[1:] {
		if sides[i], err = a.scanSide(ctx, ag, name); err != nil {
			return err
		}
	}
	report := sourcescan.Scan(ag.ID, sides[0], sides[1])
	if f.write {
		places, err := sourcescan.Write(ctx, reg, ag, report, a.env.Now())
		if err != nil {
			return err
		}
		a.talk("wrote %s", count(len(places), "record"))
	}
	if issue := report.Issue(); f.issues != "" && issue != nil {
		if err := a.publishIssues(ctx, f.issues, []issues.Issue{*issue}, f.dryRun); err != nil {
			return err
		}
	}
	if f.format == "json" {
		err = a.printJSON(report)
	} else {
		err = a.printScan(report)
	}
	if err != nil || !report.Found() {
		return err
	}
	return &Exit{Code: ExitFindings}
}

// scanSide reads a folder that exists, or else a release.
func (a *app) scanSide(ctx context.Context, ag *contract.Agent, name string) (*sourcescan.Side, error) {
	if name == "" {
		return nil, usage("A and B are versions or folders, and one is empty")
	}
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.env.Dir, name)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		side, err := sourcescan.ReadFolder(dir)
		if errors.Is(err, sourcescan.ErrNoSources) {
			return nil, &Exit{Code: ExitCannotKnow, Err: err, Hint: "name the folder that has the package or the sources in it"}
		}
		return side, err
	}
	if strings.ContainsAny(name, `/\`) {
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("there is no folder %s", name)}
	}
	a.talk("%s: getting %s", ag.ID, name)
	in, err := install.Install(ctx, ag, name, a.installOptions())
	if err != nil {
		return nil, err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	a.talk("%s: reading %s", ag.ID, in.Source)
	return sourcescan.ReadRelease(ctx, ag, in, func(ctx context.Context, in *install.Installed, args []string, timeout time.Duration) ([]byte, []byte, map[string][]byte, error) {
		return capture.AskInstalled(ctx, state, in, args, timeout)
	})
}

func (a *app) printScan(r *sourcescan.Report) error {
	rows := [][]string{{"from", "change", "name", "was", "is"}}
	for _, c := range r.Derived {
		rows = append(rows, scanRow("sources", c))
	}
	for _, c := range r.Documented {
		rows = append(rows, scanRow("schemas", c))
	}
	for _, n := range r.Notes {
		a.talk("%s", oneLine(n))
	}
	if len(rows) == 1 {
		a.talk("nothing differs between %s and %s", r.From, r.To)
		return nil
	}
	a.talk("%s in sources, %s in the program's schemas", count(len(r.Derived), "change"), count(len(r.Documented), "change"))
	return table(a.env.Stdout, rows)
}

// scanRow keeps foreign text on its line.
func scanRow(from string, c sourcescan.Change) []string {
	short := func(s string) string {
		s = oneLine(cmp.Or(s, "-"))
		if len(s) > 60 {
			s = fmt.Sprintf("%.57s…", s)
		}
		return s
	}
	return []string{from, string(c.Kind), short(c.Name), short(c.Was), short(c.Is)}
}
