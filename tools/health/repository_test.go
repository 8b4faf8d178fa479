package health_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// neither says neither that a run succeeded nor that it failed: a hint how to
// go on (kimi), an answer cut at its limit, a turn that ends for its tools, the
// stop reasons of ACP that are no end of the turn by itself.
var neither = map[string]bool{"session.resume_hint": true, "length": true, "unknown": true, "tool-calls": true, "toolUse": true,
	"cancelled": true, "max_tokens": true, "max_turn_requests": true, "refusal": true}

// Every word that a CLI of this repository's records ended with is sorted on
// purpose: a new one must not count as "other" because nobody looked.
func TestEveryReportedWordIsKnown(t *testing.T) {
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	records, err := health.Load(reg)
	if err != nil {
		t.Fatal(err)
	}
	report, err := health.Build(records, health.Options{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, row := range report.Rows {
		runs += row.Runs
		other := 0
		for word, n := range row.ReportedWords {
			if neither[word] {
				other += n
			}
		}
		if other != row.Reported.Other {
			t.Errorf("%s %s %s: sort its words %v in said, or in this test", row.Agent, row.CLIVersion, row.Probe, row.ReportedWords)
		}
	}
	if runs != len(records.Observations) || runs == 0 {
		t.Errorf("%d of %d runs are in the report", runs, len(records.Observations))
	}
}
