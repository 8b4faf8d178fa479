package reference

import "testing"

const (
	kimiVersion = `{"role":"meta","type":"system.version","version":"2.1.0"}`
	kimiHint    = `{"role":"meta","type":"session.resume_hint","session_id":"s","content":"To resume this session: kimi -r s"}`
	kimiCall    = `{"role":"assistant","content":"Reading. ","tool_calls":[{"type":"function","id":"c1","function":{"name":"Read","arguments":"{\"path\":\"x\"}"}}]}`
)

func kimiSays(text string) string { return `{"role":"assistant","content":"` + text + `"}` }

func kimiRetry(message string) string {
	return `{"role":"meta","type":"turn.step.retrying","failed_attempt":1,"error_name":"APIConnectionError","error_message":"` + message + `"}`
}

func TestKimi(t *testing.T) {
	check(t, DialectKimi, []sample{
		{
			name: "kimi-code", end: exited(0), lines: []string{kimiVersion, kimiCall, `{"role":"tool","tool_call_id":"c1","content":"alpha"}`, kimiSays("Done."), kimiHint},
			result: "success", reported: "session.resume_hint", text: "Reading. \nDone.", tools: "Read:done",
			events: "status:initializing text tool_use tool_result text status:session",
		},
		{
			name: "kimi-cli has no last frame", end: exited(0), lines: []string{`{"role":"assistant","content":[{"type":"think","think":"hm"},{"type":"text","text":"Hi"}]}`},
			result: "success", text: "Hi", events: "thinking text",
		},
		{
			name: "a missing file", end: exited(0), lines: []string{kimiVersion, kimiCall, `{"role":"tool","tool_call_id":"c1","content":"\"/w/x\" does not exist."}`, kimiSays("No."), kimiHint},
			result: "success", reported: "session.resume_hint", text: "Reading. \nNo.", tools: "Read:failed",
			events: "status:initializing text tool_use tool_result text status:session",
		},
		{
			name: "a retry that went well", end: exited(0), lines: []string{kimiVersion, kimiRetry("terminated"), kimiSays("Hi"), kimiHint},
			result: "success", reported: "session.resume_hint", text: "Hi", events: "status:initializing status:retrying text status:session",
		},
		{
			name: "the partial text of a broken stream is no answer", end: exited(1), lines: []string{kimiVersion, kimiRetry("terminated"), kimiSays("Hel")},
			stderr: "error: failed to run prompt: provider.connection_error: terminated\nSee log: /x/kimi-code.log\n",
			result: "failed upstream_unavailable/stream_disconnected child_close", text: "Hel", signals: "missing_terminal_event", events: "status:initializing status:retrying text",
		},
		{
			name: "401 on stderr only", end: exited(1), lines: []string{kimiVersion}, stderr: "error: failed to run prompt: provider.auth_error: 401 Incorrect API key provided: x.\n",
			result: "failed auth/invalid_api_key session_init", signals: "missing_terminal_event", events: "status:initializing",
		},
		{
			name: "empty answers", end: exited(1), lines: []string{kimiVersion, kimiRetry("The API returned an empty response (no content, no tool calls).")},
			stderr: "error: failed to run prompt: provider.api_error: The API returned an empty response (no content, no tool calls).\n",
			result: "failed empty_output/empty_output first_token_wait", signals: "missing_terminal_event", events: "status:initializing status:retrying",
		},
		{
			name: "kimi-cli's error is a bare line", end: exited(1), lines: []string{"LLM not set"},
			result: "failed auth/missing_api_key session_init", events: "raw", signals: "missing_terminal_event",
		},
		{
			name: "75 is worth a retry", end: exited(75), lines: []string{kimiSays("x")},
			result: "failed process_exit/exit_nonzero child_close", text: "x", events: "text",
		},
		{
			name: "interrupted", end: Ending{ExitCode: exited(130).ExitCode, Cancelled: true}, lines: []string{kimiVersion, kimiSays("tick")},
			result: "cancelled", text: "tick", signals: "missing_terminal_event", events: "status:initializing text",
		},
		{
			name: "130, nobody asked", end: exited(130), lines: []string{kimiVersion, kimiSays("tick")},
			result: "failed process_exit/interrupted child_close", text: "tick", signals: "missing_terminal_event", events: "status:initializing text",
		},
		{
			name: "unknown frames", end: exited(0), lines: []string{`{"role":"meta","type":"new"}`, `{"role":"judge"}`, `{"role":"assistant","content":[{"type":"hologram"}]}`, kimiSays("x"), kimiHint},
			result: "success", reported: "session.resume_hint", text: "x", signals: "unknown_frames", events: "raw raw raw text status:session",
		},
	})
	r := read(t, DialectKimi, &sample{end: exited(75), lines: []string{kimiSays("x")}})
	if r.Failure == nil || !r.Failure.Retryable {
		t.Errorf("exit code 75 is not retryable: %+v", r.Failure)
	}
}
