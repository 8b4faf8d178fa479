package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/jobs"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
)

func (a *app) replayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay FILE... | replay --all | replay --run FIXTURE... | replay --run --all",
		Short: "Read transcripts as a consumer does",
		Long: `Replay gives a transcript to an adapter and prints the events that come out, one
JSON object a line: reference is our own reading, open-design what OpenDesign
v0.19.2 makes of the same bytes, faults included, and a command is a program of
your own that reads frames and writes events as JSON lines (docs/ADAPTERS.md).
A value with a space or a slash is a command; exec:NAME runs a program that is
found in PATH. FILE is a sanitized transcript, a recording of the private
store, or what a CLI printed on stdout; - is stdin. A line on stderr says what
the run came to, and what the adapter loses, doubles or invents against the
reference, by kind of frame. --format json prints all of it as one document.

With --coverage the paths are printed that the adapter reads, and those that it
never reads: leaving them out, null and another value change nothing.

With --all every fixture that an observation names is read again by both
adapters and held against its goldens; with a command as --adapter, every
fixture is read by the command and held against the reference. --family and
--kind choose among the fixtures. With --all --write the goldens that differ are
written as today's adapters read, all at once, and listed; observations stay as
they are.

With --run each FIXTURE, or with --all every one, is played as a real process,
which the harness drives as OpenDesign's daemon does. When stdin is closed, what
the client sends, exit, signal, shape, what the daemon makes of the run and how
it classifies the failure are held against the fixture and its goldens
(docs/PLAY.md).

Exit codes: 0; 1 the reading loses or doubles something against the reference,
or (--all) a golden differs, or (--run) a run is not as recorded; 2 usage; 3
cannot know: the adapter has no reader for the dialect or breaks the protocol,
or a FILE cannot be read.`,
		Example: `  agent-contracts replay fixtures/json-event-stream/sha256-….sanitized.jsonl
  claude -p hello --output-format stream-json --verbose | agent-contracts replay - --adapter open-design
  agent-contracts replay run.jsonl --adapter open-design --format json
  agent-contracts replay run.jsonl --adapter open-design --coverage
  agent-contracts replay run.jsonl --adapter 'node my-adapter.mjs'
  agent-contracts replay --all --kind codex --adapter 'node my-adapter.mjs'
  agent-contracts replay --all --format json
  agent-contracts replay --all --write --kind codex
  agent-contracts replay --run --all --kind codex`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			if f.run {
				return a.replayRun(c.Context(), f, args)
			}
			if f.all {
				return a.replayAll(c.Context(), f)
			}
			return a.replay(c.Context(), f, args)
		},
	}
	c.Flags().StringVar(&f.adapter, "adapter", "reference", "who reads: reference, open-design, or a command")
	c.Flags().DurationVar(&f.timeout, "adapter-timeout", external.DefaultTimeout, "how long a command may take for one transcript")
	c.Flags().BoolVar(&f.coverage, "coverage", false, "print which paths of the frames the adapter reads")
	c.Flags().BoolVar(&f.all, "all", false, "hold every fixture of the registry against its goldens, or a command against the reference")
	c.Flags().BoolVar(&f.write, "write", false, "with --all: write the goldens that differ as the adapters read today")
	c.Flags().BoolVar(&f.run, "run", false, "play the fixtures as real processes and drive them as the consumer's daemon does")
	a.dialectFlags(c, &f.dialect)
	a.formatFlag(c, &f.format, "text", "json")
	_ = c.RegisterFlagCompletionFunc("adapter", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"reference", "open-design"}, cobra.ShellCompDirectiveDefault // or a file
	})
	return a.detachable(c, jobs.KindReplay, func(_ *cobra.Command, args []string) error { return a.checkReplayRun(f, args) })
}

type replayFlags struct {
	adapter  string
	timeout  time.Duration
	coverage bool
	all      bool
	run      bool
	write    bool
	dialect  dialectFlags
	format   format
}

func (f *replayFlags) check(args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	switch {
	case f.timeout <= 0:
		return usage("--adapter-timeout %s: want a time above zero, such as 30s", f.timeout)
	case adapters[f.adapter] == "" && !external.IsCommand(f.adapter):
		hint := didYouMean(f.adapter, []string{"reference", "open-design"})
		if hint == "" {
			hint = "exec:" + oneLine(f.adapter) + " runs the program of that name"
		}
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --adapter %q: want reference, open-design, or a command such as 'node my-adapter.mjs'", f.adapter), Hint: hint}
	case f.all && len(args) > 0:
		return usage("give FILEs or --all, not both")
	case f.run && (f.coverage || adapters[f.adapter] != replay.AdapterReference):
		return usage("--run plays whole runs: it takes neither --adapter nor --coverage")
	case f.write && (!f.all || f.run || f.coverage || adapters[f.adapter] != replay.AdapterReference):
		return usage("--write is of --all alone, with --family and --kind: it writes the goldens of both built-in adapters")
	case f.all && f.coverage:
		return usage("--coverage is of FILEs, not of --all")
	case !f.all && len(args) == 0:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("name a FILE to replay, or --all"), Hint: "see agent-contracts replay --help"}
	}
	return nil
}

func (a *app) replay(ctx context.Context, f *replayFlags, files []string) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	families, err := reg.Families()
	if err != nil {
		return err
	}
	consumer, err := a.consumer(f)
	if err != nil {
		return err
	}
	out := &replayOutput{app: a, format: f.format, documents: []replayDocument{}}
	if f.coverage {
		out.coverages = []coverageDocument{}
	}
	worst, err := a.replayFiles(ctx, f, files, families, consumer, out)
	if closing := consumer.close(); err == nil {
		err = closing
	}
	if err == nil {
		err = out.close()
	}
	if err == nil && worst != ExitOK {
		err = &Exit{Code: worst}
	}
	return err
}

func (a *app) replayFiles(ctx context.Context, f *replayFlags, files []string, families *contract.Families, consumer *consumer, out *replayOutput) (worst int, err error) {
	for _, name := range files {
		in, err := a.readTranscript(name)
		if err != nil {
			return 0, err
		}
		d, err := a.dialect(families, in, f.dialect)
		if err != nil {
			return 0, err
		}
		one := a.replayOne
		if f.coverage {
			one = a.coverOne
		}
		code, err := one(ctx, consumer, in, d, out)
		if err != nil {
			return 0, fmt.Errorf("replaying %s: %w", name, err)
		}
		worst = max(worst, code)
	}
	return worst, nil
}

// replayOne prints one reading and returns the exit code that it asks for.
func (a *app) replayOne(ctx context.Context, consumer *consumer, in *input, d *contract.Dialect, out *replayOutput) (int, error) {
	ri := replay.Input{Transcript: in.transcript, Agent: d.Parser, Dialect: d}
	reading, err := consumer.read(ctx, ri)
	if err != nil {
		return 0, err
	}
	doc := replayDocument{File: in.name, Adapter: reading.Adapter, Dialect: d.ID, Status: reading.Status, Reason: reading.Reason, Events: []replay.Event{}}
	if reading.Status != replay.StatusOK {
		a.warn("%s: not run: %s", in.name, reading.Reason)
		return ExitCannotKnow, out.document(doc)
	}
	doc.Events = append(doc.Events, reading.Events...)
	doc.Reading = summary(in, reading)
	code := ExitOK
	if reading.Adapter != replay.AdapterReference {
		h, err := heldAgainst(in, ri, reading)
		if err != nil {
			return 0, err
		}
		doc.Reference, doc.Comparison = summary(in, h.ref), &h.comparisonDocument
		if h.Status == contract.ReplayIncompatible {
			code = ExitFindings
		}
	}
	if err := out.document(doc); err != nil {
		return 0, err
	}
	a.talk("%s: %s", in.name, outcome(in, reading))
	a.sayFindings(in, doc.Comparison)
	return code, nil
}

// outcome says what a run came to and what was odd about it, without a word of it.
func outcome(in *input, r *replay.Reading) string {
	out := []string{count(len(r.Events), "event")}
	switch {
	case in.stdoutOnly():
		out = append(out, "stdout alone does not tell what the run came to")
	case r.Failure != nil:
		out = append(out, fmt.Sprintf("run %s (%s/%s)", r.RunResult, r.Failure.Category, r.Failure.Detail))
	case r.WeakSuccess:
		out = append(out, fmt.Sprintf("run %s without text and tools", r.RunResult))
	default:
		out = append(out, "run "+string(r.RunResult))
	}
	odd := slices.Clone(r.Signals)
	for _, d := range slices.Sorted(maps.Keys(r.Deviations)) {
		odd = append(odd, fmt.Sprintf("%s %d×", d, r.Deviations[d]))
	}
	if len(odd) > 0 {
		out = append(out, strings.Join(odd, ", "))
	}
	return strings.Join(out, "; ")
}
