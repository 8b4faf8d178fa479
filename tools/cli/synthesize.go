package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

type synthesizeFlags struct {
	capture.Synthesis
	stderr string
	format format
}

func (a *app) synthesizeCommand() *cobra.Command {
	f := &synthesizeFlags{}
	c := &cobra.Command{
		Use:   "synthesize FILE",
		Short: "Make a parser fixture from a transcript written by hand",
		Long: `Synthesize takes what an agent would have printed on stdout, written by hand
from public reports, and publishes it as a source-evidence record at level
synthetic_mock: a sanitized fixture, its shape, the readings of both adapters
and, if the run failed, an error case. It is for agents that cannot run here.
Such a record is a fixture for parsers; no claim ever rests on it.

FILE may be - for stdin. It goes through the same redaction as a capture, with
the probe's prompt and texts as what the model was told and said; its working
folder is /workspace, its home /home/user. The same FILE again changes nothing.

Exit codes: 0; 1 an expectation of the probe does not hold; 2 usage; 4 redaction
refused, and nothing is written.`,
		Example: `  agent-contracts synthesize text.jsonl --agent cursor-agent --probe chat-text-success --source https://cursor.com/docs/cli/reference/output-format`,
		Args:    argsError(cobra.ExactArgs(1)),
		RunE:    func(c *cobra.Command, args []string) error { return a.synthesize(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.Agent, "agent", "", "id of the agent")
	fl.StringVar(&f.Probe, "probe", "", "probe that the transcript stands for")
	fl.StringSliceVar(&f.Sources, "source", nil, "where the format is told of: URL, commit or file; several are possible")
	fl.StringVar(&f.Dialect, "dialect", "", "dialect of registry/families.json; guessed from the content when absent")
	fl.StringVar(&f.Version, "version", "", "release that the sources are about")
	fl.StringVar(&f.stderr, "stderr", "", "file with what it would have printed on stderr")
	fl.IntVar(&f.ExitCode, "exit-code", 0, "exit code of the run")
	fl.StringVar(&f.Profile, "profile", contract.ProfileProduction, "argv profile that the transcript stands for")
	fl.StringVar(&f.Note, "note", "", "what a reader of the record should know")
	a.formatFlag(c, &f.format, "text", "json")
	_ = c.RegisterFlagCompletionFunc("agent", a.completeAgents)
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	return c
}

// versionToken is what a record takes for a version (schemas, cli_version).
var versionToken = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`)

func (a *app) synthesize(c *cobra.Command, f *synthesizeFlags, file string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	switch {
	case f.Agent == "" || f.Probe == "":
		return usage("name --agent and --probe: what the transcript stands for")
	case len(f.Sources) == 0:
		return usage("name at least one --source: source evidence says where it comes from")
	case f.ExitCode < 0 || f.ExitCode > 255:
		return usage("--exit-code %d: want 0 to 255", f.ExitCode)
	case f.Version != "" && !versionToken.Get().MatchString(f.Version):
		return usage("--version %q: want the version alone, such as 1.2.3 or 2026.07.20-8cc9c0b", oneLine(f.Version))
	}
	reg, err := a.openToWrite()
	if err != nil {
		return err
	}
	if f.Stdout, err = a.readInput(file); err != nil {
		return err
	}
	if f.stderr != "" {
		if f.Stderr, err = a.readInput(f.stderr); err != nil {
			return err
		}
	}
	f.At = a.env.Now()
	res, err := capture.Synthesize(c.Context(), reg, f.Synthesis)
	if err != nil {
		return err
	}
	if f.format == "json" {
		err = a.printJSON(res)
	} else {
		err = a.printSynthetic(res)
	}
	report := capture.Report{Results: []*capture.CellResult{res}}
	if code := report.ExitCode(false); err == nil && code != ExitOK {
		err = &Exit{Code: code}
	}
	return err
}

// printSynthetic shows the record as a capture's report shows a run.
func (a *app) printSynthetic(res *capture.CellResult) error {
	if err := table(a.env.Stdout, [][]string{{"agent", "version", "probe", "shape", "known", "verdict", "run", "parser", "time"}, res.Row()}); err != nil {
		return err
	}
	report := capture.Report{Results: []*capture.CellResult{res}}
	for _, line := range report.Details() {
		fmt.Fprintln(a.env.Stdout, oneLine(line))
	}
	return nil
}
