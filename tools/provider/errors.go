package provider

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// requestID stands in the headers and bodies that carry one.
const requestID = "req_0001"

// failure is an API error: what each API says about it, and its headers.
type failure struct {
	openai openAIError
	// responses is the message of the Responses API where it is not Chat's.
	responses string
	anthropic anthropicError
	gemini    geminiError
	headers   map[string]string
	// page is the text of an answer that comes from no model API at all.
	page string
}

type openAIError struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type anthropicError struct {
	status  int
	Type    string `json:"type"`
	Message string `json:"message"`
}

// modelMark stands for the model's name in a message.
const modelMark = "{model}"

// The statuses, types, codes and messages are those of the public APIs
// (platform.openai.com and docs.anthropic.com, "Errors").
var failures = sync.OnceValue(func() map[contract.ErrorCode]failure {
	return map[contract.ErrorCode]failure{
		contract.ErrorInvalidAPIKey: {
			openai:    openAI(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys."),
			anthropic: anthropicError{401, "authentication_error", "invalid x-api-key"},
		},
		contract.ErrorTokenExpired: {
			openai:    openAI(401, "invalid_request_error", "token_expired", "Your authentication token has expired. Please try signing in again."),
			anthropic: anthropicError{401, "authentication_error", "OAuth token has expired. Please obtain a new token or refresh your existing token."},
		},
		contract.ErrorForbidden: {
			openai:    openAI(403, "invalid_request_error", "insufficient_permissions", "You have insufficient permissions for this operation."),
			anthropic: anthropicError{403, "permission_error", "Your API key does not have permission to use the specified resource."},
		},
		contract.ErrorModelNotFound: {
			openai:    openAI(404, "invalid_request_error", "model_not_found", "The model `"+modelMark+"` does not exist or you do not have access to it."),
			anthropic: anthropicError{404, "not_found_error", "model: " + modelMark},
		},
		// github/copilot-cli#639 and kaitranntt/ccs#724 for Chat, openai/codex#25838
		// for Responses, caozhiyuan/copilot-api#253 for Messages.
		contract.ErrorModelNotSupported: {
			openai:    openAI(400, "invalid_request_error", "model_not_supported", "The requested model is not supported."),
			responses: "The '" + modelMark + "' model is not supported when using Codex with a ChatGPT account.",
			anthropic: anthropicError{400, "invalid_request_error", "The requested model is not supported."},
		},
		// The Responses API's words (lezli01/vincent, testdata of its Codex agent);
		// the other APIs have no public ones, so theirs only leave the product out.
		contract.ErrorClientOutdated: {
			openai:    openAI(400, "invalid_request_error", "", "The '"+modelMark+"' model requires a newer version of this client. Please upgrade to the latest version and try again."),
			responses: "The '" + modelMark + "' model requires a newer version of Codex. Please upgrade to the latest app or CLI and try again.",
			anthropic: anthropicError{400, "invalid_request_error", "The '" + modelMark + "' model requires a newer version of this client. Please upgrade to the latest version and try again."},
		},
		// What a Go gateway says to a path that it does not route (net/http.NotFound).
		contract.ErrorRouting: {page: "404 page not found\n"},
		contract.ErrorContextLength: {
			openai:    openAI(400, "invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."),
			anthropic: anthropicError{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
		},
		contract.ErrorRateLimited: {
			openai:    openAI(429, "tokens", "rate_limit_exceeded", "Rate limit reached for "+modelMark+" on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1s."),
			anthropic: anthropicError{429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later."},
			headers:   map[string]string{"Retry-After": "1"},
		},
		contract.ErrorQuotaExhausted: {
			openai:    openAI(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."),
			anthropic: anthropicError{429, "rate_limit_error", "Number of request tokens has exceeded your monthly limit."},
			headers:   map[string]string{"X-Should-Retry": "false"},
		},
		contract.ErrorServer: {
			openai:    openAI(500, "server_error", "", "The server had an error while processing your request. Sorry about that!"),
			anthropic: anthropicError{500, "api_error", "Internal server error"},
		},
		contract.ErrorServiceUnavailable: {
			openai:    openAI(503, "server_error", "", "The engine is currently overloaded, please try again later"),
			anthropic: anthropicError{503, "api_error", "Service unavailable"},
		},
		contract.ErrorOverloaded: {
			openai:    openAI(503, "server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."),
			anthropic: anthropicError{529, "overloaded_error", "Overloaded"},
		},
	}
})

// unexpectedRequest answers what the scenario has no answer for. CLIs do not
// retry a 400.
var unexpectedRequest = failure{
	openai:    openAI(400, "invalid_request_error", "", "This request is not part of the session."),
	anthropic: anthropicError{400, "invalid_request_error", "This request is not part of the session."},
	gemini:    geminiError{Code: 400, Message: "This request is not part of the session.", Status: "INVALID_ARGUMENT"},
	headers:   map[string]string{"X-Should-Retry": "false"},
}

// upgradeRequired sends Codex from its WebSocket back to plain HTTP.
var upgradeRequired = failure{
	openai: openAI(http.StatusUpgradeRequired, "invalid_request_error", "", "WebSocket is not available here."),
}

func openAI(status int, typ, code, message string) openAIError {
	e := openAIError{status: status, Type: typ, Message: message}
	if code != "" {
		e.Code = &code
	}
	return e
}

// apiFailure is the scenario's error for a dialect and model.
func apiFailure(d Dialect, e *contract.ScenarioError, model string) failure {
	f := failures()[e.Code]
	if d == DialectResponses && f.responses != "" {
		f.openai.Message = f.responses
	}
	f.openai.Message = strings.ReplaceAll(f.openai.Message, modelMark, model)
	f.anthropic.Message = strings.ReplaceAll(f.anthropic.Message, modelMark, model)
	f.gemini = geminiErrors()[e.Code]
	f.gemini.Message = strings.ReplaceAll(f.gemini.Message, modelMark, model)
	all := map[string]string{}
	maps.Copy(all, f.headers)
	for k, v := range e.Headers { // a scenario may spell a name as it likes
		all[http.CanonicalHeaderKey(k)] = v
	}
	f.headers = all
	return f
}

// fail writes an error as the API of the dialect does.
func (x *exchange) fail(d Dialect, f failure) {
	for k, v := range f.headers {
		x.w.Header().Set(k, v)
	}
	if f.page != "" {
		x.page(http.StatusNotFound, f.page)
		return
	}
	if d == DialectMessages {
		x.json(f.anthropic.status, struct {
			Type      string         `json:"type"`
			Error     anthropicError `json:"error"`
			RequestID string         `json:"request_id"`
		}{"error", f.anthropic, requestID})
		return
	}
	if d == DialectGemini {
		x.json(f.gemini.Code, struct {
			Error geminiError `json:"error"`
		}{f.gemini})
		return
	}
	x.json(f.openai.status, struct {
		Error openAIError `json:"error"`
	}{f.openai})
}
