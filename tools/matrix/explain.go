package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Explanation is the chain from a claim to its evidence.
type Explanation struct {
	SchemaVersion int                            `json:"schema_version"`
	Agent         string                         `json:"agent"`
	Version       string                         `json:"version"`
	Platform      contract.Platform              `json:"platform"`
	Status        contract.SupportStatus         `json:"status"`
	Answer        Answer                         `json:"answer"`
	Observed      bool                           `json:"observed"`
	Policy        contract.CompatibilityPolicy   `json:"policy"`
	Evidence      contract.CompatibilityEvidence `json:"evidence"`
	// Claim is the place of the matrix entry, null when no entry speaks about
	// the version.
	Claim *string  `json:"claim"`
	Why   []string `json:"why"`
	Next  Step     `json:"next"`
	// Probes are sorted by family and probe.
	Probes []ExplainedProbe `json:"probes"`
	// SetAside are observations of this version that back no claim.
	SetAside []ExplainedObservation `json:"set_aside"`
}

// ProbeState says what is known of one probe of one version.
type ProbeState string

// The states of a probe.
const (
	ProbeObserved     ProbeState = "observed"
	ProbeInterpolated ProbeState = "interpolated" // the versions on both sides have one shape
	ProbeNotCaptured  ProbeState = "not_captured"
	ProbeDisputed     ProbeState = "disputed"        // captures disagree about the shape
	ProbeWithdrawn    ProbeState = "withdrawn"       // every capture was
	ProbeVariants     ProbeState = "server_variants" // a live server has several shapes
)

// ExplainedProbe is what is known of one probe of the version.
type ExplainedProbe struct {
	Probe          string                  `json:"probe"`
	ProtocolFamily contract.ProtocolFamily `json:"protocol_family"`
	State          ProbeState              `json:"state"`
	Representative bool                    `json:"representative"`
	// Shape is the one that counts, "" where none does.
	Shape contract.Digest        `json:"shape,omitempty"`
	Level contract.ValidityLevel `json:"validity_level,omitempty"`
	// Reading is what the consumer makes of it.
	Reading contract.ReplayStatus `json:"parser_replay,omitempty"`
	// Between are the nearest captured versions of a probe that was not
	// captured at this one.
	Between []string `json:"between,omitempty"`
	// Observations are of this version or, when interpolated, of Between.
	Observations []ExplainedObservation `json:"observations"`
}

// ExplainedObservation is one observation, with the hashes that pin what it was
// made from.
type ExplainedObservation struct {
	Path         string                `json:"path"`
	Evidence     string                `json:"evidence"` // place of the record that links it to its files
	Version      string                `json:"version"`
	CapturedAt   string                `json:"captured_at"`
	Runner       string                `json:"runner"`
	Provider     contract.ProviderKind `json:"provider"`
	Profile      string                `json:"profile"`
	RunResult    string                `json:"run_result"`
	ParserReplay contract.ReplayStatus `json:"parser_replay"`
	Signature    contract.Digest       `json:"signature"`
	Shape        string                `json:"shape"` // its place
	Fixture      string                `json:"fixture"`
	FixtureHash  contract.Digest       `json:"fixture_sha256"`
	Goldens      []string              `json:"goldens"`
	// Raw is the hash of the private raw transcript, RawStdout that of its
	// stdout, null for none.
	Raw        contract.Digest  `json:"raw_client_transcript_sha256"`
	RawStdout  *contract.Digest `json:"raw_stdout_sha256"`
	Visibility string           `json:"raw_artifact_visibility"`
	// Why it backs no claim, "" if it does.
	Why string `json:"why,omitempty"`
	// Withdrawn says that somebody took it back.
	Withdrawn bool `json:"withdrawn,omitempty"`
}

// Explain follows the claim about a version down to the records. probe limits
// the answer to one probe; "" is all.
func Explain(r *Records, agent, version string, p contract.Platform, probe string, host contract.Platform) (*Explanation, error) {
	m, err := Build(r)
	if err != nil {
		return nil, err
	}
	x, err := NewIndex(m, r.Agents, &r.Policy)
	if err != nil {
		return nil, err
	}
	c, err := x.Find(agent, strings.TrimLeft(version, "vV"), p)
	if err != nil {
		return nil, err
	}
	out := &Explanation{
		SchemaVersion: contract.SchemaVersion, Agent: agent, Version: c.Version, Platform: p, Status: c.Status, Answer: c.Answer(), Observed: c.Observed,
		Policy: c.Policy, Evidence: c.Evidence, Why: c.Why(), Next: c.Next(host), Probes: []ExplainedProbe{}, SetAside: []ExplainedObservation{},
	}
	for i := range m.Agents {
		if &m.Agents[i] == c.Entry {
			place := fmt.Sprintf("%s#/agents/%d", Path, i)
			out.Claim = &place
		}
	}
	groups := map[group][]*store.Observed{}
	for i := range r.Observations {
		o := &r.Observations[i]
		if o.Agent != agent || o.Platform != p {
			continue
		}
		if why := setAside(o); why == "" {
			g := group{o.Agent, o.ProtocolFamily, o.Platform}
			groups[g] = append(groups[g], o)
		} else if o.CLIVersion == c.Version && (probe == "" || o.Probe == probe) {
			out.SetAside = append(out.SetAside, explained(o, why))
		}
	}
	standing := NewStanding(r.Statements)
	levels := Levels(r.Observations, standing)
	for _, f := range c.Agent.ProtocolFamilies {
		g := group{agent, f, p}
		if len(groups[g]) == 0 {
			continue
		}
		b := &builder{records: r, agent: c.Agent, group: g, levels: levels, standing: standing}
		claims, whole, err := b.judged(groups[g])
		if err != nil {
			return nil, err
		}
		probes, gap, err := b.explain(claims, whole, c.Version)
		if err != nil {
			return nil, err
		}
		if gap != "" && slices.ContainsFunc(probes, func(e ExplainedProbe) bool { return e.Representative }) {
			out.Why = append(out.Why, gap)
		}
		// All probes are judged, also for one: what another one saw ends a claim.
		out.Probes = append(out.Probes, slices.DeleteFunc(probes, func(e ExplainedProbe) bool { return probe != "" && e.Probe != probe })...)
	}
	return out, nil
}

// explain says what is known of each probe of the group at a version and, where
// it lies in a gap about which nothing is claimed, what ended the claim.
func (b *builder) explain(claims []*versionClaim, whole []bool, version string) (out []ExplainedProbe, gap string, err error) {
	v, err := agents.ParseToken(b.agent, version)
	if err != nil {
		return nil, "", err
	}
	at, exact := len(claims), false
	for i, c := range claims {
		if n, err := c.parsed.Compare(v); err == nil && n >= 0 {
			at, exact = i, n == 0
			break
		}
	}
	probes := map[string]bool{}
	for _, c := range claims {
		for probe := range c.probes {
			probes[probe] = true
		}
	}
	for _, probe := range sortedKeys(probes) {
		e := ExplainedProbe{Probe: probe, ProtocolFamily: b.group.family, State: ProbeNotCaptured, Representative: probe == b.agent.RepresentativeProbe, Observations: []ExplainedObservation{}}
		if exact && claims[at].probes[probe] != nil {
			b.fill(&e, claims[at].probes[probe], claims[at].version)
		} else {
			b.interpolate(&e, claims, whole, at, exact)
		}
		out = append(out, e)
	}
	if !exact && at > 0 && at < len(claims) && !whole[at] {
		gap = gapBetween(claims, at)
	}
	return out, gap, nil
}

// gapBetween says why nothing is claimed between claims[at-1] and claims[at].
func gapBetween(claims []*versionClaim, at int) string {
	before, after := map[string]contract.Digest{}, map[string]contract.Digest{}
	for _, c := range claims[:at] {
		for probe, p := range c.probes {
			before[probe] = p.settled
		}
	}
	for _, c := range slices.Backward(claims[at:]) {
		for probe, p := range c.probes {
			after[probe] = p.settled
		}
	}
	var changed []string
	for _, probe := range sortedKeys(before) {
		if sig, seen := after[probe]; seen && (sig == "" || sig != before[probe]) {
			changed = append(changed, probe)
		}
	}
	x, y := claims[at-1].version, claims[at].version
	if len(changed) == 0 {
		return fmt.Sprintf("nothing is claimed between %s and %s: what is said of the two differs", x, y)
	}
	return fmt.Sprintf("nothing is claimed between %s and %s: around them the shape of %s changed", x, y, strings.Join(changed, ", "))
}

// fill tells of a probe that was captured.
func (b *builder) fill(e *ExplainedProbe, p *probeClaim, version string) {
	switch {
	case p.live:
		e.State = ProbeVariants
	case len(p.active) == 0:
		e.State = ProbeWithdrawn
	case p.settled == "":
		e.State = ProbeDisputed
	default:
		e.State, e.Shape, e.Level, e.Reading = ProbeObserved, p.settled, b.levels[p.settled], p.reading()
	}
	for _, sig := range sortedKeys(p.bySig) {
		for _, o := range p.bySig[sig] {
			why := ""
			if reason, withdrawn := b.standing.Withdrawn(o.Path); withdrawn {
				why = "withdrawn: " + reason
			} else if p.settled != "" && sig != p.settled && !p.live {
				why = "more captures of this version have another shape"
			}
			x := explained(o, why)
			x.Withdrawn = p.withdrawn[o]
			e.Observations = append(e.Observations, x)
		}
	}
	slices.SortFunc(e.Observations, func(x, y ExplainedObservation) int { return strings.Compare(x.Path, y.Path) })
}

// interpolate tells of a probe that was not captured at claims[at], or before
// claims[at] where the version has no claim of its own.
func (b *builder) interpolate(e *ExplainedProbe, claims []*versionClaim, whole []bool, at int, exact bool) {
	low, high := at-1, at
	if exact {
		high = at + 1
	}
	for low >= 0 && claims[low].probes[e.Probe] == nil {
		low--
	}
	for high < len(claims) && claims[high].probes[e.Probe] == nil {
		high++
	}
	for _, i := range []int{low, high} {
		if i >= 0 && i < len(claims) {
			e.Between = append(e.Between, claims[i].version)
		}
	}
	if len(e.Between) < 2 || slices.Contains(whole[low+1:high+1], false) {
		return
	}
	p := claims[low].probes[e.Probe]
	e.State, e.Shape, e.Level, e.Reading = ProbeInterpolated, p.settled, b.levels[p.settled], p.reading()
	for _, i := range []int{low, high} {
		e.Observations = append(e.Observations, explained(claims[i].probes[e.Probe].newest[p.settled], ""))
	}
}

func explained(o *store.Observed, why string) ExplainedObservation {
	e := ExplainedObservation{
		Path: o.Path, Evidence: store.EvidenceOf(o.Path), Version: o.CLIVersion, CapturedAt: o.Capture.CapturedAt, Runner: o.Capture.Runner, Provider: o.Extensions.Provider,
		Profile: o.Extensions.Profile, RunResult: o.Extensions.RunResult, ParserReplay: o.ParserReplay.Status, Signature: o.Shape.Signature, Shape: o.Shape.Path,
		Fixture: o.Extensions.Fixture, FixtureHash: o.Extensions.FixtureSHA256, Goldens: []string{},
		Raw: o.Capture.RawClientTranscriptSHA256, RawStdout: o.Capture.RawStdoutSHA256, Visibility: o.Capture.RawArtifactVisibility, Why: why,
	}
	for _, g := range []string{o.ParserReplay.Golden, o.Extensions.ReferenceGolden} {
		if g != "" {
			e.Goldens = append(e.Goldens, g)
		}
	}
	return e
}
