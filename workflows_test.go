package agentcontracts_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/cli"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// workflow is what the lint looks at of a GitHub workflow.
type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Env         map[string]string `yaml:"env"`
	Jobs        map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Environment string            `yaml:"environment"`
		Timeout     int               `yaml:"timeout-minutes"`
		Env         map[string]string `yaml:"env"`
		Steps       []step            `yaml:"steps"`
	} `yaml:"jobs"`
}

type step struct {
	Uses  string            `yaml:"uses"`
	Run   string            `yaml:"run"`
	Shell string            `yaml:"shell"`
	With  map[string]string `yaml:"with"`
	Env   map[string]string `yaml:"env"`
}

var (
	pinned = regexp.MustCompile(`^[A-Za-z0-9._-]+/[A-Za-z0-9._/-]+@[0-9a-f]{40}$`)
	// What runs an agent's CLI, or the code of a pull request.
	foreign = regexp.MustCompile(`agent-contracts"? (capture|campaign|bisect|record|compatibility)\b|\.ci/run|\bnpx `)
	// What runs the scripts of packages, which needs no secret.
	installs = regexp.MustCompile(`\bnpm (ci|i|install|exec)\b`)
	// What could print raw output into a public log. Redirections into a file or
	// another program's stdin are looked at by hand.
	prints = regexp.MustCompile(`(?m)(^|[|&;({]|\bthen|\bdo)\s*(cat|tee|head|tail|tac|nl|less|more|sed|awk|cut|strings|xxd|od|hexdump|base64)\b|\btee\b|(\bset|\b(ba|da|z)?sh) -[a-z]*x|xtrace|\bBASH_ENV\b|\bGITHUB_STEP_SUMMARY\b|--raw\b|XDG_STATE_HOME|agent-contracts"? (play|record|job (output|logs))\b|ACTIONS_STEP_DEBUG`)
	// What a variable or a substitution holds, printed and not handed on.
	echoes = regexp.MustCompile(`(?m)\b(echo|printf)\b[^|>\n]*[$\x60][^|>\n]*(>&?\s*(2|/dev/(stdout|stderr|tty))[^|>\n]*)?$`)
	// What reads a cache, or would with these inputs.
	caches = regexp.MustCompile(`^actions/cache(/restore|/save)?@|^actions/setup-(go|node)@`)
	// What would tell capture --live that another event started the workflow.
	claimsEvent = regexp.MustCompile(`GITHUB_(ACTIONS|EVENT_NAME|REF(_PROTECTED)?)\b|\benv +-|\bunset\b`)
	calls       = regexp.MustCompile(`agent-contracts"? ((?:[a-z][a-z-]* ?)+)(.*)`)
	flags       = regexp.MustCompile(`--[a-z-]+`)
)

// lintWorkflow returns what is wrong with a workflow.
func lintWorkflow(text []byte) (bad []string) {
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		return []string{err.Error()}
	}
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	on := fmt.Sprint(triggers(&w.On))
	byPullRequest := strings.Contains(on, "pull_request") || strings.Contains(on, "merge_group") // a queue tries pull requests, with secrets
	if strings.Contains(on, "pull_request_target") {
		say("pull_request_target runs foreign code with secrets")
	}
	if w.Permissions == nil {
		say("no permissions at the top: the default ones write")
	}
	for scope, p := range w.Permissions {
		if p != "read" && p != "none" {
			say("%s: %s for every job", scope, p)
		}
	}
	for name, job := range w.Jobs {
		if job.Timeout == 0 {
			say("job %s has no timeout-minutes", name)
		}
		all := ""
		for _, s := range job.Steps {
			all += s.Run + "\n" + fmt.Sprint(s.Env, s.With) + "\n"
			bad = append(bad, lintStep(name, s)...)
		}
		all += fmt.Sprint(job.Env, w.Env)
		live := strings.Contains(all, "--live") || strings.Contains(all, "AGENT_CONTRACTS_LIVE")
		runsForeign := byPullRequest || foreign.MatchString(all)
		for scope, p := range job.Permissions {
			if runsForeign && p != "read" && p != "none" {
				say("job %s runs foreign code and may write %s", name, scope)
			}
		}
		if runsForeign && !live && (strings.Contains(all, "secrets.") || strings.Contains(all, "github.token")) {
			say("job %s runs foreign code beside a secret", name)
		}
		if live && (job.Environment == "" || on != "[workflow_dispatch]") {
			say("job %s captures live without a protected environment, or not by hand alone", name)
		}
		if live && claimsEvent.MatchString(all) {
			say("job %s captures live and says itself what event it is", name)
		}
		if strings.Contains(all, "secrets.") && !live && runsForeign {
			say("job %s hands secrets to foreign code", name)
		}
		for _, s := range job.Steps {
			// Foreign code on main's branch leaves what it likes in main's cache.
			if !byPullRequest && caches.MatchString(s.Uses) && (s.With["cache"] != "false" && (!strings.HasPrefix(s.Uses, "actions/setup-node@") || s.With["cache"] != "")) {
				say("job %s shares a cache with jobs that run foreign code", name)
			}
			if strings.Contains(on, "workflow_run") && strings.Contains(s.With["ref"]+s.With["repository"], "workflow_run") {
				say("job %s takes the code of the run that it comes after", name)
			}
			if strings.Contains(fmt.Sprint(s.Env), "secrets.") && installs.MatchString(s.Run) {
				say("job %s installs packages beside a secret", name)
			}
		}
		if runsForeign {
			for _, s := range job.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
					say("job %s leaves the token in the checkout for foreign code", name)
				}
			}
		}
	}
	return bad
}

func lintStep(job string, s step) (bad []string) {
	if s.Uses != "" && !strings.HasPrefix(s.Uses, "./") && !pinned.MatchString(s.Uses) {
		bad = append(bad, fmt.Sprintf("job %s: %s is not pinned by its full hash", job, s.Uses))
	}
	if strings.Contains(s.Run, "${{") {
		bad = append(bad, fmt.Sprintf("job %s: an expression inside a script is code for whoever sets it: %q", job, s.Run))
	}
	bad = append(bad, lintScript(job, s.Run+"\n"+fmt.Sprint(s.Env)+s.Shell)...)
	if strings.HasPrefix(s.Uses, "actions/upload-artifact@") && !regexp.MustCompile(`^\$\{\{ runner\.temp \}\}/bundle/$`).MatchString(strings.TrimSpace(s.With["path"])) {
		bad = append(bad, fmt.Sprintf("job %s uploads %q: only the bundle of sanitized records leaves a job", job, s.With["path"]))
	}
	return bad
}

// lintScript finds what could print raw output: in a step, or a script that one runs.
func lintScript(name, script string) (bad []string) {
	for _, what := range []*regexp.Regexp{prints, echoes} {
		if m := what.FindString(script); m != "" {
			bad = append(bad, fmt.Sprintf("job %s: %q could print raw output", name, strings.TrimSpace(m)))
		}
	}
	return bad
}

func triggers(on *yaml.Node) []string {
	switch on.Kind {
	case yaml.ScalarNode:
		return []string{on.Value}
	case yaml.SequenceNode:
		var out []string
		for _, n := range on.Content {
			out = append(out, n.Value)
		}
		return out
	}
	var out []string
	for i := 0; i+1 < len(on.Content); i += 2 {
		out = append(out, on.Content[i].Value)
	}
	return out
}

func workflowFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestWorkflows(t *testing.T) {
	files := workflowFiles(t)
	for f, text := range files {
		for _, bad := range lintWorkflow(text) {
			t.Errorf("%s: %s", f, bad)
		}
	}
	action, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var composite struct{ Runs struct{ Steps []step } }
	if err := yaml.Unmarshal(action, &composite); err != nil || len(composite.Runs.Steps) == 0 {
		t.Fatal(len(composite.Runs.Steps), err)
	}
	for _, s := range composite.Runs.Steps {
		for _, bad := range lintStep("of action.yml", s) {
			t.Error(bad)
		}
	}
	for _, f := range []string{".github/merge-bundles", ".github/pack-bundles"} {
		script, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range lintScript(f, string(script)) {
			t.Error(bad)
		}
	}
	files["action.yml"] = action
	for f, text := range files {
		for _, line := range strings.Split(string(text), "\n") {
			if _, use, ok := strings.Cut(line, "uses: "); ok && !regexp.MustCompile(`^[^ ]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(use) {
				t.Errorf("%s: %q does not say the version of its hash", f, use)
			}
		}
	}
}

// Every command and flag that a workflow or its script uses is one of ours.
func TestWorkflowsUseCommandsThatExist(t *testing.T) {
	files := workflowFiles(t)
	for _, f := range []string{"action.yml", ".github/merge-bundles", ".github/pack-bundles"} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files[f] = bytes.ReplaceAll(b, []byte(`"$program" `), []byte("agent-contracts "))
	}
	seen := 0
	for f, text := range files {
		for _, line := range strings.Split(strings.ReplaceAll(string(text), "./cmd/agent-contracts ", "agent-contracts "), "\n") {
			m := calls.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line, "go build") {
				continue
			}
			seen++
			command := strings.Fields(m[1])[0]
			args := []string{command, "--help"}
			if words := strings.Fields(m[1]); command == "report" && len(words) > 1 {
				args = []string{command, words[1], "--help"}
			}
			var out, errs bytes.Buffer
			code := cli.Main(context.Background(), cli.Env{Args: args, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: t.TempDir()})
			if code != 0 {
				t.Errorf("%s: %q is no command: %s", f, command, errs.String())
				continue
			}
			known := flags.FindAllString(out.String(), -1)
			own, _, _ := strings.Cut(m[2], " > ")
			own, _, _ = strings.Cut(own, " || ")
			for _, flag := range flags.FindAllString(own, -1) {
				if !slices.Contains(known, flag) {
					t.Errorf("%s: %s has no flag %s", f, command, flag)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("found %d calls only: the test looks for them in the wrong way", seen)
	}
}

// What CI holds against the records is written by the job that adds records, and
// is part of what that job commits: else each merge leaves main red.
func TestMergeWritesWhatCIChecks(t *testing.T) {
	read := func(f string) string {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	checks := regexp.MustCompile(`agent-contracts" (.+) --check\n`).FindAllStringSubmatch(read(".ci/run"), -1)
	if len(checks) < 3 {
		t.Fatalf("found %d checks in .ci/run only", len(checks))
	}
	script := read(".github/merge-bundles")
	for _, c := range checks {
		if !strings.Contains(script, `"$program" `+c[1]+" --write ") {
			t.Errorf(".github/merge-bundles does not write what CI checks with %s", c[1])
		}
	}
	add := regexp.MustCompile(`(?m)^ +git add -- (.+)$`).FindStringSubmatch(read(".github/workflows/merge.yml"))
	if add == nil {
		t.Fatal("merge.yml adds nothing")
	}
	for _, place := range []string{bisect.HistoryPath, matrix.Path, "reports"} {
		if !slices.Contains(strings.Fields(add[1]), place) {
			t.Errorf("merge.yml does not commit %s", place)
		}
	}
}

// What was captured before a fault or the time limit is handed over all the same.
func TestFaultKeepsWhatWasCaptured(t *testing.T) {
	for _, name := range []string{"capture", "live"} {
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					If, Run, Uses string
				}
			}
		}
		b, err := os.ReadFile(".github/workflows/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(b, &w); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, s := range w.Jobs[name].Steps {
			if strings.Contains(s.Run, "pack-bundles") || strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
				seen++
				if s.If != "always()" {
					t.Errorf("%s: a step after the capture runs only if it went well", name)
				}
			}
		}
		if seen != 2 {
			t.Errorf("%s: found %d steps that hand over the records", name, seen)
		}
	}
}

// The lint finds what it is for.
func TestWorkflowLintFinds(t *testing.T) {
	const checkout = "actions/checkout@93cb6efe18208431cddfb8368fd83d5badbf9bfd"
	job := func(on, permissions, more, steps string) string {
		return "on: " + on + "\npermissions: " + permissions + "\njobs:\n  j:\n    timeout-minutes: 5\n" + more + "    steps:\n" + steps
	}
	run := func(script string) string { return "      - run: |\n          " + script + "\n" }
	for name, tt := range map[string]struct{ text, want string }{
		"a tag":                   {job("push", "{}", "", "      - uses: actions/checkout@v5\n"), "not pinned"},
		"a short hash":            {job("push", "{}", "", "      - uses: actions/checkout@93cb6ef\n"), "not pinned"},
		"no permissions":          {"on: push\njobs: {}\n", "no permissions"},
		"write for all":           {job("push", "{contents: write}", "", ""), "write for every job"},
		"write-all":               {"on: push\npermissions: write-all\njobs: {}\n", "cannot unmarshal"},
		"no time limit":           {"on: push\npermissions: {}\njobs:\n  j:\n    steps: []\n", "no timeout"},
		"target":                  {job("pull_request_target", "{}", "", ""), "pull_request_target"},
		"a pull request writes":   {job("[push, pull_request]", "{}", "    permissions: {contents: write}\n", ""), "may write contents"},
		"a pull request's secret": {job("{pull_request: {}}", "{}", "    env: {KEY: \"${{ secrets.KEY }}\"}\n", ""), "secret"},
		"a CLI may write":         {job("push", "{}", "    permissions: {contents: write}\n", run("agent-contracts capture codex > out")), "may write contents"},
		"a CLI and a secret":      {job("push", "{}", "    env: {KEY: \"${{ secrets.KEY }}\"}\n", run("agent-contracts capture codex > out")), "secret"},
		"a CLI and the token":     {job("push", "{}", "", "      - uses: "+checkout+"\n"+run("agent-contracts capture codex > out")), "leaves the token"},
		"live without protection": {job("workflow_dispatch", "{}", "", run("agent-contracts capture codex --live > out")), "protected environment"},
		"live on a schedule":      {job("[workflow_dispatch, schedule]", "{}", "    environment: live-capture\n", run("agent-contracts capture codex --live > out")), "by hand alone"},
		"live in a merge queue":   {job("[workflow_dispatch, merge_group]", "{}", "    environment: live-capture\n", run("agent-contracts capture codex --live > out")), "by hand alone"},
		"live for all to begin":   {job("push", "{}\nenv: {AGENT_CONTRACTS_LIVE: \"1\"}", "", run("agent-contracts validate")), "protected environment"},
		"live as another event":   {job("workflow_dispatch", "{}", "    environment: live-capture\n", run("GITHUB_EVENT_NAME=schedule agent-contracts capture codex --live > out")), "what event it is"},
		"live as no event":        {job("workflow_dispatch", "{}", "    environment: live-capture\n", run("env -i agent-contracts capture codex --live > out")), "what event it is"},
		"a queue's secret":        {job("merge_group", "{}", "    env: {KEY: \"${{ secrets.KEY }}\"}\n", ""), "secret"},
		"a secret for every job":  {job("[push, pull_request]", "{}\nenv: {KEY: \"${{ secrets.KEY }}\"}", "", ""), "secret"},
		"injection":               {job("push", "{}", "", run("echo ${{ github.head_ref }}")), "expression inside a script"},
		"tee":                     {job("push", "{}", "", run("agent-contracts validate | tee log")), "could print raw"},
		"cat":                     {job("push", "{}", "", run("cat stdout.log")), "could print raw"},
		"tail after":              {job("push", "{}", "", run("make || { tail stderr; }")), "could print raw"},
		"trace":                   {job("push", "{}", "", run("set -eux")), "could print raw"},
		"play":                    {job("push", "{}", "", run("agent-contracts play --raw x")), "could print raw"},
		"the state folder":        {job("push", "{}", "", run("find \"$XDG_STATE_HOME\" -type f")), "could print raw"},
		"a script that traces":    {job("push", "{}", "", run("bash -x .ci/build")), "could print raw"},
		"trace by its name":       {job("push", "{}", "", run("set -o xtrace")), "could print raw"},
		"trace by a variable":     {job("push", "{}", "", "      - run: make\n        env: {SHELLOPTS: xtrace}\n"), "could print raw"},
		"trace by the shell":      {job("push", "{}", "", "      - run: make\n        shell: bash -x {0}\n"), "could print raw"},
		"sed":                     {job("push", "{}", "", run("sed -n p stdout.log")), "could print raw"},
		"a variable":              {job("push", "{}", "", run("out=$(make 2>&1); echo \"$out\"")), "could print raw"},
		"a variable to stderr":    {job("push", "{}", "", run("printf '%s' \"$out\" >&2")), "could print raw"},
		"a substitution":          {job("push", "{}", "", run("echo \"$(< stdout.log)\"")), "could print raw"},
		"the summary":             {job("push", "{}", "", run("make >> \"$GITHUB_STEP_SUMMARY\"")), "could print raw"},
		"a campaign may write":    {job("push", "{}", "    permissions: {contents: write}\n", run("agent-contracts campaign > out")), "may write contents"},
		"a package's secret":      {job("push", "{}", "", "      - run: npm ci\n        env: {KEY: \"${{ secrets.KEY }}\"}\n"), "packages beside a secret"},
		"a cache of Go":           {job("push", "{}", "", "      - uses: actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5\n"), "shares a cache"},
		"a cache":                 {job("push", "{}", "", "      - uses: actions/cache@d35c59abb061a4a6fb18e82ac0862c26744d6ab5\n        with: {path: x, key: x}\n"), "shares a cache"},
		"the code of the run":     {job("{workflow_run: {}}", "{}", "", "      - uses: "+checkout+"\n        with: {ref: \"${{ github.event.workflow_run.head_sha }}\"}\n"), "code of the run"},
		"raw upload":              {job("push", "{}", "", "      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02\n        with: {path: ~/.local/state}\n"), "only the bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(lintWorkflow([]byte(tt.text)), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q in\n%s", got, tt.want, tt.text)
			}
		})
	}
}
