package contract

import "slices"

// The words of a failure's classification are OpenDesign v0.19.2's (spec
// error-case.schema.json, "expected_failure_classification"; FINE-PRINT 10).

// FailureCategory is the broad kind of a failure.
type FailureCategory string

// The failure categories.
const (
	CategoryAuth                FailureCategory = "auth"
	CategoryRateLimit           FailureCategory = "rate_limit"
	CategoryInsufficientBalance FailureCategory = "insufficient_balance"
	CategoryEntitlement         FailureCategory = "entitlement_required"
	CategoryModelUnavailable    FailureCategory = "model_unavailable"
	CategoryPromptTooLarge      FailureCategory = "prompt_too_large"
	CategoryUpstream            FailureCategory = "upstream_unavailable"
	CategoryTimeout             FailureCategory = "timeout"
	CategoryEmptyOutput         FailureCategory = "empty_output"
	CategoryToolError           FailureCategory = "tool_error"
	CategoryProcessExit         FailureCategory = "process_exit"
	CategoryUserCancel          FailureCategory = "user_cancel"
	CategoryUnknown             FailureCategory = "unknown"
)

// FailureCategories lists every category.
var FailureCategories = []FailureCategory{
	CategoryAuth, CategoryRateLimit, CategoryInsufficientBalance, CategoryEntitlement,
	CategoryModelUnavailable, CategoryPromptTooLarge, CategoryUpstream, CategoryTimeout,
	CategoryEmptyOutput, CategoryToolError, CategoryProcessExit, CategoryUserCancel, CategoryUnknown,
}

// FailureStage is how far the run had come when it failed.
type FailureStage string

// The failure stages, in the order in which a run passes them.
const (
	StagePreflight       FailureStage = "preflight"
	StageSpawn           FailureStage = "spawn"
	StageSessionInit     FailureStage = "session_init"
	StageModelSelect     FailureStage = "model_select"
	StagePromptSend      FailureStage = "prompt_send"
	StageFirstTokenWait  FailureStage = "first_token_wait"
	StageToolExecution   FailureStage = "tool_execution"
	StageToolOutstanding FailureStage = "tool_outstanding"
	StagePostToolResume  FailureStage = "post_tool_resume"
	StageArtifactWrite   FailureStage = "artifact_write"
	StageChildClose      FailureStage = "child_close"
	StageFinalize        FailureStage = "finalize"
)

// FailureStages lists every stage.
var FailureStages = []FailureStage{
	StagePreflight, StageSpawn, StageSessionInit, StageModelSelect, StagePromptSend, StageFirstTokenWait,
	StageToolExecution, StageToolOutstanding, StagePostToolResume, StageArtifactWrite, StageChildClose, StageFinalize,
}

// UserAction is what the user can do about a failure. It is not the action of
// a support status (FINE-PRINT 17).
type UserAction string

// The user actions.
const (
	ActionRetry         UserAction = "retry"
	ActionLogin         UserAction = "login"
	ActionRecharge      UserAction = "recharge"
	ActionUpgrade       UserAction = "upgrade"
	ActionSwitchModel   UserAction = "switch_model"
	ActionReduceContext UserAction = "reduce_context"
	ActionInstallCLI    UserAction = "install_cli"
	ActionFixConfig     UserAction = "fix_config"
	ActionNone          UserAction = "none"
)

// UserActions lists every user action.
var UserActions = []UserAction{
	ActionRetry, ActionLogin, ActionRecharge, ActionUpgrade, ActionSwitchModel,
	ActionReduceContext, ActionInstallCLI, ActionFixConfig, ActionNone,
}

// FailureDetails lists every value of failure_detail, the exact cause.
var FailureDetails = []string{
	"auth_required", "stale_profile", "refresh_token_reused", "missing_api_key", "invalid_api_key",
	"hard_quota", "model_window_limit", "workspace_credits_exhausted", "rate_limit_429",
	"amr_insufficient_balance", "amr_tier_upgrade_required", "model_not_found", "model_not_supported",
	"model_disabled", "local_model_not_loaded", "cli_version_incompatible", "prompt_too_large",
	"request_too_large", "attachment_media_type_unsupported", "tool_schema_invalid",
	"prompt_tokenization_failed", "provider_resource_not_found", "upstream_5xx", "upstream_client_error",
	"stream_disconnected", "network_error", "provider_high_demand", "provider_routing_error",
	"inactivity_timeout", "timeout", "empty_output", "tool_error", "plugin_artifact_missing",
	"cli_not_installed", "git_bash_missing", "agent_config_invalid", "spawn_failed", "spawn_enoexec",
	"spawn_ebadf", "spawn_eperm", "stdin_write_eof", "agent_protocol_error", "session_resume_expired",
	"fabricated_role_marker", "permission_request_not_found", "qoder_stop_sequence", "signal_killed",
	"process_crashed", "cpu_unsupported", "interrupted", "exit_code", "terminated_unknown", "stream_error",
	"exit_nonzero", "fatal_rpc_error", "execution_failed", "user_cancelled", "unknown",
}

// CancelOrigins lists who can cancel a run; the first three also appear as
// terminal_trigger.
var CancelOrigins = []string{"user_stop", "project_cleanup", "daemon_shutdown", "unknown"}

// TerminalTriggers lists what can force a run to end.
var TerminalTriggers = append(append([]string{}, CancelOrigins...), "first_output_deadline", "inactivity_watchdog", "daemon_restart")

// FailureClassification says why a run did not succeed. A successful run has
// none. Two are equal when all their fields are: cancelled runs have seven
// members, watchdog timeouts six, all others five.
type FailureClassification struct {
	Category   FailureCategory `json:"failure_category"`
	Detail     string          `json:"failure_detail"` // one of FailureDetails
	Stage      FailureStage    `json:"failure_stage"`
	Retryable  bool            `json:"retryable"`
	UserAction UserAction      `json:"user_action"`
	// CancelOrigin is set for cancelled runs only: one of CancelOrigins.
	CancelOrigin string `json:"cancel_origin,omitempty"`
	// TerminalTrigger is what forced the end, or "": one of TerminalTriggers.
	TerminalTrigger string `json:"terminal_trigger,omitempty"`
}

// Valid reports whether every field holds a word of its enumeration.
func (f FailureClassification) Valid() bool {
	return slices.Contains(FailureCategories, f.Category) &&
		slices.Contains(FailureDetails, f.Detail) &&
		slices.Contains(FailureStages, f.Stage) &&
		slices.Contains(UserActions, f.UserAction) &&
		(f.CancelOrigin == "" || slices.Contains(CancelOrigins, f.CancelOrigin)) &&
		(f.TerminalTrigger == "" || slices.Contains(TerminalTriggers, f.TerminalTrigger))
}
