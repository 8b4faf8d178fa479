package agents

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func registryAgents(t *testing.T) *contract.AgentsFile {
	t.Helper()
	r, err := os.Open("../../registry/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Read(r, "registry/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func testVars() Vars {
	return Vars{
		Cwd: "/run/w", Home: "/run/h", Tmp: "/run/t", BaseURL: "http://127.0.0.1:9", Model: "probe-model-1", MaxRetries: 1,
		UUID: NewUUID(), APIKey: NewAPIKey(), Help: []byte("  --include-partial-messages  Include…"),
		LookupEnv: func(k string) (string, bool) {
			v, ok := map[string]string{"PATH": "/bin", "SECRET_OF_THE_HOST": "x"}[k]
			return v, ok
		},
	}
}

func launch(t *testing.T, id, version, probe string, vars Vars) *Launch {
	t.Helper()
	agent, err := Find(registryAgents(t), id)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseToken(agent, version)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLaunch(agent, v, probe, contract.ProfileProduction, vars)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The argv of OpenDesign v0.19.2, spelled out a second time: a change of
// agents.json that departs from it must not pass.
func TestProductionArgvOfCodex(t *testing.T) {
	want := []string{
		"exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write",
		"-c", "sandbox_workspace_write.network_access=true",
		"-c", "allow_login_shell=false",
		"-c", `shell_environment_policy.inherit="all"`,
		"-c", "shell_environment_policy.ignore_default_excludes=true",
		"-c", `shell_environment_policy.include_only=["PATH","HOME","USER","LOGNAME","SHELL","TMPDIR","TMP","TEMP","LANG","LC_ALL","TERM","COLORTERM","SYSTEMROOT","COMSPEC","PATHEXT","USERPROFILE","APPDATA","LOCALAPPDATA","HOMEDRIVE","HOMEPATH","OD_BIN","OD_NODE_BIN","OD_DAEMON_URL","OD_TOOL_TOKEN","OD_DATA_DIR","OD_PROJECT_ID","OD_PROJECT_DIR"]`,
		"-C", "/run/w",
	}
	for version, dialect := range map[string]string{"0.20.0": "codex-msg", "0.42.0": "codex-msg", "0.44.0": "codex", "0.171.0": "codex"} {
		l := launch(t, "codex", version, "chat-text-success", testVars())
		if d := cmp.Diff(want, l.Argv); d != "" {
			t.Errorf("%s: %s", version, d)
		}
		if l.Dialect != dialect || l.StdinMode != contract.StdinText || l.ProviderAPI != contract.APIOpenAIResponses {
			t.Errorf("%s: dialect %s, stdin %s, api %s", version, l.Dialect, l.StdinMode, l.ProviderAPI)
		}
		if l.ArgvTemplate[len(want)-1] != "{cwd}" {
			t.Errorf("%s: the template ends with %q", version, l.ArgvTemplate[len(want)-1])
		}
	}
}

func TestProductionArgvOfClaude(t *testing.T) {
	vars := testVars()
	l := launch(t, "claude", "2.1.332", "chat-text-success", vars)
	want := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--session-id", vars.UUID, "--permission-mode", "bypassPermissions"}
	if d := cmp.Diff(want, l.Argv); d != "" {
		t.Error(d)
	}
	if l.StdinMode != contract.StdinJSONLOpen {
		t.Errorf("stdin %s", l.StdinMode)
	}
	// A release whose help does not name the flag does not get it.
	vars.Help = []byte{}
	l = launch(t, "claude", "1.0.0", "chat-text-success", vars)
	if slices.Contains(l.Argv, "--include-partial-messages") || slices.Contains(l.ArgvTemplate, "--include-partial-messages") {
		t.Error("a flag that the help probe did not name is in the argv")
	}
}

func TestHelpProbeIsAskedForWhereItMatters(t *testing.T) {
	f := registryAgents(t)
	claude, codex := f.Agent("claude"), f.Agent("codex")
	v, _ := ParseToken(claude, "2.1.332")
	for _, tt := range []struct {
		agent *contract.Agent
		probe string
		want  []string
	}{
		{claude, "chat-text-success", []string{"-p", "--help"}},
		{claude, contract.VersionProbeID, nil},
		{codex, "chat-text-success", nil},
	} {
		got, err := HelpArgs(tt.agent, v, tt.probe, contract.ProfileProduction)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: %q, %v; want %q", tt.agent.ID, tt.probe, got, err, tt.want)
		}
	}
	vars := testVars()
	vars.Help = nil
	if _, err := NewLaunch(claude, v, "chat-text-success", contract.ProfileProduction, vars); err == nil {
		t.Error("an argv that depends on the help probe was made without it")
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	vars := testVars()
	key := "ANTHROPIC_API_KEY=sk-ant-api03-" + vars.APIKey
	l := launch(t, "claude", "2.1.332", "chat-text-success", vars)
	for _, want := range []string{"PATH=/bin", "HOME=/run/h", "ANTHROPIC_BASE_URL=http://127.0.0.1:9", "ANTHROPIC_MODEL=probe-model-1", "CLAUDE_CODE_MAX_RETRIES=1", key} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("the environment lacks %s", strings.SplitN(want, "=", 2)[0])
		}
	}
	if !slices.Equal(l.Secrets, []string{"sk-ant-api03-" + vars.APIKey}) {
		t.Error("the key is not among the secrets")
	}
	if slices.ContainsFunc(l.Env, func(e string) bool { return strings.HasPrefix(e, "SECRET_OF_THE_HOST=") }) {
		t.Error("a variable of the host that is not on the list reached the child")
	}
	vars.Policy = &contract.EnvPolicy{Credentials: contract.CredentialsNone, Set: map[string]string{"EXTRA": "{model}"}, Unset: []string{"TERM"}}
	l = launch(t, "claude", "2.1.332", "auth-failure", vars)
	if slices.Contains(l.Env, key) || len(l.Secrets) > 0 {
		t.Error("a probe without credentials got a key")
	}
	if !slices.Contains(l.Env, "EXTRA=probe-model-1") || slices.Contains(l.Env, "TERM=dumb") {
		t.Errorf("the probe's changes are missing: %q", l.Env)
	}
}

func TestProbeArgumentsFollowTheLaunch(t *testing.T) {
	vars := testVars()
	plain := launch(t, "codex", "0.133.0", "chat-text-success", vars)
	vars.Policy = &contract.EnvPolicy{Credentials: contract.CredentialsDummy, AppendArgs: []string{"--no-such-flag={model}"}}
	l := launch(t, "codex", "0.133.0", "chat-text-success", vars)
	if want := append(slices.Clone(plain.Argv), "--no-such-flag=probe-model-1"); !slices.Equal(l.Argv, want) {
		t.Errorf("argv %q, want %q", l.Argv, want)
	}
	if last := l.ArgvTemplate[len(l.ArgvTemplate)-1]; last != "--no-such-flag={model}" {
		t.Errorf("the template ends with %q", last)
	}
}

func TestHomeFilesAreRendered(t *testing.T) {
	l := launch(t, "codex", "0.133.0", "chat-text-success", testVars())
	if len(l.HomeFiles) != 1 || l.HomeFiles[0].Path != ".codex/config.toml" {
		t.Fatalf("HOME files %v", l.HomeFiles)
	}
	for _, want := range []string{`model = "probe-model-1"`, `base_url = "http://127.0.0.1:9/v1"`, "request_max_retries = 1\n"} {
		if !strings.Contains(l.HomeFiles[0].Text, want) {
			t.Errorf("config.toml lacks %q", want)
		}
	}
}

// The version probe needs no provider, so its settings may be missing.
func TestVersionProbeLaunch(t *testing.T) {
	vars := Vars{Cwd: "/run/w", Home: "/run/h", Tmp: "/run/t", Policy: &contract.EnvPolicy{Credentials: contract.CredentialsNone}}
	for _, id := range []string{"codex", "claude"} {
		l := launch(t, id, "2.0.0", contract.VersionProbeID, vars)
		if !slices.Equal(l.Argv, []string{"--version"}) || l.Dialect != "version" || l.StdinMode != contract.StdinNone || len(l.HomeFiles) > 0 {
			t.Errorf("%s: %+v", id, l)
		}
		if !slices.Contains(l.Env, "HOME=/run/h") || slices.ContainsFunc(l.Env, func(e string) bool { return strings.HasPrefix(e, "ANTHROPIC_BASE_URL") }) {
			t.Errorf("%s: environment %q", id, l.Env)
		}
	}
}

func TestMissingValuesAreErrors(t *testing.T) {
	codex := registryAgents(t).Agent("codex")
	v, _ := ParseToken(codex, "0.133.0")
	vars := testVars()
	vars.Model, vars.Cwd = "", ""
	_, err := NewLaunch(codex, v, "chat-text-success", contract.ProfileProduction, vars)
	if err == nil || !strings.Contains(err.Error(), "{cwd}, {model}") {
		t.Errorf("error %v does not name {cwd} and {model}", err)
	}
	if _, err := NewLaunch(codex, v, "chat-text-success", "no-partial", testVars()); err == nil || !strings.Contains(err.Error(), `"no-partial"`) {
		t.Errorf("error %v does not name the profile", err)
	}
}
