package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/plan"
)

type planFlags struct {
	platforms []string
	gate      bool
	issues    string
	dryRun    bool
	shards    int
	format    format
}

func (a *app) planCommand() *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use:   "plan [AGENT]…",
		Short: "Say what to capture next, and why",
		Long: `Plan lists what to capture next, the most pressing first: a release that
discovery saw and nobody captured (new_version), evidence older than the agent's
freshness limit (stale), a version that source evidence is about (source_risk),
captures that disagree (dispute), a reading that a maintainer corrected
(user_correction), a new violation of an expectation (new_violation), a success
without substance (weak_success), a probe without a record (uncovered_probe), a
shape that was seen once, an hour ago or more (unconfirmed), and one more version
where that supports a range or says where a shape changed (range). It runs nothing.

What lies between two versions it takes from registry/releases.json, which bisect
writes. A range in which no release was published, or each was tried and gave
nothing, is not asked for; "skipped" of --format json lists it. bisect looks again.

With --format github-matrix it prints the matrix of a GitHub Actions job, in at
most --shards jobs that take about equally long; "inputs" of a job is what
capture --input reads. The estimate of time and disk is on stderr.

With --gate it says whether the evidence about each Tier 0 agent is fresh enough
for a release: that about the newest release that was captured.

Exit codes: 0 nothing to do, or the gate is passed; 1 something to do, or a Tier
0 agent's evidence is too old; 2 usage.`,
		Example: `  agent-contracts plan
  agent-contracts plan codex --platform darwin-arm64 --format json
  agent-contracts plan --format github-matrix --shards 8
  agent-contracts plan --gate`,
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("shards") && f.format != "github-matrix" {
				return usage("--shards goes with --format github-matrix")
			}
			return a.plan(c.Context(), f, args)
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.platforms, "platform", nil, "plan for these platforms (default: those with records)")
	fl.BoolVar(&f.gate, "gate", false, "only say whether Tier 0 evidence is fresh enough for a release")
	fl.StringVar(&f.issues, "issues", "", "with --gate: open or update one GitHub issue in OWNER/NAME for each stale agent (GITHUB_TOKEN)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "with --issues: only say what would happen")
	fl.IntVar(&f.shards, "shards", 4, "most jobs of --format github-matrix")
	a.formatFlag(c, &f.format, "text", "json", "github-matrix")
	_ = c.RegisterFlagCompletionFunc("platform", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, p := range contract.Platforms {
			words = append(words, string(p))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

func (f *planFlags) options(ids []string, now time.Time) (plan.Options, error) {
	o := plan.Options{Agents: ids, Now: now}
	if err := f.format.check("text", "json", "github-matrix"); err != nil {
		return o, err
	}
	if f.gate && (f.format == "github-matrix" || len(f.platforms) > 0) {
		return o, usage("--gate looks at all platforms and has no matrix: leave --platform and github-matrix out")
	}
	if f.issues != "" && !f.gate || f.dryRun && f.issues == "" {
		return o, usage("--issues goes with --gate, and --dry-run with --issues")
	}
	if f.shards < 1 || f.shards > plan.MaxShards {
		return o, usage("--shards %d: want 1 to %d", f.shards, plan.MaxShards)
	}
	if err := checkRepository(f.issues); err != nil {
		return o, err
	}
	for _, word := range f.platforms {
		p, err := platformOf(word)
		if err != nil {
			return o, err
		}
		if p == "unknown" {
			return o, usage("--platform unknown: nothing can be captured there")
		}
		o.Platforms = append(o.Platforms, p)
	}
	return o, nil
}

func (a *app) plan(ctx context.Context, f *planFlags, ids []string) error {
	opts, err := f.options(ids, a.env.Now())
	if err != nil {
		return err
	}
	reg, err := a.openHealth()
	if err != nil {
		return err
	}
	records, err := plan.Load(reg)
	if err != nil {
		return err
	}
	if f.gate {
		return a.planGate(ctx, f, records, opts)
	}
	p, err := plan.Build(records, opts)
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = a.printJSON(p)
	case "github-matrix":
		err = a.printPlanMatrix(f, p, records.Agents)
	default:
		err = a.printPlanned(p)
	}
	if n := len(p.Skipped); n > 0 {
		a.talk("%s left out: no release in between that could be captured is on record; --format json has the reasons", count(n, "range"))
	}
	if err != nil || len(p.Items) == 0 {
		return err
	}
	return &Exit{Code: ExitFindings}
}

func (a *app) printPlanMatrix(f *planFlags, p *plan.Plan, known *contract.AgentsFile) error {
	m, err := p.Matrix(f.shards, known)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: err, Hint: "change --shards or --platform"}
	}
	for _, s := range m.Include {
		a.talk("%s: %s", s.Shard, estimateText(s.Estimate))
	}
	return a.printJSON(m)
}

func (a *app) printPlanned(p *plan.Plan) error {
	rows := [][]string{{"tier", "agent", "version", "platform", "probes", "why", "takes"}}
	for _, it := range p.Items {
		var codes []string
		for _, why := range it.Reasons {
			if len(codes) == 0 || codes[len(codes)-1] != string(why.Code) {
				codes = append(codes, string(why.Code))
			}
		}
		rows = append(rows, []string{
			fmt.Sprint(it.Tier), it.Agent, it.Version, string(it.Platform), fmt.Sprint(len(it.Probes)), strings.Join(codes, ", "), duration(it.Estimate.Seconds),
		})
	}
	if len(p.Items) == 0 {
		a.talk("there is nothing to capture")
		return nil
	}
	if err := table(a.env.Stdout, rows); err != nil {
		return err
	}
	a.talk("%s: %s; --format json has the reasons and the commands", count(len(p.Items), "capture"), estimateText(p.Estimate))
	return nil
}

func estimateText(e plan.Estimate) string {
	return fmt.Sprintf("%s, about %s, %d MB to download, %d MB of records", count(e.Runs, "run"), duration(e.Seconds), e.DownloadBytes>>20, (e.RegistryBytes+1<<20-1)>>20)
}

func duration(seconds int) string {
	return (time.Duration(seconds) * time.Second).Round(time.Second).String()
}

func (a *app) planGate(ctx context.Context, f *planFlags, records *plan.Records, opts plan.Options) error {
	g, err := plan.Check(records, opts)
	if err != nil {
		return err
	}
	for _, id := range opts.Agents { // a gate that looked at nothing would be passed
		if !slices.ContainsFunc(g.Agents, func(x plan.Freshness) bool { return x.Agent == id }) {
			return usage("--gate is about Tier 0 agents, and %s is none: leave it out", id)
		}
	}
	if f.issues != "" {
		if err := a.publishIssues(ctx, f.issues, g.Issues(), f.dryRun); err != nil {
			return err
		}
	}
	if f.format == "json" {
		err = a.printJSON(g)
	} else {
		rows := [][]string{{"agent", "version", "last captured", "limit", "fresh"}}
		for _, x := range g.Agents {
			last, fresh := "-", "yes"
			if x.LastObservedAt != nil {
				last = *x.LastObservedAt
			}
			if x.Stale {
				fresh = "no: " + x.Reason
			}
			rows = append(rows, []string{x.Agent, x.Version, last, fmt.Sprintf("%d days", x.FreshnessDays), fresh})
		}
		err = table(a.env.Stdout, rows)
	}
	if err != nil || g.Passed() {
		return err
	}
	return &Exit{Code: ExitFindings, Err: fmt.Errorf("the evidence about a Tier 0 agent is too old for a release"), Hint: "agent-contracts plan names the captures that are due"}
}
