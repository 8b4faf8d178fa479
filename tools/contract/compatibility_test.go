package contract

import (
	"strings"
	"testing"
)

// The specification's example, with whole hashes.
const compatibilityExample = `{
  "schema_version": 1,
  "generated_at": "2026-06-27T10:00:00Z",
  "agent": "codex",
  "installed_version": "0.133.0",
  "platform": "darwin-arm64",
  "status": "server_variant_possible",
  "policy": {"allow_run": "warn", "user_action": "run_local_probe"},
  "evidence": {
    "version_range": ">=0.133.0 <0.134.0",
    "shape_signature": "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "observed_at": "2026-06-27T10:00:00Z",
    "source": "support_matrix",
    "server_variant_possible": true
  }
}`

func TestCompatibilityResponse(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		valid          bool
	}{
		{"the specification's example", "", "", true},
		{"no CLI", `"0.133.0"`, `null`, true},
		{"nothing observed", `"2026-06-27T10:00:00Z",
    "source": "support_matrix"`, `null, "source": "none"`, true},
		{"another word for verified", `"server_variant_possible",`, `"verified",`, false},
		{"an action of the failure classification", `"run_local_probe"`, `"retry"`, false},
		{"a short hash", `sha256:aaaa`, `sha256:aaa`, false},
		{"a member of ours", `"agent": "codex",`, `"agent": "codex", "why": "x",`, false},
		{"a higher version", `"schema_version": 1`, `"schema_version": 2`, false},
		{"no source", `"source": "support_matrix",`, ``, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.from != "" && !strings.Contains(compatibilityExample, c.from) {
				t.Fatalf("the example has no %s", c.from)
			}
			text := strings.Replace(compatibilityExample, c.from, c.to, 1)
			if problems := Validate(KindCompatibility, "response", []byte(text)); HasErrors(problems) == c.valid {
				t.Errorf("valid is %v: %v", !c.valid, problems)
			}
		})
	}
}

// What a consumer is told about each status (FINE-PRINT 17).
func TestPolicyOfStatus(t *testing.T) {
	for _, c := range []struct {
		status   SupportStatus
		observed bool
		allow    AllowRun
		action   CLIAction
	}{
		{SupportLocalShapeVerified, false, AllowRunAllow, CLIActionNone},
		{SupportVersionRangeVerified, true, AllowRunAllow, CLIActionNone},
		{SupportVersionRangeVerified, false, AllowRunWarn, CLIActionRunLocalProbe},
		{SupportServerVariantPossible, true, AllowRunWarn, CLIActionRunLocalProbe},
		{SupportNewerThanVerified, true, AllowRunWarn, CLIActionRunLocalProbe},
		{SupportUnknown, true, AllowRunWarn, CLIActionRunLocalProbe},
		{SupportActiveShapeUnknown, true, AllowRunWarn, CLIActionReportUnknownShape},
		{SupportTooOld, true, AllowRunBlock, CLIActionUpgradeCLI},
		{SupportKnownBreaking, true, AllowRunBlock, CLIActionPinSupportedVersion},
		{SupportKnownBreakingShape, true, AllowRunBlock, CLIActionPinSupportedVersion},
	} {
		if allow, action := AllowRunFor(c.status, c.observed), ActionFor(c.status, c.observed); allow != c.allow || action != c.action {
			t.Errorf("%s (observed %v): %s %s, want %s %s", c.status, c.observed, allow, action, c.allow, c.action)
		}
	}
}

func TestProgramNames(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		want  string
	}{
		{Agent{ID: "a"}, "a"},
		{Agent{ID: "a", Install: &AgentInstall{NPM: NPMInstall{Bin: "b"}}}, "b"},
		{Agent{ID: "a", Install: &AgentInstall{NPM: NPMInstall{Bin: "b"}}, Commands: []string{"c", "d"}}, "c d"},
	} {
		if got := strings.Join(c.agent.ProgramNames(), " "); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
