package reference

import "testing"

// The words with which releases refuse what a probe gives them, as redaction
// leaves them: <text:1> is a word that it does not know.
func TestWordsOfRefusals(t *testing.T) {
	for _, tt := range []struct{ agent, text, want string }{
		{"claude", "Configuration error in /h/p1.json: JSON Parse error: Unexpected EOF", "agent_config_invalid"},
		{"cursor-agent", "⚠ Workspace Trust Required\n  To proceed, you can either:\n    • Pass --trust, --yolo, or -f if you trust this directory", "agent_config_invalid"},
		{"copilot", "Failed to load models: access denied by Copilot policy.", "auth_required"},
		{"opencode", "Error: Configuration is invalid at /h/p1.json\n↳ Expected <text:1> | \"auto\"", "agent_config_invalid"},
		{"qwen", "Error: Cannot read <text:1> sandbox policy from /h/p1.json: <text:2>", "agent_config_invalid"},
		{"pi", "Error: Unknown provider \"local\". Use --list-models to see available <text:1>\nWarning: No models available. Use /login to log into a provider", "agent_config_invalid"},
		{"codex", "error: invalid value 'no-such-color' for '--color <COLOR>'", "agent_config_invalid"},
		{"claude", "error: option '--output-format <format>' argument 'no-such-format' is invalid.", "agent_config_invalid"},
		{"gemini", "Invalid values:\n  Argument: output-format, <text:1>: \"no-such-format\"", "agent_config_invalid"},
		{"opencode", "opencode run [message..]\n\nrun opencode with a message", "agent_config_invalid"},
		{"opencode", "opencode acp\n\nstart ACP (Agent Client Protocol) server", "agent_config_invalid"},
		{"pi", "Error: Unknown option: --unknown-flag", "cli_version_incompatible"},
		{"claude", "error: unknown option '--unknown-flag'", "cli_version_incompatible"},
		{"gemini", "Unknown arguments: unknown-flag, unknownFlag\nUsage: gemini [options] [command]", "cli_version_incompatible"},
		{"qwen", "Missing API key for OpenAI-compatible auth.", "missing_api_key"},
		{"droid", "Invalid --output-format value", "agent_config_invalid"},
		{"droid", "Invalid model: custom:<text:1>-model-1\n\nAvailable <text:2>-in models:", "model_not_found"},
		{"kimi", "error: failed to run prompt: provider local has no credential configured", "missing_api_key"},
		{"kimi", "error: failed to run prompt: No model configured. Run `kimi` and use /login to sign in", "missing_api_key"},
		{"gemini", `{"error":{"code":400,"message":"Function <text:8> is not enabled for models/<text:9>-model-1","status":"INVALID_ARGUMENT"}}`, "model_not_supported"},
		{"gemini", `{"error":{"code":400,"message":"The input token count (<num:1>) exceeds the maximum number of tokens allowed (<num:2>).","status":"INVALID_ARGUMENT"}}`, "prompt_too_large"},
		// Public reports: openclaw/openclaw#69158, t8y2/dbx#1690, anthropics/claude-code#85400.
		{"claude", "Error: spawn ENAMETOOLONG", "prompt_too_large"},
		{"claude", "/bin/sh: /usr/bin/claude: Argument list too long", "prompt_too_large"},
		{"claude", "Error: spawn EINVAL", "spawn_failed"},
		{"codex", "Error: spawn /w/p1 EACCES", "spawn_failed"},
		{"codex", "Error: thread/start failed: required MCP servers failed to initialize: x: handshaking with MCP server failed: connection closed", "tool_error"},
		{"claude", "Error: Exceeded USD budget (1)", "hard_quota"},
	} {
		if v := classifyStderr(tt.agent, []byte(tt.text+"\n")); v == nil || string(v.Detail) != tt.want {
			t.Errorf("%s: %q is taken for %+v, want %s", tt.agent, tt.text, v, tt.want)
		}
	}
	for _, text := range []string{"Ripgrep not available: spawn rg ENOENT. Falling back to built-in grep.", "MCP client for `x` failed to start: connection closed: initialize response"} {
		if v := classifyStderr("qwen", []byte(text+"\n")); v != nil {
			t.Errorf("%q is taken for %s", text, v.Detail)
		}
	}
	// A model that writes about configuration is no broken configuration.
	if v := wholeTextIsError("qwen", "I looked at the unknown arguments: none of them matters."); v != nil {
		t.Errorf("a model's sentence is taken for %s", v.Detail)
	}
}

// A CLI that printed frames was started: a program that is missing is that of a
// hook or a tool.
func TestWordsOfHooks(t *testing.T) {
	s := sample{agent: "claude", end: exited(1), stderr: "SessionEnd hook failed: /bin/sh: 1: jq: command not found\n"}
	if got := result(read(t, DialectClaude, &s)); got != "failed process_exit/cli_not_installed spawn" {
		t.Errorf("without a frame: %s", got)
	}
	s.lines = []string{`{"type":"system","subtype":"init","session_id":"s"}`}
	if got := result(read(t, DialectClaude, &s)); got != "failed process_exit/exit_nonzero child_close" {
		t.Errorf("after a frame: %s", got)
	}
	// An adapter speaks before the CLI behind it is started.
	s = sample{agent: "claude-agent-acp", end: exited(1), stderr: "Error: spawn claude ENOENT\n", lines: []string{acpHello, `{"jsonrpc":"2.0","id":1,"result":{}}`}}
	if got := result(read(t, DialectACP, &s)); got != "failed process_exit/cli_not_installed spawn" {
		t.Errorf("behind an adapter: %s", got)
	}
}

// Claude's own budget is a quota that a retry does not give back.
func TestBudget(t *testing.T) {
	s := sample{end: exited(1), lines: []string{`{"type":"result","subtype":"error_max_budget_usd","is_error":true,"usage":{"input_tokens":3,"output_tokens":1}}`}}
	if got := result(read(t, DialectClaude, &s)); got != "failed rate_limit/hard_quota first_token_wait" {
		t.Error(got)
	}
}
