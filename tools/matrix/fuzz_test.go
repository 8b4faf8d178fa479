package matrix

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A matrix that somebody edited and a version that somebody typed give an
// answer or an error, and an answer has one of the three words.
func FuzzIndex(f *testing.F) {
	committed, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(Path)))
	if err != nil {
		f.Fatal(err)
	}
	m := &contract.SupportMatrix{}
	if err := json.Unmarshal(committed, m); err != nil {
		f.Fatal(err)
	}
	for _, e := range m.Agents[:min(3, len(m.Agents))] {
		e.Agent = "a"
		b, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "0.133.0")
	}
	f.Add([]byte(`{"agent": "a", "version_ranges": ["<2", "~1.2 || ^3"], "platforms": ["linux-x64"], "support_status": "too_old"}`), "1.0-rc.1")
	f.Add([]byte(`{"agent": "a", "version_ranges": [">=1.0.0 <=0.1.0"], "platforms": ["linux-x64"], "observed_shapes": [{"extensions": {"probe": "chat-text-success", "versions": ["x"]}}]}`), "2025.11.06-8fe8a63")
	policy := &contract.Policy{Agents: []contract.AgentPolicy{{Agent: "a", Overrides: []contract.PolicyOverride{{VersionRanges: []string{">1"}, AllowRun: contract.AllowRunBlock, Scope: contract.Scope{ProtocolFamilies: []contract.ProtocolFamily{contract.FamilyEvents}}}}}}}
	f.Fuzz(func(t *testing.T, entry []byte, version string) {
		var e contract.MatrixEntry
		if json.Unmarshal(entry, &e) != nil {
			return
		}
		x, err := NewIndex(&contract.SupportMatrix{Agents: []contract.MatrixEntry{e}}, agentsFile(), policy)
		if err != nil {
			return
		}
		for _, probe := range []Probed{{}, {Done: true, Shape: "sha256:0"}} {
			c, err := x.Classify("a", version, "linux-x64", probe)
			if err != nil {
				return
			}
			if w := c.Answer(); w != AnswerYes && w != AnswerNo && w != AnswerCannotKnow {
				t.Errorf("answer %q", w)
			}
			c.Why()
			c.Next("linux-x64")
		}
	})
}
