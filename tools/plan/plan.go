// Package plan says what to capture next, and why: releases that nobody
// captured, evidence that is too old, probes without a record, shapes seen once
// or in dispute, what the sources of a CLI announce, and readings that somebody
// doubts. It runs nothing.
package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Plan is what to capture, the most pressing first. The same records and the
// same time give the same plan.
type Plan struct {
	SchemaVersion int    `json:"schema_version"`
	AsOf          string `json:"as_of"` // UTC, RFC 3339 with Z
	Items         []Item `json:"items"`
	// Skipped are ranges that nobody need ask for.
	Skipped []Skipped `json:"skipped"`
	// Estimate is the sum over the items.
	Estimate Estimate `json:"estimate"`
}

// Item is one version of one agent to capture on one platform.
type Item struct {
	Agent string `json:"agent"`
	Tier  int    `json:"tier"`
	// Version is what to ask the package registry for: a version, a range or
	// latest.
	Version  string            `json:"version"`
	Platform contract.Platform `json:"platform"`
	Probes   []string          `json:"probes"` // sorted
	Reasons  []Reason          `json:"reasons"`
	Estimate Estimate          `json:"estimate"`
	// Command does it, on that platform.
	Command string `json:"command"`
}

// Reason says why.
type Reason struct {
	Code  Code   `json:"code"`
	Probe string `json:"probe,omitempty"` // "" for the version as a whole
	Text  string `json:"text"`
}

// Code is a kind of reason.
type Code string

// The reasons, the most pressing first: Codes has them in this order.
const (
	NewVersion     Code = "new_version"     // discovery saw a release that nobody captured
	Stale          Code = "stale"           // the newest capture is older than freshness_days
	SourceRisk     Code = "source_risk"     // source evidence names a version that nobody captured
	Dispute        Code = "dispute"         // captures of one version disagree about the shape
	UserCorrection Code = "user_correction" // a maintainer corrected the reading, and nobody captured it since
	NewViolation   Code = "new_violation"   // it breaks an expectation that the version before met
	WeakSuccess    Code = "weak_success"    // the newest run is a success without substance
	UncoveredProbe Code = "uncovered_probe" // a probe of the agent that its newest version has no record of
	Unconfirmed    Code = "unconfirmed"     // a shape of its newest version was seen once
	OneMore        Code = "range"           // one more capture supports a range, or says where it ends
)

// Codes are the reasons, the most pressing first.
var Codes = []Code{NewVersion, Stale, SourceRisk, Dispute, UserCorrection, NewViolation, WeakSuccess, UncoveredProbe, Unconfirmed, OneMore}

// fromHealth are health's reasons by their names here.
var fromHealth = map[health.ReasonCode]Code{
	health.ReasonStale: Stale, health.ReasonDispute: Dispute, health.ReasonUserCorrection: UserCorrection,
	health.ReasonNewViolation: NewViolation, health.ReasonWeakSuccess: WeakSuccess,
}

// Records is everything that a plan follows from.
type Records struct {
	matrix.Records
	Sources  []store.Sourced
	Releases contract.Releases // what was published, and what of it gave nothing
}

// Load reads the records of a registry.
func Load(reg *store.Registry) (*Records, error) {
	m, err := matrix.Load(reg)
	if err != nil {
		return nil, err
	}
	published, err := bisect.LoadReleases(reg)
	if err != nil {
		return nil, err
	}
	r := &Records{Records: *m, Releases: *published}
	r.Sources, err = reg.SourceEvidence("")
	return r, err
}

// Options say what a plan is about.
type Options struct {
	Agents    []string            // ids; empty for all
	Platforms []contract.Platform // empty for those with records
	Now       time.Time
}

// Build makes the plan.
func Build(r *Records, o Options) (*Plan, error) {
	b, err := newBuilder(r, o)
	if err != nil {
		return nil, err
	}
	for _, t := range b.tracks() {
		for _, step := range []func(*track) error{b.newVersion, b.sourceRisk, b.uncovered, b.unconfirmed, b.oneMore} {
			if err := step(t); err != nil {
				return nil, err
			}
		}
	}
	if err := b.suggested(); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// builder collects the items.
type builder struct {
	r        *Records
	o        Options
	standing matrix.Standing
	levels   map[contract.Digest]contract.ValidityLevel
	seen     map[string]string // latest version by agent
	byTrack  map[trackKey]*track
	counted  []store.Observed           // those that count
	first    map[contract.Digest]string // when a shape was captured first
	releases map[string]*published      // by agent
	items    map[itemKey]*Item
	skipped  []Skipped
}

type itemKey struct {
	agent, version string
	platform       contract.Platform
}

func newBuilder(r *Records, o Options) (*builder, error) {
	b := &builder{r: r, o: o, standing: matrix.NewStanding(r.Statements), seen: map[string]string{}, first: map[contract.Digest]string{}, byTrack: map[trackKey]*track{}, releases: map[string]*published{}, items: map[itemKey]*Item{}}
	b.levels = matrix.Levels(r.Observations, b.standing)
	for _, id := range o.Agents {
		if _, err := agents.Find(r.Agents, id); err != nil {
			return nil, err
		}
	}
	for _, s := range r.LatestSeen.Agents {
		b.seen[s.Agent] = s.Version
	}
	return b, b.sort()
}

// wanted returns the agent's definition if the plan is about it and it can be
// captured.
func (b *builder) wanted(id string) *contract.Agent {
	a := b.r.Agents.Agent(id)
	if a == nil || a.Exemption != "" || a.Install == nil || len(b.o.Agents) > 0 && !slices.Contains(b.o.Agents, id) {
		return nil
	}
	return a
}

// add notes a reason to capture probes of a version.
func (b *builder) add(a *contract.Agent, version string, p contract.Platform, probes []string, why Reason) {
	k := itemKey{a.ID, version, p}
	it := b.items[k]
	if it == nil {
		it = &Item{Agent: a.ID, Tier: a.Tier, Version: version, Platform: p}
		b.items[k] = it
	}
	it.Probes = append(it.Probes, probes...)
	it.Reasons = append(it.Reasons, why)
}

// suggested takes over what health suggests: it judges single runs.
func (b *builder) suggested() error {
	list, err := health.Suggest(&health.Records{Agents: b.r.Agents, Observations: b.counted, Corrections: health.Corrections(b.r.Statements)}, health.Options{Now: b.o.Now})
	if err != nil {
		return err
	}
	for _, s := range list {
		a := b.wanted(s.Agent)
		if a == nil || !b.onPlatform(s.Platform) {
			continue
		}
		for _, why := range s.Reasons {
			version, probes := s.CLIVersion, []string{why.Probe}
			if why.Code == health.ReasonStale {
				version, probes = cmp.Or(b.seen[a.ID], "latest"), firstProbes(a)
			}
			b.add(a, version, s.Platform, probes, Reason{fromHealth[why.Code], why.Probe, why.Text})
		}
	}
	return nil
}

// firstProbes are the probes of a version that nobody captured: of a Tier 0
// agent all that it can do, of others the basic ones.
func firstProbes(a *contract.Agent) []string {
	var out []string
	for id, c := range a.Coverage {
		if c.Status == contract.CoverageCaptured && (a.Tier == 0 || slices.Contains(contract.BasicProbes, id)) {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		out = slices.Clone(contract.BasicProbes)
	}
	return out
}

func (b *builder) finish() *Plan {
	p := &Plan{SchemaVersion: contract.SchemaVersion, AsOf: b.o.Now.UTC().Format(time.RFC3339), Items: []Item{}, Skipped: append([]Skipped{}, b.skipped...)}
	for _, it := range b.items {
		slices.Sort(it.Probes)
		it.Probes = slices.Compact(it.Probes)
		slices.SortFunc(it.Reasons, func(x, y Reason) int {
			return cmp.Or(cmp.Compare(x.Code.rank(), y.Code.rank()), cmp.Compare(x.Probe, y.Probe), cmp.Compare(x.Text, y.Text))
		})
		it.Reasons = slices.Compact(it.Reasons)
		it.Estimate = estimate(b.r.Agents.Agent(it.Agent), it.Probes)
		it.Command = fmt.Sprintf("agent-contracts capture %s --probe %s", quoted(it.Agent+"@"+it.Version), strings.Join(it.Probes, ","))
		p.Items = append(p.Items, *it)
	}
	slices.SortFunc(p.Items, func(x, y Item) int {
		return cmp.Or(cmp.Compare(x.Tier, y.Tier), cmp.Compare(x.Reasons[0].Code.rank(), y.Reasons[0].Code.rank()),
			cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Platform, y.Platform), cmp.Compare(x.Version, y.Version))
	})
	slices.SortStableFunc(p.Skipped, func(x, y Skipped) int { // within a track the newest first
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Platform, y.Platform))
	})
	for i := range p.Items {
		p.Estimate.add(p.Items[i].Estimate)
	}
	return p
}

func (c Code) rank() int { return slices.Index(Codes, c) }

// quoted makes a range one word of a shell.
func quoted(s string) string {
	if strings.ContainsAny(s, " <>|^~*") {
		return "'" + s + "'"
	}
	return s
}
