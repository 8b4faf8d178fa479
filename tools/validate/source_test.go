package validate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// mocked is sample with one of its captures turned into source evidence, by
// agent, probe and all that follows from the fixture.
func mocked(t *testing.T) (files fstest.MapFS, place string, s *contract.SourceEvidence) {
	t.Helper()
	files = sample(t)
	reg := store.Embedded(files)
	obs, err := reg.Observations("codex")
	must(t, err)
	var o *store.Observed
	for i := range obs {
		if obs[i].Probe == "chat-tool-success" {
			o = &obs[i]
		}
	}
	if o == nil {
		t.Fatal("the committed registry has no chat-tool-success of codex 0.133.0")
	}
	x := &o.Extensions
	s = &contract.SourceEvidence{
		SchemaVersion: contract.SchemaVersion, Agent: o.Agent, ProtocolFamily: o.ProtocolFamily, ValidityLevel: contract.LevelSyntheticMock,
		SourceRefs: []string{"https://example.com/format"}, DerivedShape: o.Shape, DiscoveredAt: "2026-06-27T10:00:00.123Z", CLIVersion: o.CLIVersion,
		Extensions: contract.SourceEvidenceExtensions{
			Fixture: x.Fixture, FixtureSHA256: x.FixtureSHA256, Dialect: x.Dialect, Probe: o.Probe, Normalizer: x.Normalizer, Readers: x.Readers,
			ParserReplay: &o.ParserReplay, ReferenceGolden: x.ReferenceGolden, ReportedResult: x.ReportedResult, RunResult: x.RunResult,
		},
	}
	place = "evidence/codex/" + o.CLIVersion + "/unknown/2026-06-27T100000.123Z." + o.Probe + ".source-evidence.json"
	put(t, files, place, s)
	return files, place, s
}

// alone removes every observation, so that nothing but the source evidence
// names its files.
func alone(t *testing.T, files fstest.MapFS, s *contract.SourceEvidence) {
	t.Helper()
	keep := map[string]bool{s.DerivedShape.Path: true, s.Extensions.Fixture: true, s.Extensions.ReferenceGolden: true, s.Extensions.ParserReplay.Golden: true}
	for f := range files {
		switch root, _, _ := strings.Cut(f, "/"); root {
		case "observations", "errors", "shapes", "fixtures", "goldens":
			if !keep[f] {
				delete(files, f)
			}
		case "evidence":
			if !strings.HasSuffix(f, ".source-evidence.json") {
				delete(files, f)
			}
		}
	}
	var shape contract.Shape
	must(t, json.Unmarshal(files[s.DerivedShape.Path].Data, &shape))
	shape.ValidityLevel = contract.LevelSyntheticMock
	put(t, files, s.DerivedShape.Path, &shape)
	derive(t, files, store.Embedded(files))
	var agents contract.AgentsFile
	must(t, json.Unmarshal(files[store.AgentsFile].Data, &agents))
	for p := range agents.Agents[0].Coverage {
		agents.Agents[0].Coverage[p] = contract.ProbeCoverage{Status: contract.CoverageMissing, Reason: "a mock is no capture"}
	}
	put(t, files, store.AgentsFile, agents)
}

func problems(t *testing.T, files fstest.MapFS) []contract.Problem {
	t.Helper()
	r, err := Run(store.Embedded(files), nil)
	must(t, err)
	// The registry of the test has few of the captures that agents.json names.
	return slices.DeleteFunc(r.Problems, func(p contract.Problem) bool { return p.Code == "COVERAGE-UNTRUE" })
}

// Source evidence beside captures of the same shape, and alone with it.
func TestSourceEvidenceIsTrue(t *testing.T) {
	files, _, s := mocked(t)
	if ps := problems(t, files); len(ps) > 0 {
		t.Errorf("beside captures: %v", ps)
	}
	alone(t, files, s)
	if ps := problems(t, files); len(ps) > 0 {
		t.Errorf("alone: %v", ps)
	}
}

// Whatever a synthetic record says that its fixture does not show is found.
func TestSourceEvidenceIsDerived(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*contract.SourceEvidence)
		code   string
	}{
		"run result":    {func(s *contract.SourceEvidence) { s.Extensions.RunResult = "failed" }, "SRC-DERIVED"},
		"what it said":  {func(s *contract.SourceEvidence) { s.Extensions.ReportedResult = "x" }, "SRC-DERIVED"},
		"consumer":      {func(s *contract.SourceEvidence) { s.Extensions.ParserReplay.Status = contract.ReplayIncompatible }, "SRC-DERIVED"},
		"no golden":     {func(s *contract.SourceEvidence) { s.Extensions.ReferenceGolden = "" }, "SRC-DERIVED"},
		"other fixture": {func(s *contract.SourceEvidence) { s.Extensions.FixtureSHA256 = contract.Sum([]byte("x")) }, "REF-FILE-HASH"},
		"no dialect":    {func(s *contract.SourceEvidence) { s.Extensions.Dialect = "morse" }, "SRC-DERIVED"},
		"other time":    {func(s *contract.SourceEvidence) { s.DiscoveredAt = "2026-06-27T11:00:00Z" }, "FILE-PLACE"},
		"other probe":   {func(s *contract.SourceEvidence) { s.Extensions.Probe = "chat-text-success" }, "FILE-PLACE"},
	} {
		files, place, s := mocked(t)
		replay := *s.Extensions.ParserReplay
		s.Extensions.ParserReplay = &replay
		c.change(s)
		put(t, files, place, s)
		found := false
		for _, p := range problems(t, files) {
			found = found || p.Code == c.code && p.File == place
		}
		if !found {
			t.Errorf("%s: no %s", name, c.code)
		}
	}
}

// A shape that only source evidence has keeps its level.
func TestShapeOfSourceEvidence(t *testing.T) {
	files, _, s := mocked(t)
	alone(t, files, s)
	var shape contract.Shape
	must(t, json.Unmarshal(files[s.DerivedShape.Path].Data, &shape))
	shape.ValidityLevel = contract.LevelRuntimeObserved
	put(t, files, s.DerivedShape.Path, &shape)
	ps := problems(t, files)
	if len(ps) != 1 || ps[0].Code != "SHAPE-DERIVED" || ps[0].Pointer != "/validity_level" {
		t.Errorf("problems %v", ps)
	}
}
