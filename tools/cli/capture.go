package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type captureFlags struct {
	probes []string
	// profile is the only argv profile to run; "" runs all.
	profile string
	repeat  int
	bin     string
	live    bool
	dryRun  bool
	input   string
	like    []string
	failOn  string
	chunk   int
	ask     string
	format  format
}

func (a *app) captureCommand() *cobra.Command {
	f := &captureFlags{}
	c := &cobra.Command{
		Use:   "capture AGENT[@VERSION]...",
		Short: "Run a real CLI through the probes and record its protocol",
		Long: `Capture installs the CLI into a cache, runs each probe in an empty HOME against
a model provider on loopback, redacts what passed through the pipes, and keeps
its structure: a shape, a sanitized fixture, both readings, and an observation.

VERSION is an exact version, a range, or a dist-tag such as latest. Without one
the newest version that the registry knows is captured. A killed capture goes on
where it stopped when the same command is run again.

Where a probe says that a person answers its agent's permission questions, the
capture asks on a terminal, and elsewhere is suspended until somebody used
review answer and the same command is run again. With --ask it asks also what a
rule would decide: every permission question of a strict client, and whether
words that make redaction refuse a run are public.

Exit codes: 0 all as known or compatible; 1 incompatible, or an expectation of a
probe does not hold (with --fail-on new also a new shape); 2 usage; 3 cannot
know (not installed, not captured); 4 redaction refused; 5 it waits for an answer
(see review).`,
		Example: `  agent-contracts capture codex
  agent-contracts capture codex@0.133.0 claude@latest --probe chat-text-success,auth-failure
  agent-contracts capture codex@0.133.0 --repeat 5 --format json
  agent-contracts capture --like observations/codex/0.133.0/linux-x64/….observation.json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeAgents,
		RunE:              func(c *cobra.Command, args []string) error { return a.capture(c, f, args) },
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.probes, "probe", []string{"basic"}, "probe ids, or basic, or all")
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	fl.StringVar(&f.profile, "profile", "", "only this way to start the CLI, such as production, compatible or acp (default: all)")
	fl.IntVar(&f.repeat, "repeat", 1, "how often each probe runs")
	fl.StringVar(&f.bin, "bin", "", "capture this installed program instead of a release")
	fl.BoolVar(&f.live, "live", false, "use the real provider with the credentials of this environment")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would run, and run nothing")
	fl.StringVar(&f.input, "input", "", "read a Capture Input object from this file (- for stdin)")
	fl.StringSliceVar(&f.like, "like", nil, "repeat the captures of these observations")
	fl.StringVar(&f.failOn, "fail-on", "", "new: exit 1 for a new compatible shape too")
	fl.IntVar(&f.chunk, "chunk-runes", 0, "size of the provider's text pieces: 0 as the probe says, -1 whole")
	a.askFlag(c, &f.ask)
	a.formatFlag(c, &f.format, "text", "json")
	return a.detachable(c, jobs.KindCapture, func(c *cobra.Command, args []string) error { return a.checkCapture(c, f, args) })
}

// checkCapture refuses a capture that cannot begin, without writing anything.
func (a *app) checkCapture(c *cobra.Command, f *captureFlags, args []string) error {
	if err := a.captureFlagsFit(c, f, args); err != nil {
		return err
	}
	if f.dryRun || f.ask == askInline {
		return usage("--detach takes neither --dry-run nor --ask inline")
	}
	if f.bin != "" {
		if info, err := os.Stat(a.absolute(f.bin)); err != nil || !info.Mode().IsRegular() {
			return usage("--bin %s: there is no such program", f.bin)
		}
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	targets, err := a.targets(f, reg, args)
	if err != nil {
		return err
	}
	return capture.Check(reg, targets, f.probes)
}

// captureFlagsFit refuses flags that contradict each other or this environment.
func (a *app) captureFlagsFit(c *cobra.Command, f *captureFlags, args []string) error {
	if c.Flags().Changed("bin") && f.bin == "" {
		return usage("--bin names no program") // an unset variable must not mean a release
	}
	if (f.input != "" || len(f.like) > 0) && c.Flags().Changed("probe") {
		return usage("--input and --like say which probes to run: leave --probe out")
	}
	if (f.input != "" || len(f.like) > 0) && f.profile != "" {
		return usage("--input and --like say how the CLI is started: leave --profile out")
	}
	if err := f.check(args); err != nil {
		return err
	}
	if f.live {
		if err := a.mayCaptureLive(); err != nil {
			return err
		}
	}
	_, err := a.prompter(f.ask)
	return err
}

func (a *app) capture(c *cobra.Command, f *captureFlags, args []string) error {
	if err := a.captureFlagsFit(c, f, args); err != nil {
		return err
	}
	opts, err := a.captureOptions(f, args)
	if err != nil {
		return err
	}
	if f.dryRun {
		plan, err := capture.MakePlan(c.Context(), opts)
		if err != nil {
			return err
		}
		return a.printPlan(f, plan)
	}
	show := newProgress(a)
	opts.Progress = show.update
	if ask := opts.Ask; ask != nil {
		opts.Ask = func(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
			show.clear()
			return ask(ctx, pending)
		}
	}
	report, err := capture.Run(c.Context(), opts)
	show.end()
	if report == nil {
		return err
	}
	if printErr := a.printReport(f, report, a.where(opts.Registry), err == nil); printErr != nil {
		return printErr
	}
	if err != nil {
		if cannotKnow(err) && report.ExitCode(false) == ExitRefused {
			_, hint := classify(err)
			return &Exit{Code: ExitRefused, Err: err, Hint: hint} // whoever asks the code must hear of it
		}
		return err
	}
	return a.captureExit(f, report)
}

func (a *app) captureOptions(f *captureFlags, args []string) (capture.Options, error) {
	var opts capture.Options
	open := a.openToWrite
	if f.dryRun {
		open = a.open
	}
	reg, err := open()
	if err != nil {
		return opts, err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return opts, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	opts = capture.Options{
		Registry: reg, StateDir: state, Probes: f.probes, Repeat: f.repeat, Bin: f.bin, Live: f.live, ChunkRunes: f.chunk,
		RunID: a.job, Now: a.env.Now, LookupEnv: a.lookupEnv, Refresh: matrix.Refresh,
		Install: a.installOptions(), Runner: a.runner(), WorkflowRunURL: a.workflowRun(),
	}
	if opts.Bucket, err = a.bucket(); err != nil {
		return opts, err
	}
	if opts.Ask, err = a.prompter(f.ask); err != nil {
		return opts, err
	}
	opts.AskBy, opts.AskAll = a.answerer(""), f.ask != ""
	opts.Targets, err = a.targets(f, reg, args)
	return opts, err
}

func (f *captureFlags) check(args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	given := 0
	for _, set := range []bool{len(args) > 0, f.input != "", len(f.like) > 0} {
		if set {
			given++
		}
	}
	switch {
	case given == 0:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("name an agent to capture"), Hint: "for example: agent-contracts capture codex"}
	case given > 1:
		return usage("give agents, --input or --like, not several of them")
	case len(f.probes) == 0:
		return usage("--probe names no probe: want ids, basic or all")
	case f.repeat < 1 || f.repeat > 1000:
		return usage("--repeat %d: want 1 to 1000", f.repeat)
	case f.failOn != "" && f.failOn != "new":
		return usage("unknown --fail-on %q: want new", f.failOn)
	case f.chunk < -1:
		return usage("--chunk-runes %d: want -1, 0 or more", f.chunk)
	case f.bin != "" && (len(args) != 1 || strings.Contains(args[0], "@")):
		return usage("--bin captures one program: name one agent, without a version")
	}
	return nil
}

func (a *app) targets(f *captureFlags, reg *store.Registry, args []string) ([]capture.Target, error) {
	switch {
	case f.input != "":
		b, err := a.readInput(f.input)
		if err != nil {
			return nil, usage("reading --input: %v", err)
		}
		targets, err := capture.InputTargets(reg, f.input, b)
		return targets, badInput(err)
	case len(f.like) > 0:
		targets, err := capture.LikeTargets(reg, f.like)
		return targets, badInput(err)
	}
	var out []capture.Target
	for _, s := range args {
		t, err := capture.ParseTarget(s)
		if err != nil {
			return nil, &Exit{Code: ExitUsage, Err: err}
		}
		t.Profile = f.profile
		out = append(out, t)
	}
	return out, nil
}

func (a *app) lookupEnv(k string) (string, bool) {
	v := a.env.Getenv(k)
	return v, v != ""
}

// runner names the kind of machine for the records.
func (a *app) runner() string {
	if a.env.Getenv("GITHUB_ACTIONS") == "true" {
		image := strings.Trim(a.env.Getenv("ImageOS")+"-"+strings.ToLower(a.env.Getenv("RUNNER_ARCH")), "-")
		return "github-actions/" + image
	}
	return "local/" + string(contract.HostPlatform())
}

func (a *app) workflowRun() *string {
	server, repo, id := a.env.Getenv("GITHUB_SERVER_URL"), a.env.Getenv("GITHUB_REPOSITORY"), a.env.Getenv("GITHUB_RUN_ID")
	if !strings.HasPrefix(server, "https://") || repo == "" || id == "" {
		return nil
	}
	u := server + "/" + repo + "/actions/runs/" + id
	return &u
}

func (a *app) printPlan(f *captureFlags, p *capture.Plan) error {
	for _, n := range p.Notes {
		a.talk("%s", oneLine(n))
	}
	if f.format == "json" {
		return a.printJSON(p)
	}
	rows := [][]string{{"agent", "version", "probe", "profile", "repeat"}}
	for _, c := range p.Cells {
		rows = append(rows, []string{c.Agent, c.Version, c.Probe, c.Profile, fmt.Sprint(c.Repeat)})
	}
	return table(a.env.Stdout, rows)
}

// printReport shows what is known. A capture that was cut short has no next
// step but its error's hint.
func (a *app) printReport(f *captureFlags, r *capture.Report, at capture.Place, whole bool) error {
	for _, n := range r.Notes {
		a.talk("%s", oneLine(n))
	}
	if f.format == "json" {
		return a.printJSON(r)
	}
	if !whole && len(r.Results) == 0 {
		return nil
	}
	rows := [][]string{{"agent", "version", "probe", "shape", "known", "verdict", "run", "parser", "time"}}
	for _, res := range r.Results {
		rows = append(rows, res.Row())
	}
	if err := table(a.env.Stdout, rows); err != nil {
		return err
	}
	for _, line := range r.Details() {
		fmt.Fprintf(a.env.Stdout, "%s\n", oneLine(line))
	}
	if whole {
		fmt.Fprintf(a.env.Stdout, "\n%s\n", r.NextStep(at))
	}
	return nil
}

func (a *app) captureExit(f *captureFlags, r *capture.Report) error {
	if a.machine != nil {
		a.machine.partial = r.Partial()
	}
	if code := r.ExitCode(f.failOn == "new"); code != ExitOK {
		return &Exit{Code: code}
	}
	return nil
}

// progress shows where a capture is: one line that is redrawn on a terminal,
// one line a finished cell elsewhere.
type progress struct {
	a     *app
	drawn bool
	last  string // what was said last where no line can be redrawn
}

func newProgress(a *app) *progress { return &progress{a: a} }

func (p *progress) update(s capture.Progress) {
	if p.a.tell != nil {
		p.a.tell(s.Done, s.Total, s.Group+": "+s.What)
	}
	if p.a.quiet {
		return
	}
	line := fmt.Sprintf("[%d/%d] %s", s.Done, s.Total, s.Group)
	if s.Cell != nil {
		line += " " + s.Cell.Probe
		if s.Cell.Profile != contract.ProfileProduction {
			line += " (" + s.Cell.Profile + ")"
		}
	}
	switch {
	case s.Result != nil:
		p.clear()
		fmt.Fprintln(p.a.env.Stderr, oneLine(line+": "+s.Result.Summary()))
	case p.a.env.Terminal:
		p.clear()
		if s.Bytes > 0 && s.Cell == nil {
			line = fmt.Sprintf("%s (%d MB)", line, s.Bytes>>20)
		}
		fmt.Fprint(p.a.env.Stderr, oneLine(line+": "+s.What))
		p.drawn = true
	case s.Cell == nil && line+s.What != p.last:
		p.last = line + s.What // a download tells of itself many times
		fmt.Fprintln(p.a.env.Stderr, oneLine(line+": "+s.What))
	}
}

func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.a.env.Stderr, "\r\x1b[K")
		p.drawn = false
	}
}

func (p *progress) end() { p.clear() }
