package agentcontracts

import (
	"context"
	"io/fs"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// The words of the answers, which are those of the records.
type (
	// Platform is an operating system and a processor: linux-x64, darwin-arm64.
	Platform = contract.Platform
	// Status is the specification's word about an installed CLI.
	Status = contract.SupportStatus
	// Entry is one claim of the support matrix.
	Entry = contract.MatrixEntry
	// Response is the specification's AgentCliCompatibilityResponse.
	Response = contract.CompatibilityResponse
	// Claim is what is known about one version, with Why and Next for people.
	Claim = matrix.Claim
	// Probed is what a local probe of the installed CLI found.
	Probed = matrix.Probed
)

// Support answers what a registry claims about agents and their versions. It
// does no I/O and is safe for concurrent use.
type Support struct{ index *matrix.Index }

var embedded = sync.OnceValues(func() (*Support, error) { return Open(files) })

// Embedded returns the support that this version of the module knows about.
func Embedded() *Support {
	s, err := embedded()
	if err != nil {
		panic("agentcontracts: the embedded matrix is broken: " + err.Error()) // a test of this module reads it
	}
	return s
}

// Open reads the claims of another registry: registry/agents.json, and
// support-matrix.json and policy.json beside it if they are there. Nothing is
// read later.
func Open(fsys fs.FS) (*Support, error) {
	x, err := matrix.LoadIndex(store.Embedded(fsys))
	if err != nil {
		return nil, err
	}
	return &Support{x}, nil
}

// Agents returns the ids of all agents, in the registry's order.
func (s *Support) Agents() []string {
	var ids []string
	for _, a := range s.index.Agents() {
		ids = append(ids, a.ID)
	}
	return ids
}

// FindSupportEntry returns the matrix entry that speaks about a version; nil
// where nothing is claimed, also about an agent or a version that is none.
func (s *Support) FindSupportEntry(agent, version string, p Platform) *Entry {
	e, err := s.index.SupportEntry(agent, version, p)
	if err != nil {
		return nil
	}
	return e
}

// IsOlderThanMinSupported reports whether a version lies below the floor that
// people set; with Platform "" only if it does on every platform.
func (s *Support) IsOlderThanMinSupported(agent, version string, p Platform) bool {
	is, err := s.index.TooOld(agent, version, p)
	return is && err == nil
}

// IsKnownBreaking reports whether a version is known to break; with Platform ""
// only if it does on every platform.
func (s *Support) IsKnownBreaking(agent, version string, p Platform) bool {
	is, err := s.index.KnownBreaking(agent, version, p)
	return is && err == nil
}

// IsNewerThanLatestVerified reports whether a version is newer than every
// verified one. Where nothing is verified it is not.
func (s *Support) IsNewerThanLatestVerified(agent, version string) bool {
	is, err := s.index.NewerThanVerified(agent, version)
	return is && err == nil
}

// Classify says what is known about a version, in the specification's order.
// probe is what a local probe of it found, nil for no probe. An agent or a
// version that nobody knows is unknown, which is no error: whoever starts a CLI
// needs an answer in any case.
func (s *Support) Classify(agent, version string, p Platform, probe *Probed) Claim {
	var (
		c   Claim
		err error
	)
	if probe == nil {
		c, err = s.index.Find(agent, version, p)
	} else {
		c, err = s.index.Classify(agent, version, p, *probe)
	}
	if err == nil {
		return c
	}
	return unknown(agent, version, p)
}

// ProbeRunner runs a bounded local probe of the installed CLI of an agent; nil
// for none. Its error ends the classification.
type ProbeRunner func(ctx context.Context, agent string) (*Probed, error)

// ClassifyInstalledCLI is the specification's function of that name, with the
// probe given: what is too old or known to break is not started to find out
// more. A nil probe asks nothing. An error is the probe's; the claim is then
// what is known without it.
func (s *Support) ClassifyInstalledCLI(ctx context.Context, agent, version string, p Platform, probe ProbeRunner) (Claim, error) {
	before := s.Classify(agent, version, p, nil)
	if probe == nil || before.Status == contract.SupportTooOld || before.Status == contract.SupportKnownBreaking {
		return before, nil
	}
	found, err := probe(ctx, agent)
	if err != nil || found == nil {
		return before, err
	}
	return s.Classify(agent, version, p, found), nil
}

func unknown(agent, version string, p Platform) Claim {
	return Claim{
		Agent: &contract.Agent{ID: agent}, Version: version, Platform: p, Status: contract.SupportUnknown,
		Policy:   contract.CompatibilityPolicy{AllowRun: contract.AllowRunFor(contract.SupportUnknown, false), UserAction: contract.ActionFor(contract.SupportUnknown, false)},
		Evidence: contract.CompatibilityEvidence{Source: contract.EvidenceFromNone},
	}
}

// Respond makes the specification's response of a claim. generatedAt is the
// time of the answer: UTC, RFC 3339 with Z.
func Respond(c Claim, generatedAt string) Response {
	r := Response{
		SchemaVersion: contract.SchemaVersion, GeneratedAt: generatedAt, Agent: c.Agent.ID, Platform: c.Platform,
		Status: c.Status, Policy: c.Policy, Evidence: c.Evidence,
	}
	if c.Version != "" {
		r.InstalledVersion = &c.Version
	}
	return r
}
