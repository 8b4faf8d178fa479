package capture

import (
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness/fault"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// A run whose probe has a fault, and a transcript that somebody wrote, are
// source evidence at level synthetic_mock (FINE-PRINT 9): fixtures for parsers,
// never observations, and no claim rests on them.

// inject puts the probe's fault between the child and the recorder. The
// injector is nil for a real run.
func (p *Probe) inject(spec *harness.Spec, dialect string) (*fault.Injector, error) {
	if p.Scenario.Fault == nil {
		return nil, nil
	}
	i, err := fault.New(p.Scenario.Fault, dialect)
	if err != nil {
		return nil, &CannotKnowError{What: "probe " + p.ID, Err: err}
	}
	spec.Filter = i
	return i, nil
}

// faultless says why a cell has no place for its probe's fault: a run without
// frames has none to break. It is "" for every other cell.
func faultless(reg *store.Registry, a *contract.Agent, cell Cell) (string, error) {
	p, err := LoadProbe(reg, cell.Probe)
	if err != nil || p.Scenario.Fault == nil || p.Scenario.Fault.Line == 0 {
		return "", err
	}
	families, err := reg.Families()
	if err != nil {
		return "", err
	}
	v, err := agents.ParseToken(a, cell.Version)
	if err != nil {
		return "", err
	}
	id, err := agents.Dialect(a, v, cell.Probe, cell.Profile)
	if err != nil {
		return "", err
	}
	if d := families.Dialect(id); d != nil && d.Transport == contract.TransportPlain {
		return fmt.Sprintf("%s: %s (%s) has no frame that a fault could break: it prints plain text", a.ID, cell.Probe, cell.Profile), nil
	}
	return "", nil
}

// synthetic makes the record of a run with a fault and puts it into the result.
func (c *capturer) synthetic(job *cellJob, rec *recorded, d *Derived, res *CellResult) {
	d.Shape.ValidityLevel = contract.LevelSyntheticMock
	s := syntheticRecord(job.cell.Agent, job.probe.ID, job.version.Version.Token, d)
	s.DiscoveredAt = rec.started.UTC().Format(capturedAtLayout)
	s.SourceRefs = []string{"probes/" + job.probe.ID + "/scenario.json", job.version.Installed.Source}
	x := &s.Extensions
	x.ProbeRevision, x.Fault = job.probe.Revision, job.probe.Scenario.Fault.Kind
	x.Platform, x.Profile, x.Provider = contract.HostPlatform(), job.cell.Profile, contract.ProviderEmulated
	if c.opts.Live {
		x.Provider = contract.ProviderLive
	}
	res.Source, res.Disputed = s, false
	if res.ErrorCase != nil {
		res.ErrorCase.RawShape = rec.digest
	}
}

// syntheticRecord says what follows from a fixture. Publishing adds places.
func syntheticRecord(agent, probe, version string, d *Derived) *contract.SourceEvidence {
	commit := opendesign.Commit
	return &contract.SourceEvidence{
		SchemaVersion: contract.SchemaVersion, Agent: agent, ProtocolFamily: d.Dialect.ProtocolFamily,
		ValidityLevel: contract.LevelSyntheticMock, CLIVersion: version,
		DerivedShape: contract.ShapeRef{Signature: d.Shape.Signature, Path: d.Shape.Path()},
		Extensions: contract.SourceEvidenceExtensions{
			FixtureSHA256: contract.Sum(d.Fixture), Dialect: d.Dialect.ID, Probe: probe,
			Normalizer: d.Shape.Extensions.Normalizer, Readers: replay.Version,
			ParserReplay:   &contract.ParserReplay{OpenDesignCommit: &commit, Status: d.Comparison.Status},
			ReportedResult: d.Reference.ReportedResult, RunResult: string(d.Reference.RunResult),
		},
	}
}

// tells reports whether the result says something that may be published.
func (r *CellResult) tells() bool { return r.Observation != nil || r.Source != nil }

// run returns our reading of the run and the consumer's standing; the result
// must tell something.
func (r *CellResult) run() (result string, parser contract.ReplayStatus) {
	if r.Source != nil {
		return r.Source.Extensions.RunResult, r.Source.Extensions.ParserReplay.Status
	}
	return r.Observation.Extensions.RunResult, r.Observation.ParserReplay.Status
}

// violations returns the expectations that do not hold.
func (r *CellResult) violations() []contract.ContractViolation {
	if r.Observation != nil {
		return r.Observation.Extensions.Violations
	}
	return r.Violations
}
