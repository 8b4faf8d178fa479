package service

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// AuthMissing reports whether the text says that the agent is not signed in,
// for the agents that have patterns of their own. All others give false.
func AuthMissing(agent, text string) bool {
	t := jstext.Fold(text)
	switch agent {
	case "claude":
		return claudeAuthMissing(text, t)
	case "cursor-agent":
		return cursorAuth.Match(t)
	case "deepseek", "deepseek-harness":
		return deepseekAuth.Match(t) ||
			t.Has("~/.deepseek/config.toml") && deepseekKey.Match(t) ||
			t.Has("deepseek_api_key") && deepseekAuthWord.Match(t)
	case "antigravity":
		return antigravityAuth.Match(t)
	case "reasonix":
		return t.Has("~/.reasonix/config.json") && reasonixConfigWord.Match(t) ||
			t.Has("deepseek_api_key") && reasonixKeyWord.Match(t)
	}
	return false
}

var (
	claudeSignedIn  = jstext.Any(`"authenticated"\s*:\s*true`, `"loggedin"\s*:\s*true`)
	claudeSignedOut = jstext.Any(`"authenticated"\s*:\s*false`, `"loggedin"\s*:\s*false`, `not authenticated`,
		`not logged[ _-]?in`, `authentication required`, `please (?:sign|log)[ _-]?in`)
	cursorAuth = jstext.Any("authentication required", "not authenticated", "not logged in", "unauthenticated",
		"agent login", "cursor_api_key")
	antigravityAuth = jstext.Any("authentication required.*please visit", "authentication timed out",
		"not logged into antigravity", `accounts\.google\.com/o/oauth2/auth.*antigravity`)
	deepseekAuth = jstext.Any(`\bmissing_credential\b`, `\bdsh_provider_auth_failed\b`, "key=<your-key>",
		`api_key\s*=\s*["']<your-key>["']`)
	deepseekKey        = jstext.Any("api[_ -]?key", "key=")
	deepseekAuthWord   = jstext.Any("auth", "api[_ -]?key", "missing", "not set", "required", "unauthorized")
	reasonixConfigWord = jstext.Any("api[_ -]?key", "missing", "not set", "required", "unauthorized", "invalid")
	reasonixKeyWord    = jstext.Any("auth", "missing", "not set", "required", "unauthorized", "invalid")
)

// claudeAuthMissing lets the booleans of claude auth status win over words.
func claudeAuthMissing(text string, t jstext.Text) bool {
	if v, err := rawjson.Parse([]byte(text)); err == nil {
		signedIn, loggedIn := v.Get("authenticated"), v.Get("loggedIn")
		switch {
		case signedIn.Bool() || loggedIn.Bool():
			return false
		case signedIn.Kind() == rawjson.Boolean || loggedIn.Kind() == rawjson.Boolean:
			return true
		}
	}
	return !claudeSignedIn.Match(t) && claudeSignedOut.Match(t)
}

// AuthGuidance returns the sentence that OpenDesign shows when an agent is
// not signed in. Only its first sentence is kept: the advice that follows it
// holds no word that changes a classification.
func AuthGuidance(agent string) string {
	switch agent {
	case "claude":
		return "Claude Code is installed but is not authenticated."
	case "cursor-agent":
		return "Cursor Agent is not authenticated."
	case "deepseek":
		return "DeepSeek TUI is installed but is not authenticated."
	case "deepseek-harness":
		return "DeepSeek Harness has no model API key configured."
	case "antigravity":
		return "Antigravity needs to sign in."
	case "reasonix":
		return "DeepSeek Reasonix is installed but is not authenticated."
	}
	return agent + " authentication required."
}

var (
	claudeResume   = jstext.Any("no conversation found with session id", "no session found", "session .* not found")
	codexResume    = jstext.Any("no rollout found for thread id", "thread/resume failed")
	accountResume  = jstext.Any(`"kind"\s*:\s*"resume_failed"`)
	openCodeResume = jstext.Any("session not found")
	harnessResume  = jstext.Any("dsh_profile_resume_(?:rejected|mismatch)")
)

// ResumeFailed reports whether the session that the agent was to resume is
// gone. Prose counts on stderr only, for claude also a result line on stdout
// that reports an error without a turn and without API time.
func ResumeFailed(agent, stderr, stdout string) bool {
	t := jstext.Fold(stderr)
	switch agent {
	case "deepseek-harness":
		return harnessResume.Match(jstext.Fold(stderr + "\n" + stdout))
	case "codex":
		return codexResume.Match(t)
	case "opencode":
		return openCodeResume.Match(t) || jstext.Text(stderr).Has("NotFoundError")
	case "amr":
		return accountResume.Match(jstext.Fold(stdout)) ||
			jstext.Fold(stderr+"\n"+stdout).Has("opencode sse ended before prompt completion")
	}
	return claudeResume.Match(t) || claudeResumeResult(stdout)
}
