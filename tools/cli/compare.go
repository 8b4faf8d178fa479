package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func (a *app) compareCommand() *cobra.Command {
	f := &dialectFlags{}
	var out format
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what changed from A to B, and what that means for a reader",
		Long: `Compare takes two runs, A the older one, and prints a verdict and one signal for
each change. A and B are observations, shapes, sanitized transcripts, recordings
of the private store, or what a CLI printed on stdout: files, or places in the
registry; one of them may be - for stdin.

What a CLI printed tells nothing of its exit and stderr; these are then not
compared. agent-contracts explain SIGNAL says what a signal means.

Exit codes: 0 same_shape, compatible_new_shape or server_variant; 1
parser_incompatible; 2 usage; 3 cannot know (a side cannot be read).`,
		Example: `  agent-contracts compare old.sanitized.jsonl new.sanitized.jsonl
  agent-contracts compare observations/codex/0.133.0/linux-x64/A.observation.json out.jsonl`,
		Args: argsError(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := out.check("text", "json"); err != nil {
				return err
			}
			return a.compare(*f, out, args[0], args[1])
		},
	}
	a.dialectFlags(c, f)
	a.formatFlag(c, &out, "text", "json")
	return c
}

// comparison is what compare prints.
type comparison struct {
	Verdict contract.Verdict `json:"verdict"`
	A       contract.Digest  `json:"a"` // signatures
	B       contract.Digest  `json:"b"`
	Dialect string           `json:"dialect,omitempty"`
	Signals []compare.Signal `json:"signals"`
}

func (a *app) compare(f dialectFlags, out format, nameA, nameB string) error {
	if nameA == "-" && nameB == "-" {
		return usage("only one of A and B can be stdin")
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	l := &sideLoader{app: a, reg: reg, flags: f}
	if l.families, err = reg.Families(); err != nil {
		return err
	}
	var sides [2]*side
	for i, name := range []string{nameA, nameB} {
		if sides[i], err = l.load(name); err != nil {
			return unreadable(err)
		}
	}
	older, newer := sides[0], sides[1]
	if err := a.align(older, newer); err != nil {
		return err
	}
	d := newer.dialect
	if d == nil {
		d = older.dialect
	}
	r := compare.Runs(older.Side, newer.Side, d)
	verdict := r.Judge(compare.Evidence{Replay: newer.replay, SameTarget: sameTarget(older.observation, newer.observation)})
	c := comparison{Verdict: verdict, A: older.Shape.Signature, B: newer.Shape.Signature, Signals: r.Signals}
	if d != nil {
		c.Dialect = d.ID
	}
	if err := a.printComparison(out, c); err != nil {
		return err
	}
	switch verdict {
	case contract.VerdictParserIncompatible:
		return &Exit{Code: ExitFindings}
	case contract.VerdictRedactionFailed:
		return &Exit{Code: ExitRefused}
	}
	return nil
}

// unreadable gives a side that cannot be read the code for not knowing, since
// 1 stands for a breaking change here.
func unreadable(err error) error {
	var exit *Exit
	if errors.As(err, &exit) {
		return err
	}
	_, hint := classifyTool(err)
	return &Exit{Code: ExitCannotKnow, Err: err, Hint: hint}
}

// align makes up for a side without process events: what only such events and
// stderr tell is taken from the other side, so that it does not count.
func (a *app) align(x, y *side) error {
	from, to := x, y
	if x.stdoutOnly {
		from, to = y, x
	}
	if !to.stdoutOnly || from.stdoutOnly {
		return nil
	}
	a.talk("%s is stdout only: exit and stderr are not compared", to.name)
	s := *to.Shape
	s.Exit, s.StderrClass = from.Shape.Exit, from.Shape.StderrClass
	sig, err := s.ComputeSignature()
	if err != nil {
		return fmt.Errorf("signing the shape of %s: %w", to.name, err)
	}
	s.Signature, to.Shape = sig, &s
	return nil
}

// sameTarget reports whether two observations are of the same program and
// question.
func sameTarget(a, b *contract.Observation) bool {
	return a != nil && b != nil && a.Agent == b.Agent && a.CLIVersion == b.CLIVersion && a.Platform == b.Platform &&
		a.Probe == b.Probe && a.Extensions.Profile == b.Extensions.Profile
}

func (a *app) printComparison(out format, c comparison) error {
	if out == "json" {
		return a.printJSON(c)
	}
	if _, err := fmt.Fprintf(a.env.Stdout, "%s\n", c.Verdict); err != nil {
		return err
	}
	var rows [][]string
	for _, s := range c.Signals {
		rows = append(rows, []string{string(s.Severity), oneLine(s.String())})
	}
	return table(a.env.Stdout, rows)
}
