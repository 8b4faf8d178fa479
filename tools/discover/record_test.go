package discover

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestUpdate(t *testing.T) {
	known := &contract.AgentsFile{Agents: []contract.Agent{{ID: "codex"}, {ID: "claude"}}}
	day := "2026-11-01T00:00:00Z"
	entry := func(agent, version, source string) contract.LatestSeenAgent {
		return contract.LatestSeenAgent{Agent: agent, Version: version, Source: source, SeenAt: day}
	}
	saw := func(version, source string, sources ...Source) Agent {
		v := version
		return Agent{Agent: "codex", LatestSeen: &v, Source: source, Sources: sources}
	}
	had := []contract.LatestSeenAgent{entry("codex", "0.171.0", "npm:@openai/codex")}
	for name, tt := range map[string]struct {
		old     []contract.LatestSeenAgent
		found   Agent
		changed bool
		version string
		source  string
		seenAt  string
	}{
		"first seen":                         {nil, saw("0.170.0", "npm:@openai/codex"), true, "0.170.0", "npm:@openai/codex", "now"},
		"the same again":                     {had, saw("0.171.0", "npm:@openai/codex"), false, "0.171.0", "npm:@openai/codex", day},
		"the same elsewhere":                 {had, saw("0.171.0", "github:openai/codex"), false, "0.171.0", "npm:@openai/codex", day},
		"newer":                              {had, saw("0.172.0", "github:openai/codex"), true, "0.172.0", "github:openai/codex", "now"},
		"another source is behind":           {had, saw("0.170.0", "homebrew:cask/codex", Source{Source: "npm:@openai/codex", Reason: "down"}), false, "0.171.0", "npm:@openai/codex", day},
		"its source takes it back":           {had, saw("0.170.0", "npm:@openai/codex", Source{Source: "npm:@openai/codex", Available: true}), true, "0.170.0", "npm:@openai/codex", "now"},
		"nobody answers":                     {had, Agent{Agent: "codex"}, false, "0.171.0", "npm:@openai/codex", day},
		"a prerelease is older than release": {had, saw("0.171.0-alpha.3", "vendor:x"), false, "0.171.0", "npm:@openai/codex", day},
	} {
		t.Run(name, func(t *testing.T) {
			old := contract.LatestSeen{SchemaVersion: 1, Agents: append([]contract.LatestSeenAgent{entry("claude", "2.1.0", "npm:x")}, tt.old...)}
			got, changed, err := Update(old, &Report{AsOf: "now", Agents: []Agent{tt.found}}, known)
			if err != nil {
				t.Fatal(err)
			}
			want := []contract.LatestSeenAgent{entry("claude", "2.1.0", "npm:x"), {Agent: "codex", Version: tt.version, Source: tt.source, SeenAt: tt.seenAt}}
			if d := cmp.Diff(want, got.Agents); d != "" || changed != tt.changed {
				t.Errorf("changed %v\n%s", changed, d)
			}
		})
	}
}
