package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type bisectFlags struct {
	probes      []string
	profile     string
	from, to    string
	every, jobs int
	dryRun      bool
	format      format
	// history derives docs/HISTORY.md instead; write and check as with matrix.
	history, write, check bool
}

func (a *app) bisectCommand() *cobra.Command {
	f := &bisectFlags{}
	c := &cobra.Command{
		Use:   "bisect [AGENT]",
		Short: "Find the releases that changed an agent's protocol",
		Long: `Bisect captures every 8th published release of an agent, bisects between
neighbours that differ, captures all of a stretch in which changes are dense,
and says which release changed what. Several probes share the installation of a
release. What it did not look at is listed: a change that was taken back between
two equal neighbours stays invisible, until --every is smaller.

What the registry holds counts as captured, and a bisection that was killed or
lost its network goes on where it stopped when the same command is run again.
Releases that cannot be captured are gone round, listed, and tried again after a
day; prereleases are left out. With --dry-run nothing is captured: the answer
says what is known, and what would be captured next.

With --history and no agent it derives ` + bisect.HistoryPath + ` from the records of the
registry, every change that they show and every known incident with its verdict,
and prints it; --write writes it, --check compares it with the committed one.

Exit codes: 0 every change is pinned; 1 with --dry-run, something is left to
capture, or with --check the document is stale; 2 usage; 3 could not look (no network, no release, or a change lies
among releases that cannot be captured); 130 interrupted.`,
		Example: `  agent-contracts bisect codex --probe chat-text-success --from 0.42.0 --to 0.171.0
  agent-contracts bisect claude --jobs 2 --format markdown
  agent-contracts bisect gemini --probe chat-text-success,chat-tool-success --profile acp --every 4
  agent-contracts bisect codex --dry-run
  agent-contracts bisect --history --check`,
		Args:              argsError(cobra.MaximumNArgs(1)),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if f.history {
				return a.bisectHistory(c, f, args)
			}
			if err := f.settle(args); err != nil {
				return err
			}
			return a.bisect(c, f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.probes, "probe", []string{"basic"}, "probe ids, or basic, or all")
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	fl.StringVar(&f.profile, "profile", "", "only this way to start the CLI, such as production or acp (default: all)")
	fl.StringVar(&f.from, "from", "", "the oldest release to look at (default: the oldest published)")
	fl.StringVar(&f.to, "to", "", "the newest release to look at (default: the newest published)")
	for _, name := range []string{"from", "to"} {
		_ = c.RegisterFlagCompletionFunc(name, func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.completeVersions(c, args, word)
		})
	}
	fl.IntVar(&f.every, "every", bisect.DefaultEvery, "how many releases apart the first captures are; 1 captures all")
	fl.IntVar(&f.jobs, "jobs", 2, "how many releases to capture at once")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what is known and what would be captured next, and capture nothing")
	fl.BoolVar(&f.history, "history", false, "derive "+bisect.HistoryPath+" from the records")
	fl.BoolVar(&f.write, "write", false, "with --history: write it")
	fl.BoolVar(&f.check, "check", false, "with --history: exit 1 when the committed one differs")
	a.formatFlag(c, &f.format, "text", "json", "markdown")
	return a.detachable(c, jobs.KindBisect, func(_ *cobra.Command, args []string) error { return a.checkBisect(f, args) })
}

// checkBisect refuses a bisection that cannot begin, without writing anything.
func (a *app) checkBisect(f *bisectFlags, args []string) error {
	if f.history || f.dryRun {
		return usage("--detach takes neither --history nor --dry-run: they answer at once")
	}
	if err := f.settle(args); err != nil {
		return err
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	if err := capture.Check(reg, []capture.Target{{Agent: args[0], Profile: f.profile}}, f.probes); err != nil {
		return err
	}
	var file contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &file); err != nil {
		return err
	}
	agent, err := agents.Find(&file, args[0])
	if err != nil {
		return err
	}
	return bisectError(bisect.CheckBounds(agent, f.from, f.to))
}

func (a *app) bisect(c *cobra.Command, f *bisectFlags, agentID string) error {
	opts, err := a.bisectOptions(c, f, agentID)
	if err != nil {
		return bisectError(err)
	}
	show := &bisectProgress{a: a}
	opts.Progress = show.update
	report, err := bisect.Run(c.Context(), *opts)
	show.clear()
	var readOnly *store.ReadOnlyError
	if opts.Capturer != nil && !errors.As(err, &readOnly) {
		err = errors.Join(err, bisect.Record(context.WithoutCancel(c.Context()), *opts, a.env.Now()))
	}
	if report != nil {
		if printErr := a.printBisection(f, report); printErr != nil {
			return printErr
		}
	}
	switch {
	case err != nil:
		return bisectError(err)
	case f.dryRun && !report.Settled():
		return &Exit{Code: ExitFindings}
	case !report.Pinned():
		return &Exit{Code: ExitCannotKnow, Err: errors.New("a change lies among releases that cannot be captured")}
	}
	return nil
}

func (f *bisectFlags) settle(args []string) error {
	switch {
	case f.write || f.check:
		return usage("--write and --check go with --history")
	case len(args) != 1:
		return &Exit{Code: ExitUsage, Err: errors.New("name an agent to bisect"), Hint: "for example: agent-contracts bisect codex --probe chat-text-success"}
	case len(f.probes) == 0:
		return usage("--probe names no probe: want ids, basic or all")
	case f.every < 1:
		return usage("--every %d: want 1 or more", f.every)
	case f.jobs < 1 || f.jobs > 64:
		return usage("--jobs %d: want 1 to 64", f.jobs)
	}
	return f.format.check("text", "json", "markdown")
}

// bisectError gives errors of the search their exit codes.
func bisectError(err error) error {
	var bound *bisect.BoundError
	var nothing *bisect.NothingError
	switch {
	case errors.As(err, &bound):
		return &Exit{Code: ExitUsage, Err: err, Hint: "--from and --to want versions, as in 0.133.0"}
	case errors.As(err, &nothing):
		return &Exit{Code: ExitCannotKnow, Err: err}
	case errors.Is(err, install.ErrNetwork):
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "run the same command again when the network is back: what was captured is in the registry; --dry-run answers from that alone"}
	}
	return err
}

// bisectOptions looks up the releases and how they can be started.
func (a *app) bisectOptions(c *cobra.Command, f *bisectFlags, agentID string) (*bisect.Options, error) {
	open := a.openToWrite
	if f.dryRun {
		open = a.open
	}
	reg, err := open()
	if err != nil {
		return nil, err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	co := capture.Options{
		Registry: reg, StateDir: state, Probes: f.probes, Now: a.env.Now, LookupEnv: a.lookupEnv, Refresh: matrix.Refresh,
		Install: a.installOptions(), Runner: a.runner(), WorkflowRunURL: a.workflowRun(),
	}
	var file contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &file); err != nil {
		return nil, err
	}
	o := &bisect.Options{
		Registry: reg, Platform: contract.HostPlatform(), From: f.from, To: f.to, Every: f.every, Jobs: f.jobs,
	}
	if o.Agent, err = agents.Find(&file, agentID); err != nil {
		return nil, err
	}
	if err := capture.Check(reg, []capture.Target{{Agent: agentID, Profile: f.profile}}, f.probes); err != nil {
		return nil, err
	}
	if err := bisect.CheckBounds(o.Agent, f.from, f.to); err != nil {
		return nil, err
	}
	if o.Agent.Install == nil {
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("%s cannot be captured: %s", o.Agent.ID, o.Agent.Exemption)}
	}
	o.History, err = bisect.FindHistory(c.Context(), o.Agent, co.Install)
	if errors.Is(err, install.ErrNetwork) && f.dryRun {
		a.talk("could not look up the releases, so these are the captured ones: %v", err)
		o.History, err = bisect.CapturedHistory(reg, o.Agent)
	}
	if err != nil {
		return nil, err
	}
	if o.Tracks, o.Launched, err = bisect.FindTracks(c.Context(), co, o.Agent, o.History.Releases, f.profile); err != nil {
		return nil, err
	}
	if len(o.Tracks) == 0 {
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("no release of %s can be started for %s", o.Agent.ID, strings.Join(f.probes, ", "))}
	}
	if f.dryRun {
		return o, nil
	}
	if o.Failures, err = bisect.OpenFailures(state, reg, o.Agent.ID, a.env.Now); err != nil {
		return nil, err
	}
	o.Capturer, err = bisect.NewCapturer(o.Agent, co)
	return o, err
}

func (a *app) printBisection(f *bisectFlags, r *bisect.Report) error {
	switch f.format {
	case "json":
		return a.printJSON(r)
	case "markdown":
		return r.Markdown(a.env.Stdout)
	}
	return r.Text(a.env.Stdout)
}

// bisectProgress shows where a bisection is: one line that is redrawn on a
// terminal, one line a finished release elsewhere.
type bisectProgress struct {
	a     *app
	drawn bool
}

func (p *bisectProgress) update(s bisect.Progress) {
	if p.a.tell != nil {
		p.a.tell(s.Known, s.Known+s.Wanted, s.Version+": "+s.What)
	}
	if p.a.quiet {
		return
	}
	where := fmt.Sprintf("[%d captured, %d to go, %d known]", s.Captured, s.Wanted, s.Known)
	switch {
	case s.Done:
		p.clear()
		fmt.Fprintln(p.a.env.Stderr, oneLine(fmt.Sprintf("%s %s: %s", where, s.Version, s.What)))
	case p.a.env.Terminal:
		p.clear()
		fmt.Fprint(p.a.env.Stderr, oneLine(fmt.Sprintf("%s %s: %s (%s)", where, s.Version, s.What, strings.Join(s.Running, ", "))))
		p.drawn = true
	}
}

func (p *bisectProgress) clear() {
	if p.drawn {
		fmt.Fprint(p.a.env.Stderr, "\r\x1b[K")
		p.drawn = false
	}
}
