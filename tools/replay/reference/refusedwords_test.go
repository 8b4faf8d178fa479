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
	} {
		if v := classifyStderr(tt.agent, []byte(tt.text+"\n")); v == nil || string(v.Detail) != tt.want {
			t.Errorf("%s: %q is taken for %+v, want %s", tt.agent, tt.text, v, tt.want)
		}
	}
	// A model that writes about configuration is no broken configuration.
	if v := wholeTextIsError("qwen", "I looked at the unknown arguments: none of them matters."); v != nil {
		t.Errorf("a model's sentence is taken for %s", v.Detail)
	}
}
