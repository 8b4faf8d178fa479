package provider

import (
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// geminiError is the body of an error of the Gemini API (ai.google.dev,
// "Troubleshooting"; google.rpc.Status of the Google API design guide).
type geminiError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Status  string         `json:"status"`
	Details []geminiDetail `json:"details,omitempty"`
}

// geminiDetail is a google.rpc detail: ErrorInfo, RetryInfo or QuotaFailure.
type geminiDetail struct {
	Type       string            `json:"@type"`
	Reason     string            `json:"reason,omitempty"`
	Domain     string            `json:"domain,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	RetryDelay string            `json:"retryDelay,omitempty"`
	Violations []geminiViolation `json:"violations,omitempty"`
}

type geminiViolation struct {
	Metric string `json:"quotaMetric"`
	ID     string `json:"quotaId"`
}

const googleRPC = "type.googleapis.com/google.rpc."

// geminiErrors says each failure as Google does. A wrong API key is a 400
// there; 401 is for tokens.
var geminiErrors = sync.OnceValue(func() map[contract.ErrorCode]geminiError {
	return map[contract.ErrorCode]geminiError{
		contract.ErrorInvalidAPIKey: {400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", []geminiDetail{{
			Type: googleRPC + "ErrorInfo", Reason: "API_KEY_INVALID", Domain: "googleapis.com",
			Metadata: map[string]string{"service": "generativelanguage.googleapis.com"},
		}}},
		contract.ErrorTokenExpired:  {401, "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.", "UNAUTHENTICATED", nil},
		contract.ErrorForbidden:     {403, "The caller does not have permission", "PERMISSION_DENIED", nil},
		contract.ErrorModelNotFound: {404, "models/" + modelMark + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", "NOT_FOUND", nil},
		// agno-agi/agno#3505: a model that cannot do what an agent needs.
		contract.ErrorModelNotSupported: {400, "Function calling is not enabled for models/" + modelMark, "INVALID_ARGUMENT", nil},
		contract.ErrorClientOutdated:    {400, "The '" + modelMark + "' model requires a newer version of this client. Please upgrade to the latest version and try again.", "FAILED_PRECONDITION", nil},
		contract.ErrorContextLength:     {400, "The input token count (1210000) exceeds the maximum number of tokens allowed (1048576).", "INVALID_ARGUMENT", nil},
		contract.ErrorRateLimited:       {429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED", []geminiDetail{{Type: googleRPC + "RetryInfo", RetryDelay: "1s"}}},
		contract.ErrorQuotaExhausted: {429, "You exceeded your current quota, please check your plan and billing details.", "RESOURCE_EXHAUSTED", []geminiDetail{{
			Type: googleRPC + "QuotaFailure", Violations: []geminiViolation{{
				"generativelanguage.googleapis.com/generate_requests_per_model_per_day", "GenerateRequestsPerDayPerProjectPerModel",
			}},
		}}},
		contract.ErrorServer:             {500, "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting", "INTERNAL", nil},
		contract.ErrorServiceUnavailable: {503, "The service is currently unavailable.", "UNAVAILABLE", nil},
		contract.ErrorOverloaded:         {503, "The model is overloaded. Please try again later.", "UNAVAILABLE", nil},
	}
})
