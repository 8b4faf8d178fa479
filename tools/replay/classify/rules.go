package classify

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
)

// The numbers in the comments are those of the report's table.

// account has rules 3 to 5: balance, plan and sign-in of the account. Balance
// words count for any agent.
func (r *run) account(string) (contract.FailureClassification, bool) {
	switch text := service.AccountCode(r.text); {
	case r.code == service.InsufficientBalance || text == service.InsufficientBalance:
		return fixed(contract.CategoryInsufficientBalance, "amr_insufficient_balance", contract.StageSessionInit, contract.ActionRecharge), true
	case r.code == service.TierUpgrade || text == service.TierUpgrade:
		return fixed(contract.CategoryEntitlement, "amr_tier_upgrade_required", contract.StageSessionInit, contract.ActionUpgrade), true
	case r.code == service.AccountAuth || r.code == service.AuthRequired || r.code == "UNAUTHORIZED" || text == service.AccountAuth:
		return r.auth(), true
	}
	return contract.FailureClassification{}, false
}

func (r *run) auth() contract.FailureClassification {
	detail := "auth_required"
	switch {
	case refreshTokenReused.Match(r.t):
		detail = "refresh_token_reused"
	case staleProfile.Match(r.t):
		detail = "stale_profile"
	case invalidKey.Match(r.t):
		detail = "invalid_api_key"
	case missingKey.Match(r.t):
		detail = "missing_api_key"
	}
	return fixed(contract.CategoryAuth, detail, contract.StageSessionInit, contract.ActionLogin)
}

// request has rules 6 to 9: what the provider or the CLI refused about the
// request itself.
func (r *run) request(string) (contract.FailureClassification, bool) {
	switch {
	case requestTooLarge.Match(r.t):
		return fixed(contract.CategoryPromptTooLarge, "request_too_large", contract.StagePromptSend, contract.ActionReduceContext), true
	case r.code == "AGENT_PROMPT_TOO_LARGE" || promptTooLarge.Match(r.t):
		return fixed(contract.CategoryPromptTooLarge, "prompt_too_large", contract.StagePromptSend, contract.ActionReduceContext), true
	}
	if detail := r.model(); detail != "" {
		stage := contract.StageModelSelect
		if detail == "cli_version_incompatible" && r.preflightRefused() {
			stage = contract.StagePreflight
		}
		return fixed(contract.CategoryModelUnavailable, detail, stage, contract.ActionSwitchModel), true
	}
	if detail := first(r.t, requestShapes); detail != "" {
		return fixed(contract.CategoryUpstream, detail, contract.StagePromptSend, contract.ActionNone), true
	}
	if sessionGone.Match(r.t) {
		return retry(contract.CategoryProcessExit, "session_resume_expired", contract.StageSessionInit, true), true
	}
	return contract.FailureClassification{}, false
}

func (r *run) model() string {
	if r.code == "AMR_MODEL_UNAVAILABLE" {
		return "model_not_found"
	}
	return first(r.t, modelShapes)
}

// preflightRefused reports whether the daemon refused the model before it
// started the CLI.
func (r *run) preflightRefused() bool {
	return slices.ContainsFunc(r.events, func(e record) bool {
		return e.event == "diagnostic" && e.data.Get("type").IsStr("model_capability_preflight") && e.data.Get("status").IsStr("incompatible")
	})
}

// installation has rules 10 to 13: the CLI is missing, cannot start, or has a
// broken configuration.
func (r *run) installation(string) (contract.FailureClassification, bool) {
	install := func(detail string) (contract.FailureClassification, bool) {
		return fixed(contract.CategoryProcessExit, detail, contract.StageSpawn, contract.ActionInstallCLI), true
	}
	switch {
	case r.code == "AGENT_UNAVAILABLE" || notInstalled.Match(r.t):
		return install("cli_not_installed")
	case gitBash.Match(r.t):
		return install("git_bash_missing")
	case configInvalid.Match(r.t):
		return fixed(contract.CategoryProcessExit, "agent_config_invalid", contract.StageSessionInit, contract.ActionFixConfig), true
	case spawnFailed.Match(r.t):
		return install(r.exitDetail())
	}
	return contract.FailureClassification{}, false
}

// protocol has rule 14. Only an explicit false keeps the user from retrying.
func (r *run) protocol(string) (contract.FailureClassification, bool) {
	if !protocolError.Match(r.t) {
		return contract.FailureClassification{}, false
	}
	return retry(contract.CategoryProcessExit, r.exitDetail(), contract.StageChildClose, r.hinted(true)), true
}

// limits has rules 15 and 16: sign-in and limits by the text.
func (r *run) limits(code string) (contract.FailureClassification, bool) {
	if code == service.AuthRequired || authDetail.Match(r.t) {
		return r.auth(), true
	}
	quota := hardQuota.Match(r.t)
	if r.code != service.RateLimited && code != service.RateLimited && !quota && !rateLimit.Match(r.t) {
		return contract.FailureClassification{}, false
	}
	if modelWindow.Match(r.t) {
		return retry(contract.CategoryRateLimit, "model_window_limit", contract.StageSessionInit, true), true
	}
	detail, credits := "rate_limit_429", workspaceCredits.Match(r.t)
	switch {
	case credits:
		detail = "workspace_credits_exhausted"
	case quota:
		detail = "hard_quota"
	}
	f := retry(contract.CategoryRateLimit, detail, contract.StageSessionInit, !quota && r.hinted(true))
	if credits && !f.Retryable {
		f.UserAction = contract.ActionRecharge
	}
	return f, true
}

// upstream has rule 17. A refusal by the provider is never worth a retry,
// whatever the hint says.
func (r *run) upstream(code string) (contract.FailureClassification, bool) {
	refused := clientError.Match(r.t) || r.in.AgentID == "byok-opencode" && notFoundAtProvider(r.t)
	stage := contract.StageFirstTokenWait
	switch {
	case r.code == service.UpstreamUnavailable, r.code == service.ConnectionDropped,
		code == service.UpstreamUnavailable, refused, upstreamTrouble.Match(r.t):
		stage = r.stage(stage)
	default:
		return contract.FailureClassification{}, false
	}
	if refused {
		return retry(contract.CategoryUpstream, "upstream_client_error", stage, false), true
	}
	return retry(contract.CategoryUpstream, r.upstreamDetail(), stage, r.hinted(true)), true
}

func (r *run) upstreamDetail() string {
	if detail := first(r.t, upstreamShapes); detail != "" {
		return detail
	}
	return "network_error"
}

// silence has rules 18 and 19: no output, or not in time.
func (r *run) silence(string) (contract.FailureClassification, bool) {
	if emptyOutput.Match(r.t) {
		f := retry(contract.CategoryEmptyOutput, "empty_output", r.stage(contract.StageFirstTokenWait), r.hinted(true))
		f.UserAction = contract.ActionRetry
		return f, true
	}
	if r.code != "TIMEOUT" && !timeout.Match(r.t) {
		return contract.FailureClassification{}, false
	}
	f := retry(contract.CategoryTimeout, "timeout", r.stage(contract.StageFirstTokenWait), r.hinted(true))
	if inactivity.Match(r.t) {
		f.Detail, f.TerminalTrigger = "inactivity_timeout", "inactivity_watchdog"
	}
	if r.t.Has("without emitting a first output") {
		f.TerminalTrigger = "first_output_deadline"
	}
	return f, true
}

// tool has rules 20 to 22: tools, fabricated role markers, permissions.
func (r *run) tool(string) (contract.FailureClassification, bool) {
	switch {
	case pluginArtifacts.Match(r.t):
		return retry(contract.CategoryToolError, "plugin_artifact_missing", contract.StageArtifactWrite, r.hinted(false)), true
	case toolWord.Match(r.t) && failureWord.Match(r.t):
		return retry(contract.CategoryToolError, "tool_error", contract.StageToolExecution, r.hinted(true)), true
	case roleMarker.Match(r.t):
		return retry(contract.CategoryProcessExit, "fabricated_role_marker", contract.StageChildClose, r.hinted(true)), true
	case permissionGone.Match(r.t):
		return retry(contract.CategoryProcessExit, "permission_request_not_found", contract.StageChildClose, r.hinted(true)), true
	}
	return contract.FailureClassification{}, false
}

// process has rules 23 to 26: how the child ended is all there is.
func (r *run) process(string) (contract.FailureClassification, bool) {
	if oldCPU.Match(r.t) || illegalInstruction.Match(r.t) && openCodeStart.Match(r.t) {
		return fixed(contract.CategoryProcessExit, "cpu_unsupported", r.stage(contract.StageSessionInit), contract.ActionNone), true
	}
	signal := ""
	if s, ok := strings.CutPrefix(r.code, "AGENT_SIGNAL_"); ok {
		signal = s
	}
	generic := r.code == service.ExecutionFailed || r.code == "AGENT_TERMINATED_UNKNOWN" || strings.HasPrefix(r.code, "AGENT_EXIT_")
	reason := r.closeReason()
	switch {
	case reason == "fatal_rpc_error" && (generic || strings.HasPrefix(r.code, "AGENT_SIGNAL_")):
		return retry(contract.CategoryProcessExit, "fatal_rpc_error", r.stage(contract.StageChildClose), r.hinted(true)), true
	case signal != "" || r.code == "AGENT_EXIT_130":
		return fixed(contract.CategoryProcessExit, r.signalDetail(signal), contract.StageChildClose, contract.ActionNone), true
	case generic:
		detail := r.exitDetail()
		if detail == "execution_failed" && slices.Contains([]string{"stream_error", "exit_nonzero", "fatal_rpc_error"}, reason) {
			detail = reason
		}
		again := r.hinted(detail == "stream_error" || detail == "fatal_rpc_error")
		return retry(contract.CategoryProcessExit, detail, r.stage(contract.StageChildClose), again), true
	}
	return contract.FailureClassification{}, false
}

// signalDetail names the end by a signal, or by exit code 130 when the signal
// is "".
func (r *run) signalDetail(signal string) string {
	switch {
	case signal == "SIGKILL":
		return "signal_killed"
	case slices.Contains([]string{"SIGSEGV", "SIGABRT", "SIGILL", "SIGTRAP", "SIGBUS"}, signal), crashed.Match(r.t):
		return "process_crashed"
	case signal == "SIGINT" || signal == "":
		return "interrupted"
	}
	return "terminated_unknown"
}

// exitDetail names the end of a process by the text, else by the code. Rules
// 13, 14 and 26 share it.
func (r *run) exitDetail() string {
	if detail := first(r.t, exitShapes); detail != "" {
		return detail
	}
	switch {
	case strings.HasPrefix(r.code, "AGENT_EXIT_"):
		return "exit_code"
	case r.code == "AGENT_TERMINATED_UNKNOWN":
		return "terminated_unknown"
	case r.code == service.ExecutionFailed:
		return "execution_failed"
	}
	return "unknown"
}
