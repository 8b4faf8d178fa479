package reference

import "testing"

const (
	claudeInit = `{"type":"system","subtype":"init","session_id":"s","model":"m"}`
	claudeOK   = `{"duration_ms":1,"subtype":"success","is_error":false,"result":"Hello.","stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4},"session_id":"s","type":"result"}`
	claudeCall = `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":null}`
	claudeBack = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a","is_error":false}]}}`
)

func claudeText(id, text string) string {
	return `{"type":"assistant","message":{"id":"` + id + `","role":"assistant","model":"m","content":[{"type":"text","text":"` + text + `"}]},"parent_tool_use_id":null}`
}

func claudeSynthetic(code, text string) string {
	if code != "" {
		code = `,"error":"` + code + `"`
	}
	return `{"type":"assistant","message":{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"` + text + `"}]}` + code + `}`
}

func claudeResult(rest string) string { return `{"type":"result","session_id":"s",` + rest + `}` }

func streamEvent(body string) string { return `{"type":"stream_event","event":{` + body + `}}` }

// TestClaude holds whole-message runs of 1.0.128 to 2.1.332.
func TestClaude(t *testing.T) {
	check(t, DialectClaude, []sample{
		{name: "text", lines: []string{claudeInit, claudeText("m1", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "tool", lines: []string{claudeInit, claudeCall, claudeBack, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", tools: "Bash:done", events: "status:initializing tool_use tool_result text usage"},
		{name: "a result before its call, and again", lines: []string{claudeInit, claudeBack, claudeBack, claudeCall, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", tools: "Bash:done", events: "status:initializing tool_result tool_use text usage"},
		{name: "one message in two frames", lines: []string{claudeInit, claudeText("m1", "I look."), claudeCall, claudeBack, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "I look.\nHello.", tools: "Bash:done", events: "status:initializing text tool_use tool_result text usage"},
		{name: "a frame that repeats a text of its message", lines: []string{claudeInit, claudeText("m1", "Hello."), claudeText("m1", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "the same words in two messages", lines: []string{claudeInit, claudeText("m1", "Hello."), claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.\nHello.", events: "status:initializing text text usage"},
		{name: "401 of 1.0.128", lines: []string{claudeInit, claudeSynthetic("", "Invalid API key · Fix external API key"), claudeResult(`"subtype":"success","is_error":true,"result":"Invalid API key · Fix external API key"`)}, end: exited(1),
			result: "failed auth/invalid_api_key session_init", reported: "success", events: "status:initializing error"},
		{name: "401 since 2.1.80", lines: []string{claudeInit, `{"type":"system","subtype":"api_retry","error":"authentication_failed"}`, claudeSynthetic("authentication_failed", "Failed to authenticate. API Error: 401 x"), claudeResult(`"subtype":"success","is_error":true,"api_error_status":401,"terminal_reason":"completed","result":"Failed to authenticate. API Error: 401 x"`)}, end: exited(1),
			result: "failed auth/auth_required session_init", reported: "success", events: "status:initializing status:retrying error"},
		{name: "no credentials", lines: []string{claudeInit, claudeSynthetic("authentication_failed", "Not logged in · Please run /login"), claudeResult(`"subtype":"success","is_error":true,"result":"Not logged in · Please run /login"`)}, end: exited(1),
			result: "failed auth/auth_required session_init", reported: "success", events: "status:initializing error"},
		{name: "429", lines: []string{claudeInit, claudeSynthetic("rate_limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit."), claudeResult(`"subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"`)}, end: exited(1),
			result: "failed rate_limit/rate_limit_429 first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "subscription limit", lines: []string{claudeInit, `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}}`, claudeSynthetic("rate_limit", "Some new wording"), claudeResult(`"subtype":"success","is_error":true,"api_error_status":429,"result":"Some new wording"`)}, end: exited(1),
			result: "failed rate_limit/hard_quota first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "limit of another kind is allowed", lines: []string{claudeInit, `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}`, `{"type":"rate_limit_event"}`, claudeText("m1", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "credit", lines: []string{claudeInit, claudeSynthetic("billing_error", "Credit balance is too low"), claudeResult(`"subtype":"success","is_error":true,"result":"Credit balance is too low"`)}, end: exited(1),
			result: "failed insufficient_balance/workspace_credits_exhausted first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "529", lines: []string{claudeInit, claudeResult(`"subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"`)}, end: exited(1),
			result: "failed upstream_unavailable/provider_high_demand first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "500 without known words", lines: []string{claudeInit, claudeResult(`"subtype":"success","is_error":true,"api_error_status":500,"result":"oh"`)}, end: exited(1),
			result: "failed upstream_unavailable/upstream_5xx first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "model", lines: []string{claudeInit, claudeSynthetic("model_not_found", "x"), claudeResult(`"subtype":"success","is_error":true,"api_error_status":404,"result":"x"`)}, end: exited(1),
			result: "failed model_unavailable/model_not_found model_select", reported: "success", events: "status:initializing error"},
		{name: "prompt too long that says it is no error", lines: []string{claudeInit, claudeSynthetic("", "Prompt is too long"), claudeResult(`"subtype":"success","is_error":false,"result":"Prompt is too long"`)}, end: exited(0),
			result: "failed prompt_too_large/prompt_too_large prompt_send", reported: "success", events: "status:initializing error"},
		{name: "disconnect before 2.1.50: exit 0, no error", lines: []string{claudeInit, claudeResult(`"subtype":"error_during_execution","is_error":false`)}, end: exited(0),
			result: "failed process_exit/stream_error first_token_wait", reported: "error_during_execution", events: "status:initializing error"},
		{name: "connection dropped", lines: []string{claudeInit, claudeSynthetic("server_error", "API Error: Unable to connect to API (ECONNRESET)"), claudeResult(`"subtype":"success","is_error":true,"result":"API Error: Unable to connect to API (ECONNRESET)"`)}, end: exited(1),
			result: "failed upstream_unavailable/stream_disconnected first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "nobody listens", lines: []string{claudeInit, claudeResult(`"subtype":"success","is_error":true,"result":"API Error: Unable to connect to API (ConnectionRefused)"`)}, end: exited(1),
			result: "failed upstream_unavailable/network_error first_token_wait", reported: "success", events: "status:initializing error"},
		{name: "max turns, exit 0", lines: []string{claudeInit, claudeText("m1", "Hm."), claudeResult(`"subtype":"error_max_turns","is_error":false`)}, end: exited(0),
			result: "failed process_exit/exit_nonzero child_close", reported: "error_max_turns", text: "Hm.", events: "status:initializing text error"},
		{name: "interrupted with result", lines: []string{claudeInit, claudeText("m1", "Hm."), claudeResult(`"subtype":"error_during_execution","is_error":true,"errors":["aborted"]`)}, end: Ending{ExitCode: new(int), Cancelled: true},
			result: "cancelled", reported: "error_during_execution", text: "Hm.", events: "status:initializing text error"},
		{name: "interrupted without result", lines: []string{claudeInit, claudeCall}, end: Ending{ExitCode: new(int), Cancelled: true},
			result: "cancelled", tools: "Bash:open", events: "status:initializing tool_use", signals: "missing_terminal_event open_tool"},
		{name: "cancelled after it was done", lines: []string{claudeInit, claudeText("m1", "Hello."), claudeOK}, end: Ending{Signal: "SIGTERM", Cancelled: true},
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "retries until the limit", lines: []string{claudeInit, `{"type":"system","subtype":"api_retry","error":"rate_limit"}`}, end: Ending{TimedOut: true, Signal: "SIGKILL"},
			result: "failed rate_limit/rate_limit_429 first_token_wait", events: "status:initializing status:retrying", signals: "missing_terminal_event"},
		{name: "crash", lines: []string{claudeInit}, stderr: "AxiosError 401 telemetry\n", end: Ending{Signal: "SIGSEGV"},
			result: "failed process_exit/process_crashed child_close", events: "status:initializing", signals: "missing_terminal_event"},
		{name: "several results: the last decides", lines: []string{claudeInit, claudeText("m1", "One."), claudeResult(`"subtype":"success","is_error":false,"result":"One."`), claudeInit, claudeText("m2", "Two."), claudeResult(`"subtype":"error_during_execution","is_error":true,"errors":["API Error: 529 Overloaded"]`)}, end: exited(1),
			result: "failed upstream_unavailable/provider_high_demand child_close", reported: "error_during_execution", text: "One.\nTwo.", events: "status:initializing text status:initializing text error"},
		{name: "sub-agent: its text is not the answer", end: exited(0), lines: []string{claudeInit,
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"Task","input":{}}]}}`,
			`{"type":"assistant","message":{"id":"m9","content":[{"type":"text","text":"inner"},{"type":"tool_use","id":"b","name":"Read","input":{}}]},"parent_tool_use_id":"a"}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]},"parent_tool_use_id":"a"}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"y"}]}]}}`,
			claudeText("m2", "Hello."), claudeOK},
			result: "success", reported: "success", text: "Hello.", tools: "Task:done Read:done", events: "status:initializing tool_use tool_use tool_result tool_result text usage"},
		{name: "the CLI calls its own work useless", lines: []string{claudeInit, claudeText("m1", "Hm."), claudeResult(`"subtype":"low_utility","is_error":true,"result":""`)}, end: exited(0),
			result: "failed process_exit/stream_error child_close", reported: "low_utility", text: "Hm.", events: "status:initializing text error"},
		{name: "unknown frames keep their siblings", end: exited(0), lines: []string{claudeInit, `{"type":"brand_new"}`, `{"type":"system","subtype":"odd"}`,
			`{"type":"assistant","message":{"id":"m1","content":[{"type":"hologram"},{"type":"text","text":"Hello."}]}}`, claudeOK},
			result: "success", reported: "success", text: "Hello.", events: "status:initializing raw raw raw text usage", signals: "unknown_frames"},
	})
}

// TestClaudePartial holds runs with --include-partial-messages.
func TestClaudePartial(t *testing.T) {
	start := streamEvent(`"type":"message_start","message":{"id":"m1"}`)
	text := streamEvent(`"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}`)
	piece := func(s string) string {
		return streamEvent(`"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}`)
	}
	stop := streamEvent(`"type":"content_block_stop","index":0`)
	call := streamEvent(`"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}`)
	input := func(s string) string {
		return streamEvent(`"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + s + `"}`)
	}
	check(t, DialectClaude, []sample{
		{name: "text: the whole block comes before its stop", lines: []string{claudeInit, start, text, piece("Hel"), piece("lo."), claudeText("m1", "Hello."), stop, claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text text usage"},
		{name: "text: pieces were lost", lines: []string{claudeInit, start, text, piece("Hel"), claudeText("m1", "Hello."), stop, claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage", signals: "retracted_text"},
		{name: "text: no whole block at all", lines: []string{claudeInit, start, text, piece("Hello."), stop, claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "call: one for pieces and whole block", lines: []string{claudeInit, start, call, input(`{\"command\":`), input(`\"ls\"}`), claudeCall, stop, claudeBack, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", tools: "Bash:done", events: "status:initializing tool_use tool_result text usage"},
		{name: "call: the stop comes first", lines: []string{claudeInit, start, call, input(`{}`), stop, claudeCall, claudeBack, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", tools: "Bash:done", events: "status:initializing tool_use tool_result text usage"},
		{name: "the stream broke off and another message answers", lines: []string{claudeInit, start, text, piece("Hel"), claudeText("m7", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage", signals: "retracted_text"},
		{name: "abandoned blocks, 2.1.332", lines: []string{claudeInit, start, text, piece("Hel"), stop, `{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"api_message_id":"m1","from_block_index":0}}`, claudeText("m7", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage", signals: "retracted_text"},
		{name: "abandoned call, 2.1.332", lines: []string{claudeInit, start, call, input(`{}`), stop, `{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"api_message_id":"m1","from_block_index":0}}`, claudeText("m7", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
		{name: "call without a whole block", lines: []string{claudeInit, start, call, input(`{}`), stop, claudeBack, claudeText("m2", "Hello."), claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", tools: "Bash:done", events: "status:initializing tool_use tool_result text usage"},
		{name: "the stream broke off and starts again", lines: []string{claudeInit, start, text, piece("Hel"), streamEvent(`"type":"message_start","message":{"id":"m2"}`), text, piece("Hello."), claudeText("m2", "Hello."), stop, claudeOK}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage", signals: "retracted_text"},
		{name: "cut: what was streamed stays visible", lines: []string{claudeInit, start, text, piece("Hel"), claudeResult(`"subtype":"error_during_execution","is_error":false`)}, end: exited(0),
			result: "failed process_exit/stream_error child_close", reported: "error_during_execution", text: "Hel", events: "status:initializing text error"},
	})
}

// TestClaudeText holds runs whose stdout is text.
func TestClaudeText(t *testing.T) {
	check(t, DialectClaude, []sample{
		{name: "answer", lines: []string{"Hello."}, end: exited(0), result: "success", text: "Hello.", events: "raw text", signals: "missing_terminal_event"},
		{name: "error as the whole answer", lines: []string{"Invalid API key · Fix external API key"}, end: exited(0), result: "failed auth/invalid_api_key session_init", events: "raw", signals: "missing_terminal_event"},
		{name: "nothing", end: exited(0), result: "failed empty_output/empty_output first_token_wait", signals: "missing_terminal_event"},
		{name: "silent and killed", end: Ending{TimedOut: true, Idle: true, Signal: "SIGTERM"}, result: "failed timeout/inactivity_timeout first_token_wait", signals: "missing_terminal_event"},
		{name: "prompt too long for an argument", end: Ending{NotStarted: true, ArgsTooLong: true}, result: "failed prompt_too_large/prompt_too_large prompt_send", signals: "missing_terminal_event"},
		{name: "never started", end: Ending{NotStarted: true}, result: "failed process_exit/cli_not_installed spawn", signals: "missing_terminal_event"},
	})
	check(t, DialectClaudeJSON, []sample{
		{name: "one object", lines: []string{claudeOK}, end: exited(0), result: "success", reported: "success", text: "Hello.", events: "usage text"},
		{name: "an array of all frames", lines: []string{"[" + claudeInit + "," + claudeText("m1", "Hello.") + "," + claudeOK + "]"}, end: exited(0),
			result: "success", reported: "success", text: "Hello.", events: "status:initializing text usage"},
	})
	check(t, DialectPlain, []sample{
		{name: "a character set is chosen", lines: []string{"\x1b(BHello.\x1b#8"}, end: exited(0), result: "success", text: "Hello.", events: "text"},
		{name: "plain", lines: []string{"\x1b[1mHello.\x1b[0m", "Bye."}, end: exited(0), result: "success", text: "Hello.\nBye.", events: "text"},
		{name: "plain, failed", lines: []string{"Error code: 429 - rate limited"}, end: exited(75), result: "failed rate_limit/rate_limit_429 first_token_wait"},
	})
	check(t, DialectVersion, []sample{
		{name: "version", lines: []string{"2.1.50 (Claude Code)"}, end: exited(0), result: "success", text: "2.1.50 (Claude Code)", events: "text"},
		{name: "version hangs", end: Ending{TimedOut: true}, result: "failed timeout/timeout preflight", signals: "missing_terminal_event"},
	})
}
