package classify

import "github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"

// shape is a detail and the texts that mean it.
type shape struct {
	detail string
	texts  *jstext.Patterns
}

// first returns the detail of the first shape that the text has, or "".
func first(t jstext.Text, shapes []shape) string {
	for _, s := range shapes {
		if s.texts.Match(t) {
			return s.detail
		}
	}
	return ""
}

// Sign-in (rules 5 and 15).
var (
	refreshTokenReused = jstext.Any(`\brefresh token (?:was )?(?:already used|expired|invalid)`, `access token could not be refreshed\b`)
	staleProfile       = jstext.Words(`stale or expired auth state`, `stale.*credential`, `stale.*profile`,
		`credentials from a different local environment`)
	invalidKey = jstext.Any(`\binvalid api key`, `api key.*invalid\b`)
	missingKey = jstext.Any("\\bmissing environment variable: `?[a-z0-9_]*key", `api key.*missing`, `credentials? (?:are )?missing\b`)
	authDetail = jstext.Words(`refresh token`, `access token could not be refreshed`, `stale local profile`,
		`credentials from a different local environment`, "missing environment variable: `?[a-z0-9_]*key`?",
		`api key.*(?:missing|invalid)`, `invalid api key`, `credentials? (?:are )?missing`, `not logged in`,
		`authentication required`, `carry the api (?:secret )?key`, `no auth type is selected`, `set an auth method`,
		`organization has disabled .* subscription access`)
)

// The request (rules 6 to 9).
var (
	requestTooLarge = jstext.Any(`\bpayload too large\b`, `\brequest entity too large\b`,
		`\brequest body exceeds configured limit\b`, `\[code=request_too_large\]`)
	promptTooLarge = jstext.Words(`context window`, `context size (?:has been )?exceeded`, `prompt too large`,
		`request_too_large`, `maximum context`, `too many tokens`, `input.*too large`,
		`request (?:body )?exceeds configured limit`, `output token maximum`, `maximum output tokens`,
		`claude_code_max_output_tokens`, `exceeds the safe size`, `composed prompt exceeds`,
		`prompt token count .* exceeds`, `context too large`, `reduce the length of (?:the )?(?:messages|input prompt)`,
		`request \(\d+ tokens\) exceeds the available context size`, `n_keep:\s*\d+\s*>=\s*n_ctx`)
	sessionGone = jstext.Words(`session could not be resumed`, `no conversation found with session id`,
		`no session found`, `session [\w-]+ not found`)
)

var modelShapes = []shape{
	{"cli_version_incompatible", jstext.Any(`\brequires a newer version of codex\b`,
		"\\bunknown option [`'\"]?--[\\w-]+[`'\"]?\\b")},
	{"model_disabled", jstext.Words(`model is disabled`)},
	{"local_model_not_loaded", jstext.Words(`no models loaded`, `lms load`)},
	{"provider_routing_error", jstext.Words(`no endpoints found that support tool use`, `provider routing`)},
	{"model_not_supported", jstext.Words(`unsupported model`, `model .*not supported`, `not supported model`,
		`supported api model names`, `not supported when using codex`)},
	{"model_not_found", jstext.Words(`model (?:is )?(?:unavailable|not available|unsupported|not found)`,
		`selected model is not available`, `not have access`, `no access`, `model .*not found`,
		`no healthy deployments`, `model .*not in (?:the )?allowed list`)},
}

const notFoundForAccount = `\bfunction\s+["'][^"']+["']\s+not found for account\b`

var requestShapes = []shape{
	{"attachment_media_type_unsupported", jstext.Any(
		`\bsource\.media_type\b[^]*\binvalid enum value\b[^]*\bapplication/pdf\b`,
		`\bapplication/pdf\b[^]*\bexpected\b[^]*\bimage/(?:jpeg|png|gif|webp)\b`)},
	{"tool_schema_invalid", jstext.Any(`\bfunction_declarations\[\d+\]\.name\b[^]*\binvalid function name\b`)},
	{"prompt_tokenization_failed", jstext.Any(`\bfailed to tokenize (?:the )?prompt\b`)},
	{"provider_resource_not_found", jstext.Any(
		`status["']?\s*:\s*404\b[^]*`+notFoundForAccount,
		notFoundForAccount+`[^]*status["']?\s*:\s*404\b`)},
}

// The installation (rules 10 to 14). The three texts with replacement
// characters are Windows' "not recognized as an internal or external
// command", "cannot find the path specified" and "cannot execute the program
// specified" in GBK, read as UTF-8. No word boundary ends these texts, and
// case counts for no letter of any script.
var (
	notInstalled = jstext.Any(`\bcodex cli was not found`, `\bmissing optional dependency`,
		`\bcannot find module`, `\bnot installed`, `\bnot on path`, `\bcannot find the (?:path|file) specified`,
		`\bis not recognized as an internal or external command`, `\bspawn\b[^\n]*\benoent\b`,
		"\ufffd\u06b2\ufffd\ufffd\ufffd\ufffd[\u2cbe\u2cbf]\ufffd\ufffd\ufffd\ufffd",
		"\ufffd[\u04b2\u04b3]\ufffd\ufffd\ufffd\u05b8\ufffd\ufffd\ufffd\ufffd\u00b7\ufffd\ufffd",
		"\ufffd\u07b7\ufffd\u05b4\ufffd\ufffd\u05b8\ufffd\ufffd\ufffd[\u0132\u0133]\ufffd\ufffd\ufffd")
	gitBash       = jstext.Words(`claude_code_git_bash_path`, `git-bash`)
	configInvalid = jstext.Any(`\berror loading config\.toml: unknown variant\b`,
		"\\bunknown variant [`'\"][^`'\"]+[`'\"], expected\\b[^]*\\bin `service_tier`",
		"\\bdefault_permissions requires a `?\\[permissions\\]`? table\\b",
		`\bdefault_permissions refers to undefined profile\b`,
		`\berror loading config\.toml:[^]*\bduplicate key\b`,
		`\bbyok opencode requires a provider, api key, and model for this run\b`,
		`\bbyok_provider_required\b`,
		`\beacces: permission denied, mkdir\b[^]*\.config[\\/]+opencode\b`)
	spawnFailed   = jstext.Words(`spawn failed: spawn`)
	protocolError = jstext.Words(`json-rpc id \d+: internal error`, `acp session exited before completion`,
		`qoder run failed: (?:stop_sequence|end_turn)`, `thread/start failed`, `failed to parse request`)
)

// Limits (rule 16).
var (
	hardQuota = jstext.Any(`\bsession limit\b`, `\busage limit\b`, `\blimit reached\b`, `\bquota\b`,
		`\bbilling (?:hard )?limit\b`, `\binsufficient[ _-]?(?:quota|credit|credits|funds)\b`, `\bout of credits\b`,
		`\bno payment method\b`, `\brequires more credits\b`, `\bcan only afford\b`,
		`daily_limit_exceeded`, `额度不足`, `预扣费额度失败`)
	rateLimit        = jstext.Any(`速率限制`, `控制请求频率`, `请求(?:过于)?频繁`, `rate[ _-]?limit`, `too many requests`)
	workspaceCredits = jstext.Words(`workspace is out of credits`, `add credits to continue`,
		`ask your workspace owner to refill`, `no payment method`, `requires more credits`)
	modelWindow = jstext.Words(`model_limit_exceeded`, `\d+\s*-?\s*hour usage limit`)
)

// The provider (rule 17).
var (
	clientError = jstext.Words(`statuscode["']?\s*:\s*(?:400|403|404)`, `400 bad request`, `403 forbidden`,
		`404 not found`, `404 page not found`, `not found:\s*(?:404 page not found|not found)`, `notfounderror`,
		`openaiexception - \{"detail":"not found"\}`, `api error:\s*(?:400|403)`, `invalid responses api request`,
		`country, region, or territory not supported`, `gateway or proxy`, `validation error`, `literal_error`,
		`invalid input`, `type validation failed`, `data did not match any variant of untagged enum inputparam`)
	upstreamTrouble = jstext.Words(append([]string{`response\.completed`, `transport error: network error`,
		`upstream request failed`, `connection reset by (?:peer|server)`, `no route to host`, `connection refused`,
		`error sending request`, `provider returned error`, `high demand`, `model is at capacity`,
		`temporarily unavailable`, `upstream_error`, `unexpected server error`, `failed to process error response`,
		`amr model catalog is (?:temporarily )?unavailable`}, disconnects...)...)
	notFoundLines = jstext.Any(
		`(?:^|\n)\s*(?:not found|resource not found|the requested resource was not found)\s*(?:\n|$)`,
		`\b404(?:\s+(?:page|route))?\s+not found\b`, `\bresource_not_found_error\b`,
		`\bthe requested resource was not found\b`, `\bnot found:\s*not support\b`, `\bnotfounderror\b`,
		`\bopencode (?:session error|event stream):[^\n]*\bnot found\s*(?:$|[\n\r\x{2028}\x{2029}])`,
		`"(?:detail|message)"\s*:\s*"not found"`, `\bstatuscode["']?\s*:\s*404\b`)
)

// disconnects are the texts of a stream that was cut.
var disconnects = []string{`stream disconnected before completion`, `(?:stream|upstream) idle timeout`,
	`no data received within configured window`, `websocket closed`, `socket connection was closed unexpectedly`,
	`connectionrefused`, `tls handshake eof`, `tls close_notify`, `broken pipe`, `peer closed connection`,
	`remote host`, `远程主机强迫关闭`, `http2: response body closed`, `incomplete chunked read`,
	`client network socket disconnected before secure tls connection`, `connection failed repeatedly`,
	`lost its connection to (?:the anthropic api|the configured custom anthropic endpoint)`,
	`server error mid-response`, `empty or malformed response`, `streaming response failed`}

// notFoundAtProvider reports a bare "not found" of a provider behind opencode.
func notFoundAtProvider(t jstext.Text) bool { return notFoundLines.Match(t) }

var upstreamShapes = []shape{
	{"provider_routing_error", jstext.Words(`amr model catalog is (?:temporarily )?unavailable`, `provider routing`)},
	{"provider_high_demand", jstext.Any(`\bhigh demand`, `temporary errors`, `model is at capacity`)},
	{"stream_disconnected", jstext.Words(append([]string{`response\.completed`, `connection reset`}, disconnects...)...)},
	// overloaded_error is not among these: the underscore is no boundary.
	{"upstream_5xx", jstext.Any(`\b(?:http|status|error|response)(?:[ _-]?code)?[\s:=#-]*5\d\d\b`,
		`\b5\d\d\s+(?:bad gateway|service unavailable|internal server error|gateway timeout)`,
		`\b5xx\b`, `\bbad gateway\b`, `\bgateway timeout\b`, `\binternal server error\b`, `\bservice unavailable\b`,
		`\bupstream[ _-](?:error|unavailable)\b`, `\bprovider (?:error|unavailable)\b`, `\boverloaded\b`,
		`\bunexpected server error\b`, `\bfailed to process error response\b`)},
}

// Silence, tools and processes (rules 18 to 26).
var (
	emptyOutput     = jstext.Words(`empty response`, `empty output`, `without producing any output`, `no visible output`)
	timeout         = jstext.Words(`timed?\s*out`, `timeout`, `inactivity`, `stalled`, `hung`, `no new output`, `without emitting any new output`)
	inactivity      = jstext.Any(`inactivity`, `stalled`, `hung`, `no new output`, `without emitting any new output`)
	toolWord        = jstext.Words(`tool`, `mcp`, `connector`, `plugin`)
	failureWord     = jstext.Words(`error`, `failed`, `failure`)
	pluginArtifacts = jstext.Words(`plugin authoring ended before generating the required generated-plugin artifacts`)
	roleMarker      = jstext.Words(`model emitted fabricated role marker`)
	permissionGone  = jstext.Words(`permissionnotfounderror`, `permission request not found`, `permissions/per_[a-z0-9_-]+\s+returned\s+http\s+404`)

	oldCPU             = jstext.Words(`no_avx2`)
	illegalInstruction = jstext.Any(`0xc000001d`, `\b3221225501\b`)
	openCodeStart      = jstext.Words(`start opencode server`, `opencode exited before readiness`)
	crashed            = jstext.Any(`\bbun v\d+\.\d+\.\d+\b[^]*\b(?:oh no: bun has crashed|panic\(|illegal instruction|segmentation fault)\b`,
		`\b0xc0000409\b`)
)

var exitShapes = []shape{
	{"spawn_enoexec", jstext.Words(`spawn failed: spawn enoexec`)},
	{"spawn_ebadf", jstext.Words(`spawn failed: spawn ebadf`)},
	{"spawn_eperm", jstext.Words(`spawn failed: spawn eperm`)},
	{"spawn_failed", spawnFailed},
	{"stdin_write_eof", jstext.Words(`stdin: write eof`)},
	{"process_crashed", crashed},
	{"fabricated_role_marker", roleMarker},
	{"qoder_stop_sequence", jstext.Words(`qoder run failed: stop_sequence`)},
	{"agent_protocol_error", protocolError},
}
