package opendesign

// Runtime says how OpenDesign reads an agent's stdout.
type Runtime struct {
	// StreamFormat is OpenDesign's name of the protocol.
	StreamFormat string
	// Kind is the dialect of json-event-stream, "" for other formats.
	Kind string
}

// Lines reports whether the agent's stdout is read by one of this package's
// parsers, and not by an RPC session.
func (r Runtime) Lines() bool {
	switch r.StreamFormat {
	case "acp-json-rpc", "pi-rpc", "dsh-profile-jsonl":
		return false
	}
	return true
}

// Tracked reports whether a run of the agent needs visible text to succeed.
func (r Runtime) Tracked() bool {
	return r.StreamFormat == "json-event-stream" || r.StreamFormat == "qoder-stream-json" || r.StreamFormat == "pi-rpc"
}

var runtimes = map[string]Runtime{
	"claude": {"claude-stream-json", ""}, "codebuddy": {"claude-stream-json", ""}, "amp": {"claude-stream-json", ""},
	"codex":    {"json-event-stream", "codex"},
	"opencode": {"json-event-stream", "opencode"}, "byok-opencode": {"json-event-stream", "opencode"}, "mimo": {"json-event-stream", "opencode"},
	"cursor-agent": {"json-event-stream", "cursor-agent"},
	"qoder":        {"qoder-stream-json", ""}, "copilot": {"copilot-stream-json", ""},
	"qwen": {"plain", ""}, "deepseek": {"plain", ""}, "aider": {"plain", ""}, "grok-build": {"plain", ""},
	"atomcode": {"plain", ""}, "antigravity": {"plain", ""},
	"amr": {"acp-json-rpc", ""}, "devin": {"acp-json-rpc", ""}, "hermes": {"acp-json-rpc", ""}, "trae-cli": {"acp-json-rpc", ""},
	"kimi": {"acp-json-rpc", ""}, "kiro": {"acp-json-rpc", ""}, "kilo": {"acp-json-rpc", ""}, "vibe": {"acp-json-rpc", ""},
	"reasonix": {"acp-json-rpc", ""},
	"pi":       {"pi-rpc", ""}, "deepseek-harness": {"dsh-profile-jsonl", ""},
}

// RuntimeOf returns the runtime of one of the 27 agent ids of v0.19.2.
func RuntimeOf(agent string) (Runtime, bool) {
	r, ok := runtimes[agent]
	return r, ok
}

// ForAgent returns the parser that OpenDesign uses for the agent.
func ForAgent(agent string) (Parser, error) {
	r := runtimes[agent]
	return NewStream(r.StreamFormat, r.Kind, Options{SuppressHTMLArtifacts: agent == "claude"})
}
