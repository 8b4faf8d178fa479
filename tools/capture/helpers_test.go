package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// now is the time of every test.
var now = time.Date(2026, 6, 27, 10, 0, 0, 123e6, time.UTC)

// newRegistry returns a registry with the repository's agents, families,
// vocabulary and probes, and no record.
func newRegistry(t *testing.T) *store.Registry {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"registry", "probes"} {
		must(t, os.CopyFS(filepath.Join(dir, d), os.DirFS(filepath.Join("..", "..", d))))
	}
	must(t, os.RemoveAll(filepath.Join(dir, "registry", "support-matrix.json"))) // it names records
	r, err := store.Open(dir)
	must(t, err)
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func agent(t *testing.T, reg *store.Registry, id string) *contract.Agent {
	t.Helper()
	file, err := loadAgents(reg)
	must(t, err)
	a := file.Agent(id)
	if a == nil {
		t.Fatalf("no agent %q", id)
	}
	return a
}

// result is the outcome of a cell whose fixture holds the text, with a shape of
// that name.
func result(version, shape, text string) *CellResult {
	fixture := `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"` + text + `\n"}` + "\n"
	s := stubShape(shape)
	c := Cell{ID: version + "." + text, Group: "codex@" + version, Agent: "codex", Version: version, Probe: "chat-text-success", Profile: contract.ProfileProduction, Repeat: 1}
	o := &contract.Observation{
		SchemaVersion: contract.SchemaVersion, Agent: c.Agent, CLIVersion: version, Platform: contract.HostPlatform(), Probe: c.Probe,
		ProtocolFamily: s.ProtocolFamily, ValidityLevel: contract.LevelRuntimeObserved, Shape: contract.ShapeRef{Signature: s.Signature, Path: s.Path()},
		Install: contract.ObservationInstall{Source: "npm:x@" + version}, Command: contract.ObservationCommand{ArgvTemplate: []string{}, StdinMode: contract.StdinNone},
		Capture:      contract.ObservationCapture{CapturedAt: now.Format(capturedAtLayout), Runner: "test", RawClientTranscriptSHA256: contract.Sum([]byte(text)), RawArtifactVisibility: "private"},
		Redaction:    contract.ObservationRedaction{ToolVersion: redactVersion, Status: contract.RedactionPassed},
		ParserReplay: contract.ParserReplay{Status: contract.ReplayCompatible},
	}
	o.Extensions = contract.ObservationExtensions{
		Provider: contract.ProviderEmulated, Profile: c.Profile, Launcher: "native", ProbeRevision: contract.Sum(nil), Dialect: "codex", VersionOutput: version,
		FixtureSHA256: contract.Sum([]byte(fixture)), Normalizer: "1.0.0", Readers: "test", Ended: "exit", StderrDetail: "none", RunResult: "success",
		Pinned: contract.Pinned{Model: "m", ProviderAPI: "openai-responses", TimeoutMS: 1},
	}
	return &CellResult{
		Cell: c, Observation: o, Shape: s, Fixture: fixture, Redaction: contract.RedactionPassed, Verdict: contract.VerdictSameShape, Known: true,
		Goldens: map[string]string{AdapterOpenDesign: "{}\n", AdapterReference: "{}\n"},
	}
}

// stubShape is a valid shape whose signature depends on the name.
func stubShape(name string) *contract.Shape {
	s := &contract.Shape{
		SchemaVersion: contract.SchemaVersion, ProtocolFamily: contract.FamilyEvents, ValidityLevel: contract.LevelRuntimeObserved, Transport: contract.TransportJSONL,
		FrameCount: 1, EventTypes: []string{name}, StderrClass: "none", Exit: contract.ExitSuccess,
		FrameShapes: []contract.FrameShape{{Direction: "cli->server", Stream: "stdout", EventType: name, Paths: []contract.PathShape{}, Enums: map[string][]contract.Literal{}}},
	}
	s.Extensions.Sequence = []contract.SeqItem{{}}
	sig, err := s.ComputeSignature()
	if err != nil {
		panic(err)
	}
	s.Signature = sig
	return s
}

// retained says that the raw bundles of the results are in the private store.
func retained(results []*CellResult) map[contract.Digest]private.Meta {
	out := map[contract.Digest]private.Meta{}
	for _, r := range results {
		if r.Observation != nil {
			raw := r.Observation.Capture.RawClientTranscriptSHA256
			out[raw] = private.Meta{SHA256: raw, Bytes: 1, RetainUntil: now.Add(private.Retention)}
		}
	}
	return out
}
