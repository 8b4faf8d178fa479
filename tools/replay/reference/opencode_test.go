package reference

import (
	"reflect"
	"testing"
)

const openStart = `{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}`

func openText(id, text string) string {
	return `{"type":"text","sessionID":"s","part":{"id":"` + id + `","type":"text","text":"` + text + `"}}`
}

func openFinish(reason string) string {
	return `{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"` + reason + `","tokens":{"input":10,"output":5,"reasoning":1,"cache":{"read":2,"write":0}}}}`
}

func openTool(state string) string {
	return `{"type":"tool_use","sessionID":"s","part":{"type":"tool","tool":"read","callID":"c1","state":` + state + `}}`
}

func openError(data string) string {
	return `{"type":"error","sessionID":"s","error":{"name":"APIError","data":` + data + `}}`
}

func TestOpenCode(t *testing.T) {
	done := openTool(`{"status":"completed","input":{"filePath":"x"},"output":"y"}`)
	check(t, DialectOpenCode, []sample{
		{
			name: "two steps", end: exited(0), lines: []string{openStart, done, openFinish("tool-calls"), openStart, openText("p", "Done"), openFinish("stop")},
			result: "success", reported: "stop", text: "Done", tools: "read:done", events: "status:running tool_use tool_result usage status:running text usage",
		},
		{
			name: "a call that failed has a result", end: exited(0), lines: []string{openStart, openTool(`{"status":"error","input":{},"error":"rejected"}`), openText("p", "No"), openFinish("stop")},
			result: "success", reported: "stop", text: "No", tools: "read:failed", events: "status:running tool_use tool_result text usage",
		},
		{
			name: "a call in progress is one call", end: exited(0), lines: []string{openStart, openTool(`{"status":"running","input":{}}`), done, openText("p", "x"), openFinish("stop")},
			result: "success", reported: "stop", text: "x", tools: "read:done", events: "status:running tool_use tool_result text usage",
		},
		{
			name: "a part that grows is one text", end: exited(0), lines: []string{openStart, openText("p", "He"), openText("p", "Hell"), openText("p", "Hello"), openText("p", "Hello"), openFinish("stop")},
			result: "success", reported: "stop", text: "Hello", signals: "retracted_text", events: "status:running text usage",
		},
		{
			name: "401 and exit 0", end: exited(0), lines: []string{openError(`{"message":"Incorrect API key provided","statusCode":401,"isRetryable":false}`)},
			result: "failed auth/invalid_api_key session_init", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "the status says what the words do not", end: exited(1), lines: []string{openError(`{"message":"no","statusCode":503,"isRetryable":true}`)},
			result: "failed upstream_unavailable/upstream_5xx first_token_wait", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "the provider's body says more than the message", end: exited(1), lines: []string{openError(`{"message":"Bad Request","statusCode":400,"responseBody":"{\"error\":{\"message\":\"context_length_exceeded\"}}"}`)},
			result: "failed prompt_too_large/prompt_too_large prompt_send", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "a 429 that no retry helps", end: exited(1), lines: []string{openError(`{"message":"no","statusCode":429,"isRetryable":false}`)},
			result: "failed rate_limit/hard_quota first_token_wait", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "an error that a later step survived", end: exited(1), lines: []string{openStart, openError(`{"message":"ECONNRESET"}`), openStart, openText("p", "ok"), openFinish("stop")},
			result: "success", reported: "stop", text: "ok", signals: "recovered_error", events: "status:running status:running text usage status:warning",
		},
		{
			name: "text after the error does not save the run", end: exited(1), lines: []string{openStart, openError(`{"message":"The socket connection was closed unexpectedly"}`), openText("p", "Hel")},
			result: "failed upstream_unavailable/stream_disconnected child_close", text: "Hel", signals: "missing_terminal_event", events: "status:running text error",
		},
		{
			name: "an endless loop of void steps", end: Ending{TimedOut: true, Signal: "SIGTERM"}, lines: []string{openStart, openText("p", "x"), openFinish("unknown"), openStart, openText("q", "x"), openFinish("unknown")},
			result: "failed timeout/timeout child_close", reported: "unknown", text: "x\nx", signals: "missing_terminal_event", events: "status:running text usage status:running text usage",
		},
		{
			name: "a void step", end: exited(0), lines: []string{openStart, `{"type":"step_finish","part":{"reason":"unknown","tokens":{"input":0,"output":0,"cache":{"read":0,"write":0}}}}`},
			result: "failed empty_output/empty_output first_token_wait", reported: "unknown", signals: "missing_terminal_event", events: "status:running usage",
		},
		{
			name: "cut at the output limit", end: exited(0), lines: []string{openStart, openText("p", "Hel"), openFinish("length")},
			result: "success", reported: "length", text: "Hel", signals: "cut_answer", events: "status:running text usage",
		},
		{
			name: "killed after the end", end: Ending{TimedOut: true, Signal: "SIGTERM"}, lines: []string{openText("p", "done"), openFinish("stop")},
			result: "success", reported: "stop", text: "done", events: "text usage",
		},
		{
			name: "aborted by another client of its server", end: exited(0), lines: []string{openStart, openText("p", "tick"), `{"type":"error","sessionID":"s","error":{"name":"MessageAbortedError","data":{"message":"The operation was aborted."}}}`},
			result: "cancelled", text: "tick", signals: "missing_terminal_event", events: "status:running text",
		},
		{
			name: "interrupted", end: Ending{Cancelled: true, Signal: "SIGINT"}, lines: []string{openStart},
			result: "cancelled", signals: "missing_terminal_event", events: "status:running",
		},
		{
			name: "died of SIGINT, nobody asked", end: Ending{Signal: "SIGINT"}, lines: []string{openStart},
			result: "failed process_exit/interrupted child_close", signals: "missing_terminal_event", events: "status:running",
		},
	})
}

func TestOpenCodeSumsSteps(t *testing.T) {
	r := read(t, DialectOpenCode, &sample{lines: []string{openStart, openText("p", "x"), openFinish("tool-calls"), openStart, openFinish("stop")}, end: exited(0)})
	want := map[string]int64{"input_tokens": 20, "output_tokens": 10, "thought_tokens": 2, "cached_read_tokens": 4, "cached_write_tokens": 0}
	if !reflect.DeepEqual(r.Usage, want) {
		t.Errorf("usage is %v, want %v", r.Usage, want)
	}
}
