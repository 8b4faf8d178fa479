// Package capture is the line from a version to its records: install, run each
// probe hermetically, redact, normalize, compare, replay, publish (DESIGN
// section 1). It owns the state of a run, so that a killed one resumes, and
// decides what a result means. It never prints and never exits.
package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// Options says what to capture and where.
type Options struct {
	Registry *store.Registry
	StateDir string
	// Bucket has the raw bundles; nil for a folder in StateDir.
	Bucket  private.Bucket
	Targets []Target
	Probes  []string // ids, "basic" or "all"
	Repeat  int
	// Bin is an installed program to capture instead of a release; then there
	// is exactly one target without a version.
	Bin string
	// Live uses real credentials of the environment and the real provider.
	Live bool
	// ChunkRunes cuts the provider's texts into pieces of that many runes; 0
	// leaves them as the scenario has them, -1 sends each text whole.
	ChunkRunes int

	// RunID is the id of the job whose work this is; "" makes one up.
	RunID          string
	Install        install.Options
	Now            func() time.Time
	LookupEnv      func(string) (string, bool)
	Runner         string  // runner image or machine kind, for the records
	WorkflowRunURL *string // HTTPS, for automated captures
	// Refresh stages what follows from new observations: the matrix.
	Refresh func(*store.Registry, *store.Transaction, []store.Observed) error
	// Ask asks the person who is there what a cell needs to know; nil suspends
	// the run until there is an answer. AskBy names that person.
	Ask   requests.Prompter
	AskBy string
	// AskAll asks also what a rule would decide: permissions that a probe grants,
	// and words that make redaction refuse a run.
	AskAll bool
	// Progress is told what happens; nil tells nobody.
	Progress func(Progress)
}

// Progress is one step of a capture.
type Progress struct {
	Done, Total int    // cells
	Group       string // agent@version
	Cell        *Cell  // nil while installing
	What        string // installing, running, redacting …
	Bytes       int64  // of the running download, if known
	// Result is set when a cell ended.
	Result *CellResult
}

// Plan is what a capture will do.
type Plan struct {
	Cells []Cell `json:"cells"`
	// Notes tell, for people, how versions were chosen.
	Notes []string `json:"notes"`
}

// Report is what a capture did.
type Report struct {
	RunID   string        `json:"run_id"`
	Resumed bool          `json:"resumed"`
	Results []*CellResult `json:"results"`
	Notes   []string      `json:"notes"`
	// Status is finished or suspended, and Reason why it is suspended; empty
	// when an error ended the capture.
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Published counts the new observations and source-evidence records.
	Published int `json:"published"`
}

// capturer is one capture under way.
type capturer struct {
	opts       Options
	agentsFile *contract.AgentsFile
	families   *contract.Families
	redactor   *redact.Redactor
	raw        *private.Store
	known      *knowledge
	requests   *requests.Store
	progress   Progress
}

// MakePlan resolves targets and probes without running anything. It may ask
// npm which versions exist.
func MakePlan(ctx context.Context, opts Options) (*Plan, error) {
	file, err := loadAgents(opts.Registry)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Notes: []string{}}
	for _, t := range opts.Targets {
		a, err := agents.Find(file, t.Agent)
		if err != nil {
			return nil, err
		}
		if a.Install == nil {
			return nil, &CannotKnowError{What: fmt.Sprintf("%s cannot be captured: %s", a.ID, a.Exemption)}
		}
		words := opts.Probes
		if len(t.Probes) > 0 {
			words = t.Probes
		}
		probes, err := selectProbes(opts.Registry, words)
		if err != nil {
			return nil, err
		}
		version, notes, err := resolveVersion(ctx, opts, a, t)
		if err != nil {
			return nil, err
		}
		plan.Notes = append(plan.Notes, notes...)
		for _, cell := range cells(a, version, launchable(a, version, probes, t.Profile, plan), t.Profile, max(opts.Repeat, 1)) {
			if slices.ContainsFunc(plan.Cells, func(c Cell) bool { return c.ID == cell.ID }) {
				continue // a target given twice
			}
			if why, err := faultless(opts.Registry, a, cell); err != nil {
				return nil, err
			} else if why != "" {
				plan.Notes = append(plan.Notes, why)
				continue
			}
			plan.Cells = append(plan.Cells, cell)
		}
	}
	if len(plan.Cells) == 0 {
		return nil, &CannotKnowError{What: strings.Join(append([]string{"nothing to capture: no probe fits"}, plan.Notes...), "; ")}
	}
	return plan, nil
}

// launchable leaves out the probes that the agent cannot run and says so.
func launchable(a *contract.Agent, version string, probes []string, profile string, plan *Plan) []string {
	var out []string
	for _, p := range probes {
		if c, ok := a.Coverage[p]; ok && c.Status == contract.CoverageImpossible {
			plan.Notes = append(plan.Notes, fmt.Sprintf("%s: %s cannot be captured: %s", a.ID, p, c.Reason))
			continue
		}
		if len(profilesFor(a, version, p, profile)) == 0 {
			how := ""
			if profile != "" {
				how = " with profile " + profile
			}
			plan.Notes = append(plan.Notes, fmt.Sprintf("%s: no way to start version %s%s for %s", a.ID, version, how, p))
			continue
		}
		out = append(out, p)
	}
	return out
}

// Run captures what the options ask for and publishes it.
func Run(ctx context.Context, opts Options) (*Report, error) {
	if err := opts.Registry.CheckWritable(ctx); err != nil {
		return nil, err
	}
	c, err := newCapturer(opts)
	if err != nil {
		return nil, err
	}
	plan, err := MakePlan(ctx, opts)
	if err != nil {
		return nil, err
	}
	if opts.Live && len(plan.Cells) > MaxLiveRuns {
		return nil, &CannotKnowError{What: fmt.Sprintf("a live capture of %d runs costs too much: at most %d at once; name fewer versions or probes", len(plan.Cells), MaxLiveRuns)}
	}
	id, err := planHash(opts, plan)
	if err != nil {
		return nil, err
	}
	r, resumed, err := openRun(opts.StateDir, opts.RunID, id, opts.Now())
	if err != nil {
		return nil, err
	}
	defer r.close()
	report := &Report{RunID: r.ID, Resumed: resumed, Results: []*CellResult{}, Notes: plan.Notes}
	c.progress.Total = len(plan.Cells)
	if resumed {
		how := "was interrupted"
		if r.waited {
			how = "waited for an answer"
		}
		report.Notes = append(report.Notes, fmt.Sprintf("went on with run %s, which %s after %d of %d", r.ID, how, r.done(plan.Cells), len(plan.Cells)))
	}
	for _, group := range groups(plan.Cells) {
		results, err := c.group(ctx, r, group)
		report.Results = append(report.Results, results...)
		if err != nil {
			return report, err
		}
		for _, res := range results {
			if res.tells() && !waiting(results) {
				report.Published++
			}
		}
	}
	report.Status = runFinished
	if waiting(report.Results) {
		report.Status, report.Reason = runSuspended, requests.ReasonAwaitingAnswer
		return report, r.suspend()
	}
	return report, r.finish()
}

func newCapturer(opts Options) (*capturer, error) {
	c := &capturer{opts: opts}
	var err error
	if c.agentsFile, err = loadAgents(opts.Registry); err != nil {
		return nil, err
	}
	if c.families, err = opts.Registry.Families(); err != nil {
		return nil, err
	}
	if c.redactor, err = loadRedactor(opts.Registry, c.families); err != nil {
		return nil, err
	}
	policy, err := opts.Registry.Policy()
	if err != nil {
		return nil, err
	}
	c.raw, err = private.Open(private.Config{StateDir: opts.StateDir, Bucket: opts.Bucket, Recipients: policy.Recipients()})
	if err != nil {
		return nil, err
	}
	c.requests = requests.Open(opts.StateDir, opts.Registry, opts.Now)
	c.known, err = loadKnowledge(opts.Registry)
	return c, err
}

// planHash identifies a capture for resuming: the same cells with the same
// questions and rules against the same registry.
func planHash(opts Options, plan *Plan) (contract.Digest, error) {
	revisions := map[string]contract.Digest{}
	for _, cell := range plan.Cells {
		p, err := LoadProbe(opts.Registry, cell.Probe)
		if err != nil {
			return "", err
		}
		revisions[cell.Probe] = p.Revision
	}
	bin := opts.Bin
	if bin != "" {
		abs, err := filepath.Abs(bin)
		if err != nil {
			return "", fmt.Errorf("finding --bin %q: %w", bin, err)
		}
		b, err := os.ReadFile(abs)
		if err != nil {
			return "", fmt.Errorf("reading --bin %q: %w", bin, err)
		}
		bin = abs + " " + string(contract.Sum(b)) // a rebuilt program is another one
	}
	rules := map[string]contract.Digest{}
	for _, f := range []string{store.AgentsFile, store.FamiliesFile, vocabularyFile} {
		b, err := opts.Registry.ReadFile(f)
		if err != nil {
			return "", err
		}
		rules[f] = contract.Sum(b)
	}
	return contract.Hash(map[string]any{
		"cells": plan.Cells, "probes": revisions, "rules": rules, "registry": opts.Registry.Dir(),
		"bin": bin, "live": opts.Live, "chunk": opts.ChunkRunes, "ask": opts.AskAll, "tool": contract.ToolVersion,
	})
}

func groups(cells []Cell) [][]Cell {
	var out [][]Cell
	for _, c := range cells {
		if n := len(out); n > 0 && out[n-1][0].Group == c.Group {
			out[n-1] = append(out[n-1], c)
			continue
		}
		out = append(out, []Cell{c})
	}
	return out
}

// group captures and publishes one version.
func (c *capturer) group(ctx context.Context, r *run, cells []Cell) ([]*CellResult, error) {
	name := cells[0].Group
	c.progress.Group, c.progress.Cell = name, nil
	var results []*CellResult
	for _, cell := range cells {
		if res := r.loadCell(cell.ID); res != nil {
			results = append(results, res)
		}
	}
	if len(results) == len(cells) {
		c.progress.Done += len(cells)
	} else {
		var err error
		if results, err = c.runGroup(ctx, r, cells); err != nil {
			return results, err
		}
	}
	if waiting(results) {
		return results, nil // a version is published as a whole
	}
	return results, c.publishGroup(ctx, results)
}

// publishGroup puts the results of one version into the registry. What a former
// attempt put there stays as it is.
func (c *capturer) publishGroup(ctx context.Context, results []*CellResult) error {
	retained := map[contract.Digest]private.Meta{}
	for _, res := range results {
		if res.Observation == nil {
			continue
		}
		meta, err := c.raw.Stat(ctx, res.Observation.Capture.RawClientTranscriptSHA256)
		if err != nil {
			return err
		}
		retained[meta.SHA256] = meta
	}
	return publish(ctx, c.opts.Registry, results, retained, func(tx *store.Transaction, added []store.Observed) error {
		if c.opts.Refresh == nil {
			return nil
		}
		return c.opts.Refresh(c.opts.Registry, tx, added)
	})
}

func (c *capturer) tell(what string) {
	if c.opts.Progress != nil {
		p := c.progress
		p.What = what
		c.opts.Progress(p)
	}
}
