package capture

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// A second shape of one version is a variant of a server or a dispute, however
// well the shape is known from elsewhere; it is so once, not with each repeat.
func TestSecondShapeOfAVersion(t *testing.T) {
	reg := newRegistry(t)
	a := agent(t, reg, "codex")
	families, err := reg.Families()
	must(t, err)
	type seen struct {
		version, shape string
		live           bool
		verdict        contract.Verdict
		disputed       bool
	}
	same, fresh, variant := contract.VerdictSameShape, contract.VerdictCompatibleNewShape, contract.VerdictServerVariant
	for name, list := range map[string][]seen{
		"one shape":                {{"0.1.0", "S", false, fresh, false}, {"0.1.0", "S", false, same, false}, {"0.2.0", "S", false, same, false}},
		"a new one, emulated":      {{"0.1.0", "S", false, fresh, false}, {"0.1.0", "T", false, fresh, true}, {"0.1.0", "T", false, same, false}},
		"a new one, live":          {{"0.1.0", "S", true, fresh, false}, {"0.1.0", "T", true, variant, false}, {"0.1.0", "T", true, same, false}},
		"known elsewhere":          {{"0.1.0", "S", false, fresh, false}, {"0.2.0", "T", false, fresh, false}, {"0.1.0", "T", false, same, true}},
		"known elsewhere, live":    {{"0.1.0", "S", true, fresh, false}, {"0.2.0", "T", true, fresh, false}, {"0.1.0", "T", true, variant, false}},
		"known elsewhere, later":   {{"0.1.0", "S", false, fresh, false}, {"0.2.0", "S", false, same, false}, {"0.2.0", "T", false, fresh, true}},
		"another version's change": {{"0.1.0", "S", false, fresh, false}, {"0.2.0", "T", false, fresh, false}, {"0.3.0", "S", false, same, false}},
	} {
		t.Run(name, func(t *testing.T) {
			k, s := knowing()
			for i, x := range list {
				got := k.judge(reg, a, judged{scope: s, version: x.version, shape: stubShape(x.shape), dialect: families.Dialect("codex"), replay: contract.ReplayCompatible, live: x.live})
				if got.Verdict != x.verdict || got.Disputed != x.disputed || got.Known != (x.verdict == same || x.verdict == variant && i == 2 && name == "known elsewhere, live") {
					t.Errorf("capture %d, %s of %s: %+v", i+1, x.shape, x.version, got)
				}
			}
		})
	}
}

// A new shape that the consumer reads without a loss against the reference is not
// compatible when it no longer shows what it showed of the release before: a merge
// job would call it one that the consumer understands.
func TestLossOfWhatTheReleaseBeforeGave(t *testing.T) {
	reg := newRegistry(t)
	families, err := reg.Families()
	must(t, err)
	golden := func(events string) string {
		return `{"schema_version":1,"adapter":"open-design-parser","dialect":"codex","status":"ok","events":[` + events + `],"reading":{"run_result":"success"}}` + "\n"
	}
	text := `{"type":"text_delta","delta":"done"}`
	before := result("0.1.0", "S", "one")
	before.Goldens[AdapterOpenDesign] = golden(text)
	must(t, publish(t.Context(), reg, []*CellResult{before}, retained([]*CellResult{before}), nil))
	for events, want := range map[string]contract.Verdict{"": contract.VerdictParserIncompatible, text: contract.VerdictCompatibleNewShape} {
		known, err := loadKnowledge(reg)
		must(t, err)
		reading := &replay.Golden{}
		must(t, json.Unmarshal([]byte(golden(events)), reading))
		got := known.judge(reg, agent(t, reg, "codex"), judged{
			scope: scopeOf(before.Cell), version: "0.2.0", shape: stubShape("T"), dialect: families.Dialect("codex"), replay: contract.ReplayCompatible, reading: reading,
		})
		if got.Verdict != want || got.Baseline != "0.1.0" {
			t.Errorf("the consumer shows %q: %s against %s", events, got.Verdict, got.Baseline)
		}
	}
}

// published puts a run's records into a registry, as a capture at that time.
func published(t *testing.T, reg *store.Registry, version, shape, text string, after time.Duration) {
	t.Helper()
	r := result(version, shape, text)
	r.Cell.Probe, r.Observation.Probe = "chat-tool-success", "chat-tool-success" // the agent's representative probe
	r.Observation.Capture.CapturedAt = now.Add(after).Format(capturedAtLayout)
	must(t, publish(t.Context(), reg, []*CellResult{r}, retained([]*CellResult{r}), func(tx *store.Transaction, added []store.Observed) error {
		return matrix.Refresh(reg, tx, added)
	}))
}

// The records of a contradiction stand beside each other, the claim goes to
// unknown, and the capture that agrees with one of them decides.
func TestContradictionIsNoOverwrite(t *testing.T) {
	reg := newRegistry(t)
	published(t, reg, "0.133.0", "S", "one", 0)
	base := newRegistry(t)
	must(t, os.CopyFS(filepath.Join(base.Dir(), "added"), os.DirFS(reg.Dir())))
	trusted, err := store.Open(filepath.Join(base.Dir(), "added"))
	must(t, err)

	published(t, reg, "0.133.0", "T", "two", time.Hour)
	status := func() (contract.SupportStatus, string) {
		m := &contract.SupportMatrix{}
		must(t, reg.ReadJSON(matrix.Path, m))
		if len(m.Agents) != 1 {
			t.Fatalf("%d entries", len(m.Agents))
		}
		return m.Agents[0].SupportStatus, strings.Join(m.Agents[0].Notes, "\n")
	}
	if s, notes := status(); s != contract.SupportUnknown || notes == "" {
		t.Errorf("two shapes of one version: %s, notes %q", s, notes)
	}
	added, judgements, err := Added(trusted, reg)
	must(t, err)
	if len(added) != 1 || judgements[0].Verdict != contract.VerdictCompatibleNewShape || !judgements[0].Disputed {
		t.Errorf("%+v", judgements)
	}
	for _, was := range []string{"observations", "shapes", "fixtures", "goldens"} {
		files, err := trusted.Walk(was, "")
		must(t, err)
		for _, f := range files {
			before, err := trusted.ReadFile(f)
			must(t, err)
			if after, err := reg.ReadFile(f); err != nil || string(after) != string(before) {
				t.Errorf("%s was changed by a capture that contradicts it: %v", f, err)
			}
		}
	}
	published(t, reg, "0.133.0", "T", "three", 2*time.Hour)
	if s, notes := status(); s != contract.SupportVersionRangeVerified {
		t.Errorf("two of three captures agree: %s, notes %q", s, notes)
	}
	if _, judgements, err = Added(trusted, reg); err != nil || len(judgements) != 2 || judgements[1].Disputed {
		t.Errorf("%+v, %v", judgements, err)
	}
}
