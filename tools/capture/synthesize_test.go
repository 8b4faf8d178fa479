package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// written lists the runs of testdata/synthetic, by file.
var written = map[string]Synthesis{
	"cursor-agent/text-partial":        {Probe: "chat-text-success", Version: "2026.07.20-8cc9c0b"},
	"cursor-agent/text":                {Probe: "chat-text-success", Version: "2026.07.20-8cc9c0b", Profile: "no-partial"},
	"cursor-agent/tool-partial":        {Probe: "chat-tool-success", Version: "2026.07.20-8cc9c0b"},
	"cursor-agent/tool":                {Probe: "chat-tool-success", Version: "2026.07.20-8cc9c0b", Profile: "no-partial"},
	"cursor-agent/interrupted-partial": {Probe: "interrupted-or-malformed-stream", Version: "2026.07.20-8cc9c0b", ExitCode: 1},
	"cursor-agent/auth":                {Probe: "auth-missing", ExitCode: 1, Dialect: "cursor-agent"},
	"mimo/text":                        {Probe: "chat-text-success", Dialect: "opencode"},
	"mimo/tool":                        {Probe: "chat-tool-success", Dialect: "opencode"},
	"mimo/auth":                        {Probe: "auth-failure", Dialect: "opencode", ExitCode: 1},
	"amp/text":                         {Probe: "chat-text-success", Dialect: "amp"},
	"amp/tool":                         {Probe: "chat-tool-success", Dialect: "amp"},
	"amp/auth":                         {Probe: "auth-failure", Dialect: "amp", ExitCode: 1},
	"qoder/text":                       {Probe: "chat-text-success", Dialect: "qoder", Version: "0.2.6"},
	"qoder/auth":                       {Probe: "auth-expired", Dialect: "qoder", Version: "0.2.6", ExitCode: 1},
	"codebuddy/text":                   {Probe: "chat-text-success", Dialect: "claude"},
	"codebuddy/tool":                   {Probe: "chat-tool-success", Dialect: "claude"},
	"codebuddy/auth":                   {Probe: "auth-failure", Dialect: "claude", ExitCode: 1},
}

func readWritten(t *testing.T, name string) Synthesis {
	t.Helper()
	in := written[name]
	in.Agent, _, _ = strings.Cut(name, "/")
	in.Sources, in.At = []string{"https://example.com/format"}, now
	base := filepath.Join("testdata", "synthetic", filepath.FromSlash(name))
	var err error
	in.Stdout, err = os.ReadFile(base + ".jsonl")
	must(t, err)
	if b, err := os.ReadFile(base + ".stderr"); err == nil {
		in.Stderr = b
	}
	return in
}

// Every written run of the repository gives the fixture that its committed
// record names, and every such record comes from a run that is kept.
func TestCommittedSynthetic(t *testing.T) {
	committed, err := store.Open(filepath.Join("..", ".."))
	must(t, err)
	reg := newRegistry(t)
	made := map[contract.Digest]bool{}
	for name := range written {
		res, err := Synthesize(t.Context(), reg, readWritten(t, name))
		must(t, err)
		if res.Source == nil {
			t.Fatalf("%s: redaction %s: %s", name, res.Redaction, res.Problem)
		}
		x := res.Source.Extensions
		if failed := strings.HasSuffix(name, "auth") || strings.Contains(name, "interrupted"); failed != (x.RunResult == "failed") || failed != (res.ErrorCase != nil) {
			t.Errorf("%s: the run is %s", name, x.RunResult)
		}
		made[x.FixtureSHA256] = true
	}
	for _, s := range sources(t, committed) {
		if x := s.Extensions; x.Fault == "" && s.ValidityLevel == contract.LevelSyntheticMock {
			if !made[x.FixtureSHA256] {
				t.Errorf("%s comes from no run under testdata/synthetic", s.Path)
			}
			delete(made, x.FixtureSHA256)
		}
	}
	if len(made) > 0 {
		t.Errorf("%d written runs have no committed record", len(made))
	}
	if obs, err := reg.Observations(""); err != nil || len(obs) > 0 {
		t.Errorf("%d observations were written (%v)", len(obs), err)
	}
}

// The same run again finds its record.
func TestSynthesizeTwice(t *testing.T) {
	reg := newRegistry(t)
	in := readWritten(t, "mimo/auth")
	first, err := Synthesize(t.Context(), reg, in)
	must(t, err)
	before := content(t, reg)
	again, err := Synthesize(t.Context(), reg, in)
	must(t, err)
	if first.Known || !again.Known || again.Source.Extensions.Fixture == "" || len(content(t, reg)) != len(before) {
		t.Errorf("first known %v, again %v; %d files became %d", first.Known, again.Known, len(before), len(content(t, reg)))
	}
}

// A written run goes through redaction like a captured one.
func TestSynthesizeRedacts(t *testing.T) {
	reg := newRegistry(t)
	in := readWritten(t, "cursor-agent/auth")
	in.Stderr = append(in.Stderr, "someone.real"+"@corp-mail.net asked "+writtenHome+"/notes\n"...)
	_, err := Synthesize(t.Context(), reg, in)
	must(t, err)
	for place, text := range content(t, reg) {
		if strings.Contains(text, "someone.real") || strings.Contains(text, writtenHome) {
			t.Errorf("%s has what was to be redacted", place)
		}
	}
}
