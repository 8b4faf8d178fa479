package capture

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Synthesis is a run that somebody wrote down instead of capturing it, for an
// agent that cannot run here.
type Synthesis struct {
	Agent, Probe string
	// Version is the release that the sources are about; "" if they do not say.
	Version string
	// Dialect is an id of registry/families.json; "" guesses from the bytes.
	Dialect string
	// Sources are URLs, commits or file paths that tell of the format. Never empty.
	Sources        []string
	Stdout, Stderr []byte
	ExitCode       int
	// Profile is the argv profile that the run stands for; "" means production.
	Profile string
	Note    string
	At      time.Time
}

// Synthesize publishes the source-evidence record of a written run, at level
// synthetic_mock, with everything that follows from it: fixture, shape, goldens
// and, if the run failed, an error case. A run that the registry has already,
// byte for byte, is found and not written again.
func Synthesize(ctx context.Context, reg *store.Registry, in Synthesis) (*CellResult, error) {
	agent, families, err := in.check(reg)
	if err != nil {
		return nil, err
	}
	probe, err := LoadProbe(reg, in.Probe)
	if err != nil {
		return nil, err
	}
	redactor, err := loadRedactor(reg, families)
	if err != nil {
		return nil, err
	}
	raw := in.transcript()
	d, err := in.dialect(agent, families, raw)
	if err != nil {
		return nil, err
	}
	res := &CellResult{Cell: Cell{Agent: agent.ID, Version: in.Version, Probe: probe.ID, Profile: in.Profile, Group: agent.ID + "@" + in.Version, ID: agent.ID + "." + probe.ID}, Goldens: map[string]string{}}
	clean, err := sanitizeAs(families, redactor, raw, d, agent.ID, redact.Input{
		Dialect: d.ID, Hermetic: true, ScenarioTexts: probe.Scenario.Texts(), Prompt: probe.Prompt,
		Cwd: writtenCwd, Home: writtenHome, TempDir: writtenTmp, PromptOnStdin: true,
	})
	if err != nil {
		return nil, err
	}
	res.Redaction, res.Problem = clean.status, clean.why
	if clean.status != contract.RedactionPassed {
		return res, nil
	}
	in.conclude(res, clean.derived, probe)
	if res.Known, err = in.known(reg, res); err != nil || res.Known {
		return res, err
	}
	return res, publish(ctx, reg, []*CellResult{res}, nil, nil)
}

// The folders that a written transcript calls its working folder, home and
// folder for temporary files.
const (
	writtenCwd  = "/workspace"
	writtenHome = "/home/user"
	writtenTmp  = "/tmp/run"
)

func (in *Synthesis) check(reg *store.Registry) (*contract.Agent, *contract.Families, error) {
	file, err := loadAgents(reg)
	if err != nil {
		return nil, nil, err
	}
	a, err := agents.Find(file, in.Agent)
	if err != nil {
		return nil, nil, err
	}
	in.Version = cmp.Or(in.Version, contract.UnknownVersion)
	in.Profile = cmp.Or(in.Profile, contract.ProfileProduction)
	families, err := reg.Families()
	return a, families, err
}

// transcript is what a recorder would have made of the run.
func (in *Synthesis) transcript() *transcript.Transcript {
	t := &transcript.Transcript{Records: []transcript.Record{
		{Dir: transcript.Process, Event: transcript.EventSpawn},
		{Dir: transcript.ServerToCLI, Stream: transcript.Stdin, DataRef: "prompt"},
	}}
	for _, s := range []struct {
		stream transcript.Stream
		text   []byte
	}{{transcript.Stdout, in.Stdout}, {transcript.Stderr, in.Stderr}} {
		for line := range bytes.Lines(s.text) {
			t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: s.stream, Data: line, Deviations: transcript.ByteDeviations(line)})
		}
	}
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &in.ExitCode})
	return t
}

func (in *Synthesis) dialect(a *contract.Agent, f *contract.Families, raw *transcript.Transcript) (*contract.Dialect, error) {
	d := f.Dialect(in.Dialect)
	switch {
	case in.Dialect != "" && d == nil:
		return nil, fmt.Errorf("registry/families.json has no dialect %q", in.Dialect)
	case d == nil:
		var err error
		if d, err = normalize.DetectDialect(f, raw); err != nil {
			return nil, fmt.Errorf("%w: name the dialect", err)
		}
	}
	if !slices.Contains(a.ProtocolFamilies, d.ProtocolFamily) {
		return nil, fmt.Errorf("dialect %s is of %s, which %s does not declare in %s", d.ID, d.ProtocolFamily, a.ID, store.AgentsFile)
	}
	return d, nil
}

// conclude fills the result as the end of a capture does.
func (in *Synthesis) conclude(res *CellResult, d *Derived, probe *Probe) {
	d.Shape.ValidityLevel = contract.LevelSyntheticMock
	res.Shape, res.Fixture, res.ErrorCase = d.Shape, string(d.Fixture), d.ErrorCase
	for adapter, b := range d.Goldens {
		res.Goldens[adapter] = string(b)
	}
	for _, f := range d.Comparison.Breaking() {
		res.Reasons = append(res.Reasons, f.String())
	}
	res.Violations, _ = Expectations(probe, d)
	if res.ErrorCase != nil { // there is no recording: what was written stands for it
		res.ErrorCase.RawShape = contract.Sum(slices.Concat(in.Stdout, in.Stderr))
	}
	s := syntheticRecord(in.Agent, probe.ID, in.Version, d)
	s.SourceRefs, s.DiscoveredAt = in.Sources, in.At.UTC().Format(capturedAtLayout)
	s.Extensions.Profile, s.Extensions.Note = in.Profile, in.Note
	res.Source = s
}

// known looks for the record of the same run.
func (in *Synthesis) known(reg *store.Registry, res *CellResult) (bool, error) {
	sources, err := reg.SourceEvidence(in.Agent)
	if err != nil {
		return false, err
	}
	for i := range sources {
		s := &sources[i]
		if s.CLIVersion == in.Version && s.Extensions.Probe == in.Probe && s.Extensions.FixtureSHA256 == res.Source.Extensions.FixtureSHA256 {
			res.Source = &s.SourceEvidence
			return true, nil
		}
	}
	return false, nil
}
