package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// errorFrames are how each dialect says that a run failed, with a text in it.
var errorFrames = map[string][]string{
	"gemini": {
		`{"type":"init","timestamp":"2026-08-02T10:00:00Z","session_id":"s","model":"m"}`,
		`{"type":"result","timestamp":"2026-08-02T10:00:01Z","status":"error","error":{"type":"unknown","message":%s},"stats":{}}`,
	},
	"opencode": {`{"type":"error","timestamp":1784819289900,"sessionID":"ses_1","error":{"name":"UnknownError","data":{"message":%s}}}`},
	"cursor-agent": {
		`{"type":"system","subtype":"init","apiKeySource":"login","session_id":"s","model":"Auto"}`,
		`{"type":"result","subtype":"error","is_error":true,"result":%s,"session_id":"s"}`,
	},
	"copilot": {
		`{"type":"session.error","data":{"errorType":"query","message":%s},"id":"e","timestamp":"2026-08-02T10:00:00Z","parentId":"p"}`,
		`{"type":"result","timestamp":"2026-08-02T10:00:01Z","sessionId":"s","exitCode":1,"usage":{}}`,
	},
	"qoder": {`{"type":"assistant","message":{"content":[]},"error":{"message":%s}}`},
	"qwen":  {`{"type":"result","subtype":"error_during_execution","is_error":true,"error":{"message":%s},"session_id":"s"}`},
	"amp":   {`{"type":"result","subtype":"error_during_execution","is_error":true,"error":%s,"session_id":"T-1"}`},
	"droid": {`{"type":"error","source":"agent_loop","message":%s,"timestamp":1784819289607,"session_id":"s"}`},
	"pi-json": {
		`{"type":"agent_start"}`,
		`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":%s}}`,
		`{"type":"agent_end","messages":[]}`,
	},
	"kimi": {`{"role":"meta","type":"system.version","version":"2.1.0"}`},
}

// errorWordings are what these CLIs and their providers print (the report on
// error texts, and captures of real releases).
var errorWordings = []string{
	"[API Error: API key not valid. Please pass a valid API key. (Status: INVALID_ARGUMENT)]",
	"Cached credentials are not valid: invalid_grant",
	"AI_APICallError: No auth credentials found",
	"Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY environment variable.",
	"Error: No authentication information found. Copilot can be authenticated with GitHub using an OAuth Token",
	"Execution failed: Error: Session was not created with authentication info or custom provider",
	"Authentication failed: token expired",
	"No auth type is selected. Please configure an auth type",
	"Qoder authentication expired",
	"401 Incorrect API key provided",
	"No API key found for openai. Use /login or set an API key environment variable.",
	"TerminalQuotaError: You have exhausted your daily quota on this model.",
	"Usage limit reached for gemini-2.5-flash-lite. Access resets at 2:55 PM PST.",
	"Monthly usage limit reached. Resets in 6 days. Enable usage in your workspace",
	"AI_RetryError: Failed after 3 attempts. Last error: Too Many Requests",
	"You've hit your usage limit — Get Cursor Pro for more Agent usage, unlimited Tab, and more.",
	"402 You have no quota",
	"Sorry, you've hit a rate limit that restricts the number of Copilot model requests you can make within a specific time period.",
	"Error code: 429 - {'error': {'message': 'Your account is rate limited, please try again later', 'type': 'rate_limit_reached_error'}}",
	"Rate limit exceeded, please try again later",
	"provider.transport ECONNRESET: The socket connection was closed unexpectedly",
	"Unexpected server error. Check server logs for details.",
	"Connection error.",
	"terminated",
	"The model is currently overloaded. Please try again later.",
	"500 Internal Server Error",
	"AI_APICallError: prompt token count of 129923 exceeds the limit of 128000",
	"ProviderModelNotFoundError: Model not found: acme/large. Did you mean: acme/small?",
	"Cannot use this model: acme-4. Available models: Auto",
	"No saved session found with ID 0a1b2c3d. Run `qwen --resume` without an ID to choose from existing sessions.",
	"Unknown arguments: output-format, outputFormat",
	"error: unknown option '--print'",
	"LLM not set",
}

// What a run failed of is told by words; redaction keeps those words, in the
// frames of each dialect, on its stderr and on stdout lines that are no JSON.
func TestRedactionKeepsTheFailureOfOtherDialects(t *testing.T) {
	f, v := registry(t)
	r, err := redact.New(f, v)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for id, frames := range errorFrames {
		d := f.Dialect(id)
		agent := agents[id]
		if agent == "" {
			agent = id
		}
		for _, text := range errorWordings {
			for place, raw := range failedRuns(t, frames, text) {
				clean, rep, err := r.Redact(raw, redact.Input{Dialect: id})
				if err != nil || rep.Status != contract.RedactionPassed {
					t.Fatalf("%s: %s %v", id, rep.Status, err)
				}
				for name, adapter := range map[string]func(replay.Input) (*replay.Reading, error){"open-design": replay.OpenDesign, "reference": replay.Reference} {
					before, errA := adapter(replay.Input{Transcript: raw, Agent: agent, Dialect: d})
					after, errB := adapter(replay.Input{Transcript: clean, Agent: agent, Dialect: d})
					if errA != nil || errB != nil {
						t.Fatal(errA, errB)
					}
					if a, b := verdict(t, before), verdict(t, after); a != b {
						t.Errorf("%s in %s %s: %s says %s, after redaction %s; unknown words %v", text, id, place, name, a, b, rep.UnknownWords)
					}
					if name == "reference" && before.Failure != nil && before.Failure.Category != contract.CategoryProcessExit {
						told[id]++
					}
				}
			}
		}
	}
	for id := range errorFrames {
		if told[id] < len(errorWordings)/2 {
			t.Errorf("%s: only %d failures are told by their words", id, told[id])
		}
	}
}

// failedRuns are runs that end with exit code 1 and say why in one place.
func failedRuns(t *testing.T, frames []string, text string) map[string]*transcript.Transcript {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	inFrame, silent := "", ""
	for _, f := range frames {
		inFrame += strings.ReplaceAll(f, "%s", string(quoted)) + "\n"
		if !strings.Contains(f, "%s") {
			silent += f + "\n"
		}
	}
	onStderr := failed(silent)
	last := len(onStderr.Records) - 1
	stderr := transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stderr, Data: []byte(text + "\n")}
	onStderr.Records = append(onStderr.Records[:last:last], stderr, onStderr.Records[last])
	return map[string]*transcript.Transcript{"in a frame": failed(inFrame), "on stderr": onStderr, "on stdout": failed(silent + text + "\n")}
}

func failed(stdout string) *transcript.Transcript {
	t := printed(stdout)
	code := 1
	t.Records[len(t.Records)-1].ExitCode = &code
	return t
}
