package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/expect"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// CellResult is what one cell came to. It holds nothing raw.
type CellResult struct {
	Cell Cell `json:"cell"`
	// Observation, Shape, Fixture and Goldens are what may be published;
	// Observation is nil when nothing may, and for a run with a fault, which is
	// source evidence.
	Observation *contract.Observation    `json:"observation,omitempty"`
	Source      *contract.SourceEvidence `json:"source_evidence,omitempty"`
	Shape       *contract.Shape          `json:"shape,omitempty"`
	Fixture     string                   `json:"fixture,omitempty"`
	Goldens     map[string]string        `json:"goldens,omitempty"` // adapter → file content
	// ErrorCase is the error case of a failed run, as its transcript gives it.
	ErrorCase *contract.ErrorCase `json:"error_case,omitempty"`
	// Evidence is what another machine's evidence record says of its capture;
	// nil for a capture of this one.
	Evidence *contract.Evidence `json:"-"`

	// Known says that the registry had the shape for this agent and probe.
	Known   bool             `json:"known"`
	Verdict contract.Verdict `json:"verdict,omitempty"`
	// Disputed says that another capture of this version gave another shape
	// although the provider was emulated.
	Disputed bool `json:"disputed,omitempty"`
	// Baseline is the version whose shape a new one was compared with.
	Baseline string           `json:"baseline,omitempty"`
	Signals  []compare.Signal `json:"signals,omitempty"`
	// Redaction is set when the run got that far.
	Redaction contract.RedactionStatus `json:"redaction,omitempty"`
	// Reasons say what the consumer's reading loses or doubles.
	Reasons []string `json:"reasons,omitempty"`
	// Violations are broken expectations of a run with a fault; an observation
	// has its own.
	Violations []contract.ContractViolation `json:"violations,omitempty"`
	// Problem says why nothing is known, or why nothing may be published.
	Problem string `json:"problem,omitempty"`
	// WaitsFor are the Requests without whose answers the cell cannot go on. Then
	// nothing else is known of it.
	WaitsFor   []contract.Digest `json:"waits_for,omitempty"`
	DurationMS int64             `json:"duration_ms"`
}

// cellJob is one cell with what it needs.
type cellJob struct {
	cell    Cell
	agent   *contract.Agent
	probe   *Probe
	version *versionInfo
	asker   *requests.Asker
	askAll  bool
	// patience multiplies the probe's limits of time.
	patience int
	// reviewed are findings about what a person decided.
	reviewed []string
}

// runGroup installs one version and runs its cells.
func (c *capturer) runGroup(ctx context.Context, r *run, cells []Cell) ([]*CellResult, error) {
	agent := c.agentsFile.Agent(cells[0].Agent)
	version, err := c.version(ctx, agent, cells)
	if err != nil {
		return nil, err
	}
	var results []*CellResult
	for _, cell := range cells {
		c.progress.Cell = &cell
		res := r.loadCell(cell.ID)
		if res == nil {
			if res, err = c.askingCell(ctx, r, cell, agent, version); err != nil {
				return results, fmt.Errorf("%s %s: %w", cell.Group, cell.Probe, err)
			}
		} else if res.tells() { // of a former attempt
			c.known.learn(scopeOf(cell), version.Version.Token, res.Shape.Signature)
		}
		results = append(results, res)
		c.progress.Done++
		c.progress.Result = res
		c.tell("done")
		c.progress.Result = nil
	}
	return results, nil
}

// version installs a release, asks it who it is, and refuses an answer that is
// not the version that was asked for (DESIGN D3).
func (c *capturer) version(ctx context.Context, agent *contract.Agent, cells []Cell) (*versionInfo, error) {
	c.tell("installing")
	in, err := c.install(ctx, agent, cells[0].Version)
	if err != nil {
		return nil, err
	}
	return c.identify(ctx, agent, in, cells)
}

func (c *capturer) install(ctx context.Context, agent *contract.Agent, version string) (*install.Installed, error) {
	if c.opts.Bin != "" {
		return install.Binary(agent, c.opts.Bin)
	}
	opts := c.opts.Install
	opts.Progress = func(p install.Progress) {
		c.progress.Bytes = p.Bytes
		c.tell(string(p.Stage))
	}
	return install.Install(ctx, agent, version, opts)
}

// cell runs one probe and derives everything from it.
func (c *capturer) cell(ctx context.Context, r *run, cell Cell, agent *contract.Agent, version *versionInfo, asker *requests.Asker) (*CellResult, error) {
	probe, err := LoadProbe(c.opts.Registry, cell.Probe)
	if err != nil {
		return nil, err
	}
	dir := r.cellDir(cell.ID)
	job := &cellJob{cell: cell, agent: agent, probe: probe, version: version, asker: asker, askAll: c.opts.AskAll, patience: 1}
	settle := func(int64) error { return nil }
	if c.opts.Live {
		if settle, err = spend(c.opts.StateDir, c.opts.Now()); err != nil {
			return nil, err
		}
	}
	c.tell("running")
	start := time.Now()
	rec, res, err := c.run(ctx, job, dir, asker)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rec.ws.remove() }()
	if err := settle(rec.tokens); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	res.DurationMS = time.Since(start).Milliseconds()
	if err := c.keepRaw(ctx, job, rec); err != nil {
		return nil, err
	}
	return res, nil
}

// keepRaw moves the bundle into the private store.
func (c *capturer) keepRaw(ctx context.Context, job *cellJob, rec *recorded) error {
	return c.raw.Keep(ctx, rec.bundle, private.Meta{
		SHA256: rec.digest, StoredAt: rec.started.UTC(), RetainUntil: rec.started.Add(private.Retention).UTC().Truncate(time.Second),
		Agent: job.cell.Agent, CLIVersion: job.version.Version.Token, Probe: job.cell.Probe,
	}, rec.background)
}

// derive turns a recorded run into a result.
func (c *capturer) derive(ctx context.Context, job *cellJob, rec *recorded) (*CellResult, error) {
	res := &CellResult{Cell: job.cell, Goldens: map[string]string{}}
	if rec.problem != "" {
		res.Problem = rec.problem
		return res, nil
	}
	if len(rec.unexpected) > 0 {
		res.Problem = "the CLI sent a request that the scenario has no answer for: " + rec.unexpected[0]
		return res, nil
	}
	if rec.fault != nil && !rec.fault.Applied() {
		res.Problem = "the run has no place for the fault of its probe: too few lines of JSON, or it did not end by itself"
		return res, nil
	}
	raw, err := assemble(rec.bundle)
	if err != nil {
		return nil, err
	}
	dialect := dialectOf(c.families, rec.launch.Dialect, raw)
	if dialect == nil {
		res.Problem = fmt.Sprintf("dialect %q is not in registry/families.json", rec.launch.Dialect)
		return res, nil
	}
	clean, err := c.sanitize(ctx, job, rec, raw, dialect)
	if err != nil {
		return nil, err
	}
	rec.background, res.Redaction = clean.background, clean.status
	if clean.status != contract.RedactionPassed {
		res.Verdict, res.Problem = contract.VerdictRedactionFailed, clean.why
		return res, nil
	}
	return res, c.conclude(job, rec, raw, clean.derived, res)
}

func assemble(bundle string) (*transcript.Transcript, error) {
	b, err := transcript.OpenBundle(bundle)
	if err != nil {
		return nil, fmt.Errorf("reading the recorded run: %w", err)
	}
	t, err := transcript.Assemble(b)
	return t, errors.Join(err, b.Close())
}

// conclude fills the result: observation, verdict, what is new.
func (c *capturer) conclude(job *cellJob, rec *recorded, raw *transcript.Transcript, d *Derived, res *CellResult) error {
	rec.tokens = tokensOf(d.Reference.Usage)
	res.Shape, res.Fixture, res.ErrorCase = d.Shape, string(d.Fixture), d.ErrorCase
	for adapter, b := range d.Goldens {
		res.Goldens[adapter] = string(b)
	}
	for _, f := range d.Comparison.Breaking() {
		res.Reasons = append(res.Reasons, f.String())
	}
	violations, weak := Expectations(job.probe, d)
	c.verdict(job, d, res, violations)
	if rec.fault != nil {
		res.Violations = violations
		c.synthetic(job, rec, d, res)
		return nil
	}
	o := c.observation(job, rec, raw, d)
	o.Extensions.Violations, o.Extensions.WeakSuccess = violations, weak
	o.Extensions.Findings = findings(job, rec, d, res)
	res.Observation = o
	return nil
}

func (c *capturer) verdict(job *cellJob, d *Derived, res *CellResult, violations []contract.ContractViolation) {
	j := c.known.judge(c.opts.Registry, job.agent, judged{
		scope: scopeOf(job.cell), version: job.version.Version.Token, shape: d.Shape, dialect: d.Dialect, replay: d.Comparison.Status,
		reading: d.Consumer.Golden(), violations: violations, live: c.opts.Live,
	})
	res.Known, res.Disputed, res.Verdict, res.Signals, res.Baseline = j.Known, j.Disputed, j.Verdict, j.Signals, j.Baseline
}

// observation builds the record; publishing adds the places of its files.
func (c *capturer) observation(job *cellJob, rec *recorded, raw *transcript.Transcript, d *Derived) *contract.Observation {
	s := job.probe.Scenario
	code, signal, ended := raw.Exit()
	provider := contract.ProviderEmulated
	if c.opts.Live {
		provider = contract.ProviderLive
	}
	commit := opendesign.Commit
	o := &contract.Observation{
		SchemaVersion: contract.SchemaVersion,
		Agent:         job.cell.Agent, CLIVersion: job.version.Version.Token, Platform: contract.HostPlatform(), Probe: job.cell.Probe,
		ProtocolFamily: d.Dialect.ProtocolFamily, ValidityLevel: contract.LevelRuntimeObserved,
		Install: contract.ObservationInstall{Source: job.version.Installed.Source, BinarySHA256: digestPtr(job.version.Installed.BinarySHA256)},
		Command: contract.ObservationCommand{ArgvTemplate: rec.launch.ArgvTemplate, StdinMode: rec.launch.StdinMode},
		Capture: contract.ObservationCapture{
			CapturedAt: rec.started.UTC().Format(capturedAtLayout), Runner: c.opts.Runner, WorkflowRunURL: c.opts.WorkflowRunURL,
			RawStdoutSHA256: streamHash(raw, transcript.Stdout), RawStderrSHA256: streamHash(raw, transcript.Stderr),
			RawClientTranscriptSHA256: rec.digest, RawArtifactVisibility: "private",
		},
		Redaction:    contract.ObservationRedaction{ToolVersion: redactVersion, Status: contract.RedactionPassed},
		Shape:        contract.ShapeRef{Signature: d.Shape.Signature, Path: d.Shape.Path()},
		ParserReplay: contract.ParserReplay{OpenDesignCommit: &commit, Status: d.Comparison.Status},
	}
	if o.Command.ArgvTemplate == nil {
		o.Command.ArgvTemplate = []string{}
	}
	o.Extensions = contract.ObservationExtensions{
		Provider: provider, Profile: job.cell.Profile, Isolated: rec.isolated, Launcher: job.version.Installed.Launcher,
		ProbeRevision: job.probe.Revision, Dialect: d.Dialect.ID, VersionOutput: job.version.Version.Line,
		FixtureSHA256: contract.Sum(d.Fixture), Normalizer: d.Shape.Extensions.Normalizer, Readers: replay.Version,
		ExitCode: code, Signal: signal, Ended: ended, EndReason: rec.result.Reason,
		StderrDetail: string(d.Notes.StderrDetail), ReportedResult: d.Reference.ReportedResult, RunResult: string(d.Reference.RunResult),
		Usefulness:    replay.Usefulness(d.Reference, d.Consumer),
		OptionalKinds: d.Notes.OptionalKinds, AfterTerminal: d.Notes.AfterTerminal,
		ACPSchema: d.ACPSchema, ACPDeviations: d.ACPDeviations,
		Pinned: contract.Pinned{Model: s.Model, DelayMS: s.PostToolDelayMS, MaxRetries: s.MaxRetries, ChunkRunes: c.opts.ChunkRunes,
			TimeoutMS: s.Timeouts.WallMS, ProviderAPI: string(rec.launch.ProviderAPI)},
		Requests: &rec.requests,
	}
	return o
}

// capturedAtLayout has milliseconds, since file names have them too.
const capturedAtLayout = "2006-01-02T15:04:05.000Z"

func digestPtr(d contract.Digest) *contract.Digest {
	if d == "" {
		return nil
	}
	return &d
}

// streamHash hashes one stream's bytes; nil when it had none.
func streamHash(t *transcript.Transcript, s transcript.Stream) *contract.Digest {
	b := t.Bytes(transcript.CLIToServer, s)
	if len(b) == 0 {
		return nil
	}
	return digestPtr(contract.Sum(b))
}

// Expectations holds the reference reading against the probe's expectation. It
// never changes what the CLI said (DESIGN D9).
func Expectations(p *Probe, d *Derived) ([]contract.ContractViolation, bool) {
	if d.Reference.Status != replay.StatusOK {
		return nil, false
	}
	r := expect.Check(&p.Expectation, &d.Reference.Reading, expect.Leaks{})
	return r.Violations, r.WeakSuccess
}

// findings are the statements about one run that a maintainer should see.
func findings(job *cellJob, rec *recorded, d *Derived, res *CellResult) []string {
	out := slices.Clone(job.reviewed)
	if job.cell.Profile == contract.ProfileProduction && refused(job, rec, d) {
		out = append(out, "this release refuses the consumer's argv")
	}
	if rec.result.Reason != "" {
		out = append(out, ended(rec.result.Reason))
	}
	if job.patience > 1 {
		out = append(out, secondTry)
	}
	if rec.gaveUp != "" {
		out = append(out, "the client gave up: "+rec.gaveUp)
	}
	if rec.result.LogProblem != "" {
		out = append(out, "the session file was not recorded: "+rec.result.LogProblem)
	}
	if rec.result.LeftoversKilled > 0 {
		out = append(out, fmt.Sprintf("%d process(es) outlived the CLI", rec.result.LeftoversKilled))
	}
	if h := rec.requests.History; job.probe.Before != nil && rec.requests.Model > 0 && (h == nil || *h == 0) {
		out = append(out, "the session was not resumed: the model got nothing of its first turn")
	}
	if job.probe.hasImage() && rec.requests.Model > 0 && rec.requests.Images == 0 {
		out = append(out, "no image reached the model")
	}
	if res.Disputed {
		out = append(out, "another capture of this version has another shape; a third one decides")
	}
	for _, s := range d.Reference.Signals {
		out = append(out, "signal: "+s)
	}
	out = append(out, res.Reasons...)
	return slices.Compact(out)
}

// ended says in words why a run did not end by itself.
func ended(reason string) string {
	switch reason {
	case transcript.ReasonNotStarted:
		return "the program could not be started"
	case transcript.ReasonArgsTooLong:
		return "the program could not be started: the system takes no argument as long as this prompt"
	case transcript.ReasonOutputLimit:
		return fmt.Sprintf("the capture ended the run: %s of %d MiB or %d lines", reason, maxOutputBytes>>20, maxOutputLines)
	}
	return "the capture ended the run: " + reason
}

// refused says that the program ended with an error before it asked the model
// anything or printed a frame, in a probe that wants no failure.
func refused(job *cellJob, rec *recorded, d *Derived) bool {
	wanted := slices.ContainsFunc(job.probe.Expectation.Constraints, func(k contract.Constraint) bool {
		return k.Kind == contract.ConstraintRunResult && k.Equals == contract.RunFailed
	})
	return !wanted && job.cell.Probe != contract.VersionProbeID && rec.requests.Model == 0 && !printed(d.Shape) &&
		d.Shape.Exit == contract.ExitNonzero && len(bytes.TrimSpace(d.Fixture)) > 0
}

// printed reports whether the CLI printed a frame; what it was told on a stdin
// that is a protocol counts as none.
func printed(s *contract.Shape) bool {
	return slices.ContainsFunc(s.FrameShapes, func(f contract.FrameShape) bool { return f.Direction != string(transcript.ServerToCLI) })
}
