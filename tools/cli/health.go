package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type healthFlags struct {
	agent, probe, since string
	format              format
}

func (a *app) healthCommand() *cobra.Command {
	f := &healthFlags{}
	c := &cobra.Command{
		Use:   "health",
		Short: "Say how the runs fare, and which are worth repeating",
		Long: `Health counts the runs of the registry by agent, version and probe, oldest
version first: what the CLIs reported, what the runs came to, which expectations
they broke, successes without substance (weak), what CLIs and adapters said of
their own work (low_utility, wrong_tool_boundary), and what people corrected.
Below the table are the deviations of ACP runs from the protocol's official
schema and rules, by agent and version. Then it suggests captures to repeat, each with its reason: weak
success, a violation that the version before did not have, a correction, a
dispute about the shape, or an agent that was last captured too long ago.

It counts and recommends; no status and no claim follows from it. Outside a
registry it reads your own. docs/HEALTH.md has every field of --format json.

Exit codes: 0; 2 usage, or a broken record.`,
		Example: `  agent-contracts health
  agent-contracts health --agent codex --since 2026-06-01
  agent-contracts health --probe chat-tool-success --format json`,
		Args: argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error { return a.health(f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.agent, "agent", "", "only this agent")
	fl.StringVar(&f.probe, "probe", "", "only this probe")
	fl.StringVar(&f.since, "since", "", "only runs captured since this day (2026-06-01) or time (RFC 3339)")
	a.formatFlag(c, &f.format, "text", "json")
	_ = c.RegisterFlagCompletionFunc("agent", a.completeAgents)
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	return c
}

func (a *app) health(f *healthFlags) error {
	opts, err := a.healthOptions(f)
	if err != nil {
		return err
	}
	reg, err := a.openHealth()
	if err != nil {
		return err
	}
	records, err := health.Load(reg)
	if err != nil {
		return err
	}
	if err := f.known(reg, records); err != nil {
		return err
	}
	report, err := health.Build(records, opts)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return a.printJSON(report)
	}
	return a.printHealth(report)
}

func (a *app) healthOptions(f *healthFlags) (health.Options, error) {
	opts := health.Options{Agent: f.agent, Probe: f.probe, Now: a.env.Now()}
	if err := f.format.check("text", "json"); err != nil {
		return opts, err
	}
	if f.since == "" {
		return opts, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, f.since); err == nil {
			opts.Since = at
			return opts, nil
		}
	}
	return opts, usage("--since %q is no day such as 2026-06-01 and no RFC 3339 time", f.since)
}

// openHealth is openRecords that is content with the registry in the binary:
// it has agents and no runs.
func (a *app) openHealth() (*store.Registry, error) {
	reg, err := a.openRecords()
	if reg != nil || a.registry != "" {
		return reg, err
	}
	if reg, err = a.open(); err == nil {
		a.talk("there is no registry around this folder, and the one in the binary has no runs: name one with --registry DIR")
	}
	return reg, err
}

// known refuses an agent or a probe that neither the registry nor a record
// names: no row would say so.
func (f *healthFlags) known(reg *store.Registry, r *health.Records) error {
	if f.agent != "" {
		if _, err := agents.Find(r.Agents, f.agent); err != nil {
			return err
		}
	}
	if f.probe == "" || slices.ContainsFunc(r.Observations, func(o store.Observed) bool { return o.Probe == f.probe }) {
		return nil
	}
	ids, err := capture.ProbeIDs(reg)
	if err != nil || slices.Contains(ids, f.probe) {
		return err
	}
	return &capture.UnknownProbeError{ID: f.probe}
}

func (a *app) printHealth(r *health.Report) error {
	rows := [][]string{{"agent", "version", "probe", "on", "runs", "reported", "came to", "violations", "weak", "low_utility", "wrong_tool", "corrected", "last captured"}}
	for i := range r.Rows {
		rows = append(rows, healthRow(&r.Rows[i]))
	}
	if err := table(a.env.Stdout, rows); err != nil {
		return err
	}
	if err := a.printDeviations(r.Deviations); err != nil {
		return err
	}
	switch {
	case len(r.Rows) == 0:
		return nil
	case len(r.Suggestions) == 0:
		_, err := fmt.Fprintln(a.env.Stdout, "\nNothing is worth repeating.")
		return err
	}
	lines := []string{"", "Worth repeating:"}
	for _, s := range r.Suggestions {
		command := s.Command
		if s.Platform != contract.HostPlatform() {
			command += "  # on " + string(s.Platform)
		}
		lines = append(lines, "  "+command)
		for _, why := range s.Reasons {
			lines = append(lines, "    "+strings.TrimPrefix(why.Probe+": ", ": ")+string(why.Code)+": "+why.Text)
		}
	}
	_, err := fmt.Fprintln(a.env.Stdout, strings.Join(lines, "\n"))
	return err
}

// printDeviations lists how agents, and the clients that spoke to them, deviate
// from the Agent Client Protocol.
func (a *app) printDeviations(list []health.Deviation) error {
	if len(list) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(a.env.Stdout, "\nDeviations from the Agent Client Protocol:"); err != nil {
		return err
	}
	rows := [][]string{{"agent", "version", "by", "frame", "deviation", "at", "runs"}}
	for _, d := range list {
		rows = append(rows, []string{d.Agent, d.CLIVersion, d.By, cmp.Or(d.Frame, "-"), d.Kind, cmp.Or(d.Pointer, "-"), strconv.Itoa(d.Runs)})
	}
	return table(a.env.Stdout, rows)
}

func healthRow(r *health.Row) []string {
	on := string(r.Platform)
	if r.Profile != contract.ProfileProduction {
		on += " " + r.Profile
	}
	if r.Provider == contract.ProviderLive {
		on += " live"
	}
	var came []string
	for _, result := range contract.RunResults {
		came = append(came, tally(r.RunResults[result], string(result)))
	}
	var broken []string
	for _, k := range slices.Sorted(maps.Keys(r.Violations)) {
		broken = append(broken, tally(r.Violations[k], k))
	}
	return []string{
		r.Agent, r.CLIVersion, r.Probe, on, strconv.Itoa(r.Runs),
		tallies(tally(r.Reported.Success, "success"), tally(r.Reported.Failed, "failed"), tally(r.Reported.Other, "other"), tally(r.Reported.Nothing, "nothing")),
		tallies(came...), tallies(broken...),
		tallies(tally(r.WeakSuccess, "")), tallies(tally(r.LowUtility, "")), tallies(tally(r.WrongToolBoundary, "")), tallies(tally(r.UserCorrections, "")),
		r.LastCaptured,
	}
}

// tally spells a count with its word; "" for none.
func tally(n int, word string) string {
	if n == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s", n, word), " ")
}

// tallies joins the counts that there are.
func tallies(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}
