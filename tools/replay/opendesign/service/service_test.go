package service

import (
	"strings"
	"testing"
)

func TestCodeNeedsContextForNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"HTTP 401": AuthRequired, "http/1.1 401": AuthRequired, "status code: 401": AuthRequired, "error-401": AuthRequired,
		"code: 429": RateLimited, "code=429": RateLimited, "code\ufeff#429": RateLimited, "response 429": RateLimited,
		"server error 503": UpstreamUnavailable, "error 503": UpstreamUnavailable, "502 bad gateway": UpstreamUnavailable,
		"502\u00a0Bad Gateway": UpstreamUnavailable, "overloaded_error": UpstreamUnavailable,
		"exit code 401": "", "line 500": "", "code 429": "", "took 503ms": "", "error 5030": "", "http401": "", "zipcode: 429": "",
		"run /login": AuthRequired, "run /loginx": "", "UNAUTHORISED": AuthRequired, "reauthenticating": "", "quotas": "",
		"401 then quota, overloaded": RateLimited, "not_logged_in": "", "not logged_in": AuthRequired,
	} {
		if got := Code(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAccountWordsCountForAnyAgent(t *testing.T) {
	for text, want := range map[string]string{
		"quota of your billing plan": InsufficientBalance, "quota": "", "quota_billing": "",
		"账户余额不足": InsufficientBalance, "TIER_MODEL_NOT_ENTITLED": TierUpgrade, "Unauthenticated": AccountAuth, "balance": "",
	} {
		if got := AccountCode(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAuthMissingIsTailored(t *testing.T) {
	for _, c := range []struct {
		agent, text string
		want        bool
	}{
		{"claude", `{"loggedIn":false}`, true},
		{"claude", `{"authenticated":true,"note":"not logged in"}`, false},
		{"claude", `x {"loggedIn": true} not logged in`, false},
		{"claude", "Please log-in", true},
		{"claude", "unauthorized", false},
		{"cursor-agent", "set CURSOR_API_KEY", true},
		{"deepseek", "DEEPSEEK_API_KEY is not set", true},
		{"deepseek", "not set", false},
		{"reasonix", "~/.reasonix/config.json invalid", true},
		{"antigravity", "authentication required\nplease visit", false},
		{"codex", "not logged in", false},
	} {
		if got := AuthMissing(c.agent, c.text); got != c.want {
			t.Errorf("%s %q: got %v", c.agent, c.text, got)
		}
	}
}

func TestResumeFailed(t *testing.T) {
	const local = `{"type":"result","is_error":true,"num_turns":0,"duration_api_ms":0}`
	for _, c := range []struct {
		agent, stderr, stdout string
		want                  bool
	}{
		{"claude", "No conversation found with session ID: x", "", true},
		{"claude", "", "No conversation found with session ID: x", false},
		{"claude", "", "x\n " + local, true},
		{"claude", "", strings.Replace(local, `"num_turns":0,`, "", 1), false},
		{"codex", "no rollout found for thread id", "", true},
		{"opencode", "notfounderror", "", false},
		{"opencode", "NotFoundError", "", true},
	} {
		if got := ResumeFailed(c.agent, c.stderr, c.stdout); got != c.want {
			t.Errorf("%s %q %q: got %v", c.agent, c.stderr, c.stdout, got)
		}
	}
}

// Words far apart on one line of the stream are enough for a sign-in failure.
func TestDiagnoseClaude(t *testing.T) {
	one := 1
	for _, c := range []struct {
		run  ClaudeRun
		want string // the beginning of the message, or "" for none
		code string
	}{
		{ClaudeRun{Stdout: `{"input_tokens":0,"x":"none"}`}, "Claude Code could not authenticate. ", ""},
		{ClaudeRun{Stdout: "token\nnone"}, "", ""},
		{ClaudeRun{Stderr: "ECONNRESET 401"}, "Claude Code lost its connection to the Anthropic API", ConnectionDropped},
		{ClaudeRun{Stderr: "ConnectionRefused", BaseURL: true}, "Claude Code could not reach", ""},
		{ClaudeRun{Stderr: "model not found"}, "", ""},
		{ClaudeRun{Stderr: "model not found", BaseURL: true}, "Claude Code could not access the selected model", ""},
		{ClaudeRun{Stderr: "session expired"}, "Claude Code may be using a different or stale local profile", ""},
		{ClaudeRun{Stderr: " \ufeff", ExitCode: &one, ConfigDir: true}, "Claude Code exited before producing diagnostics while using the configured Claude profile.", ""},
		{ClaudeRun{Stderr: "401", Succeeded: true}, "", ""},
	} {
		d, found := DiagnoseClaude(c.run)
		if found != (c.want != "") || !strings.HasPrefix(d.Message, c.want) || d.Code != c.code {
			t.Errorf("%+v: got %+v", c.run, d)
		}
	}
}
