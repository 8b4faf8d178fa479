package cli

import (
	"strings"
	"testing"
)

// An event that is not known to keep the code of strangers out is refused, whatever
// else is set.
func TestMayCaptureLive(t *testing.T) {
	const branch = "refs/heads/main"
	for name, tt := range map[string]struct {
		event, ref, protected, variable string
		want                            string // a part of the refusal, "" for none
	}{
		"no workflow":                    {"", "", "", "", ""},
		"by hand":                        {"workflow_dispatch", branch, "true", "1", ""},
		"on a schedule":                  {"schedule", branch, "true", "1", ""},
		"a push to a protected branch":   {"push", branch, "true", "1", ""},
		"a push to another branch":       {"push", "refs/heads/topic", "false", "1", "protected branch"},
		"a push, and nobody says so":     {"push", branch, "", "1", "protected branch"},
		"a push of a protected tag":      {"push", "refs/tags/v1", "true", "1", "protected branch"},
		"a pull request":                 {"pull_request", "refs/pull/7/merge", "", "1", "pull request"},
		"a pull request's target":        {"pull_request_target", branch, "true", "1", "pull request"},
		"by hand, of a pull request":     {"workflow_dispatch", "refs/pull/7/merge", "", "1", "pull request"},
		"a merge queue":                  {"merge_group", "refs/heads/gh-readonly-queue/main/pr-7-abc", "true", "1", "merge queue"},
		"a merge queue, and no ref":      {"merge_group", "", "", "1", "merge queue"},
		"a push of the merge queue":      {"push", "refs/heads/gh-readonly-queue/main/pr-7-abc", "true", "1", "merge queue"},
		"by hand, of a merge queue":      {"workflow_dispatch", "refs/heads/gh-readonly-queue/main/pr-7-abc", "", "1", "merge queue"},
		"after another workflow":         {"workflow_run", branch, "true", "1", `the event "workflow_run"`},
		"a comment":                      {"issue_comment", branch, "true", "1", `the event "issue_comment"`},
		"an event that comes later":      {"merge_request", branch, "true", "1", `the event "merge_request"`},
		"the same in other letters":      {"Schedule", branch, "true", "1", `the event "Schedule"`},
		"by hand, without the variable":  {"workflow_dispatch", branch, "true", "", "AGENT_CONTRACTS_LIVE"},
		"a workflow that names no event": {"-", branch, "true", "1", `the event ""`},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"GITHUB_EVENT_NAME": tt.event, "GITHUB_REF": tt.ref, "GITHUB_REF_PROTECTED": tt.protected, "AGENT_CONTRACTS_LIVE": tt.variable}
			if tt.event != "" {
				env["GITHUB_ACTIONS"], env["GITHUB_EVENT_NAME"] = "true", strings.TrimPrefix(tt.event, "-")
			}
			a := &app{env: Env{Getenv: func(k string) string { return env[k] }}}
			err := a.mayCaptureLive()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
