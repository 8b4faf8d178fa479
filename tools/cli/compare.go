package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
)

var compareFormats = []string{"text", "json", "markdown", "github"}

func (a *app) compareCommand() *cobra.Command {
	f := &dialectFlags{}
	var out format
	var rules bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what changed from A to B, and what that means for a reader",
		Long: `Compare takes two runs, A the older one, and prints a verdict and one signal for
each change: how severe it is, and whether the adapters that are built in read
what changed, measured on A. A and B are observations, shapes, sanitized
transcripts, recordings of the private store, what a CLI printed on stdout, or
two help texts: files, places in the registry, signatures (sha256:…, eight
digits are enough), or observations as AGENT/VERSION/PLATFORM/TIME.PROBE; one of
them may be - for stdin.

What a CLI printed tells nothing of its exit and stderr; these are then not
compared. Changes in registry/drift-ignores.json are listed and do not count
until they expire. agent-contracts explain SIGNAL says what a signal means;
--rules lists all of them, with --format json also an example for each and one
that looks like it and is none.

Exit codes: 0 same_shape, compatible_new_shape or server_variant; 1
parser_incompatible; 2 usage; 3 cannot know (a side cannot be read).`,
		Example: `  agent-contracts compare old.sanitized.jsonl new.sanitized.jsonl
  agent-contracts compare observations/codex/0.133.0/linux-x64/A.observation.json out.jsonl
  agent-contracts compare sha256:0a1b2c3d sha256:4e5f6071 --format markdown
  agent-contracts compare --rules`,
		Args: argsError(func(c *cobra.Command, args []string) error {
			if rules {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(2)(c, args)
		}),
		RunE: func(_ *cobra.Command, args []string) error {
			if rules {
				return a.compareRules(out)
			}
			if err := out.check(compareFormats...); err != nil {
				return err
			}
			return a.compare(*f, out, args[0], args[1])
		},
	}
	c.Flags().BoolVar(&rules, "rules", false, "list every kind of change, with examples")
	a.dialectFlags(c, f)
	a.formatFlag(c, &out, compareFormats...)
	return c
}

// comparison is what compare prints.
type comparison struct {
	Verdict contract.Verdict       `json:"verdict"`
	A       contract.Digest        `json:"a,omitempty"` // signatures
	B       contract.Digest        `json:"b,omitempty"`
	Dialect string                 `json:"dialect,omitempty"`
	Signals []contract.DriftSignal `json:"signals"`

	names [2]string
}

func (a *app) compare(f dialectFlags, out format, nameA, nameB string) error {
	if nameA == "" || nameB == "" {
		return usage("A and B are names of runs; one of them is empty")
	}
	if nameA == "-" && nameB == "-" {
		return usage("only one of A and B can be stdin")
	}
	reg, err := a.openRecords()
	if err != nil { // two files need no records
		if reg, err = a.open(); err != nil {
			return err
		}
	}
	l := &sideLoader{app: a, reg: reg, flags: f}
	if l.families, err = reg.Families(); err != nil {
		return err
	}
	if _, err := matching(l.families, f); err != nil { // a side that says its dialect does not ask for it
		return err
	}
	var sides [2]*side
	for i, name := range []string{nameA, nameB} {
		if sides[i], err = l.load(name); err != nil {
			return unreadable(err)
		}
	}
	c, err := a.compareSides(sides[0], sides[1], l)
	if err != nil {
		return err
	}
	if err := a.printComparison(out, *c); err != nil {
		return err
	}
	switch c.Verdict {
	case contract.VerdictParserIncompatible:
		return &Exit{Code: ExitFindings}
	case contract.VerdictRedactionFailed:
		return &Exit{Code: ExitRefused}
	}
	return nil
}

func (a *app) compareSides(older, newer *side, l *sideLoader) (*comparison, error) {
	ignores, err := report.ReadIgnores(l.reg, a.env.Now())
	if err != nil {
		return nil, err
	}
	c := &comparison{names: [2]string{older.name, newer.name}}
	if older.help != "" || newer.help != "" {
		if older.help == "" || newer.help == "" {
			return nil, &Exit{Code: ExitCannotKnow, Err: errors.New("a help text can only be compared with another one"), Hint: "name the format of what a CLI printed with --kind"}
		}
		r := compare.Help(older.help, newer.help, "")
		c.Signals = report.Signals(r.Signals, nil)
		ignores.Apply(c.Signals, "")
		c.Verdict = report.Judge(r, c.Signals, compare.Evidence{})
		return c, nil
	}
	if err := a.align(older, newer); err != nil {
		return nil, err
	}
	d := newer.dialect
	if d == nil {
		d = older.dialect
	}
	if d != nil {
		c.Dialect = d.ID
	}
	r := compare.Runs(older.Side.Side, newer.Side.Side, d)
	var reads []report.Reads
	if len(r.Signals) > 0 {
		if reads, err = report.Measure(older.Side, r.Signals, report.Adapters()); err != nil {
			return nil, fmt.Errorf("what adapters read of %s: %w", older.name, err)
		}
	}
	c.A, c.B, c.Signals = older.Shape.Signature, newer.Shape.Signature, report.Signals(r.Signals, reads)
	ignores.Apply(c.Signals, agentOf(newer, older))
	evidence := compare.Evidence{Replay: newer.Replay, SameTarget: sameTarget(older.observation, newer.observation)}
	if lost := lost(older, newer); len(lost) > 0 {
		evidence.Lost = true
		a.talk("%s: the consumer does not see any more: %s", newer.name, strings.Join(lost, ", "))
	}
	c.Verdict = report.Judge(r, c.Signals, evidence)
	return c, nil
}

// agentOf is the agent of the first side that says.
func agentOf(sides ...*side) string {
	for _, s := range sides {
		if s.observation != nil {
			return s.observation.Agent
		}
	}
	return ""
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

// lost names what the consumer showed of the older run alone. Runs of two probes
// were asked for different things.
func lost(older, newer *side) []string {
	a, b := older.observation, newer.observation
	if a != nil && b != nil && a.Probe != b.Probe {
		return nil
	}
	fails := older.Replay == contract.ReplayCompatible // a consumer that was wrong may have called a failure a success
	if a != nil && b != nil {
		fails = replay.Fails(a.Extensions.Violations, b.Extensions.Violations)
	}
	return replay.Lost(older.Golden, newer.Golden, fails)
}

// sameTarget reports whether two observations are of the same program and
// question.
func sameTarget(a, b *contract.Observation) bool {
	return a != nil && b != nil && a.Agent == b.Agent && a.CLIVersion == b.CLIVersion && a.Platform == b.Platform &&
		a.Probe == b.Probe && a.Extensions.Profile == b.Extensions.Profile
}

func (a *app) printComparison(out format, c comparison) error {
	switch out {
	case "json":
		return a.printJSON(c)
	case "markdown":
		return report.ComparisonMarkdown(a.env.Stdout, c.names, c.Verdict, c.Signals)
	case "github":
		return report.Annotations(a.env.Stdout, string(c.Verdict), c.Signals)
	}
	if _, err := fmt.Fprintf(a.env.Stdout, "%s\n", c.Verdict); err != nil {
		return err
	}
	var rows [][]string
	for _, s := range c.Signals {
		severity := s.Severity
		if s.Ignored != "" {
			severity = "ignored"
		}
		rows = append(rows, []string{severity, oneLine(report.Spell(s)), oneLine(report.Who(s))})
	}
	return table(a.env.Stdout, rows)
}

// compareRules prints the catalogue of changes.
func (a *app) compareRules(out format) error {
	if err := out.check("text", "json"); err != nil {
		return err
	}
	rules := compare.Rules()
	if out == "json" {
		return a.printJSON(rules)
	}
	rows := [][]string{{"signal", "severity", "example", "meaning"}}
	for _, r := range rules {
		rows = append(rows, []string{r.ID, string(r.Severity), r.Positive.Signal, r.Meaning})
	}
	return table(a.env.Stdout, rows)
}
