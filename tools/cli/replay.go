package cli

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

// adapters are the words for --adapter and the adapters' own names.
var adapters = map[string]string{
	"reference":   replay.AdapterReference,
	"open-design": replay.AdapterOpenDesign,
}

func (a *app) replayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE... | replay --all",
		Short: "Read transcripts as a consumer does",
		Long: `Replay gives a transcript to an adapter and prints the events that come out, one
JSON object a line: reference is our own reading, open-design what OpenDesign
v0.19.2 makes of the same bytes, faults included. FILE is a sanitized
transcript, a recording of the private store, or what a CLI printed on stdout;
- is stdin. A line on stderr says what the run came to.

With --all every fixture that an observation names is read again by both
adapters and held against its goldens.

Exit codes: 0; 1 the open-design reading loses or doubles something against the
reference, or (--all) a golden differs; 2 usage; 3 cannot know: the adapter has
no reader for the dialect, or a FILE cannot be read.`,
		Example: `  agent-contracts replay fixtures/json-event-stream/sha256-….sanitized.jsonl
  claude -p hello --output-format stream-json --verbose | agent-contracts replay - --adapter open-design
  agent-contracts replay --all --format json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			if f.all {
				return a.replayAll(f.format)
			}
			return a.replay(f, args)
		},
	}
	c.Flags().StringVar(&f.adapter, "adapter", "reference", "who reads: reference or open-design")
	c.Flags().BoolVar(&f.all, "all", false, "hold every fixture of the registry against its goldens")
	a.kindFlag(c, &f.dialect)
	a.formatFlag(c, &f.format, "text", "json")
	c.Flags().Lookup("format").Usage = "output of --all: text or json"
	_ = c.RegisterFlagCompletionFunc("adapter", cobra.FixedCompletions([]string{"reference", "open-design"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

type replayFlags struct {
	adapter string
	all     bool
	dialect dialectFlags
	format  format
}

func (f *replayFlags) check(args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	switch {
	case adapters[f.adapter] == "":
		words := []string{"reference", "open-design"}
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --adapter %q: want reference or open-design", f.adapter), Hint: didYouMean(f.adapter, words)}
	case f.all && len(args) > 0:
		return usage("give FILEs or --all, not both")
	case !f.all && len(args) == 0:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("name a FILE to replay, or --all"), Hint: "see agent-contracts replay --help"}
	}
	return nil
}

func (a *app) replay(f *replayFlags, files []string) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	families, err := reg.Families()
	if err != nil {
		return err
	}
	worst := ExitOK
	for _, name := range files {
		in, err := a.readTranscript(name)
		if err != nil {
			return err
		}
		d, err := a.dialect(families, in, f.dialect)
		if err != nil {
			return err
		}
		code, err := a.replayOne(f, in, d)
		if err != nil {
			return fmt.Errorf("replaying %s: %w", name, err)
		}
		worst = max(worst, code)
	}
	if worst != ExitOK {
		return &Exit{Code: worst}
	}
	return nil
}

// replayOne prints one reading and returns the exit code that it asks for.
func (a *app) replayOne(f *replayFlags, in *input, d *contract.Dialect) (int, error) {
	reading, err := replay.Run(adapters[f.adapter], replay.Input{Transcript: in.transcript, Agent: d.Parser, Dialect: d})
	if err != nil {
		return 0, err
	}
	if reading.Status != replay.StatusOK {
		a.warn("%s: not run: %s", in.name, reading.Reason)
		return ExitCannotKnow, nil
	}
	w := bufio.NewWriter(a.env.Stdout)
	var line []byte
	for _, e := range reading.Events {
		line = append(e.AppendJSON(line[:0]), '\n')
		_, _ = w.Write(line) // Flush reports it
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	a.talk("%s: %s", in.name, outcome(in, reading))
	if reading.Adapter == replay.AdapterReference {
		return ExitOK, nil
	}
	return a.held(in, d, reading)
}

// outcome says what a run came to, without a word of it.
func outcome(in *input, r *replay.Reading) string {
	out := count(len(r.Events), "event")
	switch {
	case in.stdoutOnly():
		return out + "; stdout alone does not tell what the run came to"
	case r.Failure != nil:
		return fmt.Sprintf("%s; run %s (%s/%s)", out, r.RunResult, r.Failure.Category, r.Failure.Detail)
	}
	return fmt.Sprintf("%s; run %s", out, r.RunResult)
}

// aboutTheEnd are the differences that stdout alone cannot show.
var aboutTheEnd = []replay.FindingKind{replay.MissingFailure, replay.InventedFailure, replay.OtherResult, replay.OtherClassification}

// held says what the consumer's reading loses against the reference's.
func (a *app) held(in *input, d *contract.Dialect, consumer *replay.Reading) (int, error) {
	ref, err := replay.Reference(replay.Input{Transcript: in.transcript, Agent: d.Parser, Dialect: d})
	if err != nil {
		return 0, err
	}
	code := ExitOK
	for _, finding := range replay.Compatible(ref, consumer).Breaking() {
		if in.stdoutOnly() && slices.Contains(aboutTheEnd, finding.Kind) {
			continue
		}
		a.warn("%s: incompatible: %s", in.name, finding)
		code = ExitFindings
	}
	return code, nil
}
