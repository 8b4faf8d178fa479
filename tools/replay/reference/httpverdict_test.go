package reference

import (
	"strings"
	"testing"
)

// TestStatusWithoutWords: what a status alone says, and nothing more.
func TestStatusWithoutWords(t *testing.T) {
	for status, want := range map[int64]string{
		200: "", 302: "", 400: "upstream_client_error", 401: "auth_required", 402: "workspace_credits_exhausted", 403: "auth_required",
		404: "upstream_client_error", 413: "request_too_large", 429: "rate_limit_429", 500: "upstream_5xx", 529: "provider_high_demand", 600: "",
	} {
		got := ""
		if v := httpVerdict(status); v != nil {
			got = v.Detail
		}
		if got != want {
			t.Errorf("status %d is %q, want %q", status, got, want)
		}
	}
}

// TestOtherWordings: texts of CLIs built on Gemini's and the AI SDK's clients.
// Codex and Claude have their own, and their readings are on record.
func TestOtherWordings(t *testing.T) {
	for text, want := range map[string]string{
		"API key expired. Please renew the API key.": "invalid_api_key",
		"API_KEY_INVALID": "invalid_api_key",
		"[API Error: models/gemini-x is not found for API version v1beta]": "model_not_found",
		"ModelNotFoundError: Requested entity was not found.":              "model_not_found",
		"error: failed to run prompt: provider.auth_error: 401 no":         "auth_required",
		"error: failed to run prompt: provider.rate_limit_error: 429 no":   "rate_limit_429",
		"TypeError: terminated": "stream_disconnected",
		"terminated":            "stream_disconnected",
		"[API Error: terminated (cause: other side closed)]":                                                   "stream_disconnected",
		"Model stream ended without a finish reason.":                                                          "stream_disconnected",
		"Model stream ended with empty response text.":                                                         "empty_output",
		"Error: Invalid or missing API key. Run 'amp login' to authenticate.":                                  "invalid_api_key",
		"error: authentication failed for provider \"x\" (HTTP 401): LOCAL_API_KEY is invalid or expired":      "invalid_api_key",
		"! model stream ended before completion; the provider gateway or network proxy dropped the connection": "stream_disconnected",
		"error: local: read stream: unexpected EOF":                                                            "stream_disconnected",
		"error: reading settings: unexpected EOF":                                                              "",
		"quota exhausted": "hard_quota",
		`[API Error: {"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED"}}]`:               "rate_limit_429",
		`_ApiError: {"error":{"message":"{\"error\":{\"code\":503}}"}}`:                                  "upstream_5xx",
		`[API Error: {"error":{"code":500,"status":"INTERNAL"}}]`:                                        "upstream_5xx",
		`[API Error: {"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]`: "invalid_api_key",
		`[API Error: {"error":{"code":400,"status":"INVALID_ARGUMENT"}}]`:                                "upstream_client_error",
		"the process was terminated by the user":                                                         "",
	} {
		got := ""
		if v := classifyText("gemini", text); v != nil {
			got = v.Detail
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if v := classifyText("codex", "terminated"); v != nil {
			t.Errorf("codex's reading changed: %+v", v)
		}
	}
}

// Wordings of clients and services that no table has and releases print.
func TestWordingsOfServices(t *testing.T) {
	for text, want := range map[string]string{
		"claude: input length and `max_tokens` exceed context limit: 199999 + 20000 > 200000, decrease input length":       "prompt_too_large",
		"claude: API Error: 400 This organization has been disabled.":                                                      "auth_required",
		"qwen: [API Error: 400 InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]]":           "prompt_too_large",
		"qwen: No auth type is selected. Please configure an auth type.":                                                   "auth_required",
		"kimi: LLM provider error: Error code: 429 - {'error': {'message': 'no', 'type': 'exceeded_current_quota_error'}}": "hard_quota",
		"kimi: Max number of steps reached: 100":                                                                           "exit_nonzero",
		"copilot: You have exceeded your premium request allowance":                                                        "hard_quota",
		`copilot: Error: Model "gpt-9" from --model flag is not available.`:                                                "model_not_found",
		"opencode: Free usage exceeded, subscribe to Go":                                                                   "hard_quota",
		"gemini: [API Error: User location is not supported for the API use. (Status: FAILED_PRECONDITION)]":               "upstream_client_error",
		"codex: unexpected status 402 Payment Required: no":                                                                "workspace_credits_exhausted",
		"droid: connect ETIMEDOUT 192.0.2.1:443":                                                                           "network_error",
		"droid: certificate has expired":                                                                                   "network_error",
		"droid: 413 Request Entity Too Large":                                                                              "request_too_large",
		"cursor-agent: \x1b[31mRetriableError: [resource_exhausted] Error\x1b[0m":                                          "exit_nonzero",
	} {
		agent, words, _ := strings.Cut(text, ": ")
		if v := ClassifyText(agent, words); v == nil || v.Detail != want {
			t.Errorf("%q is taken for %+v, want %s", text, v, want)
		}
	}
}
