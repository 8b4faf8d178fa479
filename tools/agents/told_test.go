package agents

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The argv of OpenDesign v0.19.2 for a session that goes on, spelled out a
// second time.
func TestProductionArgvOfResume(t *testing.T) {
	vars := testVars()
	vars.SessionID = NewUUID()
	codex := launch(t, "codex", "0.171.0", "resume-session", vars)
	want := []string{
		"exec", "resume", "--json", "--skip-git-repo-check",
		"-c", `sandbox_mode="workspace-write"`, "-c", "sandbox_workspace_write.network_access=true",
		"-c", "allow_login_shell=false", "-c", `shell_environment_policy.inherit="all"`,
		"-c", "shell_environment_policy.ignore_default_excludes=true",
	}
	if d := cmp.Diff(want, codex.Argv[:len(want)]); d != "" {
		t.Error(d)
	}
	if rest := codex.Argv[len(want):]; len(rest) != 3 || rest[2] != vars.SessionID || slices.Contains(codex.Argv, "-C") {
		t.Errorf("the argv ends with %q", rest)
	}
	claude := launch(t, "claude", "2.1.332", "resume-session", vars)
	want = []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--resume", vars.SessionID, "--permission-mode", "bypassPermissions"}
	if d := cmp.Diff(want, claude.Argv); d != "" {
		t.Error(d)
	}
	opencode := launch(t, "opencode", "1.18.33", "resume-session", func() Vars {
		v := vars
		v.Help = []byte("--dangerously-skip-permissions")
		return v
	}())
	if d := cmp.Diff([]string{"run", "--format", "json", "--dangerously-skip-permissions", "-s", vars.SessionID}, opencode.Argv); d != "" {
		t.Error(d)
	}
}

func TestSessionPlace(t *testing.T) {
	f := registryAgents(t)
	for id, want := range map[string][2]string{
		"codex": {"thread_id"}, "claude": {}, "opencode": {"sessionID"}, "pi": {"", ".pi/agent/sessions/*/*.jsonl"},
	} {
		v, err := ParseToken(f.Agent(id), "2.0.0")
		if err != nil {
			t.Fatal(err)
		}
		printed, file, err := SessionPlace(f.Agent(id), v, "resume-session", contract.ProfileProduction)
		if got := [2]string{printed, file}; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", id, got, err, want)
		}
	}
}

// What a CLI has to be told in a way of its own is never run without: a launch
// for every probe does it only where a file does the telling.
func TestToldProbes(t *testing.T) {
	vars := testVars()
	f := registryAgents(t)
	agent := *f.Agent("codex")
	agent.Launches = []contract.AgentLaunch{
		{Profile: contract.ProfileProduction, Dialect: "codex", Versions: "*", Probes: []string{"resume-session"}, Argv: []string{"resume"}, StdinMode: contract.StdinText, Env: map[string]string{"OF_THE_LAUNCH": "{model}"}},
		{Profile: contract.ProfileProduction, Dialect: "codex", Versions: "*", Argv: []string{"run"}, StdinMode: contract.StdinText},
		{Profile: contract.ProfileCompatible, Dialect: "codex", Versions: "*", Argv: []string{"other"}, StdinMode: contract.StdinText},
		{Profile: "rpc", Dialect: "codex", Versions: "*", Probes: []string{"mcp-injection"}, Argv: []string{"serve"}, StdinMode: contract.StdinRPC},
	}
	agent.HomeFiles = []contract.AgentHomeFile{{Path: contract.WorkspacePrefix + ".mcp.json", Probes: []string{"mcp-injection"}, Text: "{cwd}"}}
	v, err := ParseToken(&agent, "0.171.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ probe, profile, argv string }{
		{"resume-session", contract.ProfileProduction, "resume"},
		{"resume-session", contract.ProfileCompatible, ""}, // told by an argv, and only by that
		{"mcp-injection", contract.ProfileProduction, "run"},
		{"mcp-injection", contract.ProfileCompatible, "other"},
		{"mcp-injection", "rpc", "serve"},
		{"image-attachment", contract.ProfileProduction, ""},
		{"chat-text-success", contract.ProfileProduction, "run"},
	} {
		l, err := NewLaunch(&agent, v, tt.probe, tt.profile, vars)
		if got := err == nil; got != (tt.argv != "") {
			t.Errorf("%s, %s: %v", tt.probe, tt.profile, err)
			continue
		}
		if err != nil {
			continue
		}
		if !slices.Equal(l.Argv, []string{tt.argv}) {
			t.Errorf("%s, %s: argv %q, want %q", tt.probe, tt.profile, l.Argv, tt.argv)
		}
		own := slices.Contains(l.Env, "OF_THE_LAUNCH=probe-model-1")
		if own != (tt.argv == "resume") {
			t.Errorf("%s, %s: the variable of another launch, or none of its own: %s", tt.probe, tt.profile, strings.Join(l.Env, " "))
		}
		if tt.probe == "mcp-injection" {
			if d := cmp.Diff([]HomeFile{{contract.WorkspacePrefix + ".mcp.json", "/run/w"}}, l.HomeFiles); d != "" {
				t.Error(d)
			}
		}
	}
}

// The run before is started as the probe before it, unless a launch says
// otherwise.
func TestFirstRun(t *testing.T) {
	agent := &contract.Agent{Launches: []contract.AgentLaunch{
		{Profile: contract.ProfileProduction},
		{Profile: contract.ProfileCompatible, Probes: []string{"resume-session-first"}},
	}}
	for profile, want := range map[string]string{
		contract.ProfileProduction: "chat-text-success", contract.ProfileCompatible: "resume-session-first",
	} {
		if got := FirstRun(agent, "resume-session", "chat-text-success", profile); got != want {
			t.Errorf("%s: %s, want %s", profile, got, want)
		}
	}
}
