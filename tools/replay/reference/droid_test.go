package reference

import "testing"

const droidInit = `{"type":"system","subtype":"init","session_id":"s","model":"m"}`

func droidSays(text string) string {
	return `{"type":"message","role":"assistant","id":"m","text":"` + text + `"}`
}

func droidDone(text, turns, in string) string {
	return `{"type":"completion","finalText":"` + text + `","numTurns":` + turns + `,"usage":{"input_tokens":` + in + `,"output_tokens":` + in + `,"cache_read_input_tokens":0}}`
}

func TestDroid(t *testing.T) {
	check(t, DialectDroid, []sample{
		{
			name: "a call that failed", end: exited(0), lines: []string{
				droidInit, `{"type":"message","role":"user","text":"p"}`, droidSays("Reading. "),
				`{"type":"tool_call","id":"c1","toolId":"Read","toolName":"Read","parameters":{"file_path":"x"}}`,
				`{"type":"tool_result","id":"c1","toolId":"Read","isError":true,"error":{"type":"tool_error","message":"ENOENT"}}`,
				droidSays("No."), droidDone("No.", "2", "7"),
			},
			result: "success", reported: "completion", text: "Reading. \nNo.", tools: "Read:failed", events: "status:initializing text tool_use tool_result text usage",
		},
		{
			name: "only the completion has the text", end: exited(0), lines: []string{droidInit, droidDone("Hi", "1", "7")},
			result: "success", reported: "completion", text: "Hi", events: "status:initializing usage text",
		},
		{
			name: "a completion after six empty answers", end: exited(0), lines: []string{droidInit, droidDone("", "0", "33")},
			result: "failed empty_output/empty_output first_token_wait", reported: "completion", events: "status:initializing usage error",
		},
		{
			name: "a completion after a stream that broke off", end: exited(0), lines: []string{droidInit, droidSays("Hel"), droidDone("Hel", "1", "0")},
			result: "failed upstream_unavailable/stream_disconnected child_close", reported: "completion", text: "Hel", events: "status:initializing text usage error",
		},
		{
			name: "401", end: exited(1), lines: []string{droidInit, `{"type":"error","source":"agent_loop","message":"401 Incorrect API key provided"}`, `{"type":"error","source":"cli","message":"Exec failed"}`},
			result: "failed auth/invalid_api_key session_init", signals: "missing_terminal_event", events: "status:initializing error",
		},
		{
			name: "interrupted: exit 0 and nothing", end: Ending{ExitCode: exited(0).ExitCode, Cancelled: true}, lines: []string{droidInit},
			result: "cancelled", signals: "missing_terminal_event", events: "status:initializing",
		},
		{
			name: "exit 0 and nothing", end: exited(0), lines: []string{droidInit, `{"type":"novelty"}`},
			result: "failed empty_output/empty_output first_token_wait", signals: "missing_terminal_event unknown_frames", events: "status:initializing raw",
		},
	})
}
