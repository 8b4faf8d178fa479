package compare_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Every rule's positive example gives the rule's signal with its severity or a
// milder one, and its negative example does not.
func TestRuleExamples(t *testing.T) {
	for _, r := range compare.Rules() {
		t.Run(r.ID, func(t *testing.T) {
			if r.Meaning == "" || r.Positive.Why == "" || r.Negative.Why == "" || r.Positive.Signal == "" {
				t.Fatalf("rule %s lacks its meaning or an example", r.ID)
			}
			got := exampleSignals(t, r.Positive)
			i := slices.IndexFunc(got, func(s compare.Signal) bool { return s.ID == r.ID && s.String() == r.Positive.Signal })
			if i < 0 {
				t.Fatalf("the positive example gives %q, want %s", got, r.Positive.Signal)
			}
			if got[i].Severity != r.Severity {
				t.Errorf("the positive example is %s, the rule %s", got[i].Severity, r.Severity)
			}
			got = exampleSignals(t, r.Negative)
			if slices.ContainsFunc(got, func(s compare.Signal) bool { return s.ID == r.ID }) {
				t.Errorf("the negative example gives %q", got)
			}
		})
	}
}

func exampleSignals(t *testing.T, e compare.Example) []compare.Signal {
	t.Helper()
	if e.Older.Help != "" {
		return compare.Help(e.Older.Help, e.Newer.Help, contract.FamilyEvents).Signals
	}
	d := dialect(t, e.Dialect)
	newer := d
	if e.NewDialect != "" {
		newer = dialect(t, e.NewDialect)
	}
	return compare.Runs(exampleSide(t, e.Older, d), exampleSide(t, e.Newer, newer), newer).Signals
}

func exampleSide(t *testing.T, o compare.Output, d *contract.Dialect) compare.Side {
	t.Helper()
	tr := child(o.Stdout, o.ExitCode)
	for line := range strings.Lines(o.Stderr) {
		tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stderr, Data: []byte(line)})
	}
	s := side(t, tr, d)
	s.Dialect = d
	var err error
	if s.Texts, err = compare.ErrorTexts(tr, d); err != nil {
		t.Fatal(err)
	}
	if s.Payloads, err = compare.PayloadKinds(tr, d); err != nil {
		t.Fatal(err)
	}
	return s
}

// A rename is still a loss and an addition, which know of each other.
func TestRenamedKindsKnowOfEachOther(t *testing.T) {
	d := dialect(t, "codex")
	renamed := strings.ReplaceAll(codexTool, `"turn.started"`, `"turn.begun"`)
	r := compare.Runs(side(t, child(codexTool, 0), d), side(t, child(renamed, 0), d), d)
	if len(r.Signals) != 2 || r.Signals[0].Renamed != "turn.begun" || r.Signals[1].Renamed != "turn.started" {
		t.Errorf("signals %+v", r.Signals)
	}
	other := strings.Replace(codexTool, `{"type":"turn.started"}`, `{"type":"plan.updated","steps":[]}`, 1)
	r = compare.Runs(side(t, child(codexTool, 0), d), side(t, child(other, 0), d), d)
	for _, s := range r.Signals {
		if s.Renamed != "" {
			t.Errorf("%s counts as renamed to %s", s, s.Renamed)
		}
	}
}

// Two families are never compatible, whatever their own readers say.
func TestOtherReaderIsIncompatible(t *testing.T) {
	families := []string{"codex", "claude", "gemini", "plain", "acp", "droid", "qoder"}
	for _, x := range families {
		for _, y := range families {
			a, b := side(t, child(codexTool, 0), dialect(t, x)), side(t, child(codexTool, 0), dialect(t, y))
			a.Dialect, b.Dialect = dialect(t, x), dialect(t, y)
			for _, status := range []contract.ReplayStatus{"", contract.ReplayCompatible, contract.ReplayIncompatible, contract.ReplayNotRun} {
				for _, same := range []bool{true, false} {
					want := contract.VerdictParserIncompatible
					if a.Shape.Signature == b.Shape.Signature {
						want = contract.VerdictSameShape
					}
					if got := compare.Runs(a, b, b.Dialect).Judge(compare.Evidence{Replay: status, SameTarget: same}); got != want {
						t.Errorf("%s → %s, replay %q: %s, want %s", x, y, status, got, want)
					}
				}
			}
		}
	}
}
