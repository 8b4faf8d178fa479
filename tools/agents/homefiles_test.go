package agents

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A probe's own HOME file stands in for the general one of the same path, and
// no other probe sees it.
func TestHomeFileOfAProbe(t *testing.T) {
	vars := testVars()
	agent := *registryAgents(t).Agent("codex")
	agent.HomeFiles = []contract.AgentHomeFile{
		{Path: "a.toml", Text: "general"},
		{Path: "b.toml", Text: "everybody's"},
		{Path: "a.toml", Probes: []string{"bad-config"}, Versions: ">=0.40.0", Text: "broken"},
		{Path: "c.toml", Probes: []string{"bad-config"}, Text: "more"},
	}
	general := []HomeFile{{"a.toml", "general"}, {"b.toml", "everybody's"}}
	for _, tt := range []struct {
		version, probe string
		want           []HomeFile
	}{
		{"0.171.0", "chat-text-success", general},
		{"0.171.0", "bad-config", []HomeFile{{"b.toml", "everybody's"}, {"a.toml", "broken"}, {"c.toml", "more"}}},
		{"0.30.0", "bad-config", append(general[:2:2], HomeFile{"c.toml", "more"})},
		{"0.171.0", contract.VersionProbeID, nil},
	} {
		v, err := ParseToken(&agent, tt.version)
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLaunch(&agent, v, tt.probe, contract.ProfileProduction, vars)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, l.HomeFiles); d != "" {
			t.Errorf("%s %s: %s", tt.version, tt.probe, d)
		}
	}
}
