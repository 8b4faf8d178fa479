// Code generated from schemas/ by go generate; DO NOT EDIT.

package contract

// The values of ProtocolFamily.
const (
	FamilyPlain   ProtocolFamily = "plain/v1"
	FamilyClaude  ProtocolFamily = "claude-stream-json/v1"
	FamilyEvents  ProtocolFamily = "json-event-stream/v1"
	FamilyQoder   ProtocolFamily = "qoder-stream-json/v1"
	FamilyCopilot ProtocolFamily = "copilot-stream-json/v1"
	FamilyACP     ProtocolFamily = "acp-json-rpc/v1"
	FamilyPi      ProtocolFamily = "pi-rpc/v1"
)

// ProtocolFamilies lists every family in the specification's order.
var ProtocolFamilies = []ProtocolFamily{
	FamilyPlain,
	FamilyClaude,
	FamilyEvents,
	FamilyQoder,
	FamilyCopilot,
	FamilyACP,
	FamilyPi,
}

// The values of ValidityLevel.
const (
	LevelSyntheticMock      ValidityLevel = "synthetic_mock"
	LevelVendorDocumented   ValidityLevel = "vendor_documented"
	LevelSourceDerived      ValidityLevel = "source_derived"
	LevelServerVariant      ValidityLevel = "server_variant"
	LevelRuntimeObserved    ValidityLevel = "runtime_observed"
	LevelConfirmed          ValidityLevel = "confirmed"
	LevelCommunityConfirmed ValidityLevel = "community_confirmed"
)

// ValidityLevels lists the levels, weakest first (FINE-PRINT 1, level order).
var ValidityLevels = []ValidityLevel{
	LevelSyntheticMock,
	LevelVendorDocumented,
	LevelSourceDerived,
	LevelServerVariant,
	LevelRuntimeObserved,
	LevelConfirmed,
	LevelCommunityConfirmed,
}

// Platforms lists the platforms of the specification.
var Platforms = []Platform{
	"darwin-arm64",
	"darwin-x64",
	"linux-x64",
	"linux-arm64",
	"win32-x64",
	"unknown",
}

// The values of Transport.
const (
	TransportPlain   Transport = "plain"
	TransportJSONL   Transport = "jsonl"
	TransportJSON    Transport = "json"
	TransportJSONRPC Transport = "json-rpc"
	TransportPiRPC   Transport = "pi-rpc"
)

// Transports lists every transport.
var Transports = []Transport{
	TransportPlain,
	TransportJSONL,
	TransportJSON,
	TransportJSONRPC,
	TransportPiRPC,
}

// StderrClasses lists the classes of the specification. In a shape's identity diagnostic
// and debug count as none (DESIGN D6).
var StderrClasses = []StderrClass{
	"none",
	"diagnostic",
	"auth",
	"quota",
	"upstream",
	"protocol",
	"debug",
	"unknown",
}

// The values of ExitClass.
const (
	ExitSuccess ExitClass = "success"
	ExitNonzero ExitClass = "nonzero"
	ExitSignal  ExitClass = "signal"
	ExitTimeout ExitClass = "timeout"
	ExitUnknown ExitClass = "unknown"
)

// ExitClasses lists every exit class.
var ExitClasses = []ExitClass{
	ExitSuccess,
	ExitNonzero,
	ExitSignal,
	ExitTimeout,
	ExitUnknown,
}

// The values of StdinMode.
const (
	StdinNone       StdinMode = "none"
	StdinText       StdinMode = "text-prompt"
	StdinJSONLOpen  StdinMode = "jsonl-open"
	StdinPromptFile StdinMode = "prompt-file"
	StdinRPC        StdinMode = "rpc"
)

// StdinModes lists every stdin mode. jsonl-open is a stream-json line on a stdin that
// stays open.
var StdinModes = []StdinMode{
	StdinNone,
	StdinText,
	StdinJSONLOpen,
	StdinPromptFile,
	StdinRPC,
}

// The values of RedactionStatus.
const (
	RedactionPassed RedactionStatus = "passed"
	RedactionFailed RedactionStatus = "failed"
	RedactionReview RedactionStatus = "manual_review_required"
)

// RedactionStatuses lists the outcomes of redaction.
var RedactionStatuses = []RedactionStatus{
	RedactionPassed,
	RedactionFailed,
	RedactionReview,
}

// The values of ReplayStatus.
const (
	ReplayCompatible   ReplayStatus = "compatible"
	ReplayIncompatible ReplayStatus = "incompatible"
	ReplayNotRun       ReplayStatus = "not_run"
)

// ReplayStatuses lists every replay status.
var ReplayStatuses = []ReplayStatus{
	ReplayCompatible,
	ReplayIncompatible,
	ReplayNotRun,
}

// The values of SupportStatus.
const (
	SupportLocalShapeVerified    SupportStatus = "local_shape_verified"
	SupportVersionRangeVerified  SupportStatus = "version_range_verified"
	SupportServerVariantPossible SupportStatus = "server_variant_possible"
	SupportNewerThanVerified     SupportStatus = "newer_than_verified"
	SupportTooOld                SupportStatus = "too_old"
	SupportKnownBreaking         SupportStatus = "known_breaking"
	SupportKnownBreakingShape    SupportStatus = "known_breaking_shape"
	SupportActiveShapeUnknown    SupportStatus = "active_shape_unknown"
	SupportUnknown               SupportStatus = "unknown"
)

// SupportStatuses lists every support status.
var SupportStatuses = []SupportStatus{
	SupportLocalShapeVerified,
	SupportVersionRangeVerified,
	SupportServerVariantPossible,
	SupportNewerThanVerified,
	SupportTooOld,
	SupportKnownBreaking,
	SupportKnownBreakingShape,
	SupportActiveShapeUnknown,
	SupportUnknown,
}

// The values of ProviderKind.
const (
	ProviderEmulated ProviderKind = "emulated"
	ProviderLive     ProviderKind = "live"
)

// ProviderKinds lists the provider kinds of DESIGN D1.
var ProviderKinds = []ProviderKind{
	ProviderEmulated,
	ProviderLive,
}

// The values of RunResult.
const (
	RunSuccess   RunResult = "success"
	RunFailed    RunResult = "failed"
	RunCancelled RunResult = "cancelled"
)

// RunResults lists what a run can come to.
var RunResults = []RunResult{
	RunSuccess,
	RunFailed,
	RunCancelled,
}

// The values of FailureCategory.
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
	CategoryAuth,
	CategoryRateLimit,
	CategoryInsufficientBalance,
	CategoryEntitlement,
	CategoryModelUnavailable,
	CategoryPromptTooLarge,
	CategoryUpstream,
	CategoryTimeout,
	CategoryEmptyOutput,
	CategoryToolError,
	CategoryProcessExit,
	CategoryUserCancel,
	CategoryUnknown,
}

// The values of FailureStage.
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

// FailureStages lists every stage, in the order in which a run passes them.
var FailureStages = []FailureStage{
	StagePreflight,
	StageSpawn,
	StageSessionInit,
	StageModelSelect,
	StagePromptSend,
	StageFirstTokenWait,
	StageToolExecution,
	StageToolOutstanding,
	StagePostToolResume,
	StageArtifactWrite,
	StageChildClose,
	StageFinalize,
}

// The values of UserAction.
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
	ActionRetry,
	ActionLogin,
	ActionRecharge,
	ActionUpgrade,
	ActionSwitchModel,
	ActionReduceContext,
	ActionInstallCLI,
	ActionFixConfig,
	ActionNone,
}

// The values of CLIAction.
const (
	CLIActionNone                CLIAction = "none"
	CLIActionRunLocalProbe       CLIAction = "run_local_probe"
	CLIActionUpgradeCLI          CLIAction = "upgrade_cli"
	CLIActionPinSupportedVersion CLIAction = "pin_supported_version"
	CLIActionReportUnknownShape  CLIAction = "report_unknown_shape"
)

// CLIActions lists what a user can do about an installed CLI.
var CLIActions = []CLIAction{
	CLIActionNone,
	CLIActionRunLocalProbe,
	CLIActionUpgradeCLI,
	CLIActionPinSupportedVersion,
	CLIActionReportUnknownShape,
}

// The values of EvidenceSource.
const (
	EvidenceFromLocalProbe    EvidenceSource = "local_probe"
	EvidenceFromSupportMatrix EvidenceSource = "support_matrix"
	EvidenceFromKnownBreaking EvidenceSource = "known_breaking"
	EvidenceFromNone          EvidenceSource = "none"
)

// EvidenceSources lists where an answer about an installed CLI can come from.
var EvidenceSources = []EvidenceSource{
	EvidenceFromLocalProbe,
	EvidenceFromSupportMatrix,
	EvidenceFromKnownBreaking,
	EvidenceFromNone,
}

// FailureDetails lists every value of failure_detail, the exact cause.
var FailureDetails = []string{
	"auth_required",
	"stale_profile",
	"refresh_token_reused",
	"missing_api_key",
	"invalid_api_key",
	"hard_quota",
	"model_window_limit",
	"workspace_credits_exhausted",
	"rate_limit_429",
	"amr_insufficient_balance",
	"amr_tier_upgrade_required",
	"model_not_found",
	"model_not_supported",
	"model_disabled",
	"local_model_not_loaded",
	"cli_version_incompatible",
	"prompt_too_large",
	"request_too_large",
	"attachment_media_type_unsupported",
	"tool_schema_invalid",
	"prompt_tokenization_failed",
	"provider_resource_not_found",
	"upstream_5xx",
	"upstream_client_error",
	"stream_disconnected",
	"network_error",
	"provider_high_demand",
	"provider_routing_error",
	"inactivity_timeout",
	"timeout",
	"empty_output",
	"tool_error",
	"plugin_artifact_missing",
	"cli_not_installed",
	"git_bash_missing",
	"agent_config_invalid",
	"spawn_failed",
	"spawn_enoexec",
	"spawn_ebadf",
	"spawn_eperm",
	"stdin_write_eof",
	"agent_protocol_error",
	"session_resume_expired",
	"fabricated_role_marker",
	"permission_request_not_found",
	"qoder_stop_sequence",
	"signal_killed",
	"process_crashed",
	"cpu_unsupported",
	"interrupted",
	"exit_code",
	"terminated_unknown",
	"stream_error",
	"exit_nonzero",
	"fatal_rpc_error",
	"execution_failed",
	"user_cancelled",
	"unknown",
}

// CancelOrigins lists who can cancel a run.
var CancelOrigins = []string{
	"user_stop",
	"project_cleanup",
	"daemon_shutdown",
	"unknown",
}

// TerminalTriggers lists what can force a run to end.
var TerminalTriggers = []string{
	"user_stop",
	"project_cleanup",
	"daemon_shutdown",
	"unknown",
	"first_output_deadline",
	"inactivity_watchdog",
	"daemon_restart",
}
