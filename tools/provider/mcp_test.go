package provider

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

var callEcho = contract.ScenarioToolCall{Ability: contract.AbilityMCPTool, Arguments: contract.ScenarioToolArguments{Tool: "echo_text", Content: "blue door"}}

// CLIs put the server's name before the tool's, each in its way.
func TestPickMCP(t *testing.T) {
	schema := []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
	shell := tool{name: "bash", kind: toolFunction}
	for _, name := range []string{"mcp__registry__echo_text", "mcp_registry_echo_text", "registry_echo_text", "registry-echo_text", "registry___echo_text", "echo_text"} {
		got, ok := pick([]tool{shell, {name: name, kind: toolFunction, schema: schema}}, &callEcho, "/w")
		if !ok || got.tool.name != name || got.input != `{"text":"blue door"}` {
			t.Errorf("%s: %q with %s, %v", name, got.tool.name, got.input, ok)
		}
	}
	// Nothing else can do what the server does.
	if got, ok := pick([]tool{shell, {name: "write", kind: toolFunction}}, &callEcho, "/w"); ok {
		t.Errorf("picked %q for a server's tool", got.tool.name)
	}
}

// A CLI without the server's tool asked for something that no probe describes.
func TestMCPToolMissing(t *testing.T) {
	s := start(t, scenario(contract.ScenarioReply{Kind: contract.ReplyAnswer, ToolCalls: []contract.ScenarioToolCall{callEcho}}), Options{})
	status, _, err := post(t, s, "/v1/chat/completions", chatAsk)
	if u := s.Unexpected(); err != nil || status == http.StatusOK || len(u) != 1 || !strings.Contains(u[0].Reason, "mcp_tool") {
		t.Errorf("status %d, %v, unexpected %v", status, err, u)
	}
}
