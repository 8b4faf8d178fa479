package reference

import (
	"reflect"
	"strings"
	"testing"
)

const qwenInit = `{"type":"system","subtype":"init","session_id":"s","model":"m","qwen_code_version":"0.15.10"}`

func qwenSays(text string) string {
	return `{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","role":"assistant","model":"m","content":[{"type":"text","text":"` + text + `"}]}}`
}

func qwenResult(subtype string, isError bool, more string) string {
	failed := "false"
	if isError {
		failed = "true"
	}
	return `{"type":"result","subtype":"` + subtype + `","is_error":` + failed + more + `,"usage":{"input_tokens":11,"output_tokens":7}}`
}

func TestQwen(t *testing.T) {
	goal := `{"type":"stream_event","event":{"type":"goal_state","goal_state":{}}}`
	retry := `{"type":"system","subtype":"retry","data":{"reason":"retry","preserveText":true}}`
	again := `{"type":"system","subtype":"retry","data":{"reason":"retry","preserveText":false}}`
	samples := []sample{
		{
			name: "answer", end: exited(0), lines: []string{qwenInit, goal, qwenSays("Hello"), qwenResult("success", false, `,"result":"Hello"`)},
			result: "success", reported: "success", text: "Hello", events: "status:initializing text usage",
		},
		{
			name: "401 as an answer, and success", end: exited(0), lines: []string{
				qwenInit, qwenSays("[API Error: 401 Incorrect API key provided: x.]"), qwenResult("success", false, `,"result":"[API Error: 401 Incorrect API key provided: x.]"`),
			},
			result: "failed auth/invalid_api_key session_init", reported: "success", events: "status:initializing usage error",
		},
		{
			name: "a broken stream, and success", end: exited(0), lines: []string{
				qwenInit, qwenSays("Hel [API Error: terminated (cause: read ECONNRESET)]"), qwenResult("success", false, `,"result":"Hel [API Error: terminated (cause: read ECONNRESET)]"`),
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "success", text: "Hel ", events: "status:initializing text usage error",
		},
		{
			name: "an empty answer, and success", end: exited(0), lines: []string{
				qwenInit, qwenSays("[API Error: Model stream ended with empty response text.]"), qwenResult("success", false, `,"result":"[API Error: Model stream ended with empty response text.]"`),
			},
			result: "failed empty_output/empty_output first_token_wait", reported: "success", events: "status:initializing usage error",
		},
		{
			name: "a model that writes about API errors", end: exited(0), lines: []string{qwenInit, qwenSays("It prints [API Error: 401] then."), qwenResult("success", false, `,"result":"x"`)},
			result: "success", reported: "success", text: "It prints [API Error: 401] then.", events: "status:initializing text usage",
		},
		{
			name: "since 0.24 the result says it", end: exited(1), lines: []string{
				qwenInit, retry, qwenSays("Hel[API Error: terminated]"), qwenResult("error_during_execution", true, `,"error":{"message":"[API Error: terminated]"}`),
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "error_during_execution", text: "Hel", signals: "joined_text",
			events: "status:initializing status:retrying text usage error",
		},
		{
			name: "joined attempts", end: exited(0), lines: []string{
				qwenInit, retry, retry, qwenSays("Hello from Hello from Hello from me."), qwenResult("success", false, `,"result":"x"`),
			},
			result: "success", reported: "success", text: "Hello from me.", signals: "joined_text",
			events: "status:initializing status:retrying status:retrying text usage",
		},
		{
			name: "a retry that takes the text back", end: exited(0), lines: []string{
				qwenInit, qwenSays("Hel"), again, again, strings.Replace(qwenSays("Hello"), `"id":"m"`, `"id":"n"`, 1), qwenResult("success", false, `,"result":"Hello"`),
			},
			result: "success", reported: "success", text: "Hello", signals: "retracted_text",
			events: "status:initializing status:retrying status:retrying text usage",
		},
		{
			name: "interrupted", end: Ending{ExitCode: exited(130).ExitCode, Cancelled: true}, lines: []string{qwenInit},
			result: "cancelled", signals: "missing_terminal_event", events: "status:initializing",
		},
	}
	check(t, DialectQwen, samples)
	for i := range samples {
		samples[i].agent = "qwen"
	}
	t.Run("dialect claude", func(t *testing.T) { check(t, DialectClaude, samples) })
}

func TestQoder(t *testing.T) {
	check(t, DialectQoder, []sample{
		{
			name: "an error beside a text is a warning", end: exited(0), lines: []string{
				`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Partial"}]},"error":{"message":"trailing"}}`,
				`{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":2}}`,
			},
			result: "success", reported: "success", text: "Partial", events: "thinking text status:warning usage",
		},
		{
			name: "an error as an object", end: exited(1), lines: []string{`{"type":"assistant","message":{"content":[]},"error":{"message":"Qoder authentication expired"}}`},
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "an error as a word, and success with is_error", end: exited(1), lines: []string{
				`{"type":"assistant","message":{"content":[{"type":"text","text":"Not logged in"}],"model":"<synthetic>"},"error":"authentication_failed"}`,
				`{"type":"result","subtype":"success","is_error":true,"result":"Not logged in"}`,
			},
			result: "failed auth/auth_required session_init", reported: "success", events: "error",
		},
		{
			name: "a result that is no error and names no subtype", end: exited(0), lines: []string{
				`{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}`, `{"type":"result","is_error":false,"stop_reason":"end_turn"}`,
			},
			result: "success", text: "Hi", events: "text",
		},
		{
			name: "an error as a string of the result", end: exited(1), lines: []string{`{"type":"result","is_error":true,"error":"Qoder authentication expired"}`},
			result: "failed auth/auth_required session_init", events: "error",
		},
		{
			name: "an error that a later text survived", end: exited(0), lines: []string{
				`{"type":"assistant","message":{"content":[]},"error":{"code":"E_QODER"}}`, `{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}`,
				`{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":1}}`,
			},
			result: "success", reported: "success", text: "Hi", events: "text usage",
		},
		{
			name: "an error and nothing else", end: exited(0), lines: []string{
				`{"type":"assistant","message":{"content":[]},"error":{"message":"overloaded"}}`, `{"type":"result","subtype":"success","is_error":false,"usage":{"input_tokens":1}}`,
			},
			result: "failed upstream_unavailable/provider_high_demand first_token_wait", reported: "success", events: "usage error",
		},
	})
}

func TestAmp(t *testing.T) {
	init := `{"type":"system","subtype":"init","session_id":"T"}`
	call := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":100,"output_tokens":20}}}`
	result := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}]}]}}`
	says := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello"}],"usage":{"input_tokens":50,"output_tokens":10}}}`
	good := sample{
		name: "answers have the tokens", end: exited(0), lines: []string{init, call, result, says, `{"type":"result","subtype":"success","is_error":false,"result":"hello"}`},
		result: "success", reported: "success", text: "hello", tools: "Bash:done", events: "status:initializing tool_use tool_result text usage",
	}
	check(t, DialectAmp, []sample{good, {
		name: "an error as a string", end: exited(1), lines: []string{init, `{"type":"result","subtype":"error","is_error":true,"result":"","error":"Authentication failed"}`},
		result: "failed auth/auth_required session_init", reported: "error", events: "status:initializing error",
	}})
	if r := read(t, DialectAmp, &good); !reflect.DeepEqual(r.Usage, map[string]int64{"input_tokens": 150, "output_tokens": 30}) {
		t.Errorf("usage is %v", r.Usage)
	}
}

// TestPrintedErrorIsNoAnswer: Gemini and its relatives print their error where
// the answer would be.
func TestPrintedErrorIsNoAnswer(t *testing.T) {
	check(t, DialectPlain, []sample{
		{
			name: "401", agent: "qwen", end: exited(0), lines: []string{"[API Error: 401 Incorrect API key provided: x.]"},
			result: "failed auth/invalid_api_key session_init",
		},
		{
			name: "an error nobody knows", agent: "gemini", end: exited(0), lines: []string{"[API Error: the moon is full]"},
			result: "failed process_exit/stream_error first_token_wait",
		},
		{
			name: "an answer", agent: "qwen", end: exited(0), lines: []string{"Hello"},
			result: "success", text: "Hello", events: "text",
		},
	})
}
