package reference

import "testing"

const (
	codexThread = `{"type":"thread.started","thread_id":"t"}`
	codexTurn   = `{"type":"turn.started"}`
	codexDone   = `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":2,"output_tokens":5,"reasoning_output_tokens":1}}`
	codexHello  = `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Hello."}}`
	codexBegin  = `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}`
	codexEnd    = `{"type":"item.completed","item":{"id":"item_1","id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0,"status":"completed"}}`
	codexExit3  = `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":3,"status":"failed"}}`
	codexRetry  = `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 500 Internal Server Error)"}`
)

func codexError(message string) string { return `{"type":"error","message":"` + message + `"}` }
func codexFailed(message string) string {
	return `{"type":"turn.failed","error":{"message":"` + message + `"}}`
}

// TestCodex holds the turn protocol of ≥0.44 against what real releases print.
func TestCodex(t *testing.T) {
	check(t, DialectCodex, []sample{
		{name: "text", lines: []string{codexThread, codexTurn, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", events: "status:initializing status:thinking text usage"},
		{name: "warning item before the turn, ≥0.111", lines: []string{codexThread, `{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found"}}`, codexTurn, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", events: "status:initializing status:warning status:thinking text usage"},
		{name: "tool", lines: []string{codexThread, codexTurn, codexBegin, codexEnd, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", tools: "Bash:done", events: "status:initializing status:thinking tool_use tool_result text usage"},
		{name: "tool that fails", lines: []string{codexThread, codexTurn, codexBegin, codexExit3, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", tools: "Bash:failed", events: "status:initializing status:thinking tool_use tool_result text usage"},
		{name: "lost completion, 0.133: the turn closes the call", lines: []string{codexThread, codexTurn, codexBegin, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", tools: "Bash:open", events: "status:initializing status:thinking tool_use text usage", signals: "open_tool"},
		{name: "late completion, 0.121", lines: []string{codexThread, codexTurn, codexBegin, codexHello, codexEnd, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", tools: "Bash:done", events: "status:initializing status:thinking tool_use text tool_result usage"},
		{name: "retries, then success", lines: []string{codexThread, codexTurn, codexRetry, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", events: "status:initializing status:thinking status:retrying text usage"},
		{name: "an error that the turn survived", lines: []string{codexThread, codexTurn, codexError("exceeded retry limit, last status: 429 Too Many Requests"), codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", events: "status:initializing status:thinking text usage status:warning", signals: "recovered_error"},
		{name: "401", lines: []string{codexThread, codexTurn, codexRetry, codexError("unexpected status 401 Unauthorized: Incorrect API key provided"), codexFailed("unexpected status 401 Unauthorized: Incorrect API key provided")}, end: exited(1),
			result: "failed auth/invalid_api_key session_init", reported: "turn.failed", events: "status:initializing status:thinking status:retrying error"},
		{name: "no credentials", lines: []string{codexThread, codexTurn, codexError("Missing environment variable: `STUB_API_KEY`."), codexFailed("Missing environment variable: `STUB_API_KEY`.")}, end: exited(1),
			result: "failed auth/missing_api_key session_init", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "429", lines: []string{codexThread, codexTurn, codexFailed("exceeded retry limit, last status: 429 Too Many Requests")}, end: exited(1),
			result: "failed rate_limit/rate_limit_429 first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "quota, ≥0.163", lines: []string{codexThread, codexTurn, codexFailed("Quota exceeded. Check your plan and billing details.")}, end: exited(1),
			result: "failed rate_limit/hard_quota first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "usage limit with U+2019, ≥0.155", lines: []string{codexThread, codexTurn, codexFailed("You’ve hit your usage limit.")}, end: exited(1),
			result: "failed rate_limit/hard_quota first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "500", lines: []string{codexThread, codexTurn, codexRetry, codexFailed("unexpected status 500 Internal Server Error: boom")}, end: exited(1),
			result: "failed upstream_unavailable/upstream_5xx first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking status:retrying error"},
		{name: "overloaded", lines: []string{codexThread, codexTurn, codexFailed("Selected model is at capacity. Please try a different model.")}, end: exited(1),
			result: "failed upstream_unavailable/provider_high_demand first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "cut in the middle", lines: []string{codexThread, codexTurn, codexFailed("stream disconnected before completion: stream closed before response.completed")}, end: exited(1),
			result: "failed upstream_unavailable/stream_disconnected first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "idle stream", lines: []string{codexThread, codexTurn, codexFailed("stream disconnected before completion: idle timeout waiting for SSE")}, end: exited(1),
			result: "failed upstream_unavailable/stream_disconnected first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "nobody listens", lines: []string{codexThread, codexTurn, codexFailed("stream disconnected before completion: error sending request for url (http://127.0.0.1:1/v1/responses)")}, end: exited(1),
			result: "failed upstream_unavailable/network_error first_token_wait", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "nobody listens, ≥0.155 never ends", lines: []string{codexThread, codexTurn, codexError("Reconnecting... waiting for network (Connection refused)")}, end: Ending{TimedOut: true, Signal: "SIGKILL"},
			result: "failed upstream_unavailable/network_error first_token_wait", events: "status:initializing status:thinking status:retrying", signals: "missing_terminal_event"},
		{name: "context", lines: []string{codexThread, codexTurn, codexFailed(`{\"error\":{\"message\":\"Your input exceeds the context window of this model.\",\"code\":\"context_length_exceeded\"}}`)}, end: exited(1),
			result: "failed prompt_too_large/prompt_too_large prompt_send", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "model", lines: []string{codexThread, codexTurn, codexFailed("unexpected status 404 Not Found: The model `m` does not exist or you do not have access to it.")}, end: exited(1),
			result: "failed model_unavailable/model_not_found model_select", reported: "turn.failed", events: "status:initializing status:thinking error"},
		{name: "empty answer counts tokens: weak success", lines: []string{codexThread, codexTurn, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", events: "status:initializing status:thinking usage"},
		{name: "empty answer without tokens", lines: []string{codexThread, codexTurn, `{"type":"turn.completed","usage":{"input_tokens":0,"output_tokens":0}}`}, end: exited(0),
			result: "failed empty_output/empty_output first_token_wait", reported: "turn.completed", events: "status:initializing status:thinking usage"},
		{name: "interrupted: exit 0 without turn end", lines: []string{codexThread, codexTurn, codexBegin}, end: Ending{ExitCode: new(int), Cancelled: true},
			result: "cancelled", tools: "Bash:open", events: "status:initializing status:thinking tool_use", signals: "missing_terminal_event open_tool"},
		{name: "text and then nothing", lines: []string{codexThread, codexTurn, codexHello}, end: exited(0),
			result: "failed process_exit/terminated_unknown child_close", text: "Hello.", events: "status:initializing status:thinking text", signals: "missing_terminal_event"},
		{name: "refused argv", stderr: "error: unexpected argument '--sandbox' found\n\nUsage: codex exec\n", end: exited(2),
			result: "failed process_exit/cli_version_incompatible spawn", signals: "missing_terminal_event"},
		{name: "not a git repository", stderr: "Not inside a trusted directory and --skip-git-repo-check was not specified.\n", end: exited(1),
			result: "failed process_exit/agent_config_invalid session_init", signals: "missing_terminal_event"},
		{name: "patch, MCP tool, search and plan", end: exited(0), lines: []string{codexThread, codexTurn,
			`{"type":"item.started","item":{"id":"p","type":"todo_list","items":[{"text":"a","completed":false}]}}`,
			`{"type":"item.updated","item":{"id":"p","type":"todo_list","items":[{"text":"a","completed":true}]}}`,
			`{"type":"item.completed","item":{"id":"f","type":"file_change","changes":[{"path":"a","kind":"add"}],"status":"completed"}}`,
			`{"type":"item.started","item":{"id":"m","type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":null,"error":null,"status":"in_progress"}}`,
			`{"type":"item.completed","item":{"id":"m","type":"mcp_tool_call","server":"s","tool":"t","arguments":{},"result":null,"error":{"message":"no"},"status":"failed"}}`,
			`{"type":"item.completed","item":{"id":"w","type":"web_search","query":"q"}}`, codexHello, codexDone},
			result: "success", reported: "turn.completed", text: "Hello.", tools: "TodoWrite:done apply_patch:done mcp__s__t:failed web_search:done",
			events: "status:initializing status:thinking tool_use tool_use tool_result tool_use tool_result tool_use tool_result text usage"},
		{name: "the last turn decides", lines: []string{codexThread, codexTurn, codexFailed("boom"), codexTurn, codexHello, codexDone}, end: exited(0),
			result: "success", reported: "turn.completed", text: "Hello.", events: "status:initializing status:thinking status:thinking text usage"},
		{name: "session events of 0.42: the process ends the turn", lines: []string{`{"type":"session.created","session_id":"s"}`, `{"type":"item.completed","item":{"id":"i","item_type":"assistant_message","text":"Hi"}}`}, end: exited(0),
			result: "success", text: "Hi", events: "status:initializing text"},
	})
}

func msg(body string) string { return `{"id":"1","msg":{` + body + `}}` }

// TestCodexMsg holds the envelopes of ≤0.42, where failures exit 0.
func TestCodexMsg(t *testing.T) {
	config, prompt := `{"workdir":"/w","model":"m","provider":"stub"}`, `{"prompt":"hi"}`
	started, tokens := msg(`"type":"task_started"`), msg(`"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":2}}`)
	hello := msg(`"type":"agent_message","message":"OK"`)
	begin := msg(`"type":"exec_command_begin","call_id":"c","command":["bash","-lc","ls"],"cwd":"/w"`)
	end := msg(`"type":"exec_command_end","call_id":"c","stdout":"a","stderr":"","exit_code":3`)
	head := "status:initializing status:thinking"
	check(t, DialectCodexMsg, []sample{
		{name: "text", lines: []string{config, prompt, started, hello, tokens}, end: exited(0), result: "success", text: "OK", events: head + " text usage"},
		{name: "flat token count, ≤0.29", lines: []string{config, prompt, started, hello, msg(`"type":"token_count","input_tokens":9,"output_tokens":2`)}, end: exited(0), result: "success", text: "OK", events: head + " text usage"},
		{name: "tool", lines: []string{config, prompt, started, begin, msg(`"type":"exec_command_output_delta","call_id":"c","chunk":"YQ=="`), end, tokens, hello, tokens}, end: exited(0),
			result: "success", text: "OK", tools: "Bash:failed", events: head + " tool_use tool_result usage text usage"},
		{name: "error with exit 0", lines: []string{config, prompt, started, msg(`"type":"stream_error","message":"stream error: retrying 1/5"`), msg(`"type":"error","message":"unexpected status 401 Unauthorized: no"`)}, end: exited(0),
			result: "failed auth/auth_required session_init", reported: "error", events: head + " status:retrying error", signals: "missing_terminal_event"},
		{name: "error and then a hang, 0.20", lines: []string{config, prompt, started, msg(`"type":"error","message":"exceeded retry limit, last status: 500 Internal Server Error"`)}, end: Ending{TimedOut: true, Signal: "SIGKILL"},
			result: "failed upstream_unavailable/upstream_5xx first_token_wait", reported: "error", events: head + " error", signals: "missing_terminal_event"},
		{name: "killed in the middle with exit 0", lines: []string{config, prompt, started, begin, end, tokens}, end: exited(0),
			result: "failed empty_output/empty_output tool_execution", tools: "Bash:failed", events: head + " tool_use tool_result usage", signals: "missing_terminal_event"},
		{name: "deltas that the message repeats", lines: []string{config, started, msg(`"type":"agent_message_delta","delta":"O"`), msg(`"type":"agent_message_delta","delta":"K"`), hello, tokens}, end: exited(0),
			result: "success", text: "OK", events: head + " text text usage"},
	})
}

// TestCodexUsage: totals replace each other, counts of single answers add up.
func TestCodexUsage(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  int64
	}{
		"turns report totals":    {[]string{codexTurn, codexHello, codexDone, codexTurn, codexHello, `{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":9}}`}, 9},
		"flat counts of ≤0.29":   {[]string{msg(`"type":"token_count","output_tokens":5`), msg(`"type":"token_count","output_tokens":4`)}, 9},
		"totals of 0.40":         {[]string{msg(`"type":"token_count","info":{"total_token_usage":{"output_tokens":5},"last_token_usage":{"output_tokens":5}}`), msg(`"type":"token_count","info":{"total_token_usage":{"output_tokens":9},"last_token_usage":{"output_tokens":4}}`)}, 9},
		"rate limits only, 0.42": {[]string{msg(`"type":"token_count","info":{"total_token_usage":{"output_tokens":9}}`), msg(`"type":"token_count","info":null,"rate_limits":{}`)}, 9},
	} {
		r := read(t, DialectCodex, &sample{lines: tt.lines, end: exited(0)})
		if got := r.Usage["output_tokens"]; got != tt.want {
			t.Errorf("%s: %d output tokens, want %d", name, got, tt.want)
		}
	}
}
