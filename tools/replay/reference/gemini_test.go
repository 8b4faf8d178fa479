package reference

import "testing"

const (
	geminiInit = `{"type":"init","session_id":"s","model":"m"}`
	geminiUser = `{"type":"message","role":"user","content":"the prompt"}`
	geminiGood = `{"type":"result","status":"success","stats":{"input_tokens":11,"output_tokens":7,"cached":2}}`
	geminiVoid = `{"type":"result","status":"success","stats":{"input_tokens":0,"output_tokens":0}}`
)

func geminiText(text string) string {
	return `{"type":"message","role":"assistant","content":"` + text + `","delta":true}`
}

func TestGemini(t *testing.T) {
	check(t, DialectGemini, []sample{
		{
			name: "answer in pieces", end: exited(0), lines: []string{geminiInit, geminiUser, geminiText("Hel"), geminiText("lo"), geminiGood},
			result: "success", reported: "success", text: "Hello", events: "status:initializing text text usage",
		},
		{
			name: "a tool that failed is no failed run", end: exited(0), lines: []string{
				geminiInit, geminiText("Reading. "),
				`{"type":"tool_use","tool_name":"read_file","tool_id":"t1","parameters":{"file_path":"x"}}`,
				`{"type":"tool_result","tool_id":"t1","status":"error","output":"File not found.","error":{"type":"file_not_found","message":"File not found: x"}}`,
				geminiText("No."), geminiGood,
			},
			result: "success", reported: "success", text: "Reading. \nNo.", tools: "read_file:failed",
			events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "a retry says the pieces again and more", end: exited(0), lines: []string{
				geminiInit, geminiText("a "), geminiText("b "), geminiText("a "), geminiText("b "), geminiText("c"), geminiGood,
			},
			result: "success", reported: "success", text: "a b c", events: "status:initializing text text text usage", signals: "retracted_text",
		},
		{
			name: "four attempts without an end, exit 0", end: exited(0), lines: []string{
				geminiInit, geminiText("a "), geminiText("b "), geminiText("a "), geminiText("b "), geminiText("a "), geminiText("b "), geminiText("a "), geminiText("b "),
				`{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}`,
				`{"type":"result","status":"error","stats":{"input_tokens":44,"output_tokens":28}}`,
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "error", text: "a b ", signals: "retracted_text",
			events: "status:initializing text text usage error",
		},
		{
			name: "four attempts of one piece each, then an error", end: exited(1), lines: []string{
				geminiInit, geminiText("a b"), geminiText("a b"), geminiText("a b"), geminiText("a b"),
				`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: terminated]"}}`,
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "error", text: "a b", signals: "retracted_text",
			events: "status:initializing text error",
		},
		{
			name: "a word said twice is no retry", end: exited(0), lines: []string{geminiInit, geminiText("no "), geminiText("no "), geminiText("way"), geminiGood},
			result: "success", reported: "success", text: "no no way", events: "status:initializing text text text usage",
		},
		{
			name: "a rule of dashes is no retry", end: exited(0), lines: []string{geminiInit, geminiText("-"), geminiText("-"), geminiText("-"), geminiText("-"), geminiGood},
			result: "success", reported: "success", text: "----", events: "status:initializing text text text text usage",
		},
		{
			name: "empty answer, exit 0", end: exited(0), lines: []string{
				geminiInit, `{"type":"error","severity":"error","message":"The model returned an empty response with no text."}`,
				`{"type":"result","status":"error","stats":{"input_tokens":44,"output_tokens":28}}`,
			},
			result: "failed empty_output/empty_output first_token_wait", reported: "error", events: "status:initializing usage error",
		},
		{
			name: "401 in the words of Google", end: exited(145), lines: []string{
				geminiInit, `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":401,\"status\":\"UNAUTHENTICATED\"}}]"},"stats":{"input_tokens":0}}`,
			},
			result: "failed auth/auth_required session_init", reported: "error", events: "status:initializing usage error",
		},
		{
			name: "the exit code is the status when no word says more", end: exited(145), lines: []string{geminiInit, `{"type":"result","status":"error","error":{"type":"unknown","message":"no"}}`},
			result: "failed auth/auth_required session_init", reported: "error", events: "status:initializing error",
		},
		{
			name: "0.11 says success for an error that only stderr knows", end: exited(0), lines: []string{geminiInit, geminiText("Hel"), geminiVoid},
			stderr: "Error when talking to Gemini API Full report available at: /tmp/x.json\n",
			result: "failed process_exit/stream_error child_close", reported: "success", text: "Hel", events: "status:initializing text usage error",
		},
		{
			name: "success without a sign of life", end: exited(0), lines: []string{geminiInit, geminiVoid},
			result: "failed empty_output/empty_output first_token_wait", reported: "success", events: "status:initializing usage",
		},
		{
			name: "success with an error on stderr that a retry survived", end: exited(0), lines: []string{geminiInit, geminiText("Hi"), geminiGood},
			stderr: "Attempt 1 failed with status 503. Retrying with backoff...\nLoaded cached credentials.\n",
			result: "success", reported: "success", text: "Hi", events: "status:initializing text usage",
		},
		{
			name: "turn limit with a result that says success", end: exited(53), lines: []string{
				geminiInit, `{"type":"error","severity":"error","message":"Maximum session turns exceeded"}`, geminiVoid,
			},
			result: "failed process_exit/exit_nonzero child_close", reported: "success", events: "status:initializing usage error",
		},
		{
			name: "a warning is none", end: exited(0), lines: []string{geminiInit, `{"type":"error","severity":"warning","message":"Loop detected"}`, geminiText("x"), geminiGood},
			result: "success", reported: "success", text: "x", events: "status:initializing status:warning text usage",
		},
		{
			name: "interrupted: exit 0 and no result", end: Ending{ExitCode: exited(0).ExitCode, Cancelled: true}, lines: []string{geminiInit, geminiText("tick")},
			result: "cancelled", text: "tick", signals: "missing_terminal_event", events: "status:initializing text",
		},
		{
			name: "no result and nobody interrupted", end: exited(0), lines: []string{geminiInit, geminiText("tick")},
			result: "failed process_exit/terminated_unknown child_close", text: "tick", signals: "missing_terminal_event", events: "status:initializing text",
		},
		{
			name: "hung in its retries", end: Ending{TimedOut: true, Signal: "SIGTERM"}, lines: []string{geminiInit, geminiUser},
			stderr: "Attempt 6 failed with status 429. Retrying with backoff... _ApiError: x\n    at throwErrorIfNotOK\n",
			result: "failed rate_limit/rate_limit_429 first_token_wait", signals: "missing_terminal_event", events: "status:initializing",
		},
		{
			name: "no key", end: exited(41), stderr: "Please set an Auth method in your settings\n",
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event",
		},
		{
			name: "untrusted folder", end: exited(55), result: "failed process_exit/agent_config_invalid session_init", signals: "missing_terminal_event",
		},
		{
			name: "a login that nobody finished", end: exited(130), stderr: "FatalCancellationError: Authentication cancelled by user.\n",
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event",
		},
		{
			name: "unknown frames", end: exited(0), lines: []string{geminiInit, `{"type":"new_thing"}`, `{"type":"message","role":"critic","content":"x"}`, geminiText("x"), geminiGood},
			result: "success", reported: "success", text: "x", signals: "unknown_frames", events: "status:initializing raw raw text usage",
		},
	})
}
