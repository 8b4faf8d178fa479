package capture

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// faulty is result for a run with a fault.
func faulty(version, shape, text string) *CellResult {
	r := result(version, shape, text)
	o := r.Observation
	r.Observation, r.Shape.ValidityLevel = nil, contract.LevelSyntheticMock
	r.Source = &contract.SourceEvidence{
		SchemaVersion: contract.SchemaVersion, Agent: o.Agent, ProtocolFamily: o.ProtocolFamily, ValidityLevel: contract.LevelSyntheticMock,
		SourceRefs: []string{"probes/partial-line/scenario.json"}, CLIVersion: version,
		DerivedShape: o.Shape, DiscoveredAt: o.Capture.CapturedAt,
		Extensions: contract.SourceEvidenceExtensions{
			FixtureSHA256: o.Extensions.FixtureSHA256, Dialect: "codex", Probe: "partial-line", Fault: contract.FaultPartialLine,
			Platform: o.Platform, Profile: contract.ProfileProduction, ParserReplay: &contract.ParserReplay{Status: contract.ReplayCompatible},
		},
	}
	r.Shape.Extensions.Dialect = "codex-by-hand"
	return r
}

func sources(t *testing.T, reg *store.Registry) []store.Sourced {
	t.Helper()
	list, err := reg.SourceEvidence("")
	must(t, err)
	return list
}

func shapeFile(t *testing.T, reg *store.Registry, r *CellResult) (contract.Shape, string) {
	t.Helper()
	b, err := reg.ReadFile(r.Shape.Path())
	must(t, err)
	var s contract.Shape
	must(t, json.Unmarshal(b, &s))
	return s, string(b)
}

// A run with a fault is published without an observation and without evidence
// of a capture, and publishing it again after a crash changes nothing.
func TestPublishSynthetic(t *testing.T) {
	reg := newRegistry(t)
	state, err := json.Marshal(faulty("0.133.0", "s", "a"))
	must(t, err)
	for range 2 {
		var r CellResult // as a resumed run reads it from its state
		must(t, json.Unmarshal(state, &r))
		must(t, publish(t.Context(), reg, []*CellResult{&r}, nil, func(*store.Transaction, []store.Observed) error {
			t.Error("synthetic work changes a claim")
			return nil
		}))
		if r.Source.Extensions.Fixture == "" {
			t.Error("the report does not say what the registry says")
		}
	}
	got := sources(t, reg)
	if len(got) != 1 {
		t.Fatalf("%d records, want 1", len(got))
	}
	x := got[0].Extensions
	for _, place := range []string{got[0].DerivedShape.Path, x.Fixture, x.ReferenceGolden, x.ParserReplay.Golden} {
		if !reg.Exists(place) {
			t.Errorf("%q is not there", place)
		}
	}
	for place := range content(t, reg) {
		if strings.HasPrefix(place, "observations/") || strings.HasSuffix(place, ".evidence.json") {
			t.Errorf("%s was written", place)
		}
	}
}

// Two runs in one millisecond are two records.
func TestPublishSyntheticSameMillisecond(t *testing.T) {
	reg := newRegistry(t)
	must(t, publish(t.Context(), reg, []*CellResult{faulty("0.133.0", "s", "a"), faulty("0.133.0", "s", "b")}, nil, nil))
	got := sources(t, reg)
	if len(got) != 2 || got[0].DiscoveredAt == got[1].DiscoveredAt {
		t.Fatalf("%d records, want 2 at two times", len(got))
	}
	for _, s := range got {
		if !strings.Contains(s.Path, strings.ReplaceAll(s.DiscoveredAt, ":", "")) {
			t.Errorf("%s was discovered at %s", s.Path, s.DiscoveredAt)
		}
	}
}

// A shape that only a mock had belongs to the first capture that sees it; one
// that was captured is no mock's business any more (docs/decisions/0001).
func TestShapeOfMockAndOfCapture(t *testing.T) {
	for name, order := range map[string][]*CellResult{
		"mock first":      {faulty("0.133.0", "s", "a"), result("0.133.0", "s", "b")},
		"capture first":   {result("0.133.0", "s", "b"), faulty("0.133.0", "s", "a")},
		"mock, then both": {faulty("0.133.0", "s", "a"), result("0.133.0", "s", "b"), faulty("0.133.0", "s", "c")},
	} {
		for _, together := range []bool{true, false} {
			reg := newRegistry(t)
			if together {
				must(t, publish(t.Context(), reg, order, retained(order), nil))
			} else {
				for _, r := range order {
					one := []*CellResult{r}
					must(t, publish(t.Context(), reg, one, retained(one), nil))
				}
			}
			s, _ := shapeFile(t, reg, order[0])
			if s.ValidityLevel != contract.LevelRuntimeObserved || s.Extensions.Dialect != "" || s.Signature != order[0].Shape.Signature {
				t.Errorf("%s: the shape has level %s and dialect %q", name, s.ValidityLevel, s.Extensions.Dialect)
			}
		}
	}
	reg := newRegistry(t)
	mocks := []*CellResult{faulty("0.133.0", "s", "a"), faulty("0.134.0", "s", "b")}
	must(t, publish(t.Context(), reg, mocks, nil, nil))
	if s, _ := shapeFile(t, reg, mocks[0]); s.ValidityLevel != contract.LevelSyntheticMock {
		t.Errorf("a shape of mocks only has level %s", s.ValidityLevel)
	}
}

// What a mock has shown is known to the next run of it, and to nothing else.
func TestKnowledgeOfMocks(t *testing.T) {
	reg := newRegistry(t)
	r := faulty("0.133.0", "s", "a")
	must(t, publish(t.Context(), reg, []*CellResult{r}, nil, nil))
	k, err := loadKnowledge(reg)
	must(t, err)
	cell := r.Cell
	if cell.Probe = "partial-line"; !k.has(scopeOf(cell), r.Shape.Signature) {
		t.Error("the shape is not known")
	}
	if cell.Probe = "chat-text-success"; k.has(scopeOf(cell), r.Shape.Signature) {
		t.Error("a capture knows the shape of a mock")
	}
}

func TestReportOfSynthetic(t *testing.T) {
	r := faulty("0.133.0", "s", "a")
	r.Known = false
	r.Source.Extensions.RunResult = "failed"
	report := Report{Results: []*CellResult{r}}
	if row := r.Row(); row[2] != "chat-text-success (synthetic)" || row[6] != "failed" || row[7] != "compatible" {
		t.Errorf("row %q", row)
	}
	if got := r.Summary(); got != "new shape (same_shape), run failed, synthetic" {
		t.Errorf("summary %q", got)
	}
	if d := report.Details(); len(d) != 1 || !strings.Contains(d[0], "synthetic: a fault (partial_line) changed the run") {
		t.Errorf("details %q", d)
	}
	if code := report.ExitCode(false); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.Violations = []contract.ContractViolation{{Path: "/constraints/0", Expected: "x", Actual: "y"}}
	if code := report.ExitCode(false); code != 1 {
		t.Errorf("exit code %d for a broken expectation", code)
	}
}

// Plain text has no frame to break; where it ends early it can still be cut.
func TestFaultsOfPlainText(t *testing.T) {
	reg := newRegistry(t)
	qwen := agent(t, reg, "qwen")
	for probe, planned := range map[string]bool{"malformed-json": false, "unknown-event": false, "partial-line": true, "exit-without-output": true, "chat-text-success": true} {
		why, err := faultless(reg, qwen, Cell{Agent: "qwen", Version: "0.24.4", Probe: probe, Profile: contract.ProfileProduction})
		must(t, err)
		if planned != (why == "") {
			t.Errorf("%s: %q", probe, why)
		}
		if why, err = faultless(reg, qwen, Cell{Agent: "qwen", Version: "0.24.4", Probe: probe, Profile: contract.ProfileCompatible}); err != nil || why != "" {
			t.Errorf("%s as a stream: %q, %v", probe, why, err)
		}
	}
}
