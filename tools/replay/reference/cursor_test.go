package reference

import "testing"

const (
	cursorInit = `{"type":"system","subtype":"init","session_id":"s","model":"Auto"}`
	cursorDone = `{"type":"result","subtype":"success","is_error":false,"result":"One line.","usage":{"inputTokens":3,"outputTokens":2}}`
)

func cursorDelta(text string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"timestamp_ms":1}`
}

func cursorWhole(text, more string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}` + more + `}`
}

const beforeCall = `,"model_call_id":"m-1","timestamp_ms":2`

func TestCursor(t *testing.T) {
	started := `{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"ls"}}}}`
	ended := func(result string) string {
		return `{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"ls"},"result":` + result + `}}}`
	}
	check(t, DialectCursor, []sample{
		{
			name: "whole texts", end: exited(0), lines: []string{cursorInit, cursorWhole("Looking.", beforeCall), started, ended(`{"success":{"exitCode":0}}`), cursorWhole("One line.", beforeCall), cursorDone},
			result: "success", reported: "success", text: "Looking.\nOne line.", tools: "shell:done", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "pieces and their repetition", end: exited(0), lines: []string{
				cursorInit, cursorDelta("Look"), cursorDelta("ing."), cursorWhole("Looking.", beforeCall), started, ended(`{"success":{}}`),
				cursorDelta("One "), cursorDelta("line."), cursorWhole("One line.", ""), cursorDone,
			},
			result: "success", reported: "success", text: "Looking.\nOne line.", tools: "shell:done",
			events: "status:initializing text text tool_use tool_result text text usage",
		},
		{
			name: "the last message repeats the whole turn", end: exited(0), lines: []string{
				cursorInit, cursorDelta("Looking."), cursorWhole("Looking.", beforeCall), started, ended(`{"success":{}}`), cursorDelta("One line."), cursorWhole("Looking.One line.", ""), cursorDone,
			},
			result: "success", reported: "success", text: "Looking.\nOne line.", tools: "shell:done", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "whole texts with a time but no call id", end: exited(0), lines: []string{
				cursorInit, cursorDelta("Looking."), started, ended(`{"success":{}}`), cursorDelta("One line."), cursorWhole("One line.", ""), cursorDone,
			},
			result: "success", reported: "success", text: "Looking.\nOne line.", tools: "shell:done", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "the whole turn with a break between its texts", end: exited(0), lines: []string{
				cursorInit, cursorDelta("Looking."), cursorWhole("Looking.", beforeCall), started, ended(`{"success":{}}`), cursorDelta("One line."), cursorWhole("Looking. One line.", ""), cursorDone,
			},
			result: "success", reported: "success", text: "Looking.\nOne line.", tools: "shell:done", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "a piece was lost", end: exited(0), lines: []string{cursorInit, cursorDelta("One "), cursorWhole("One line.", ""), cursorDone},
			result: "success", reported: "success", text: "One line.", events: "status:initializing text text usage",
		},
		{
			name: "two whole texts may be equal", end: exited(0), lines: []string{cursorInit, cursorWhole("Again.", beforeCall), started, ended(`{"success":{}}`), cursorWhole("Again.", beforeCall), cursorDone},
			result: "success", reported: "success", text: "Again.\nAgain.", tools: "shell:done", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "only the result has the text", end: exited(0), lines: []string{cursorInit, cursorDone},
			result: "success", reported: "success", text: "One line.", events: "status:initializing usage text",
		},
		{
			name: "rejected call", end: exited(0), lines: []string{cursorInit, started, ended(`{"rejected":{"reason":"no"}}`), cursorWhole("No.", ""), cursorDone},
			result: "success", reported: "success", text: "No.", tools: "shell:failed", events: "status:initializing tool_use tool_result text usage",
		},
		{
			name: "thinking", end: exited(0), lines: []string{cursorInit, `{"type":"thinking","subtype":"delta","text":"hm"}`, `{"type":"thinking","subtype":"completed"}`, cursorWhole("x", ""), cursorDone},
			result: "success", reported: "success", text: "x", events: "status:initializing thinking text usage",
		},
		{
			name: "a renamed frame is loud", end: exited(0), lines: []string{cursorInit, `{"type":"reasoning","text":"hm"}`, cursorDone},
			result: "success", reported: "success", text: "One line.", signals: "unknown_frames", events: "status:initializing raw usage text",
		},
		{
			name: "not logged in", end: exited(1), stderr: "Error: Authentication required. Please run 'cursor-agent login' first.\n",
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event",
		},
		{
			name: "a result that is an error", end: exited(1), lines: []string{cursorInit, `{"type":"result","subtype":"error","is_error":true,"result":"Cannot use this model: x"}`},
			result: "failed model_unavailable/model_not_supported model_select", reported: "error", events: "status:initializing error",
		},
		{
			name: "cut off", end: exited(0), lines: []string{cursorInit, cursorDelta("One ")},
			result: "failed process_exit/terminated_unknown child_close", text: "One ", signals: "missing_terminal_event", events: "status:initializing text",
		},
	})
}
