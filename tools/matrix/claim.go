package matrix

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Claim is what is known about one version of an agent on one platform.
type Claim struct {
	Agent    *contract.Agent
	Version  string // token without a leading v
	Platform contract.Platform
	Status   contract.SupportStatus
	// Observed says that the representative probe of this very version was
	// captured.
	Observed bool
	Policy   contract.CompatibilityPolicy
	Evidence contract.CompatibilityEvidence
	// Entry is the matrix entry that speaks about the version, nil for none.
	Entry *contract.MatrixEntry
	// LatestVerified is the newest version of the agent that is verified on any
	// platform, "" for none.
	LatestVerified string
}

// Probed is what a local probe of the installed CLI found. The zero value is no
// probe.
type Probed struct {
	// Shape is the active shape, "" when the run gave none.
	Shape contract.Digest
	Done  bool   // the probe ran
	At    string // when: UTC, RFC 3339
	Live  bool   // against the real provider
}

// Agent returns an agent by its id. Its error is an *agents.UnknownAgentError.
func (x *Index) Agent(id string) (*contract.Agent, error) { return agents.Find(x.file, id) }

// Agents returns every agent, in the order of registry/agents.json.
func (x *Index) Agents() []contract.Agent { return x.file.Agents }

// Find says what is claimed about a version. Its errors are
// *agents.UnknownAgentError, and one for a text that is no version.
func (x *Index) Find(agent, version string, p contract.Platform) (Claim, error) {
	in := x.agents[agent]
	if in == nil {
		_, err := x.Agent(agent)
		return Claim{}, err
	}
	if c, ok := in.observed[place{p, version}]; ok {
		return c, nil
	}
	return x.Classify(agent, version, p, Probed{})
}

// Classify is Find for an installed CLI, with what a local probe of it found:
// the specification's classifyInstalledCli, in its order.
func (x *Index) Classify(agent, version string, p contract.Platform, probe Probed) (Claim, error) {
	in := x.agents[agent]
	if in == nil {
		_, err := x.Agent(agent)
		return Claim{}, err
	}
	v, err := parseToken(in.def, version)
	if err != nil {
		return Claim{}, err
	}
	return in.classify(v, p, probe)
}

func (in *indexed) classify(v agents.Version, p contract.Platform, probe Probed) (Claim, error) {
	c := Claim{Agent: in.def, Version: v.Token, Platform: p, LatestVerified: in.newest.Token}
	e, decided := in.entry(&v, p)
	if e != nil {
		c.Entry = e.MatrixEntry
		c.Evidence = e.evidence(&v)
		c.Observed = e.shapeAt(&v) != nil
	} else {
		c.Evidence.Source = contract.EvidenceFromNone
	}
	switch {
	case decided:
		c.Status = e.SupportStatus
		if c.Status == contract.SupportKnownBreaking {
			c.Evidence.Source = contract.EvidenceFromKnownBreaking
		}
	case probe.Done:
		in.probed(&c, probe)
	case e != nil && e.SupportStatus == contract.SupportKnownBreakingShape:
		c.Status, c.Evidence.Source = contract.SupportKnownBreakingShape, contract.EvidenceFromKnownBreaking
	case c.Evidence.ServerVariantPossible:
		c.Status = contract.SupportServerVariantPossible
	case e != nil && e.SupportStatus == contract.SupportVersionRangeVerified:
		c.Status = contract.SupportVersionRangeVerified
	case in.newerThanVerified(v):
		c.Status = contract.SupportNewerThanVerified
	default:
		c.Status = contract.SupportUnknown
	}
	c.Policy = contract.CompatibilityPolicy{AllowRun: contract.AllowRunFor(c.Status, c.Observed), UserAction: contract.ActionFor(c.Status, c.Observed)}
	return c, in.override(&c, v)
}

// probed classifies by the active shape. A hermetic probe proves the CLI's side
// alone: where the server is known to choose, it proves no more than that
// (FINE-PRINT 15).
func (in *indexed) probed(c *Claim, probe Probed) {
	c.Evidence.Source, c.Evidence.ShapeSignature, c.Evidence.ObservedAt = contract.EvidenceFromLocalProbe, nil, &probe.At
	if probe.Shape != "" {
		c.Evidence.ShapeSignature = &probe.Shape
	}
	switch {
	case in.breaking[probe.Shape]:
		c.Status = contract.SupportKnownBreakingShape
	case !in.supported[probe.Shape] && in.recorded[probe.Shape]:
		c.Status = contract.SupportUnknown // nothing to report: it was captured, and is not verified
	case !in.supported[probe.Shape]:
		c.Status = contract.SupportActiveShapeUnknown
	case c.Evidence.ServerVariantPossible && !probe.Live:
		c.Status = contract.SupportServerVariantPossible
	default:
		c.Status = contract.SupportLocalShapeVerified
	}
}

// entry returns the entry that speaks about a version, and whether people
// decided it. An agent can have entries of several families: the one of the
// representative probe speaks, of several the one that asks for most care. An
// entry of another family speaks only where people decided it.
func (in *indexed) entry(v *agents.Version, p contract.Platform) (best *indexedEntry, decided bool) {
	n := numbersOf(v)
	for _, e := range in.entries[p] {
		if e.foreign && rank(e) > decidedRank || !e.holds(v, n) {
			continue
		}
		if best == nil || rank(e) < rank(best) {
			best = e
		}
	}
	return best, best != nil && rank(best) <= decidedRank
}

// decidedRank is the last rank of what people decided.
const decidedRank = 3

// rank orders entries about one version: those that come first speak. Of two
// that people decided, the one with captures behind it says more.
func rank(e *indexedEntry) int {
	bare := 0
	if len(e.ObservedShapes) == 0 {
		bare = 1
	}
	switch {
	case e.SupportStatus == contract.SupportTooOld:
		return bare
	case e.SupportStatus == contract.SupportKnownBreaking:
		return 2 + bare
	case len(e.rep) == 0:
		return 9
	case e.SupportStatus == contract.SupportKnownBreakingShape:
		return 4
	case e.SupportStatus == contract.SupportUnknown:
		return 5
	case e.SupportStatus == contract.SupportServerVariantPossible:
		return 6
	}
	return 7
}

func (e *indexedEntry) holds(v *agents.Version, n numbers) bool {
	for i := range e.ranges {
		if e.ranges[i].holds(v, n) {
			return true
		}
	}
	return false
}

// shapeAt returns the shape of the representative probe that was captured at
// this version; nil when none or more than one was.
func (e *indexedEntry) shapeAt(v *agents.Version) *contract.ObservedShape { return e.at[v.Token] }

func (e *indexedEntry) evidence(v *agents.Version) contract.CompatibilityEvidence {
	out := contract.CompatibilityEvidence{
		VersionRange: &e.versions, ObservedAt: e.LastObservedAt, Source: contract.EvidenceFromSupportMatrix,
		ServerVariantPossible: len(e.ServerVariants) > 0 || e.SupportStatus == contract.SupportServerVariantPossible,
	}
	s := e.shapeAt(v)
	if s == nil && e.oneShape() {
		s = e.rep[0] // between two versions with this shape
	}
	if s != nil {
		out.ShapeSignature, out.ObservedAt = &s.Shape, &s.ObservedAt
	}
	return out
}

func (e *indexedEntry) oneShape() bool {
	for _, s := range e.rep {
		if s.Shape != e.rep[0].Shape {
			return false
		}
	}
	return len(e.rep) > 0
}

func (in *indexed) newerThanVerified(v agents.Version) bool {
	if in.newest.Token == "" {
		return false
	}
	n, err := v.Compare(in.newest)
	return err == nil && n > 0
}

// override applies what people decided about a status (FINE-PRINT 17). An entry
// of the matrix has its own overrides already, and those of statuses that only
// a reader knows are in registry/policy.json.
func (in *indexed) override(c *Claim, v agents.Version) error {
	if in.policy == nil {
		return nil
	}
	var family contract.ProtocolFamily
	if c.Entry != nil && len(c.Entry.ProtocolFamilies) > 0 {
		family = c.Entry.ProtocolFamilies[0]
	}
	for _, o := range in.policy.Overrides {
		if o.SupportStatus != "" && o.SupportStatus != c.Status || !inScope(o.Scope, c.Platform, family) {
			continue
		}
		if hit, err := inAny(v, o.VersionRanges); err != nil {
			return err
		} else if !hit && len(o.VersionRanges) > 0 {
			continue
		}
		c.Policy.AllowRun = o.AllowRun
		c.Policy.UserAction = contract.ActionFor(c.Status, c.Observed)
		if o.AllowRun == contract.AllowRunAllow {
			c.Policy.UserAction = contract.CLIActionNone
		}
	}
	return nil
}

// Answer is the answer to "can I use it?".
type Answer string

// The three answers (DESIGN D10).
const (
	AnswerYes        Answer = "yes"
	AnswerNo         Answer = "no"
	AnswerCannotKnow Answer = "cannot_know"
)

// Answer follows from what a consumer is told to do.
func (c *Claim) Answer() Answer {
	switch c.Policy.AllowRun {
	case contract.AllowRunAllow:
		return AnswerYes
	case contract.AllowRunBlock:
		return AnswerNo
	}
	return AnswerCannotKnow
}
