package agents

import "testing"

// A version line that a release printed, or that a public report quotes, is
// read as that version of the agent's own product; a line of another program
// of the same name is not.
func TestVersionLinesOfTheProducts(t *testing.T) {
	tests := []struct{ agent, line, token, product string }{
		{"codex", "codex-cli 0.148.0-alpha.9", "0.148.0-alpha.9", "codex-cli"},
		{"claude", "2.1.229 (Claude Code)", "2.1.229", "claude-code"},
		{"claude", "2.1.229", "2.1.229", ""},
		{"gemini", "Active code page: 65001\r\n0.41.2", "0.41.2", "gemini-cli"},
		{"gemini", "0.33.0-preview.11", "0.33.0-preview.11", "gemini-cli"},
		{"opencode", "1.18.29", "1.18.29", "opencode"},
		{"byok-opencode", "1.18.29", "1.18.29", "opencode"},
		{"kilo", "7.7.9", "7.7.9", "kilo"},
		{"cursor-agent", "2026.07.20-8cc9c0b", "2026.07.20-8cc9c0b", "cursor-agent"},
		{"cursor-agent", "0.1.4", "0.1.4", ""},
		{"copilot", "GitHub Copilot CLI 1.0.25.", "1.0.25", "copilot-cli"},
		{"kimi", "0.26.0", "0.26.0", "kimi-code"},
		{"kimi", "kimi, version 1.6", "1.6", ""},
		{"codebuddy", "2.7.0", "2.7.0", "codebuddy-code"},
		{"hermes", "v0.17.0", "0.17.0", "hermes"},
		{"hermes", "0.12.0", "0.12.0", ""},
		{"antigravity", "1.1.4", "1.1.4", "antigravity-cli"},
		{"grok-build", "grok 1.0.41 (4220f3b224a6)", "1.0.41", "grok"},
		{"grok-build", "grok 1.0.5 (5115b46bc9) [stable]", "1.0.5", "grok"},
		{"amp", "0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 2mo ago)", "0.0.1790142911-g7618fb", "amp"},
		{"auggie", "0.36.0 (commit 7c61e5bb)", "0.36.0", "auggie"},
		{"qoder", "1.1.52", "1.1.52", "qodercli"},
		{"reasonix", "reasonix v1.38.11", "1.38.11", "reasonix"},
		{"reasonix", "v20.20.2", "20.20.2", ""},
	}
	f := registryAgents(t)
	for _, tt := range tests {
		v, err := ParseVersion(f.Agent(tt.agent), []byte(tt.line+"\n"))
		if err != nil || v.Token != tt.token || v.Product != tt.product {
			t.Errorf("%s: %q is version %q of %q (%v), want %q of %q", tt.agent, tt.line, v.Token, v.Product, err, tt.token, tt.product)
		}
	}
}
