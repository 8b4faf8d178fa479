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

// A launch that names a probe speaks for its own profile: the launches of
// another one still take what a HOME file tells.
func TestLaunchOfAProbeInAnotherProfile(t *testing.T) {
	agent := *registryAgents(t).Agent("codex")
	own := agent.Launches[len(agent.Launches)-1]
	own.Profile, own.Probes = contract.ProfileCompatible, []string{"bad-config"}
	agent.Launches = append([]contract.AgentLaunch{own}, agent.Launches...)
	v, err := ParseToken(&agent, "0.171.0")
	if err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[string]int{contract.ProfileProduction: 0, contract.ProfileCompatible: 1} {
		l, err := selectLaunch(&agent, v, "bad-config", profile)
		if err != nil || len(l.Probes) != want {
			t.Errorf("%s: %+v, %v", profile, l, err)
		}
	}
}
