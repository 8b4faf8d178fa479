package reference

import (
	"reflect"
	"testing"
)

const (
	piSession = `{"type":"session","version":3,"id":"s"}`
	piStart   = `{"type":"agent_start"}`
	piEnd     = `{"type":"agent_end","messages":[]}`
	piSettled = `{"type":"agent_settled","aborted":false}`
	piMessage = `{"type":"message_start","message":{"role":"assistant","content":[]}}`
)

func piDelta(text string) string {
	return `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"` + text + `"}}`
}

func piAnswer(content, stop, more string) string {
	return `{"type":"message_end","message":{"role":"assistant","content":[` + content + `],"stopReason":"` + stop + `","usage":{"input":11,"output":7,"cacheRead":0,"cacheWrite":0}` + more + `}}`
}

func piText(text string) string { return `{"type":"text","text":"` + text + `"}` }

func TestPi(t *testing.T) {
	call := `{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}`
	check(t, DialectPiJSON, []sample{
		{
			name: "pieces, then the whole", end: exited(0), lines: []string{piSession, piStart, piMessage, piDelta("Hel"), piDelta("lo"), piAnswer(piText("Hello"), "stop", ""), piEnd, piSettled},
			result: "success", reported: "stop", text: "Hello", events: "status:initializing status:working text text usage",
		},
		{
			name: "before 0.80 agent_end is the last word", end: exited(0), lines: []string{piStart, piAnswer(piText("Hello"), "stop", ""), piEnd},
			result: "success", reported: "stop", text: "Hello", events: "status:working text usage",
		},
		{
			name: "a call and its result, each said twice", end: exited(0), lines: []string{
				piSession, piStart, piMessage, piDelta("Reading."), piAnswer(piText("Reading.")+","+call, "toolUse", ""),
				`{"type":"tool_execution_start","toolCallId":"c1","toolName":"read","args":{"path":"x"}}`,
				`{"type":"tool_execution_end","toolCallId":"c1","toolName":"read","isError":true,"result":{"content":[{"type":"text","text":"ENOENT"}]}}`,
				`{"type":"message_end","message":{"role":"toolResult","toolCallId":"c1","isError":true,"content":[{"type":"text","text":"ENOENT"}]}}`,
				piMessage, piDelta("No."), piAnswer(piText("No."), "stop", ""), piEnd, piSettled,
			},
			result: "success", reported: "stop", text: "Reading.\nNo.", tools: "read:failed",
			events: "status:initializing status:working text tool_use usage tool_result text usage",
		},
		{
			name: "an answer that only turn_end tells", end: exited(0), lines: []string{
				piStart, `{"type":"turn_start"}`, piDelta("Hel"), `{"type":"turn_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 rate_limit_error"}}`, piEnd,
			},
			result: "failed rate_limit/rate_limit_429 child_close", reported: "error", text: "Hel", events: "status:working text error",
		},
		{
			name: "an abort that only turn_end tells", end: exited(0), lines: []string{
				piStart, `{"type":"turn_start"}`, `{"type":"turn_end","message":{"role":"assistant","content":[],"stopReason":"aborted"}}`, piEnd,
			},
			result: "cancelled", reported: "aborted", events: "status:working",
		},
		{
			name: "401 and exit 0", end: exited(0), lines: []string{piSession, piStart, piAnswer("", "error", `,"errorMessage":"401 Incorrect API key provided: x"`), piEnd, piSettled},
			result: "failed auth/invalid_api_key session_init", reported: "error", events: "status:initializing status:working usage error",
		},
		{
			name: "a retry says the text again", end: exited(0), lines: []string{
				piSession, piStart, piMessage, piDelta("Hel"), piAnswer(piText("Hel"), "error", `,"errorMessage":"terminated"`), `{"type":"agent_end","willRetry":true}`,
				`{"type":"auto_retry_start","attempt":1,"errorMessage":"terminated"}`, piStart, piMessage, piDelta("Hello"), piAnswer(piText("Hello"), "stop", ""),
				`{"type":"auto_retry_end","success":true}`, piEnd, piSettled,
			},
			result: "success", reported: "stop", text: "Hello", signals: "recovered_error retracted_text",
			events: "status:initializing status:working usage status:retrying status:working text status:warning usage",
		},
		{
			name: "the last attempt's text stays", end: exited(0), lines: []string{
				piStart, piMessage, piDelta("Hel"), piAnswer(piText("Hel"), "error", `,"errorMessage":"terminated"`), piEnd,
				`{"type":"auto_retry_start","attempt":1,"errorMessage":"terminated"}`, piStart, piMessage, piDelta("Hel"), piAnswer(piText("Hel"), "error", `,"errorMessage":"terminated"`), piEnd,
				`{"type":"auto_retry_end","success":false,"finalError":"terminated"}`,
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "error", text: "Hel", signals: "retracted_text",
			events: "status:working usage status:retrying status:working text usage error",
		},
		{
			name: "cut at the output limit", end: exited(0), lines: []string{piStart, piAnswer(piText("Hel"), "length", ""), piEnd},
			result: "success", reported: "length", text: "Hel", signals: "cut_answer", events: "status:working text usage",
		},
		{
			name: "interrupted: no last line", end: Ending{Cancelled: true, Signal: "SIGINT"}, lines: []string{piSession, piStart, piMessage, piDelta("tick")},
			result: "cancelled", text: "tick", signals: "missing_terminal_event", events: "status:initializing status:working text",
		},
		{
			name: "aborted by its own account", end: exited(0), lines: []string{piStart, piMessage, piDelta("tick"), piAnswer(piText("tick"), "aborted", ""), piEnd, `{"type":"agent_settled","aborted":true}`},
			result: "cancelled", reported: "aborted", text: "tick", events: "status:working text usage",
		},
		{
			name: "no session worth the name", end: exited(1), lines: []string{piSession}, stderr: "No API key found for x\n",
			result: "failed auth/missing_api_key session_init", signals: "missing_terminal_event", events: "status:initializing",
		},
		{
			name: "a question that nobody answered", end: Ending{TimedOut: true, Idle: true, Signal: "SIGTERM"}, lines: []string{piStart, `{"type":"extension_ui_request","id":"u","method":"confirm"}`},
			result: "failed timeout/inactivity_timeout tool_execution", signals: "missing_terminal_event", events: "status:working status:permission_requested",
		},
		{
			name: "unknown frames", end: exited(0), lines: []string{piStart, `{"type":"new"}`, `{"type":"message_update","assistantMessageEvent":{"type":"smell_delta"}}`, piAnswer(piText("x")+`,{"type":"smell"}`, "stop", ""), piEnd},
			result: "success", reported: "stop", text: "x", signals: "unknown_frames", events: "status:working raw raw text raw usage",
		},
	})
}

func TestPiSumsAnswers(t *testing.T) {
	r := read(t, DialectPiJSON, &sample{end: exited(0), lines: []string{piStart, piAnswer(piText("a"), "toolUse", ""), piAnswer(piText("b"), "stop", ""), piEnd}})
	want := map[string]int64{"input_tokens": 22, "output_tokens": 14, "cached_read_tokens": 0, "cached_write_tokens": 0}
	if !reflect.DeepEqual(r.Usage, want) {
		t.Errorf("usage is %v, want %v", r.Usage, want)
	}
}
