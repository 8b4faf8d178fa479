package merge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func outcome(agent string, v contract.Verdict, red contract.RedactionStatus) Outcome {
	return Outcome{Agent: agent, Version: "1.2.3", Probe: "chat-tool-success", Verdict: v, Redaction: red}
}

// One action for each verdict (FINE-PRINT 27), and for what is no verdict.
func TestEachVerdictHasOneAction(t *testing.T) {
	for _, tt := range []struct {
		name     string
		verdict  contract.Verdict
		red      contract.RedactionStatus
		disputed bool
		action   Action
		publish  string
		alert    bool // public
		private  bool
	}{
		{"a known shape", contract.VerdictSameShape, "passed", false, Record, Commit, false, false},
		{"a known shape, but another than before", contract.VerdictSameShape, "passed", true, ProposeVariant, PullRequest, false, false},
		{"a new shape", contract.VerdictCompatibleNewShape, "passed", false, Propose, PullRequest, false, false},
		{"a new shape of a version that has one", contract.VerdictCompatibleNewShape, "passed", true, ProposeVariant, PullRequest, false, false},
		{"a server variant", contract.VerdictServerVariant, "passed", false, ProposeVariant, PullRequest, false, false},
		{"incompatible", contract.VerdictParserIncompatible, "passed", false, PublishFailing, PullRequest, true, false},
		{"redaction failed", contract.VerdictRedactionFailed, "failed", false, Withhold, Nothing, false, true},
		{"redaction failed, whatever the verdict", contract.VerdictSameShape, "failed", false, Withhold, Nothing, false, true},
		{"somebody has to look", contract.VerdictCompatibleNewShape, "manual_review_required", false, Withhold, Nothing, false, true},
		{"nothing could be derived", "", "", false, Withhold, Nothing, false, true},
		{"a verdict of tomorrow", "better_than_ever", "passed", false, Withhold, Nothing, false, true},
		{"a redaction status of tomorrow", contract.VerdictSameShape, "mostly_passed", false, Withhold, Nothing, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := outcome("codex", tt.verdict, tt.red)
			o.Disputed = tt.disputed
			r := Plan([]Outcome{o})
			if len(r.Decisions) != 1 || r.Decisions[0].Action != tt.action || r.Publish != tt.publish || (r.PullRequest != nil) != (tt.publish != Nothing) ||
				(r.Alert != nil) != tt.alert || (r.PrivateAlert != nil) != tt.private {
				b, _ := json.MarshalIndent(r, "", "  ")
				t.Errorf("%s", b)
			}
		})
	}
	for _, v := range contract.Verdicts {
		if Decide(&Outcome{Verdict: v, Redaction: contract.RedactionPassed}) == Withhold && v != contract.VerdictRedactionFailed {
			t.Errorf("%s has no action", v)
		}
	}
}

// What is withheld is in no public text, and takes nothing else with it.
func TestWithheldIsNowherePublic(t *testing.T) {
	r := Plan([]Outcome{
		outcome("codex", contract.VerdictSameShape, "passed"), outcome("secretive", contract.VerdictRedactionFailed, "failed"), outcome("claude", contract.VerdictParserIncompatible, "passed"),
	})
	if r.Publish != PullRequest || r.PrivateAlert == nil || !strings.Contains(r.PrivateAlert.Title, "secretive 1.2.3") {
		t.Fatalf("%+v", r)
	}
	for _, m := range []*Message{r.PullRequest, r.Alert} {
		if strings.Contains(m.Title+m.Body, "secretive") || !strings.Contains(m.Title, "claude 1.2.3") {
			t.Errorf("%+v", m)
		}
	}
	if !strings.Contains(r.PullRequest.Body, "| codex | 1.2.3 | chat-tool-success | same_shape |") {
		t.Errorf("the record of a known shape is not in the pull request: %s", r.PullRequest.Body)
	}
}

func TestNamesAreNoMarkdown(t *testing.T) {
	o := outcome("codex", contract.VerdictParserIncompatible, "passed")
	o.Version = "1|<img src=x>\n# @everyone [x](http://x) `"
	r := Plan([]Outcome{o})
	if strings.ContainsAny(r.PullRequest.Body, "<>@[`") || strings.Count(r.PullRequest.Body, "\n") != 6 {
		t.Errorf("%s", r.PullRequest.Body)
	}
	if strings.ContainsAny(r.PullRequest.Title+r.Alert.Title, "<>@[`\n") {
		t.Errorf("%q", r.PullRequest.Title)
	}
}
