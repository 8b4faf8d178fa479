package agentcontracts_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
)

// What a daemon asks before it starts a CLI.
func ExampleSupport_ClassifyInstalledCLI() {
	s := agentcontracts.Embedded()
	claim := s.ClassifyInstalledCLI("no-such-agent", "1.0.0", "linux-x64", nil)
	fmt.Println(claim.Status, claim.Policy.AllowRun, claim.Policy.UserAction)
	// Output: unknown warn run_local_probe
}

// A registry of one's own, in memory: a floor that people set.
func ExampleOpen() {
	s, err := agentcontracts.Open(fstest.MapFS{
		"registry/agents.json": {Data: []byte(`{"schema_version": 1, "agents": [{"id": "mine", "name": "Mine", "tier": 2}]}`)},
		"registry/support-matrix.json": {Data: []byte(`{"schema_version": 1, "generated_at": "2026-01-01T00:00:00Z", "agents": [
			{"agent": "mine", "version_ranges": ["<1.0.0"], "platforms": ["linux-x64"], "protocol_families": ["plain/v1"],
			 "support_status": "too_old", "extensions": {"reason": "it has no JSON output"}}]}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := s.ClassifyInstalledCLI("mine", "0.9.0", "linux-x64", nil)
	fmt.Println(claim.Status, claim.Answer(), claim.Why()[0])
	fmt.Println(s.IsOlderThanMinSupported("mine", "1.0.0", "linux-x64"))
	// Output:
	// too_old no it has no JSON output
	// false
}

// The response for programs is the specification's AgentCliCompatibilityResponse.
func ExampleRespond() {
	claim := agentcontracts.Embedded().ClassifyInstalledCLI("codex", "", "linux-x64", nil)
	r := agentcontracts.Respond(claim, "2026-06-27T10:00:00Z")
	fmt.Println(r.Agent, r.InstalledVersion == nil, r.Status, r.Evidence.Source)
	// Output: codex true unknown none
}

// The committed matrix answers: each captured version has the status of its
// entry, and what is asked of it agrees.
func TestEmbedded(t *testing.T) {
	s := agentcontracts.Embedded()
	verified := 0
	for _, agent := range s.Agents() {
		e := s.FindSupportEntry(agent, "0.133.0", "linux-x64")
		c := s.ClassifyInstalledCLI(agent, "0.133.0", "linux-x64", nil)
		if c.Entry != e {
			t.Errorf("%s: the claim and the entry differ", agent)
		}
		if c.Observed {
			verified++
		}
	}
	if verified == 0 {
		t.Error("nothing of version 0.133.0 was captured")
	}
}

// The bar is 1 µs a look-up.
func BenchmarkClassifyInstalledCLI(b *testing.B) {
	s := agentcontracts.Embedded()
	for name, version := range map[string]string{"captured": "0.133.0", "newer": "99.0.0", "unknown": "x"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.ClassifyInstalledCLI("codex", version, "linux-x64", nil)
			}
		})
	}
}
