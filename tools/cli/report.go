package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
)

func (a *app) reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "report",
		Short: "Write diff reports, and tell people the risk of a change",
		Long: `Report works on what changed between neighbouring versions: report diffs keeps
reports/diffs/ up to date, report risk puts one change into words for people,
and report send hands it to a Feishu bot.`,
		Args: cobra.ArbitraryArgs,
		RunE: helpOrUnknown,
	}
	c.AddCommand(a.reportDiffsCommand(), a.reportRiskCommand(), a.reportSendCommand())
	return c
}

type diffsFlags struct {
	write, check bool
	format       format
}

func (a *app) reportDiffsCommand() *cobra.Command {
	f := &diffsFlags{}
	c := &cobra.Command{
		Use:   "diffs",
		Short: "List the changes between neighbouring versions",
		Long: `Diffs compares, for each agent, platform, probe and profile, every observed
version with the one before it, and lists the changes of shape.

With --write it writes them to reports/diffs/, a record and its Markdown for
each; with --check it compares. Both fail when an entry of
registry/drift-ignores.json has expired or matches no change.

Exit codes: 0; 1 --check found a difference, or an entry of the ignore list is
stale; 2 usage, or a broken record.`,
		Example: `  agent-contracts report diffs
  agent-contracts report diffs --write`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.write && f.check {
				return usage("give --check or --write, not both")
			}
			if err := f.format.check("text", "json"); err != nil {
				return err
			}
			return a.reportDiffs(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&f.write, "write", false, "write reports/diffs/")
	c.Flags().BoolVar(&f.check, "check", false, "exit 1 when reports/diffs/ differs")
	a.formatFlag(c, &f.format, "text", "json")
	return c
}

func (a *app) reportDiffs(ctx context.Context, f *diffsFlags) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	reports, ignores, err := report.Diffs(ctx, reg, a.env.Now(), a.counted("diff reports"))
	if err != nil {
		return err
	}
	if !f.write && !f.check {
		return a.printDiffs(f.format, reports)
	}
	files, err := report.Files(reports)
	if err != nil {
		return err
	}
	d, err := report.Check(reg, files)
	if err != nil {
		return err
	}
	if f.write {
		if err := report.Write(ctx, reg, files, d); err != nil {
			return err
		}
		a.talk("%s, %d new, %d changed, %d removed", count(len(files), "file"), len(d.Missing), len(d.Changed), len(d.Surplus))
		d = &report.Difference{}
	}
	for _, line := range d.Lines() {
		a.warn("%s", line)
	}
	stale := ignores.Stale()
	for _, line := range stale {
		a.warn("%s", line)
	}
	switch {
	case !d.None():
		return &Exit{Code: ExitFindings, Err: errors.New("reports/diffs/ is not what the records give"), Hint: "run agent-contracts report diffs --write and commit"}
	case len(stale) > 0:
		return &Exit{Code: ExitFindings, Err: errors.New("the ignore list has stale entries")}
	}
	return nil
}

func (a *app) printDiffs(f format, reports []*contract.DriftReport) error {
	if f == "json" {
		return a.printJSON(reports)
	}
	rows := [][]string{{"agent", "version", "verdict", "signals", "probes", "worst"}}
	for _, r := range reports {
		rows = append(rows, []string{r.Agent, r.CLIVersion, string(r.Verdict), fmt.Sprint(len(r.Signals)), strings.Join(probesOf(r), ","), report.Worst(r.Signals)})
	}
	return table(a.env.Stdout, rows)
}

func probesOf(r *contract.DriftReport) []string {
	var out []string
	for _, c := range r.Cells {
		if !slices.Contains(out, c.Probe) {
			out = append(out, c.Probe)
		}
	}
	return out
}

type riskFlags struct {
	link   string
	format format
}

func (a *app) reportRiskCommand() *cobra.Command {
	f := &riskFlags{}
	c := &cobra.Command{
		Use:   "risk AGENT[@VERSION]",
		Short: "Put the changes of a version into words for people",
		Long: `Risk says, for each change that came with a version, what a reader must know:
shape status, changes, whether the consumer's parser can read it, redaction and
grounding. Without VERSION it takes the newest version that changed something.
Formats: markdown, json, issue (title, body and labels of a GitHub issue as
JSON), feishu (the message of a bot, not signed). No format has text of a run.

Exit codes: 0 nothing breaks; 1 a change breaks the parser; 2 usage; 3 no change
is on record.`,
		Example: `  agent-contracts report risk codex
  agent-contracts report risk codex@0.134.0 --format issue --link https://github.com/…/pull/7`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.format.check("markdown", "json", "issue", "feishu"); err != nil {
				return err
			}
			return a.reportRisk(c.Context(), f, args[0])
		},
	}
	c.Flags().StringVar(&f.link, "link", "", "URL of the contract's pull request or issue")
	a.formatFlag(c, &f.format, "markdown", "json", "issue", "feishu")
	return c
}

func (a *app) printRisks(list []*report.Summary, f format) error {
	switch f {
	case "json":
		return a.printJSON(list)
	case "issue":
		issues := []*report.Issue{}
		for _, s := range list {
			i, err := s.Issue()
			if err != nil {
				return err
			}
			issues = append(issues, i)
		}
		return a.printJSON(issues)
	case "feishu":
		cards := []*report.Card{}
		for _, s := range list {
			cards = append(cards, s.Card())
		}
		return a.printJSON(cards)
	}
	for _, s := range list {
		if err := s.Markdown(a.env.Stdout); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) reportRisk(ctx context.Context, f *riskFlags, what string) error {
	list, err := a.summaries(ctx, what, f.link)
	if err != nil {
		return err
	}
	if err := a.printRisks(list, f.format); err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(s *report.Summary) bool { return s.ShapeStatus == contract.VerdictParserIncompatible }) {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func (a *app) summaries(ctx context.Context, what, link string) ([]*report.Summary, error) {
	if link != "" && !report.IsWebAddress(link) {
		return nil, usage("--link wants an address that begins with https:// or http://")
	}
	reg, err := a.openRecords()
	if err != nil {
		return nil, err
	}
	agent, version, _ := strings.Cut(what, "@")
	if err := capture.Check(reg, []capture.Target{{Agent: agent}}, nil); err != nil {
		return nil, err
	}
	list, err := report.Summaries(ctx, reg, a.env.Now(), agent, version)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		hint := "agent-contracts report diffs lists every change"
		if version != "" {
			hint = fmt.Sprintf("agent-contracts report risk %s tells its newest change, report diffs lists every one", agent)
		}
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("no change of %s is on record", what), Hint: hint}
	}
	for _, s := range list {
		s.ContractURL = link
	}
	return list, nil
}
