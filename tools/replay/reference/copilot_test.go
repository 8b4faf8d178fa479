package reference

import "testing"

const (
	copilotTools = `{"type":"session.tools_updated","data":{"model":"m"}}`
	copilotTurn  = `{"type":"assistant.turn_start","data":{"turnId":"0"}}`
	copilotDone  = `{"type":"result","exitCode":0,"usage":{"premiumRequests":0}}`
	copilotBad   = `{"type":"result","exitCode":1,"usage":{"premiumRequests":0}}`
)

func copilotDelta(id, text string) string {
	return `{"type":"assistant.message_delta","data":{"messageId":"` + id + `","deltaContent":"` + text + `"},"ephemeral":true}`
}

func copilotWhole(id, text, requests string) string {
	return `{"type":"assistant.message","data":{"messageId":"` + id + `","content":"` + text + `","toolRequests":[` + requests + `]}}`
}

const copilotFailure = `{"type":"model.call_failure","data":{"errorMessage":"terminated","failureKind":"network"}}`

func TestCopilot(t *testing.T) {
	request := `{"toolCallId":"c1","name":"view","arguments":{"path":"x"}}`
	start := `{"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"view","arguments":{"path":"x"}}}`
	check(t, DialectCopilot, []sample{
		{
			name: "pieces, then the whole", end: exited(0), lines: []string{copilotTools, copilotTurn, copilotDelta("m", "Hel"), copilotDelta("m", "lo"), copilotWhole("m", "Hello", ""), copilotDone},
			result: "success", reported: "exitCode 0", text: "Hello", events: "status:initializing status:streaming text text",
		},
		{
			name: "a build without pieces, and a call", end: exited(0), lines: []string{
				copilotTurn, copilotWhole("m", "", request), start,
				`{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":false,"error":{"message":"no such file"}}}`,
				copilotWhole("n", "No.", ""), copilotDone,
			},
			result: "success", reported: "exitCode 0", text: "No.", tools: "view:failed", events: "status:streaming tool_use tool_result text",
		},
		{
			name: "a retry says the pieces again", end: exited(0), lines: []string{
				copilotTurn, copilotDelta("m", "Hel"), copilotFailure, `{"type":"assistant.turn_retry","data":{"reason":"network"}}`,
				copilotDelta("n", "Hel"), copilotDelta("n", "lo"), copilotWhole("n", "Hello", ""), copilotDone,
			},
			result: "success", reported: "exitCode 0", text: "Hello", signals: "retracted_text", events: "status:streaming status:retrying status:retrying text text",
		},
		{
			name: "the same id again", end: exited(1), lines: []string{
				copilotTurn, copilotDelta("m", "Hel"), copilotFailure, copilotDelta("m", "Hel"), copilotFailure,
				`{"type":"session.error","data":{"errorType":"query","message":"Failed to get response: terminated"}}`, copilotBad,
			},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "exitCode 1", text: "Hel", signals: "retracted_text",
			events: "status:streaming status:retrying text status:retrying error",
		},
		{
			name: "401 by its kind", end: exited(1), lines: []string{copilotTurn, `{"type":"session.error","data":{"errorType":"authentication","message":"no","statusCode":401}}`, copilotBad},
			result: "failed auth/auth_required session_init", reported: "exitCode 1", events: "status:streaming error",
		},
		{
			name: "exit code 0 after an error", end: exited(0), lines: []string{copilotTurn, `{"type":"session.error","data":{"errorType":"query","message":"overloaded"}}`, copilotDone},
			result: "failed upstream_unavailable/provider_high_demand first_token_wait", reported: "exitCode 0", events: "status:streaming error",
		},
		{
			name: "an empty answer", end: exited(0), lines: []string{copilotTurn, copilotDone},
			result: "failed empty_output/empty_output first_token_wait", reported: "exitCode 0", events: "status:streaming",
		},
		{
			name: "thinking in pieces, whole, and in the message", end: exited(0), lines: []string{
				`{"type":"assistant.reasoning_delta","data":{"reasoningId":"r","deltaContent":"hm"}}`, `{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"hm"}}`,
				`{"type":"assistant.message","data":{"messageId":"m","content":"x","reasoningText":"hm","toolRequests":[]}}`,
				`{"type":"assistant.message","data":{"messageId":"n","content":"y","reasoningText":"ah","toolRequests":[]}}`, copilotDone,
			},
			result: "success", reported: "exitCode 0", text: "x\ny", events: "thinking text thinking text",
		},
		{
			name: "thinking in the message, then whole", end: exited(0), lines: []string{
				`{"type":"assistant.message","data":{"messageId":"m","content":"x","reasoningText":"hm","toolRequests":[]}}`,
				`{"type":"assistant.reasoning","data":{"reasoningId":"r","content":"hm"}}`, copilotDone,
			},
			result: "success", reported: "exitCode 0", text: "x", events: "thinking text",
		},
		{
			name: "interrupted", end: Ending{Cancelled: true, Signal: "SIGINT"}, lines: []string{copilotTurn, copilotDelta("m", "tick"), `{"type":"abort","data":{"reason":"user"}}`},
			result: "cancelled", text: "tick", signals: "missing_terminal_event", events: "status:streaming text",
		},
		{
			name: "no result: the exit code decides", end: exited(0), lines: []string{copilotDelta("m", "x"), copilotWhole("m", "x", "")},
			result: "success", text: "x", signals: "missing_terminal_event", events: "text",
		},
		{
			name: "not logged in, in words on stdout", end: exited(1), lines: []string{"Error: Not authenticated. Please run `copilot login`."},
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event", events: "raw",
		},
		{
			name: "unknown frames", end: exited(0), lines: []string{`{"type":"assistant.future","data":{}}`, copilotWhole("m", "x", ""), copilotDone},
			result: "success", reported: "exitCode 0", text: "x", signals: "unknown_frames", events: "raw text",
		},
	})
}
