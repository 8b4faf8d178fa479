package agentcontracts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// stepScript returns the script of a workflow's step, found by a part of it.
func stepScript(t *testing.T, workflow, part string) string {
	t.Helper()
	b, err := os.ReadFile(".github/workflows/" + workflow + ".yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Jobs map[string]struct{ Steps []step }
	}
	if err := yaml.Unmarshal(b, &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if strings.Contains(s.Run, part) {
				return s.Run
			}
		}
	}
	t.Fatalf("%s has no step with %q", workflow, part)
	return ""
}

// needs finds a program that steps call. Only CI has to have it.
func needs(t *testing.T, program string) string {
	t.Helper()
	at, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") != "" {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("the steps need %s", program)
	}
	return at
}

// runStep runs a script as GitHub does, in dir, which is also RUNNER_TEMP and the
// first folder of PATH. programs are the scripts of what it calls.
func runStep(t *testing.T, dir, script string, programs map[string]string, env ...string) error {
	t.Helper()
	bash := needs(t, "bash")
	for name, text := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	c := exec.Command(bash, "-eo", "pipefail", "-c", script)
	c.Dir = dir
	c.Env = append(os.Environ(), append(env, "RUNNER_TEMP="+dir, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	out, err := c.CombinedOutput()
	t.Logf("%s", out)
	return err
}

// A source that is down (3) and a release that is new (1) are no fault of the
// hourly job, which goes on to propose what the other sources said.
func TestDiscoverStepTakesEveryAnswer(t *testing.T) {
	script := stepScript(t, "discover", "discover --write")
	for code, good := range map[int]bool{0: true, 1: true, 2: false, 3: true, 70: false} {
		err := runStep(t, t.TempDir(), script, map[string]string{"agent-contracts": fmt.Sprintf(`[ "$1" = validate ] || exit %d`, code)})
		if (err == nil) != good {
			t.Errorf("discover exits %d: the step says %v", code, err)
		}
	}
}

// Only a capture that says that no redaction was refused leaves out what makes the
// merge job alert: one that waits, fails or is killed says nothing of it.
func TestCaptureStepsKeepTheAlert(t *testing.T) {
	for _, workflow := range []string{"capture", "live"} {
		script := stepScript(t, workflow, `" capture `)
		for exit, alerts := range map[string]bool{"exit 0": false, "exit 1": false, "exit 3": false, "exit 4": true, "exit 5": true, "exit 70": true, "kill -9 $PPID": true} {
			dir := t.TempDir()
			_ = runStep(t, dir, script, map[string]string{"agent-contracts": exit}, "SHARD=s", "INPUTS={}", "TARGET=codex", "PROBE=p")
			bundles, err := filepath.Glob(filepath.Join(dir, "bundle", "*.bundle.tar.gz"))
			if err != nil || (len(bundles) > 0) != alerts {
				t.Errorf("%s, %s: bundles %q, %v", workflow, exit, bundles, err)
			}
		}
	}
}

// Whatever happens to a merge, the maintainers hear that something was withheld, and
// the log does not say what.
func TestPrivateAlertIsSent(t *testing.T) {
	needs(t, "jq")
	script := stepScript(t, "merge", "$ALERT_URL")
	for name, tt := range map[string]struct{ result, want string }{
		"withheld":       {`{"private_alert":{"title":"Withheld: bundle s","body":"b"}}`, "Withheld: bundle s"},
		"nothing":        {`{"private_alert":null}`, ""},
		"no result":      {"", "gave no result"},
		"half a program": {"-", "gave no result"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if result := strings.TrimPrefix(tt.result, "-"); tt.result != "" {
				if err := os.WriteFile(filepath.Join(dir, "merge.json"), []byte(result), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			curl := map[string]string{"curl": `cp "$RUNNER_TEMP/alert.json" "$RUNNER_TEMP/sent.json"`}
			if err := runStep(t, dir, script, curl, "ALERT_URL=x", "RUN=7"); err != nil {
				t.Fatal(err)
			}
			var sent struct{ Title string }
			b, err := os.ReadFile(filepath.Join(dir, "sent.json"))
			if err == nil {
				err = json.Unmarshal(b, &sent)
			} else if tt.want == "" {
				err = nil
			}
			if err != nil || !strings.Contains(sent.Title, tt.want) || (sent.Title == "") != (tt.want == "") {
				t.Errorf("sent %q, %v", b, err)
			}
		})
	}
}

// A merge that fails after it refused bundles says in its result which.
func TestMergeThatFailsNamesTheRefused(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile(".github/merge-bundles")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bundles", "base", "head"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"s-redaction", `odd"name`, ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, "bundles", name+".bundle.tar.gz"), nil, 0o600); err != nil {
			t.Skip("this file system takes no such name")
		}
	}
	program := map[string]string{"agent-contracts": `case "$1" in accept|validate) exit 1 ;; esac`}
	if err := runStep(t, dir, "set -- bundles base head agent-contracts result.json\n"+string(script), program); err == nil {
		t.Error("a registry that does not hold passes")
	}
	b, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Publish string
		Alert   struct{ Body string } `json:"private_alert"`
	}
	if err := json.Unmarshal(b, &result); err != nil {
		t.Fatal(err)
	}
	if result.Publish != "nothing" || !strings.Contains(result.Alert.Body, "s-redaction") || !strings.Contains(result.Alert.Body, "odd_name") || !strings.Contains(result.Alert.Body, ".hidden") {
		t.Errorf("the result is %s", b)
	}
}

// Where main takes no push, what would be committed becomes a pull request.
func TestPublishStepProposesWhatMainRefuses(t *testing.T) {
	needs(t, "jq")
	script := stepScript(t, "merge", "gh pr create")
	for name, tt := range map[string]struct{ publish, git, want string }{
		"committed": {"commit", "", "push HEAD:main"},
		"refused":   {"commit", `case "$*" in *HEAD:main) exit 1 ;; esac`, "push HEAD:main,push HEAD:b,pr create"},
		"proposed":  {"pull_request", "", "push HEAD:b,pr create"},
		"nothing":   {"nothing", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			result := fmt.Sprintf(`{"publish":%q,"pull_request":{"title":"t","body":"b"}}`, tt.publish)
			if err := os.WriteFile(filepath.Join(dir, "merge.json"), []byte(result), 0o600); err != nil {
				t.Fatal(err)
			}
			programs := map[string]string{
				"git": `for last; do :; done; [ "$1" != push ] || echo "push $last" >> calls; ` + tt.git,
				"gh":  `echo "$1 $2" >> calls`,
			}
			if err := runStep(t, dir, script, programs, "BRANCH=b"); err != nil {
				t.Fatal(err)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			if got := strings.Join(strings.Split(strings.TrimSpace(string(calls)), "\n"), ","); got != tt.want {
				t.Errorf("calls %q, want %q", got, tt.want)
			}
		})
	}
}

// Versions that were told of once are told in the same issue, while it is open.
func TestAlertStepKeepsOneIssue(t *testing.T) {
	needs(t, "jq")
	script := stepScript(t, "merge", "gh issue create")
	for open, want := range map[string]string{
		`[]`: "issue list,issue create",
		`[{"number":7,"title":"Incompatible: codex 0.171.0, and 1 more"}]`:                                   "issue list,issue create",
		`[{"number":8,"title":"Incompatible: pi 1.6.0"},{"number":7,"title":"Incompatible: codex 0.171.0"}]`: "issue list,issue edit 7",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "merge.json"), []byte(`{"alert":{"title":"Incompatible: codex 0.171.0","body":"b"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		gh := map[string]string{"gh": `case "$2" in edit) echo "$1 $2 $3" ;; *) echo "$1 $2" ;; esac >> calls; [ "$2" != list ] || echo '` + open + `'`}
		if err := runStep(t, dir, script, gh); err != nil {
			t.Fatal(err)
		}
		calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
		if got := strings.Join(strings.Split(strings.TrimSpace(string(calls)), "\n"), ","); got != want {
			t.Errorf("%s: calls %q, want %q", open, got, want)
		}
	}
}

// The action of another repository answers in its output and by its end, and takes
// no input for a flag or for what it is not.
func TestActionStep(t *testing.T) {
	b, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct{ Runs struct{ Steps []step } }
	if err := yaml.Unmarshal(b, &action); err != nil {
		t.Fatal(err)
	}
	script := action.Runs.Steps[len(action.Runs.Steps)-1].Run
	for name, tt := range map[string]struct {
		failOn, agent string
		exit          int
		good          bool
		answer        string
	}{
		"understood":                {"no", "codex", 0, true, "answer=yes\n"},
		"not understood":            {"no", "codex", 1, false, "answer=no\n"},
		"unknown, and that is fine": {"no", "codex", 3, true, "answer=unknown\n"},
		"unknown, and it is not":    {"unknown", "codex", 3, false, "answer=unknown\n"},
		"a misspelt limit":          {"unkown", "codex", 3, false, ""},
		"a flag for an agent":       {"no", "--help", 2, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program := fmt.Sprintf(`case "$*" in *"-- %s 1.0") exit %d ;; esac; exit 70`, tt.agent, tt.exit)
			err := runStep(t, dir, script, map[string]string{"agent-contracts": program, "go": ""},
				"AGENT="+tt.agent, "VERSION=1.0", "PLATFORM=", "FAIL_ON="+tt.failOn, "SOURCE=.", "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
			answer, _ := os.ReadFile(filepath.Join(dir, "output"))
			if (err == nil) != tt.good || string(answer) != tt.answer {
				t.Errorf("%v, output %q", err, answer)
			}
		})
	}
}
