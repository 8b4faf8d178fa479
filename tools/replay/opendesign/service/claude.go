package service

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// claudeResumeResult reports whether a line is a result with is_error, no
// turn and no API time.
func claudeResumeResult(stdout string) bool {
	for line := range strings.SplitSeq(stdout, "\n") {
		line = jstext.Trim(line)
		if !strings.HasPrefix(line, "{") || !strings.Contains(line, `"result"`) {
			continue
		}
		v, err := rawjson.Parse([]byte(line))
		if err == nil && v.Get("type").IsStr("result") && v.Get("is_error").Bool() &&
			zero(v.Get("num_turns")) && zero(v.Get("duration_api_ms")) {
			return true
		}
	}
	return false
}

// zero is Number(v) === 0; a missing value is not.
func zero(v rawjson.Value) bool {
	switch v.Kind() {
	case rawjson.Null:
		return true
	case rawjson.Number, rawjson.Boolean:
		return !jstext.Truthy(v)
	case rawjson.String, rawjson.Array:
		return jstext.ToNumber(jstext.ToString(v)) == 0
	}
	return false
}

// ClaudeRun is what is known about a run of claude that failed.
type ClaudeRun struct {
	Succeeded      bool // exit 0 without a signal: then there is no diagnosis
	ExitCode       *int // nil when a signal ended the child
	Stderr, Stdout string
	BaseURL        bool // ANTHROPIC_BASE_URL is set and not blank
	ConfigDir      bool // CLAUDE_CONFIG_DIR is set and not blank
}

// ClaudeDiagnosis is the message that OpenDesign shows for a failed run of
// claude, with the error code of its class or "". Every one is retryable.
type ClaudeDiagnosis struct{ Message, Code string }

var (
	claudeRefused = jstext.Any("connection ?refused", "econnrefused")
	claudeDropped = jstext.Any("socket connection was closed", "closed unexpectedly", "socket hang up", "econnreset",
		"etimedout", "epipe", "und_err_socket", "premature close", "other side closed", "fetch failed",
		`\bconnection (?:error|reset|closed)\b`)
	claudeAuth = jstext.Any(`\b401\b`, `apikeysource["'\s:]+none`, "not logged in", "please run /login",
		"(?:auth|oauth|credential|token).*(?:fail|invalid|missing|expired|not found|none|unauthorized)",
		"unauthorized", "invalid api key", "missing api key", "could not authenticate", "authentication failed")
	claudeModel = jstext.Any("selected model is not available", "current plan or region",
		"model.*(?:not available|not supported|unsupported|not found|not have access|no access)")
	claudeWindows     = jstext.Any("credential manager", `\bwsl\b`, "powershell", "native windows")
	claudeState       = jstext.Any("config", "profile", "session", "credential", "oauth")
	claudeStateBroken = jstext.Any("stale", "corrupt", "expired", "different", "missing", "not found", "invalid")
)

// DiagnoseClaude looks for a known cause in what claude printed. It reads
// everything, the JSON of the stream too: words far apart on one line are
// enough for a sign-in failure.
func DiagnoseClaude(run ClaudeRun) (ClaudeDiagnosis, bool) {
	if run.Succeeded {
		return ClaudeDiagnosis{}, false
	}
	text := run.Stderr
	if text != "" && run.Stdout != "" {
		text += "\n"
	}
	text += run.Stdout
	t := jstext.Fold(text)
	pick := func(withURL, without string) string {
		if run.BaseURL {
			return withURL
		}
		return without
	}
	profile := func(withDir, without string) string {
		if run.ConfigDir {
			return withDir
		}
		return without
	}
	var d ClaudeDiagnosis
	switch {
	case run.BaseURL && claudeRefused.Match(t):
		d.Message = "Claude Code could not reach the configured custom Anthropic endpoint."
	case claudeDropped.Match(t):
		d = ClaudeDiagnosis{"Claude Code lost its connection to " +
			pick("the configured custom Anthropic endpoint", "the Anthropic API") + " before the response finished.", ConnectionDropped}
	case claudeAuth.Match(t):
		d.Message = pick("Claude Code could not authenticate with the configured custom Anthropic endpoint.",
			"Claude Code could not authenticate. Run `claude`, use `/login`, then retry the Open Design request.")
	case run.BaseURL && claudeModel.Match(t):
		d.Message = "Claude Code could not access the selected model through the configured custom endpoint."
	case claudeWindows.Match(t):
		d.Message = "Claude Code appears to be using credentials from a different local environment."
	case claudeState.Match(t) && claudeStateBroken.Match(t):
		d.Message = profile("Claude Code failed while using the configured Claude profile.",
			"Claude Code may be using a different or stale local profile than your terminal.")
	case jstext.Trim(text) == "" && run.ExitCode != nil && *run.ExitCode == 1:
		d.Message = pick("Claude Code exited before producing diagnostics while using a custom Anthropic endpoint.",
			profile("Claude Code exited before producing diagnostics while using the configured Claude profile.",
				"Claude Code exited before producing diagnostics."))
	case run.BaseURL && t.Has("anthropic_base_url"):
		d.Message = "Claude Code failed while using a custom Anthropic endpoint."
	default:
		return ClaudeDiagnosis{}, false
	}
	return d, true
}
