package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type errorCaseFlags struct {
	write, disagree bool
	probes          []string
	format          format
}

func (a *app) errorCasesCommand() *cobra.Command {
	f := &errorCaseFlags{}
	c := &cobra.Command{
		Use:   "errors [AGENT[@VERSION]...]",
		Short: "List the failing runs and what the consumer makes of them",
		Long: `Errors lists the error cases of the registry: each failing run, why it failed,
and what OpenDesign v0.19.2 makes of it. The last column is yes where its
classification is the right one, else the members that differ; - stands for a
run in a format that it does not start the agent in.

With --write it makes the error cases that are missing, and those that today's
readers would make otherwise, from observations and fixtures, all at once.

Exit codes: 0; 2 usage, or a broken record.`,
		Example: `  agent-contracts errors
  agent-contracts errors codex claude@2.1.259 --probe auth-failure --disagree
  agent-contracts errors --write`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.format.check("text", "json"); err != nil {
				return err
			}
			reg, err := a.openRecords()
			if err != nil {
				return err
			}
			if f.write {
				if len(args) > 0 || len(f.probes) > 0 || f.disagree {
					return usage("--write makes every error case: give it no agent, --probe or --disagree")
				}
				return a.writeErrorCases(c.Context(), reg)
			}
			return a.errorCases(reg, f, args)
		},
	}
	c.Flags().BoolVar(&f.write, "write", false, "make the error cases that are missing")
	c.Flags().BoolVar(&f.disagree, "disagree", false, "only those that the consumer gets wrong")
	c.Flags().StringSliceVar(&f.probes, "probe", nil, "only these probes")
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	a.formatFlag(c, &f.format, "text", "json")
	return c
}

func (a *app) writeErrorCases(ctx context.Context, reg *store.Registry) error {
	written, err := capture.WriteErrorCases(ctx, reg)
	if err != nil {
		return err
	}
	a.talk("%s written", count(len(written), "error case"))
	return nil
}

// errorCase is one row of errors.
type errorCase struct {
	Place    string `json:"place"`
	Agent    string `json:"agent"`
	Version  string `json:"cli_version,omitempty"`
	Probe    string `json:"probe"`
	Level    string `json:"validity_level,omitempty"`
	Expected string `json:"expected"` // category/detail
	Consumer string `json:"consumer,omitempty"`
	// Agrees is null where the record does not say what the consumer makes of
	// the run.
	Agrees  *bool    `json:"agrees"`
	Differs []string `json:"differs,omitempty"`
}

func (a *app) errorCases(reg *store.Registry, f *errorCaseFlags, args []string) error {
	all, err := reg.ErrorCases()
	if err != nil {
		return err
	}
	for _, arg := range args {
		if !slices.ContainsFunc(all, func(e store.ErrorCased) bool { return selects(arg, &e.ErrorCase) }) {
			return usage("no error case is of %q", arg)
		}
	}
	rows, agree := []errorCase{}, 0
	for i := range all {
		row := errorCaseRow(&all[i])
		if len(args) > 0 && !slices.ContainsFunc(args, func(arg string) bool { return selects(arg, &all[i].ErrorCase) }) ||
			len(f.probes) > 0 && !slices.Contains(f.probes, row.Probe) || f.disagree && (row.Agrees == nil || *row.Agrees) {
			continue
		}
		if row.Agrees != nil && *row.Agrees {
			agree++
		}
		rows = append(rows, row)
	}
	if f.format == "json" {
		return a.printJSON(rows)
	}
	cells := [][]string{{"agent", "version", "probe", "expected", "open-design", "agrees"}}
	for _, r := range rows {
		agrees := "-"
		if r.Agrees != nil {
			agrees = "yes"
			if !*r.Agrees {
				agrees = "no: " + strings.ReplaceAll(strings.Join(r.Differs, " "), "failure_", "")
			}
		}
		consumer := r.Consumer
		if consumer == "" {
			consumer = "-"
		}
		cells = append(cells, []string{r.Agent, r.Version, r.Probe, r.Expected, consumer, agrees})
	}
	if err := table(a.env.Stdout, cells); err != nil {
		return err
	}
	a.talk("%s, the consumer agrees on %d", count(len(rows), "error case"), agree)
	return nil
}

// selects reports whether an argument AGENT or AGENT@VERSION names the case's
// release.
func selects(arg string, e *contract.ErrorCase) bool {
	agent, version, exact := strings.Cut(arg, "@")
	return agent == e.Agent && (!exact || version == e.Extensions.CLIVersion)
}

func errorCaseRow(e *store.ErrorCased) errorCase {
	r := errorCase{
		Place: e.Path, Agent: e.Agent, Version: e.Extensions.CLIVersion, Probe: e.Probe, Level: string(e.Extensions.ValidityLevel),
		Expected: inWords(e.Expected),
	}
	if differs, known := e.Differences(contract.ConsumerOpenDesign); known {
		agrees := len(differs) == 0
		r.Agrees, r.Differs = &agrees, differs
		r.Consumer = inWords(e.Extensions.Consumers[contract.ConsumerOpenDesign])
	}
	return r
}

func inWords(f *contract.FailureClassification) string {
	if f == nil {
		return "success"
	}
	return string(f.Category) + "/" + f.Detail
}
