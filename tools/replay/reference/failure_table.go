package reference

import (
	"slices"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// textRow says what an error text means. The first row that matches decides,
// so rows go from the particular to the general.
type textRow struct {
	// source is where the wording was seen: a row of the error-texts research
	// ("r28"), a public case ("c103"), or a captured release.
	source string
	// agents limits the row; empty means any but those of except.
	agents, except []string
	// pattern is matched against the normalized text: lower case, straight
	// apostrophes, single spaces. Words that redaction does not know stand as
	// <text:N>, so patterns name only words of the error itself. It is compiled
	// on first use: the first row that matches spares the rest.
	pattern func() *phrases
	verdict verdict
}

func (t *textRow) fits(agent string) bool {
	return (len(t.agents) == 0 || slices.Contains(t.agents, agent)) && !slices.Contains(t.except, agent)
}

func row(source string, v verdict, words ...string) textRow {
	return textRow{source: source, pattern: sync.OnceValue(func() *phrases { return compilePhrases(strings.Join(words, "|")) }), verdict: v}
}

// httpStatus matches a status where the words around it say that it is one:
// "exit code 401", "line 500" and "429 ms" are numbers.
func httpStatus(code string) string {
	return `(?:\bhttp(?:/[\d.]+)?|\b(?:status|response|error)(?: code)?|\bstatus_?code|\bcode ?[:=#]|\brejected)["' :=(]+` + code + `\b`
}

func (t textRow) only(agents ...string) textRow {
	t.agents = agents
	return t
}

// others keeps a row from the agents whose wordings other rows know: their
// readings are on record.
func (t textRow) others() textRow {
	t.except = []string{"codex", "claude"}
	return t
}

func auth(detail string) verdict {
	return verdict{Category: contract.CategoryAuth, Detail: detail, Stage: contract.StageSessionInit, UserAction: contract.ActionLogin}
}

func hardQuota(action contract.UserAction) verdict {
	return verdict{Category: contract.CategoryRateLimit, Detail: "hard_quota", UserAction: action}
}

func upstream(detail string, stage contract.FailureStage) verdict {
	return verdict{Category: contract.CategoryUpstream, Detail: detail, Stage: stage, Retryable: true, UserAction: contract.ActionRetry}
}

func model(detail string, action contract.UserAction) verdict {
	return verdict{Category: contract.CategoryModelUnavailable, Detail: detail, Stage: contract.StageModelSelect, UserAction: action}
}

func tooLarge(detail string) verdict {
	return verdict{Category: contract.CategoryPromptTooLarge, Detail: detail, Stage: contract.StagePromptSend, UserAction: contract.ActionReduceContext}
}

var (
	outOfCredits = verdict{Category: contract.CategoryInsufficientBalance, Detail: "workspace_credits_exhausted", UserAction: contract.ActionRecharge}
	rateLimited  = verdict{Category: contract.CategoryRateLimit, Detail: "rate_limit_429", Retryable: true, UserAction: contract.ActionRetry}
	noProvider   = verdict{Category: contract.CategoryAuth, Detail: "missing_api_key", Stage: contract.StageSessionInit, UserAction: contract.ActionFixConfig}
	toolFailed   = verdict{Category: contract.CategoryToolError, Detail: "tool_error", Stage: contract.StageToolExecution, Retryable: true, UserAction: contract.ActionRetry}
	clientError  = verdict{Category: contract.CategoryUpstream, Detail: "upstream_client_error", UserAction: contract.ActionNone}
	lostSession  = verdict{Category: contract.CategoryProcessExit, Detail: "session_resume_expired", Stage: contract.StageSessionInit, Retryable: true, UserAction: contract.ActionRetry}
	protocol     = verdict{Category: contract.CategoryProcessExit, Detail: "agent_protocol_error", Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry}
	badConfig    = processExit("agent_config_invalid", contract.StageSessionInit, contract.ActionFixConfig)
	badArgv      = processExit("agent_config_invalid", contract.StageSpawn, contract.ActionFixConfig)
	flagChanged  = processExit("cli_version_incompatible", contract.StageSpawn, contract.ActionFixConfig)
	notInstalled = processExit("cli_not_installed", contract.StageSpawn, contract.ActionInstallCLI)
)

// texts is the table of error texts, made when it is first asked: most commands
// of this program read no failure.
var texts = sync.OnceValue(func() []textRow {
	return slices.Concat(localTexts(), accountTexts(), modelTexts(), streamTexts(), providerTexts(), googleTexts(), consumerTexts())
})

// localTexts are about the CLI, its arguments, its configuration and the
// harness: no provider was involved.
func localTexts() []textRow {
	return []textRow{
		row("r68", model("cli_version_incompatible", contract.ActionInstallCLI), `requires a newer version of`),
		row("r72 r81 c026", flagChanged, `stream-json requires --verbose`, `only supported for print ui`),
		row("r73", badArgv, `--input-format=stream-json requires`, `--dangerously-skip-permissions cannot be used with root`),
		row("r80", processExit("cli_version_incompatible", contract.StageSpawn, contract.ActionInstallCLI), `unknown arguments?: output-?format`),
		row("r82, codex and claude of every tested release", flagChanged,
			`(?:unknown option|unexpected argument|unrecognized (?:option|argument)|found argument):? ['"]?--[a-z]`),
		row("yargs in gemini 0.61", flagChanged, `\bunknown arguments?: `).others(),
		row("an option's value: codex 0.171, claude 2.1.332, yargs in gemini 0.61", badArgv, `invalid value '[^']*' for '--`, `' argument '[^']*' is invalid`, `\binvalid values: argument: `, `^invalid --[a-z-]+ value`),
		row("c079", processExit("exit_nonzero", contract.StageSpawn, contract.ActionNone),
			`(?:unknown option|unexpected argument|unrecognized (?:option|argument)) ['"]?-[a-z]\b`),
		row("r78 c016, codex ≤0.129", badConfig, `error loading config`, `loading config\.toml`, `unknown variant`, `error parsing config`),
		row("qwen 0.24 on a broken settings file", badConfig, `cannot read .{0,40}sandbox policy from`).others(),
		row("opencode 1.18", badConfig, `configuration is invalid at`).others(),
		row("opencode 1.18 prints its usage, and no reason, for an argument that it refuses", badArgv, `^opencode (?:run \[message|acp\b)`).only("opencode"),
		row("pi 1.6 on a provider that its files do not have", badConfig, `\bunknown provider "`).others(),
		row("claude 2.1.332 on a broken file of its own", badConfig, `configuration error in`),
		row("codex: wire_api chat was refused in 0.100", badConfig, `wire_api`, `model provider \S+ not found`),
		row("r79, codex outside a git repository", badConfig, `not running in a trusted directory`, `not inside a trusted directory`),
		row("cursor-agent without --trust, which ends with 0 (escoffier-labs/brigade#205)", badConfig, `workspace trust required`, `pass --trust, --yolo, or -f`).only("cursor-agent"),
		row("r75 r83 r84 r85 c031", lostSession, `no conversation found with session id`, `no saved session found`,
			`\bsession not found`, `\bsession "[^"]*" not found`, `session id not found`, `no session found matching`, `no previous sessions found`, `no session, task, or name `, `no rollout found`, `session 已绑定`),
		row("r76", processExit("git_bash_missing", contract.StageSpawn, contract.ActionFixConfig), `requires git-bash`),
		row("an argument that the system does not take: openclaw/openclaw#69158", tooLarge("prompt_too_large"), `\bspawn \S*\s?enametoolong\b`, `\bargument list too long\b`),
		row("r87", processExit("spawn_enoexec", contract.StageSpawn, contract.ActionInstallCLI), `exec format error`),
		row("r88 r89", notInstalled, `is not recognized as an internal or external command`, `不是内部或外部命令`, `\bspawn \S+ enoent`,
			`native binary not installed`, `missing optional dependency`, `command not found`),
		row("r86", protocol, `agent is already processing`),
		row("r74 c092", toolFailed, `tool permission request failed`),
		row("codex since required servers, t8y2/dbx#1690", toolFailed, `\brequired mcp servers? failed\b`),
		row("case 044", processExit("exit_nonzero", contract.StageChildClose, contract.ActionNone), `maximum session turns`, `reached maximum number of turns`, `max number of steps reached`),
		row("r43", processExit("exit_nonzero", contract.StageChildClose, contract.ActionNone), `\[resource_exhausted\] error$`),
		row("r56 c041", streamError, `unexpected server error\. check server logs`),
	}
}

// accountTexts are about who pays and who is logged in.
func accountTexts() []textRow {
	return []textRow{
		row("r34 c021", outOfCredits, `credit balance is too low`),
		row("r48 c062", outOfCredits, `doesn't have any credits`, `insufficient balance`, `余额不足`, `\bpayment required\b`),
		row("r31", hardQuota(contract.ActionRecharge), `out of extra usage`),
		row("r40 r42 r45", hardQuota(contract.ActionRecharge), `you have no quota`, `quota_exceeded`, `get cursor pro for more agent usage`).only("cursor-agent", "copilot"),
		row("r28 r29 r30 r32 r35 r36 r37 r39 c005 c103", hardQuota(contract.ActionNone),
			`usage limit(?: reached|\.|$| resets?| -| ·)`, `hit your (?:\S+ ){0,4}limit\b`, `(?:session|weekly|daily|monthly|opus|sonnet|5-hour) (?:usage )?limit reached`,
			`usage_limit_reached`, `usage limit has been reached`, `monthly usage limit`,
			`exceeded your (?:daily|weekly|monthly) (?:usage )?limit`, `usage allocation has been disabled`, `spending cap reached`,
			`token budget exhausted`, `exceeded usd budget`, `reached maximum budget`, `exhausted your daily quota`, `individual quota reached`, `usage limit reached`),
		row("copilot, opencode's own service", hardQuota(contract.ActionRecharge), `premium request allowance`, `free usage exceeded`).only("copilot", "opencode"),
		row("r49, insufficient_quota of OpenAI and codex ≥0.163", hardQuota(contract.ActionNone),
			`exceeded your current quota`, `insufficient_quota`, `quota exceeded`, `额度不足`, `预扣费额度失败`, `check your plan and billing`, `exceeded_current_quota`),
		row("r33 r41 r46 r47 r49", rateLimited, `\brate[ _-]limit(?:ed|_error|_exceeded| reached| exceeded|s)?\b`, `\brate_limit_reached`,
			`too many requests`, `速率限制`, `请求频繁`, httpStatus(`429`), `\b429 \{`),
		row("opencode's quota with 429", hardQuota(contract.ActionNone), `quota (?:is |has been )?exhausted`, `out of quota`).others(),
		row("Google's reasons for a refused key", auth("invalid_api_key"), `\bapi[ _]key[ _](?:is )?(?:invalid|expired|revoked)\b`).others(),
		row("Google's status of a 401", auth("auth_required"), `\bunauthenticated\b`, `invalid authentication credentials`).others(),
		row("r10", auth("refresh_token_reused"), `refresh token was already used`, `refresh_token_reused`),
		row("r27", noProvider, `no llm provider configured`),
		row("kimi 2.1 without a key, and with a file that it cannot read", noProvider, `has no credential configured`, `no model configured`).others(),
		row("qwen 0.24", auth("missing_api_key"), `missing api key for`).others(),
		row("qwen 0.24 without settings", auth("auth_required"), `no auth type is selected`).others(),
		row("r9 r16 r21", auth("missing_api_key"), `missing environment variable`, `no auth credentials found`, `llm not set`, `no api key`),
		row("amp 0.0.1790142911, reasonix 1.38", auth("invalid_api_key"), `invalid or missing api key`, `_api_key is invalid or expired`).others(),
		row("r1 r12 c089", auth("invalid_api_key"), `invalid api key`, `incorrect api key`, `api key not valid`, `invalid_api_key`),
		row("r2 r4 r5 r8 r13 r14 r17 r18 r19 r20 r22 r23 r24 r25 r26", auth("auth_required"),
			`not logged in`, `please run /login`, `authentication required`, `authentication_error`, `authentication_failed`, `failed to authenticate`,
			`authentication failed`, `authentication expired`, `not authenticated`, `401 unauthorized`, `^(?:error: )?unauthorized\b`, `\bunauthorized(?:: | request| access)`, `invalid x-api-key`, `set an auth method`,
			`credentials are not valid`, `authentication cancelled`, `no authentication information`, `not created with authentication info`,
			`oauth device authorization`, `\bauth error\b`, `not logged into`, `token (?:is |has )?(?:been )?(?:expired|revoked)`, `token_expired`,
			httpStatus(`401`)),
		row("kimi 2.1", auth("auth_required"), `provider\.auth_error`).others(),
		row("r3, 403 of a custom provider", auth("auth_required"), `organization has (?:been )?disabled`, `oauth_org_not_allowed`, `permission_error`,
			`access denied by (?:copilot )?policy`,
			httpStatus(`403`)),
	}
}

// modelTexts are about the model and the size of the request.
func modelTexts() []textRow {
	return []textRow{
		row("c107", upstream("provider_routing_error", ""), html404),
		row("r59 r60 r61 r62 r63 c022", tooLarge("prompt_too_large"), `prompt is too long`, `prompt_too_long`, `rejected the prompt as too long`, `context window`, `contextwindowexceeded`,
			`context_length_exceeded`, `maximum context length`, `token count of \S+ exceeds the limit`, `output token maximum`, `exceeds? (?:the )?context limit`, `range of input length should be`),
		row("413 of Anthropic Messages", tooLarge("request_too_large"), `request_too_large`, `request too large`, `payload too large`, `request entity too large`),
		row("r67 r71", model("model_not_supported", contract.ActionSwitchModel), `is not supported when using`, `cannot use this model`, `unsupported model`, `model is not supported`),
		row("r65 r66 r69 r70", model("model_not_found", contract.ActionSwitchModel), `issue with the selected model`, `model not found`, `model_not_found`,
			`\bmodel\b.{0,80}(?:does not exist|not found)`, `not_found_error`, `modelnotfound`, `^(?:error: )?model "[^"]*" from --model flag is not available`),
		row("gemini 0.61 on Google's 400s", tooLarge("prompt_too_large"), `input token count .{0,30}exceeds the maximum`).others(),
		row("agno-agi/agno#3505", model("model_not_supported", contract.ActionSwitchModel), `is not enabled for models/`).others(),
		row("droid 0.225 on a model that its files do not have", model("model_not_found", contract.ActionSwitchModel), `^invalid model: `).others(),
		row("Google's names of models", model("model_not_found", contract.ActionSwitchModel), `\bmodels/\S+ (?:is )?not found`).others(),
	}
}

// streamTexts are about an answer that broke off or was none, in the words of
// clients built on fetch and of Gemini's relatives.
func streamTexts() []textRow {
	return []textRow{
		row("kimi 2.1, qwen 0.15, gemini 0.61 on an empty answer", emptyOutput, `empty response`, `no content, no tool calls`, `empty or invalid response`, `no content was returned`).others(),
		row("gemini 0.61, qwen 0.24 on a stream without an end", upstream("stream_disconnected", ""), `without (?:a )?finish[ _]reason`, `ended without`, `stream ended unexpectedly`).others(),
		row("reasonix 1.38 on a cut stream", upstream("stream_disconnected", ""), `stream ended before completion`, `read stream: unexpected eof`).others(),
		row("undici's word for a broken body", upstream("stream_disconnected", ""), `(?:^|[:"] ?)terminated\b`, `premature close`, `other side closed`, `socket hang up`).others(),
	}
}

// googleTexts are the bodies that Gemini prints: a code and a status word.
func googleTexts() []textRow {
	return []textRow{
		row("gemini 429", rateLimited, googleStatus(`429`, `resource_exhausted`)).only("gemini", "antigravity"),
		row("gemini 403", auth("auth_required"), googleStatus(`40[13]`, `permission_denied`)).only("gemini", "antigravity"),
		row("gemini 404", model("model_not_found", contract.ActionSwitchModel), googleStatus(`404`, `not_found`)).only("gemini", "antigravity"),
		row("gemini 5xx", upstream("upstream_5xx", ""), googleStatus(`50[0-3]`, `internal|unavailable`)).only("gemini", "antigravity"),
		row("gemini 504", timedOut, googleStatus(`504`, `deadline_exceeded`)).only("gemini", "antigravity"),
		row("gemini 400", clientError, googleStatus(`400`, `invalid_argument|failed_precondition`)).only("gemini", "antigravity"),
	}
}

// googleStatus matches the members code and status of an error, whose quotes
// may be escaped.
func googleStatus(code, words string) string {
	return `\bcode\\?": ?` + code + `\b|\bstatus\\?": ?\\?"(?:` + words + `)\b`
}

// providerTexts are about the connection and the provider's health.
func providerTexts() []textRow {
	return []textRow{
		row("r50 r54, codex: “high demand” ≥0.155", upstream("provider_high_demand", ""), `overloaded`, `currently experiencing high demand`, `high demand`, `at capacity`, httpStatus(`529`)),
		row("r57, codex and claude without a listener", upstream("network_error", ""), `enotfound`, `econnrefused`, `eai_again`, `error sending request`,
			`connection refused`, `connectionrefused`, `waiting for network`, `failed to lookup address`, `fetch failed`, `etimedout`, `certificate has expired`, `self[- ]signed certificate`, `unable to verify the first certificate`),
		row("r51 r52 r55 c004", upstream("stream_disconnected", ""), `stream disconnected`, `connection closed mid-response`, `socket connection was closed`,
			`stream closed before`, `connection (?:was )?(?:dropped|reset|closed|error)`, `econnreset`, `idle timeout waiting for`, `error decoding response body`),
		row("r58", timedOut, `context deadline exceeded`, `request timed out`, `timed out`, `\btimeout\b`),
		row("5xx of any provider", upstream("upstream_5xx", ""), `internal server error`, `bad gateway`, `service (?:temporarily )?unavailable`, `gateway timeout`,
			`\bserver_error\b`, `\bapi_error\b`, httpStatus(`5\d\d`)),
		row("claude without a listener", upstream("network_error", ""), `unable to connect`),
		row("r64, 400 of any provider", clientError, `image dimensions exceed`, `invalid_request_error`, `usage policy`, `bad request`, `user location is not supported`, httpStatus(`4\d\d`)),
		row("empty answers of gateways", emptyOutput, `without producing any output`, `empty response`),
	}
}

// consumerTexts are texts that OpenDesign's classifier and its daemon know and
// no captured run has shown so far ("v:" names a vector of its classifier).
// They come last, so that they decide only what was unknown.
func consumerTexts() []textRow {
	return []textRow{
		row("v:auth_please_login", auth("auth_required"), `please (?:sign|log) in\b`),
		row("v:balance_text_any_agent v:workspace_credits", outOfCredits, `insufficient (?:credits?|funds)\b`, `not enough credits`, `out of credits`),
		row("v:model_disabled", model("model_disabled", contract.ActionSwitchModel), `model is disabled`),
		row("v:model_local_not_loaded", model("local_model_not_loaded", contract.ActionSwitchModel), `no models loaded`),
		row("v:model_provider_routing", model("provider_routing_error", contract.ActionSwitchModel), `no endpoints found`),
		row("v:media_type", verdict{Category: contract.CategoryUpstream, Detail: "attachment_media_type_unsupported", Stage: contract.StagePromptSend, UserAction: contract.ActionNone},
			`media_type: .{0,40}application/pdf`),
		row("v:spawn_failed_eperm", processExit("spawn_eperm", contract.StageSpawn, contract.ActionInstallCLI), `spawn \S*\s?eperm\b`),
		row("v:spawn_failed_enoexec", processExit("spawn_enoexec", contract.StageSpawn, contract.ActionInstallCLI), `spawn \S*\s?enoexec\b`),
		row("v:spawn_failed_other", processExit("spawn_failed", contract.StageSpawn, contract.ActionInstallCLI), `spawn failed: spawn \S`, `^(?:error: )?spawn (?:\S+ )?(?:einval|eacces|ebusy)\b`),
		row("v:protocol_error", protocol, `json-rpc id \d+: internal error`, `acp session exited before completion`),
		row("v:qoder_stop_sequence", again("qoder_stop_sequence"), `qoder run failed: (?:stop_sequence|end_turn)`),
		row("v:tool_error", toolFailed, `mcp server failed to start`),
		row("v:role_marker_full_text", again("fabricated_role_marker"), `fabricated role marker`),
		row("v:permission_not_found", again("permission_request_not_found"), `permissionnotfounderror`, `permission request not found`),
		row("v:cpu_unsupported", processExit("cpu_unsupported", contract.StageSessionInit, contract.ActionNone), `\bno_avx2\b`),
	}
}

// again is a failure of the agent's own that the same run may not have again.
func again(detail string) verdict {
	return verdict{Category: contract.CategoryProcessExit, Detail: detail, Stage: contract.StageChildClose, Retryable: true, UserAction: contract.ActionRetry}
}
