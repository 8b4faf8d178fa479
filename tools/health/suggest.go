package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Suggestion names captures that are worth repeating. It is advice: nothing
// runs by itself, and no priority changes (docs/HEALTH.md).
type Suggestion struct {
	Agent string `json:"agent"`
	// CLIVersion is the version to capture again; for a stale agent the newest
	// one captured.
	CLIVersion string            `json:"cli_version"`
	Platform   contract.Platform `json:"platform"`
	// Probes are sorted; empty for every basic probe.
	Probes  []string `json:"probes"`
	Reasons []Reason `json:"reasons"`
	// Command does it, on that platform.
	Command string `json:"command"`
}

// Reason says why a capture is worth repeating.
type Reason struct {
	Code  ReasonCode `json:"code"`
	Probe string     `json:"probe,omitempty"` // "" for the agent as a whole
	Text  string     `json:"text"`
}

// ReasonCode is a kind of reason.
type ReasonCode string

// The reasons. Each is about the newest run of its probe, so that a capture
// that answers it also takes it away. A weak success and a violation are answered
// too when the run before it came to the same: a third would tell nothing new,
// and what is so stays counted in the rows.
const (
	ReasonWeakSuccess    ReasonCode = "weak_success"    // the newest run is a success without substance
	ReasonNewViolation   ReasonCode = "new_violation"   // it breaks what the version before did not
	ReasonUserCorrection ReasonCode = "user_correction" // its reading was corrected, and nobody captured it since
	ReasonDispute        ReasonCode = "dispute"         // captures of one version disagree about the shape
	ReasonStale          ReasonCode = "stale"           // the agent's newest capture is older than its freshness_days
)

func suggestions(known *contract.AgentsFile, cells []*cell, o Options) []Suggestion {
	out := []Suggestion{}
	type place struct {
		agent, version string
		platform       contract.Platform
	}
	at := map[place]int{}
	for _, c := range cells { // sorted by agent and version
		reasons := c.reasons()
		if len(reasons) == 0 {
			continue
		}
		p := place{c.agent, c.version, c.platform}
		i, ok := at[p]
		if !ok {
			i = len(out)
			at[p] = i
			out = append(out, Suggestion{Agent: c.agent, CLIVersion: c.version, Platform: c.platform})
		}
		out[i].Probes = append(out[i].Probes, c.probe)
		out[i].Reasons = append(out[i].Reasons, reasons...)
	}
	for i := range out {
		s := &out[i]
		slices.Sort(s.Probes)
		s.Probes = slices.Compact(s.Probes)
		s.Command = fmt.Sprintf("agent-contracts capture %s@%s --probe %s", s.Agent, s.CLIVersion, strings.Join(s.Probes, ","))
	}
	out = append(out, stale(known, cells, o)...)
	slices.SortStableFunc(out, func(a, b Suggestion) int { return cmp.Compare(a.Agent, b.Agent) })
	return out
}

func (c *cell) reasons() []Reason {
	var out []Reason
	add := func(code ReasonCode, format string, args ...any) {
		out = append(out, Reason{code, c.probe, fmt.Sprintf(format, args...)})
	}
	newest := c.since[len(c.since)-1]
	var before *run // of the same version
	if len(c.since) > 1 {
		before = c.since[len(c.since)-2]
	}
	if newest.Extensions.WeakSuccess && (before == nil || !before.Extensions.WeakSuccess) {
		n := 0
		for _, r := range c.since {
			if r.Extensions.WeakSuccess {
				n++
			}
		}
		add(ReasonWeakSuccess, "the newest run is a success without substance (%d of %d are)", n, len(c.since))
	}
	for _, v := range c.newViolations(newest) {
		if before != nil && slices.ContainsFunc(before.Extensions.Violations, func(w contract.ContractViolation) bool {
			return v.Kind == w.Kind && v.Expected == w.Expected
		}) {
			continue
		}
		text := fmt.Sprintf("%s %s: wanted %s, got %s; %s met it", v.Kind, v.Path, v.Expected, v.Actual, c.before.version)
		if newest.Extensions.ProbeRevision != c.before.runs[len(c.before.runs)-1].Extensions.ProbeRevision {
			text += " under another revision of the probe"
		}
		add(ReasonNewViolation, "%s", text)
	}
	for _, k := range c.openCorrections() {
		add(ReasonUserCorrection, "the reading says %s, a maintainer says %s", newest.Extensions.RunResult, k.UserCorrection)
	}
	if disputed(c.since) {
		add(ReasonDispute, "captures disagree about the shape; one more decides")
	}
	return out
}

// newViolations are those of a run that no run of the version before has.
func (c *cell) newViolations(newest *run) []contract.ContractViolation {
	if c.before == nil {
		return nil
	}
	type broken struct{ kind, expected string }
	had := map[broken]bool{}
	for _, r := range c.before.runs {
		for _, v := range r.Extensions.Violations {
			had[broken{v.Kind, v.Expected}] = true
		}
	}
	var out []contract.ContractViolation
	for _, v := range newest.Extensions.Violations {
		if !had[broken{v.Kind, v.Expected}] {
			out = append(out, v)
		}
	}
	return out
}

// openCorrections are those that no later capture followed.
func (c *cell) openCorrections() []*store.Stated {
	last := captured(c.runs[len(c.runs)-1].Observed)
	var out []*store.Stated
	for _, r := range c.since {
		for _, k := range r.corrections {
			if at, err := time.Parse(time.RFC3339, k.RecordedAt); err == nil && !at.Before(last) {
				out = append(out, k)
			}
		}
	}
	return out
}

// disputed asks the matrix, which decides what captures of releases count as.
func disputed(runs []*run) bool {
	var obs []*store.Observed
	for _, r := range runs {
		if release(r.Observed) {
			obs = append(obs, r.Observed)
		}
	}
	return len(obs) > 1 && matrix.Disputed(obs)
}

// release is false for a program that somebody named with --bin.
func release(o *store.Observed) bool { return !strings.HasPrefix(o.Install.Source, "binary:") }

// prerelease reports whether a version is none that people are offered.
func prerelease(a *contract.Agent, version string) bool {
	if a == nil {
		return false
	}
	v, err := agents.ParseToken(a, version)
	return err == nil && v.Prerelease != ""
}

// stale finds the agents whose newest captured release was captured longer ago
// than it should be, by platform. Captures of older releases make nothing fresh.
func stale(known *contract.AgentsFile, cells []*cell, o Options) []Suggestion {
	type place struct {
		agent    string
		platform contract.Platform
	}
	last := map[place]time.Time{}
	version := map[place]string{} // cells come oldest version first
	var order []place
	for _, c := range cells {
		for _, r := range c.since {
			if !release(r.Observed) || prerelease(known.Agent(c.agent), c.version) {
				continue
			}
			p := place{c.agent, c.platform}
			if _, seen := last[p]; !seen {
				order = append(order, p)
			}
			if version[p] != c.version {
				version[p], last[p] = c.version, time.Time{}
			}
			if at := captured(r.Observed); at.After(last[p]) {
				last[p] = at
			}
		}
	}
	var out []Suggestion
	for _, p := range order {
		agent := known.Agent(p.agent)
		if agent == nil || agent.FreshnessDays <= 0 || !last[p].AddDate(0, 0, agent.FreshnessDays).Before(o.Now) {
			continue
		}
		s := Suggestion{Agent: p.agent, CLIVersion: version[p], Platform: p.platform, Probes: []string{}, Command: "agent-contracts capture " + p.agent + "@latest"}
		if o.Probe != "" {
			s.Probes = append(s.Probes, o.Probe)
			s.Command += " --probe " + o.Probe
		}
		s.Reasons = []Reason{{Code: ReasonStale, Text: fmt.Sprintf("last captured %s, the limit is %d days", last[p].UTC().Format(time.DateOnly), agent.FreshnessDays)}}
		out = append(out, s)
	}
	return out
}
