package capture

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// changed returns a result of a known shape after a change.
func changed(change func(*CellResult)) *CellResult {
	r := result("0.133.0", "s", "a")
	change(r)
	return r
}

var (
	known   = changed(func(*CellResult) {})
	fresh   = changed(func(r *CellResult) { r.Known, r.Verdict = false, contract.VerdictCompatibleNewShape })
	variant = changed(func(r *CellResult) { r.Known, r.Verdict = false, contract.VerdictServerVariant })
	broken  = changed(func(r *CellResult) { r.Known, r.Verdict = false, contract.VerdictParserIncompatible })
	unmet   = changed(func(r *CellResult) {
		r.Observation.Extensions.Violations = []contract.ContractViolation{{Path: "/must_see/0", Expected: "e", Actual: "a"}}
	})
	unknown  = &CellResult{Cell: known.Cell, Problem: "no answer"}
	rejected = &CellResult{Cell: known.Cell, Problem: "words", Verdict: contract.VerdictRedactionFailed, Redaction: contract.RedactionReview}
	asks     = &CellResult{Cell: known.Cell, WaitsFor: []contract.Digest{contract.Sum([]byte("question"))}}
	failed   = &CellResult{Cell: known.Cell, Problem: "leak", Verdict: contract.VerdictRedactionFailed, Redaction: contract.RedactionFailed}
)

// The codes of FINE-PRINT 13 and 18. The worst counts, in any order: 5 (it
// is not over) before 4 before 3 before 1.
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		name      string
		results   []*CellResult
		want, new int // without and with --fail-on new
	}{
		{"nothing", nil, 0, 0},
		{"known", []*CellResult{known, known}, 0, 0},
		{"a compatible new shape", []*CellResult{known, fresh}, 0, 1},
		{"a server variant", []*CellResult{variant}, 0, 1},
		{"an incompatible shape", []*CellResult{broken, known}, 1, 1},
		{"an expectation that does not hold", []*CellResult{known, unmet}, 1, 1},
		{"something unknown", []*CellResult{broken, unknown, unmet}, 3, 3},
		{"unknown after incompatible", []*CellResult{unknown, broken}, 3, 3},
		{"redaction wants a person", []*CellResult{unknown, rejected, broken}, 4, 4},
		{"redaction failed", []*CellResult{failed, unknown}, 4, 4},
		{"one waits", []*CellResult{known, failed, asks, broken}, 5, 5},
		{"redaction failed last", []*CellResult{known, unknown, broken, failed}, 4, 4},
	} {
		r := &Report{Results: c.results}
		if got := r.ExitCode(false); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, got, c.want)
		}
		if got := r.ExitCode(true); got != c.new {
			t.Errorf("%s with --fail-on new: exit code %d, want %d", c.name, got, c.new)
		}
	}
}

func TestNextStep(t *testing.T) {
	git, plain := Place{Versioned: true}, Place{Flag: " --registry mine"}
	for _, c := range []struct {
		results []*CellResult
		at      Place
		says    string
	}{
		{[]*CellResult{known}, git, "every shape was known. Commit"},
		{[]*CellResult{known}, plain, "every shape was known. `agent-contracts matrix --explain"},
		{[]*CellResult{known, fresh, fresh}, git, "1 new shape(s) (" + fresh.Shape.Signature.Short() + "). Look at them with `git status --short`"},
		{[]*CellResult{known, fresh, fresh}, plain, "`agent-contracts validate --registry mine` checks"},
		{[]*CellResult{fresh, unknown}, git, "tell nothing"},
		{[]*CellResult{rejected, asks}, git, "agent-contracts review answer"},
		{[]*CellResult{unknown, rejected}, git, "registry/vocabulary.json"},
	} {
		got := (&Report{Results: c.results}).NextStep(c.at)
		if !strings.Contains(got, c.says) {
			t.Errorf("next step %q, want one that says %q", got, c.says)
		}
		if !c.at.Versioned && strings.Contains(got, "git") {
			t.Errorf("next step %q names git, which does not keep the registry", got)
		}
	}
}

func TestRowsAndDetails(t *testing.T) {
	for _, r := range []*CellResult{known, fresh, variant, broken, unmet, unknown, rejected, failed, asks} {
		if row := r.Row(); len(row) != 9 || row[2] != "chat-text-success" {
			t.Errorf("row %q, want nine cells", row)
		}
		if r.Summary() == "" {
			t.Errorf("no summary of %+v", r)
		}
	}
	if row := unknown.Row(); row[3] != "-" || row[4] != "-" || row[5] != "-" {
		t.Errorf("row %q claims what nobody knows", row)
	}
	other := changed(func(r *CellResult) { r.Cell.Profile = contract.ProfileCompatible })
	if row := other.Row(); row[2] != "chat-text-success (compatible)" {
		t.Errorf("row %q does not name the profile", row)
	}
	limit := changed(func(r *CellResult) { r.Observation.Extensions.EndReason = "output_limit" })
	got := strings.Join((&Report{Results: []*CellResult{unknown, rejected, unmet, limit, known, asks}}).Details(), "\n")
	for _, want := range []string{
		"codex@0.133.0 chat-text-success: cannot know: no answer", "redaction manual_review_required: words",
		"expectation /must_see/0: wanted e, got a", "the capture ended the run: output_limit of 32 MiB",
		"chat-text-success: waits for an answer to " + asks.WaitsFor[0].Hex()[:12],
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the details do not say %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != 4 {
		t.Errorf("%d lines, want 5: what is as known needs none\n%s", n+1, got)
	}
}
