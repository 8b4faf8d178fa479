package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// printed makes the transcript of a run that printed the lines and exited.
func printed(code int, stderr string, lines ...string) *transcript.Transcript {
	t := &transcript.Transcript{}
	add := func(s transcript.Stream, b []byte) {
		for line := range bytes.Lines(b) {
			t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: s, Data: line})
		}
	}
	for _, l := range lines {
		add(transcript.Stdout, []byte(l+"\n"))
	}
	add(transcript.Stderr, []byte(stderr))
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return t
}

// failedRuns are failures as real releases printed them, by dialect: stdout
// lines, or stderr. All of them are known by their words.
var failedRuns = []struct {
	dialect, agent, detail string
	code                   int
	stderr                 string
	lines                  []string
}{
	{"gemini", "gemini", "auth_required", 145, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":401,\"message\":\"Request had invalid authentication credentials. (x)\",\"status\":\"UNAUTHENTICATED\"}}]"},"stats":{"input_tokens":0}}`}},
	{"gemini", "gemini", "stream_disconnected", 1, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: terminated]"},"stats":{"input_tokens":0}}`}},
	{"gemini", "gemini", "stream_disconnected", 0, "", []string{`{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}`, `{"type":"result","status":"error","stats":{"input_tokens":4}}`}},
	{"gemini", "gemini", "empty_output", 0, "", []string{`{"type":"error","severity":"error","message":"The model returned an empty response with no text or thoughts. This may be a transient API issue; please try again."}`, `{"type":"result","status":"error"}`}},
	{"gemini", "gemini", "stream_error", 0, "Error when talking to Gemini API Full report available at: /tmp/gemini-client-error.json\n", []string{`{"type":"init","session_id":"s"}`, `{"type":"result","status":"success","stats":{"input_tokens":0,"output_tokens":0}}`}},
	{"gemini", "gemini", "hard_quota", 1, "TerminalQuotaError: You have exhausted your daily quota on this model.\n", nil},
	{"gemini", "gemini", "rate_limit_429", 173, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":429,\"message\":\"no\",\"status\":\"RESOURCE_EXHAUSTED\"}}]"}}`}},
	{"gemini", "gemini", "upstream_5xx", 244, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":500,\"message\":\"no\",\"status\":\"INTERNAL\"}}]"}}`}},
	{"gemini", "gemini", "model_not_found", 148, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":404,\"message\":\"models/x is not found for API version v1beta\",\"status\":\"NOT_FOUND\"}}]"}}`}},
	{"gemini", "gemini", "invalid_api_key", 1, "", []string{`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: API key not valid. Please pass a valid API key. (Status: INVALID_ARGUMENT)]"}}`}},
	{"opencode", "opencode", "invalid_api_key", 0, "", []string{`{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Incorrect API key provided: x.","statusCode":401,"isRetryable":false}}}`}},
	{"opencode", "opencode", "model_not_found", 0, "", []string{`{"type":"error","sessionID":"s","error":{"name":"UnknownError","data":{"message":"Model not found: a/b."}}}`}},
	{"opencode", "opencode", "session_resume_expired", 0, "NotFoundError: NotFoundError\n data: {\n  message: \"Session not found: ses_x\",\n},\n", nil},
	{"kimi", "kimi", "invalid_api_key", 1, "error: failed to run prompt: provider.auth_error: 401 Incorrect API key provided: x.\n", []string{`{"role":"meta","type":"system.version","version":"2.1.0"}`}},
	{"kimi", "kimi", "stream_disconnected", 1, "error: failed to run prompt: provider.connection_error: terminated\n", []string{`{"role":"assistant","content":"x"}`}},
	{"kimi", "kimi", "empty_output", 1, "error: failed to run prompt: provider.api_error: The API returned an empty response (no content, no tool calls).\n", nil},
	{"kimi", "kimi", "missing_api_key", 1, "", []string{"LLM not set"}},
	{"cursor-agent", "cursor-agent", "auth_required", 1, "Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY environment variable.\n", nil},
	{"copilot", "copilot", "auth_required", 1, "", []string{`{"type":"session.error","data":{"errorType":"authentication","message":"Authentication failed with provider at x (HTTP 401).","statusCode":401}}`, `{"type":"result","exitCode":1}`}},
	{"copilot", "copilot", "auth_required", 1, "Error: No authentication information found.\n", nil},
	{"droid", "droid", "invalid_api_key", 1, "", []string{`{"type":"error","source":"agent_loop","message":"401 Incorrect API key provided: x."}`, `{"type":"error","source":"cli","message":"Exec failed"}`}},
	{"droid", "droid", "stream_disconnected", 1, "", []string{`{"type":"error","source":"agent_loop","message":"The socket connection was closed unexpectedly. For more information, pass x"}`}},
	{"pi-json", "pi", "invalid_api_key", 0, "", []string{`{"type":"agent_start"}`, `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"401 Incorrect API key provided: x."}}`, `{"type":"agent_end","messages":[]}`}},
	{"pi-json", "pi", "stream_disconnected", 0, "", []string{`{"type":"agent_start"}`, `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"terminated"}}`, `{"type":"agent_end","messages":[]}`}},
	{"qwen", "qwen", "invalid_api_key", 0, "", []string{`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"[API Error: 401 Incorrect API key provided: x.]"}]}}`, `{"type":"result","subtype":"success","is_error":false,"result":"[API Error: 401 Incorrect API key provided: x.]"}`}},
	{"qwen", "qwen", "stream_disconnected", 0, "", []string{`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"said [API Error: terminated (cause: read ECONNRESET)]"}]}}`, `{"type":"result","subtype":"success","is_error":false,"result":"said [API Error: terminated (cause: read ECONNRESET)]"}`}},
	{"qwen", "qwen", "empty_output", 0, "", []string{`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"[API Error: Model stream ended with empty response text.]"}]}}`, `{"type":"result","subtype":"success","is_error":false,"result":"[API Error: Model stream ended with empty response text.]"}`}},
	{"qwen", "qwen", "auth_required", 1, "", []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":"No auth type is selected. Please configure an auth type."}}`}},
	{"kimi", "kimi", "hard_quota", 1, "LLM provider error: Error code: 429 - {'error': {'message': 'no', 'type': 'exceeded_current_quota_error'}}\n", nil},
	{"copilot", "copilot", "hard_quota", 1, "", []string{`{"type":"session.error","data":{"errorType":"query","message":"You have exceeded your premium request allowance"}}`, `{"type":"result","exitCode":1}`}},
	{"copilot", "copilot", "model_not_found", 1, "Error: Model \"gpt-9\" from --model flag is not available.\n", nil},
	{"opencode", "opencode", "hard_quota", 0, "", []string{`{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Free usage exceeded, subscribe to Go"}}}`}},
	{"qoder", "qoder", "auth_required", 1, "", []string{`{"type":"assistant","message":{"content":[]},"error":"authentication_failed"}`, `{"type":"result","subtype":"success","is_error":true}`}},
	{"amp", "amp", "auth_required", 1, "", []string{`{"type":"result","subtype":"error","is_error":true,"result":"","error":"Authentication failed"}`}},
}

// TestRedactionKeepsTheFailure: a failure of every family is called by its
// name in the raw run and in the sanitized one.
func TestRedactionKeepsTheFailure(t *testing.T) {
	r, registry := redactor(t)
	for i := range failedRuns {
		run := &failedRuns[i]
		t.Run(fmt.Sprintf("%s %d %s", run.dialect, i, run.detail), func(t *testing.T) {
			d := registry.Dialect(run.dialect)
			if d == nil {
				t.Fatal("registry/families.json has no such dialect")
			}
			raw := printed(run.code, run.stderr, run.lines...)
			clean, _, err := r.Redact(raw, redact.Input{Dialect: run.dialect, Hermetic: true, ScenarioTexts: []string{"said it"}})
			if err != nil {
				t.Fatal(err)
			}
			for name, in := range map[string]*transcript.Transcript{"raw": raw, "sanitized": clean} {
				got, err := reference.Read(in, d, run.agent)
				if err != nil {
					t.Fatal(err)
				}
				if got.RunResult != contract.RunFailed || got.Failure.Detail != run.detail {
					t.Errorf("the %s run is %s, %+v", name, got.RunResult, got.Failure)
				}
			}
		})
	}
}

// publicFixture redacts a case's output and looks for what it must not hold.
func (j *judge) publicFixture() {
	const key = "must_not_contain_in_public_fixture"
	var words []string
	if raw, ok := j.c.Expect[key]; !ok || json.Unmarshal(raw, &words) != nil {
		return
	}
	in, err := j.c.load()
	if err != nil {
		j.skipped = append(j.skipped, err.Error())
		return
	}
	r, _ := redactor(j.t)
	clean, _, err := r.Redact(&transcript.Transcript{Records: records(transcript.Stdout, in.stdout)}, redact.Input{Dialect: in.dialect})
	if err != nil {
		j.bad("redacting: %v", err)
		return
	}
	text := clean.Bytes(transcript.CLIToServer, transcript.Stdout)
	for _, w := range words {
		if bytes.Contains(text, []byte(w)) {
			j.bad("the sanitized output holds %q", w)
		}
	}
	j.checked = append(j.checked, key)
}
