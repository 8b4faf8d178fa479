// Package matrix derives what the registry claims: the support matrix, and the
// level of each shape. Both are pure functions of the records: the same
// records in any order give the same bytes, and nothing depends on today
// (DESIGN D10, FINE-PRINT 1 and 16).
package matrix

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Path is the matrix's place in a registry.
const Path = "registry/support-matrix.json"

// The places of what people decided and of what discovery found.
const (
	PolicyPath     = store.PolicyFile
	LatestSeenPath = "registry/latest-seen.json"
)

// Records is everything that the claims follow from.
type Records struct {
	Agents       *contract.AgentsFile
	Observations []store.Observed
	// Statements are what was said about the observations later.
	Statements []store.Stated
	Policy     contract.Policy
	LatestSeen contract.LatestSeen
}

// Load reads the records of a registry.
func Load(reg *store.Registry) (*Records, error) {
	obs, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	statements, err := reg.StatementsAround(obs)
	if err != nil {
		return nil, err
	}
	return LoadAround(reg, obs, statements)
}

// LoadAround is Load for a caller that has read the observations and what was
// said about them later.
func LoadAround(reg *store.Registry, obs []store.Observed, statements []store.Stated) (*Records, error) {
	r := &Records{Agents: &contract.AgentsFile{}, Observations: obs, Statements: statements}
	for i := range obs { // whoever read them may have filled in the specification's default, or not
		if status := &obs[i].ParserReplay.Status; *status == "" {
			*status = contract.ReplayNotRun
		}
	}
	if err := reg.ReadJSON(store.AgentsFile, r.Agents); err != nil {
		return nil, err
	}
	for rel, v := range map[string]any{PolicyPath: &r.Policy, LatestSeenPath: &r.LatestSeen} {
		if reg.Exists(rel) {
			if err := reg.ReadJSON(rel, v); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// ConfirmGap is the time between two observations of one runner that makes
// them independent (FINE-PRINT 1).
const ConfirmGap = time.Hour

// Independent reports whether observations of one shape confirm it: two runs from
// different runners, or at least an hour apart.
func Independent(list []*store.Observed) bool {
	first, last := "", ""
	runs := map[contract.Digest]bool{}
	for _, o := range list {
		if runs[o.Capture.RawClientTranscriptSHA256] {
			continue // the same run once more, whatever the record says of when and where
		}
		runs[o.Capture.RawClientTranscriptSHA256] = true
		if o.Capture.Runner != list[0].Capture.Runner {
			return true
		}
		if first == "" || o.Capture.CapturedAt < first {
			first = o.Capture.CapturedAt
		}
		last = max(last, o.Capture.CapturedAt)
	}
	a, err1 := time.Parse(time.RFC3339, first)
	b, err2 := time.Parse(time.RFC3339, last)
	return err1 == nil && err2 == nil && b.Sub(a) >= ConfirmGap
}

// group is the scope of a claim.
type group struct {
	agent    string
	family   contract.ProtocolFamily
	platform contract.Platform
}

// Build derives the matrix.
func Build(r *Records) (*contract.SupportMatrix, error) {
	m := &contract.SupportMatrix{SchemaVersion: contract.SchemaVersion, GeneratedAt: "1970-01-01T00:00:00Z", Agents: []contract.MatrixEntry{}}
	standing := NewStanding(r.Statements)
	m.GeneratedAt = max(m.GeneratedAt, standing.newest)
	levels := Levels(r.Observations, standing)
	groups := map[group][]*store.Observed{}
	for i := range r.Observations {
		o := &r.Observations[i]
		m.GeneratedAt = max(m.GeneratedAt, o.Capture.CapturedAt)
		if setAside(o) != "" {
			continue
		}
		g := group{o.Agent, o.ProtocolFamily, o.Platform}
		groups[g] = append(groups[g], o)
	}
	keys := make([]group, 0, len(groups))
	for g := range groups {
		keys = append(keys, g)
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.family, b.family), cmp.Compare(a.platform, b.platform))
	})
	// Groups do not know of each other: each is a job of its own.
	found, errs := make([][]contract.MatrixEntry, len(keys)), make([]error, len(keys))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				b := &builder{records: r, agent: r.Agents.Agent(keys[i].agent), group: keys[i], levels: levels, standing: standing}
				found[i], errs[i] = b.derive(groups[keys[i]])
			}
		})
	}
	for i := range keys {
		next <- i
	}
	close(next)
	workers.Wait()
	for i := range keys {
		if errs[i] != nil {
			return nil, errs[i]
		}
		m.Agents = append(m.Agents, found[i]...)
	}
	m.Agents = append(m.Agents, decidedEntries(r, m.Agents)...)
	slices.SortStableFunc(m.Agents, func(a, b contract.MatrixEntry) int { return cmp.Compare(a.Agent, b.Agent) })
	return m, nil
}

func (b *builder) derive(obs []*store.Observed) ([]contract.MatrixEntry, error) {
	if b.agent == nil {
		return nil, fmt.Errorf("deriving the matrix: %s has observations but no entry in %s", b.group.agent, store.AgentsFile)
	}
	entries, err := b.entries(obs)
	if err != nil {
		return nil, fmt.Errorf("deriving the matrix for %s on %s: %w", b.group.agent, b.group.platform, err)
	}
	return entries, nil
}

// BacksClaims reports whether an observation may back a claim at all.
func BacksClaims(o *store.Observed) bool { return setAside(o) == "" }

// setAside says why an observation backs no claim, "" if it does.
func setAside(o *store.Observed) string {
	switch {
	case strings.HasPrefix(o.Install.Source, "binary:"):
		return "a program that somebody named is no release"
	case o.Probe == contract.VersionProbeID:
		return "the version probe says who a program is" // docs/decisions/0003
	case o.Extensions.Profile != contract.ProfileProduction:
		return "the consumer does not start it in the profile " + o.Extensions.Profile // DESIGN D1
	case !o.ValidityLevel.SupportsClaim():
		return "its level is " + string(o.ValidityLevel)
	}
	return ""
}

// Encode returns the matrix as it is stored.
func Encode(m *contract.SupportMatrix) ([]byte, error) { return contract.Encode(m) }

// versionClaim is what is known of one version.
type versionClaim struct {
	version string
	parsed  agents.Version
	probes  map[string]*probeClaim
	// active says that not everything about it was withdrawn.
	active bool
	status contract.SupportStatus
	notes  []string
	reason string
	// evidence supports reason.
	evidence []string
	// policyNotes and allow are what registry/policy.json says of this version;
	// allow is "" where it leaves the default.
	policyNotes []string
	allow       contract.AllowRun
}

func (b *builder) claims(obs []*store.Observed) ([]*versionClaim, error) {
	byVersion := map[string]*versionClaim{}
	for _, o := range obs {
		c := byVersion[o.CLIVersion]
		if c == nil {
			c = &versionClaim{version: o.CLIVersion, probes: map[string]*probeClaim{}}
			byVersion[o.CLIVersion] = c
		}
		if c.probes[o.Probe] == nil {
			c.probes[o.Probe] = newProbeClaim()
		}
		_, withdrawn := b.standing.Withdrawn(o.Path)
		c.probes[o.Probe].add(o, withdrawn)
		c.active = c.active || !withdrawn
	}
	var list []*versionClaim
	for _, v := range sortedKeys(byVersion) {
		c := byVersion[v]
		var err error
		if c.parsed, err = parseToken(b.agent, v); err != nil {
			return nil, err
		}
		for _, p := range c.probes {
			p.settle()
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(x, y *versionClaim) int {
		n, _ := x.parsed.Compare(y.parsed) // recorded versions have no product to differ in
		return n
	})
	return list, nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
