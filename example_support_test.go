package agentcontracts_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
)

// What a daemon asks before it starts a CLI.
func ExampleSupport_Classify() {
	s := agentcontracts.Embedded()
	claim := s.Classify("no-such-agent", "1.0.0", "linux-x64", nil)
	fmt.Println(claim.Status, claim.Policy.AllowRun, claim.Policy.UserAction)
	// Output: unknown warn run_local_probe
}

// What is known not to work is not started to find out more.
func ExampleSupport_ClassifyInstalledCLI() {
	s := mine()
	asked := func(_ context.Context, agent string) (*agentcontracts.Probed, error) {
		fmt.Println("probing", agent)
		return &agentcontracts.Probed{Done: true, At: "2026-06-27T10:00:00Z"}, nil // a run without a shape
	}
	for _, version := range []string{"0.9.0", "1.0.0"} {
		claim, err := s.ClassifyInstalledCLI(context.Background(), "mine", version, "linux-x64", asked)
		fmt.Println(claim.Status, claim.Policy.AllowRun, err)
	}
	// Output:
	// too_old block <nil>
	// probing mine
	// active_shape_unknown warn <nil>
}

func mine() *agentcontracts.Support {
	s, err := agentcontracts.Open(fstest.MapFS{
		"registry/agents.json": {Data: []byte(`{"schema_version": 1, "agents": [{"id": "mine", "name": "Mine", "tier": 2}]}`)},
		"registry/support-matrix.json": {Data: []byte(`{"schema_version": 1, "generated_at": "2026-01-01T00:00:00Z", "agents": [
			{"agent": "mine", "version_ranges": ["<1.0.0"], "platforms": ["linux-x64"], "protocol_families": ["plain/v1"],
			 "support_status": "too_old", "extensions": {"reason": "it has no JSON output"}}]}`)},
	})
	if err != nil {
		panic(err)
	}
	return s
}

// A registry of one's own: a floor that people set.
func ExampleOpen() {
	s, err := agentcontracts.Open(fstest.MapFS{
		"registry/agents.json": {Data: []byte(`{"schema_version": 1, "agents": [{"id": "mine", "name": "Mine", "tier": 2}]}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Agents(), s.FindSupportEntry("mine", "1.0.0", "linux-x64") == nil)
	claim := mine().Classify("mine", "0.9.0", "linux-x64", nil)
	fmt.Println(claim.Status, claim.Answer(), claim.Why()[0])
	// Output:
	// [mine] true
	// too_old no it has no JSON output
}

// The response for programs is the specification's AgentCliCompatibilityResponse.
func ExampleRespond() {
	claim := agentcontracts.Embedded().Classify("codex", "", "linux-x64", nil)
	r := agentcontracts.Respond(claim, "2026-06-27T10:00:00Z")
	fmt.Println(r.Agent, r.InstalledVersion == nil, r.Status, r.Evidence.Source)
	// Output: codex true unknown none
}

// The questions of the specification's classifyInstalledCli, one by one.
func ExampleSupport_IsOlderThanMinSupported() {
	s := mine()
	fmt.Println(s.IsOlderThanMinSupported("mine", "0.9.0", "linux-x64"), s.IsOlderThanMinSupported("mine", "1.0.0", ""))
	fmt.Println(s.IsKnownBreaking("mine", "0.9.0", "linux-x64"), s.IsNewerThanLatestVerified("mine", "9.0.0"))
	fmt.Println(s.FindSupportEntry("mine", "0.9.0", "linux-x64").VersionRanges)
	// Output:
	// true false
	// false false
	// [<1.0.0]
}

// The consistency test of a program that starts agents.
func ExampleSupport_CheckCoverage() {
	c := agentcontracts.Embedded().CheckCoverage([]string{"codex", "mine", "other"}, map[string]string{"mine": "a private agent"})
	fmt.Println(c.OK, c.Covered, c.Exempt, c.Missing)
	// Output: false [codex] [{mine a private agent consumer}] [{other the registry does not know it}]
}

// The committed matrix answers: each captured version has the status of its
// entry, and what is asked of it agrees.
func TestEmbedded(t *testing.T) {
	s := agentcontracts.Embedded()
	verified := 0
	for _, agent := range s.Agents() {
		e := s.FindSupportEntry(agent, "0.133.0", "linux-x64")
		c := s.Classify(agent, "0.133.0", "linux-x64", nil)
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
				s.Classify("codex", version, "linux-x64", nil)
			}
		})
	}
}
