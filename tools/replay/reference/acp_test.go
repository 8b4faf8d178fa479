package reference

import "testing"

const (
	acpHello   = `>{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	acpOpen    = `>{"jsonrpc":"2.0","id":2,"method":"session/new"}`
	acpAsk     = `>{"jsonrpc":"2.0","id":3,"method":"session/prompt"}`
	acpReady   = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"S"}}`
	acpDone    = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":11,"outputTokens":7}}}`
	acpStopped = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`
)

func acpNote(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{` + update + `}}}`
}

func acpChunk(text string) string {
	return acpNote(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`)
}

func TestACP(t *testing.T) {
	question := `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"c","title":"Run ls","kind":"execute","rawInput":{"command":"ls"}},"options":[]}}`
	done := acpNote(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a.txt"}}]`)
	check(t, DialectACP, []sample{
		{
			name: "a turn", end: exited(0), lines: []string{acpHello, acpOpen, acpReady, acpAsk, acpChunk("Hel"), acpChunk("lo"), acpDone},
			result: "success", reported: "end_turn", text: "Hello", events: "status:initializing text text usage",
		},
		{
			name: "an internal error with its cause in the details", end: exited(1), lines: []string{acpHello, acpOpen, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error","data":{"details":"Authentication required"}}}`},
			result: "failed auth/auth_required session_init", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "the answer comes before its chunks", end: exited(0), lines: []string{acpAsk, acpDone, acpChunk("Hel"), acpChunk("lo")},
			result: "success", reported: "end_turn", text: "Hello", events: "usage text text",
		},
		{
			name: "all text so far with every chunk", end: exited(0), lines: []string{acpAsk, acpChunk("Hello"), acpChunk("Hello you"), acpDone},
			result: "success", reported: "end_turn", text: "Hello you", events: "text text usage",
		},
		{
			name: "a call that only the question names", end: exited(0), lines: []string{acpAsk, question, done, acpChunk("ok"), acpDone},
			result: "success", reported: "end_turn", text: "ok", tools: "Bash:done", events: "tool_use status:permission_requested tool_result text usage",
		},
		{
			name: "an id of the agent that collides with ours is a question", lines: []string{acpAsk, `{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{}}`},
			result: "failed empty_output/empty_output first_token_wait", signals: "missing_terminal_event",
		},
		{
			name: "the error is a message and the turn ends well", agent: "copilot", end: exited(0), lines: []string{acpAsk, acpChunk("Error: Authentication failed"), acpDone},
			result: "failed auth/auth_required session_init", reported: "end_turn", text: "Error: Authentication failed", events: "text usage error",
		},
		{
			name: "nothing but a used-up limit in the model's place", agent: "codex", end: exited(0), lines: []string{acpHello, acpAsk, acpChunk("You've hit your usage limit."), acpDone},
			result: "failed rate_limit/hard_quota first_token_wait", reported: "end_turn", text: "You've hit your usage limit.", events: "text usage error",
		},
		{
			name: "a banner before the prompt (svkozak/pi-acp#59)", end: exited(0), lines: []string{acpHello, acpOpen, acpReady, acpChunk("pi v0.79.8"), acpAsk, acpChunk("Hi"), acpDone},
			result: "success", reported: "end_turn", text: "Hi", events: "status:initializing text usage",
		},
		{
			name: "without our side of the session a chunk is the answer", end: exited(0), lines: []string{acpReady, acpChunk("Hi"), acpDone},
			result: "success", reported: "end_turn", text: "Hi", events: "text usage",
		},
		{
			name: "nothing said, and only stderr knows why", agent: "hermes", end: exited(0), lines: []string{acpAsk, `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`},
			stderr: "2026-01-01 [INFO] root: 401 Unauthorized in a tool's output\nNo LLM provider configured. Run `hermes model` to select a provider.\n",
			result: "failed auth/missing_api_key session_init", reported: "end_turn", events: "error",
		},
		{
			name: "a handshake of another protocol version (nullclaw/nullclaw#674)", end: exited(1), lines: []string{acpHello, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"}}`},
			result: "failed process_exit/agent_protocol_error child_close", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "parameters of a later request are no handshake", end: exited(1), lines: []string{acpHello, acpOpen, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params"}}`},
			result: "failed process_exit/stream_error session_init", signals: "missing_terminal_event", events: "error",
		},
		{
			name: "notices and an error after retries, all of them messages", agent: "copilot", end: exited(0), lines: []string{
				acpAsk, acpChunk("Info: Request failed due to a transient API error. Retrying..."),
				acpChunk("Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 5.52 seconds) Last error: 429 Rate limit reached for x"), acpDone,
			},
			result: "failed rate_limit/rate_limit_429 child_close", reported: "end_turn", events: "text text usage error",
			text: "Info: Request failed due to a transient API error. Retrying...Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 5.52 seconds) Last error: 429 Rate limit reached for x",
		},
		{
			name: "an overloaded provider is a message too", agent: "codex-acp", end: exited(0), lines: []string{acpAsk, acpChunk("Warning: Model metadata not found."), acpChunk("We’re currently experiencing high demand, which may cause temporary errors."), acpDone},
			result: "failed upstream_unavailable/provider_high_demand child_close", reported: "end_turn", text: "Warning: Model metadata not found.We’re currently experiencing high demand, which may cause temporary errors.", events: "text text usage error",
		},
		{
			name: "an HTTP status for a code", end: exited(0), lines: []string{acpOpen, acpReady, acpAsk, `{"jsonrpc":"2.0","id":3,"error":{"code":500,"message":"x"}}`},
			result: "failed upstream_unavailable/upstream_5xx prompt_send", events: "status:initializing error",
		},
		{
			name: "an agent that does not know the method of the turn", end: exited(0), lines: []string{acpOpen, acpReady, acpAsk, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`},
			result: "failed process_exit/agent_protocol_error child_close", events: "status:initializing error",
		},
		{
			name: "a model that cannot be set is no failure", end: exited(0), lines: []string{
				`>{"id":3,"method":"session/set_model"}`, `{"id":3,"error":{"code":-32601,"message":"Method not found"}}`,
				`>{"id":4,"method":"session/prompt"}`, acpChunk("ok"), `{"id":4,"result":{"stopReason":"end_turn"}}`,
			},
			result: "success", reported: "end_turn", text: "ok", events: "status:warning text",
		},
		{
			name: "history of a loaded session is not new", end: exited(0), lines: []string{
				`>{"id":2,"method":"session/load"}`, acpChunk("old"), `{"id":2,"result":{}}`, acpAsk, acpChunk("new"), acpDone,
			},
			result: "success", reported: "end_turn", text: "new", events: "status:initializing text usage",
		},
		{
			name: "a cancelled turn", end: exited(0), lines: []string{acpAsk, acpChunk("a"), `>{"id":4,"method":"session/cancel"}`, acpStopped},
			result: "cancelled", reported: "cancelled", text: "a", events: "text",
		},
		{
			name: "a cancel that the agent does not know", end: exited(0), lines: []string{acpAsk, acpChunk("a"), `>{"id":4,"method":"session/cancel"}`, `{"id":4,"error":{"code":-32601,"message":"Method not found"}}`, acpChunk("b")},
			result: "cancelled", text: "ab", signals: "missing_terminal_event", events: "text status:warning text",
		},
		{
			name: "a cancelled turn that ends like a whole one", end: exited(0), lines: []string{acpAsk, acpChunk("a"), `>{"method":"session/cancel"}`, acpChunk("b"), acpDone},
			result: "cancelled", reported: "end_turn", text: "ab", events: "text text usage",
		},
		{
			name: "an agent that cannot be cancelled goes on", end: exited(0), lines: []string{acpAsk, `>{"id":4,"method":"session/cancel"}`, `{"id":4,"error":{"code":-32601,"message":"Method not found"}}`, acpChunk("b"), acpDone},
			result: "success", reported: "end_turn", text: "b", events: "status:warning text usage",
		},
		{
			name: "a vendor's question stays visible", end: exited(0), lines: []string{acpAsk, `{"id":7,"method":"craft/drainMidTurnQueue"}`, acpChunk("a"), acpDone},
			result: "success", reported: "end_turn", text: "a", signals: "unknown_frames", events: "raw text usage",
		},
	})
}
