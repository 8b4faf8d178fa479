package acpschema_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/acpschema"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// captured is a committed capture of a two-way run.
type captured struct {
	*contract.Observation
	frames     []frame
	deviations []contract.ACPDeviation
}

type frame struct {
	rawjson.Value
	ours bool
}

// find returns the captures of a release, the newest first, or fails the test
// with the command that makes one.
func find(t *testing.T, agent, version, probe, profile string) []*captured {
	t.Helper()
	reg, err := store.Open("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := reg.Observations(agent)
	if err != nil {
		t.Fatal(err)
	}
	var out []*captured
	for _, o := range slices.Backward(list) {
		if o.CLIVersion != version || o.Probe != probe || o.Extensions.Profile != profile || o.ProtocolFamily != contract.FamilyACP {
			continue
		}
		b, err := reg.ReadFile(o.Extensions.Fixture)
		if err != nil {
			t.Fatal(err)
		}
		run, err := transcript.ReadSanitized(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		c := &captured{Observation: &o.Observation, deviations: acpschema.Check(run)}
		for _, r := range run.Records {
			if v, err := rawjson.Parse(r.Frame); err == nil && r.Frame != nil {
				c.frames = append(c.frames, frame{v, r.Stream == transcript.Stdin})
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		t.Fatalf("no capture, profile %s: agent-contracts capture %s@%s --probe %s", profile, agent, version, probe)
	}
	return out
}

func (c *captured) deviates(frame, kind string) bool {
	return slices.ContainsFunc(c.deviations, func(d contract.ACPDeviation) bool {
		return d.By == acpschema.ByAgent && d.Frame == frame && d.Kind == kind
	})
}

// index returns the place of the first frame that fits, or -1.
func (c *captured) index(fits func(frame) bool) int { return slices.IndexFunc(c.frames, fits) }

// The quirks of real agents that a client has to live with, each on a capture
// of a release that has it. Some are races, which not every capture shows.
func TestQuirks(t *testing.T) {
	for _, q := range []struct {
		quirk, agent, version, probe, profile string
		holds                                 func(*captured) bool
	}{
		{"a vendor's request without an underscore is refused and the turn goes on", "qwen", "0.24.4", "chat-tool-success", "strict", func(c *captured) bool {
			asked := c.index(func(f frame) bool { return !f.ours && f.Get("method").IsStr("craft/drainMidTurnQueue") })
			return c.deviates("craft/drainMidTurnQueue", acpschema.KindUnknownMethod) && asked >= 0 && c.Extensions.RunResult == "success" &&
				slices.ContainsFunc(c.frames[asked:], func(f frame) bool { return f.ours && string(f.At("error", "code").Raw()) == "-32601" })
		}},
		{"notifications after the result", "kimi", "2.1.0", "chat-text-success", "strict", func(c *captured) bool {
			end := c.index(func(f frame) bool { return !f.ours && f.At("result", "stopReason").Exists() })
			return end >= 0 && slices.ContainsFunc(c.frames[end:], func(f frame) bool { return !f.ours && f.Get("method").Exists() && !f.Get("id").Exists() })
		}},
		{"a vendor's notification after the result", "qwen", "0.23.0", "mcp-injection", "acp", func(c *captured) bool {
			end := c.index(func(f frame) bool { return !f.ours && f.At("result", "stopReason").Exists() })
			return end >= 0 && slices.ContainsFunc(c.frames[end:], func(f frame) bool { return f.Get("method").IsStr("qwen/notify/session/prompt-suggestion") })
		}},
		{"ids of the agent that collide with the client's", "gemini", "0.61.0", "file-write-artifact", "strict", collides},
		{"ids of the agent that collide with the client's", "kimi", "2.1.0", "permission-request", "strict", collides},
		{"the prompt's result before its chunks", "opencode", "1.14.41", "chat-text-success", "strict", func(c *captured) bool {
			return c.deviates("session/update:agent_message_chunk", acpschema.KindLateUpdate)
		}},
		{"no tool_call after a question", "gemini", "0.61.0", "permission-request", "strict", func(c *captured) bool {
			return c.deviates("session/request_permission", acpschema.KindUnannouncedCall) &&
				c.index(func(f frame) bool { return f.At("params", "update", "sessionUpdate").IsStr("tool_call") }) < 0
		}},
		{"a new file is not written for a client that reads files", "gemini", "0.61.0", "file-write-artifact", "strict", func(c *captured) bool {
			refused := c.index(func(f frame) bool { return f.ours && f.At("error", "code").Exists() })
			return refused >= 0 && c.index(func(f frame) bool { return f.At("params", "update", "status").IsStr("failed") }) > refused
		}},
		{"a notice of the vendor's as a message of the agent", "claude-agent-acp", "0.101.0", "chat-text-success", "acp", func(c *captured) bool {
			return c.index(func(f frame) bool {
				u := f.At("params", "update")
				return u.Get("sessionUpdate").IsStr("agent_message_chunk") && u.At("_meta", "claudeCode", "kind").IsStr("informational")
			}) >= 0
		}},
		{"a release that wants a login, whatever provider is set", "kimi", "0.10.0", "chat-text-success", "production", wantsLogin},
		{"a release that wants a login, whatever provider is set", "copilot", "1.0.24", "chat-text-success", "acp", wantsLogin},
		{"no credential is a failed session", "gemini", "0.61.0", "auth-missing", "acp", wantsLogin},
		{"an error as a message, and the turn ends well", "codex-acp", "2.6.0", "auth-missing", "acp", falseEnd},
		{"a server of the client's is used", "claude-agent-acp", "0.101.0", "mcp-injection", "acp", usesServer},
		{"a server of the client's is used", "claude-agent-acp", "0.60.0", "mcp-injection", "acp", usesServer},
		{"a server of the client's is used", "qwen", "0.24.4", "mcp-injection", "acp", usesServer},
		{"a server of the client's is used", "codex-acp", "2.6.0", "mcp-injection", "acp", usesServer},
		{"an HTTP status for an error code", "gemini", "0.61.0", "auth-failure", "acp", func(c *captured) bool {
			return slices.ContainsFunc(c.deviations, func(d contract.ACPDeviation) bool { return d.Kind == acpschema.KindHTTPStatus })
		}},
		{"an error as a message, and the turn ends well", "copilot", "1.0.102", "auth-failure", "acp", falseEnd},
		{"an error as a message, and the turn ends well", "codex-acp", "2.6.0", "provider-failure", "acp", falseEnd},
		{"an agent that does not exit when its stdin ends", "codex-acp", "0.16.0", "chat-text-success", "strict", lingers},
		{"an agent that does not exit when its stdin ends", "claude-agent-acp", "0.23.1", "chat-text-success", "strict", lingers},
		{"a client that leaves out mcpServers is refused", "kimi", "2.1.0", "resume-session", "production", func(c *captured) bool {
			return c.Extensions.RunResult == "failed" && slices.ContainsFunc(c.deviations, func(d contract.ACPDeviation) bool {
				return d.By == acpschema.ByClient && d.Frame == "session/load" && d.Pointer == "/params/mcpServers"
			})
		}},
	} {
		t.Run(q.agent+" "+q.quirk, func(t *testing.T) {
			if all := find(t, q.agent, q.version, q.probe, q.profile); !slices.ContainsFunc(all, q.holds) {
				c := all[0]
				t.Errorf("%s %s %s (%s): run %s, reported %s, deviations %v", q.agent, q.version, q.probe, q.profile, c.Extensions.RunResult, c.Extensions.ReportedResult, c.deviations)
			}
		})
	}
}

func collides(c *captured) bool {
	return slices.ContainsFunc(c.deviations, func(d contract.ACPDeviation) bool {
		return d.By == acpschema.ByAgent && d.Kind == acpschema.KindSharedID
	})
}

func falseEnd(c *captured) bool {
	return c.Extensions.ReportedResult == "end_turn" && c.Extensions.RunResult == "failed"
}

// wantsLogin: the answer to session/new, the client's second request, is the
// protocol's error for a missing login.
func wantsLogin(c *captured) bool {
	return c.index(func(f frame) bool {
		return !f.ours && string(f.Get("id").Raw()) == "2" && string(f.At("error", "code").Raw()) == "-32000"
	}) >= 0
}

// usesServer: the client named a server, and a tool call of the turn succeeded.
func usesServer(c *captured) bool {
	named := c.index(func(f frame) bool { return f.ours && f.At("params", "mcpServers").Len() == 1 })
	return named >= 0 && c.index(func(f frame) bool { return !f.ours && f.At("params", "update", "status").IsStr("completed") }) > named
}

func lingers(c *captured) bool { return c.Extensions.EndReason == transcript.ReasonTerminated }

// Options are chosen by their kind: their ids differ from agent to agent.
func TestPermissionByKind(t *testing.T) {
	releases := [][2]string{{"opencode", "1.18.33"}, {"gemini", "0.61.0"}, {"qwen", "0.24.4"}, {"kimi", "2.1.0"}, {"copilot", "1.0.102"}, {"claude-agent-acp", "0.101.0"}, {"codex-acp", "2.6.0"}, {"codex-acp", "0.16.0"}}
	for probe, kind := range map[string]string{"permission-request": "allow_", "permission-rejected": "reject_"} {
		for _, r := range releases {
			t.Run(strings.Join(r[:], "@")+" "+probe, func(t *testing.T) {
				c := find(t, r[0], r[1], probe, "strict")[0]
				asked := c.index(func(f frame) bool { return !f.ours && f.Get("method").IsStr("session/request_permission") })
				if asked < 0 {
					t.Fatal("the agent asked nothing")
				}
				id := string(c.frames[asked].Get("id").Raw())
				answered := c.index(func(f frame) bool { return f.ours && !f.Get("method").Exists() && string(f.Get("id").Raw()) == id })
				if answered < 0 {
					t.Fatal("the question has no answer")
				}
				chosen := c.frames[answered].At("result", "outcome", "optionId").Str()
				for o := range c.frames[asked].At("params", "options").Children() {
					if o.Get("optionId").IsStr(chosen) && strings.HasPrefix(o.Get("kind").Str(), kind) {
						return
					}
				}
				t.Errorf("chose %q, which is no option of the kind %s…", chosen, kind)
			})
		}
	}
}
