package consume

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func committed(t testing.TB) (*store.Registry, []Contract) {
	t.Helper()
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Contracts(reg)
	if err != nil {
		t.Fatal(err)
	}
	return reg, all
}

// Every contract is about files that are there, and its golden has what it
// requires and allows.
func TestContractsOfTheRegistry(t *testing.T) {
	reg, all := committed(t)
	if len(all) < 50 {
		t.Fatalf("only %d contracts", len(all))
	}
	n := map[string]int{}
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.ID] {
			t.Errorf("%s is there twice", c.ID)
		}
		seen[c.ID] = true
		var golden struct {
			Events []struct {
				Type string `json:"type"`
			} `json:"events"`
		}
		if err := reg.ReadJSON(c.Golden, &golden); err != nil {
			t.Fatal(err)
		}
		have := map[string]int{}
		for _, e := range golden.Events {
			have[e.Type]++
		}
		for _, want := range c.RequiredDaemonEvents {
			if have[want] == 0 {
				t.Errorf("%s requires %s, which its golden does not have", c.ID, want)
			}
		}
		if have["raw"] != len(c.AllowedRawEvents) {
			t.Errorf("%s allows %d raw events, its golden has %d", c.ID, len(c.AllowedRawEvents), have["raw"])
		}
		if !reg.Exists(c.Fixture) || len(c.Versions) == 0 || len(c.Probes) == 0 || !c.ValidityLevel.SupportsClaim() {
			t.Errorf("%s is not complete", c.ID)
		}
		n["all"]++
		if c.Run != nil {
			n["run"]++
			n[c.Run.RuntimeDef.StreamFormat]++
			n["status "+c.Run.ExpectedRun.Status.Status]++
			if !reg.Exists(c.Run.PromptFile) {
				t.Errorf("%s has no prompt", c.ID)
			}
		}
	}
	b, _ := json.Marshal(n)
	t.Logf("%s", b)
	// One run at least of each way in which OpenDesign starts an agent that has
	// records at all.
	formats := map[string]bool{}
	for _, c := range all {
		if r, ok := opendesign.RuntimeOf(c.Agent); ok && c.Run != nil {
			formats[r.StreamFormat] = true
		}
	}
	for _, want := range []string{"json-event-stream", "claude-stream-json", "acp-json-rpc", "pi-rpc", "copilot-stream-json", "plain"} {
		if !formats[want] {
			t.Errorf("no run of the format %s", want)
		}
	}
}

// What a run says of stdin fits how it is written: a prompt is closed at once,
// and nothing else is.
func TestStdinOfRuns(t *testing.T) {
	_, all := committed(t)
	modes := map[contract.StdinMode]int{}
	for _, c := range all {
		if c.Run == nil {
			continue
		}
		mode, at := c.Run.RuntimeDef.StdinMode, c.Run.ExpectedRun.StdinClosedAt
		modes[mode]++
		switch mode {
		case contract.StdinText:
			if at == nil || *at != 0 {
				t.Errorf("%s: a prompt is closed at once", c.ID)
			}
		case contract.StdinNone, contract.StdinPromptFile:
			if at != nil {
				t.Errorf("%s: there is no stdin to close", c.ID)
			}
		default:
			if c.Run.WaitsForStdin && at == nil {
				t.Errorf("%s waits for a stdin that nobody closes", c.ID)
			}
		}
		if mode == contract.StdinJSONLOpen && c.Run.ExpectedRun.Status.Status == "succeeded" && !c.Run.ExpectedRun.TurnCompletedCleanly {
			t.Errorf("%s succeeded without a turn that ended well", c.ID)
		}
		if len(c.Run.ExpectedRun.Events) == 0 || !slices.Contains([]string{"succeeded", "failed", "canceled"}, c.Run.ExpectedRun.Status.Status) {
			t.Errorf("%s is not complete", c.ID)
		}
	}
	for _, m := range []contract.StdinMode{contract.StdinText, contract.StdinJSONLOpen, contract.StdinRPC} {
		if modes[m] == 0 {
			t.Errorf("no run with stdin %s", m)
		}
	}
}
