package matrix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Index answers what a matrix claims about a version. It does no I/O and is
// safe for concurrent use.
type Index struct {
	// GeneratedAt is the matrix's time.
	GeneratedAt string
	agents      map[string]*indexed
	file        *contract.AgentsFile
}

// indexed is what a matrix says about one agent.
type indexed struct {
	def     *contract.Agent
	policy  *contract.AgentPolicy
	entries map[contract.Platform][]*indexedEntry
	// supported, recorded and breaking are shapes of the representative probe:
	// verified, seen at all, and known to break.
	supported, recorded, breaking map[contract.Digest]bool
	// newest is the latest verified version on any platform, whose Token is ""
	// when there is none.
	newest agents.Version
	// observed has the claims about captured versions.
	observed map[place]Claim
}

type place struct {
	platform contract.Platform
	version  string
}

type indexedEntry struct {
	*contract.MatrixEntry
	ranges   []versionRange
	versions string // the ranges as one text
	// rep are the entry's shapes of the representative probe that count, at has
	// them by version; nil where there are several.
	rep []*contract.ObservedShape
	at  map[string]*contract.ObservedShape
	// foreign says that the entry is of a family that the representative probe
	// does not speak, though it was captured.
	foreign bool
}

// count takes in a shape of the representative probe.
func (e *indexedEntry) count(s *contract.ObservedShape) {
	e.rep = append(e.rep, s)
	for _, v := range s.Extensions.Versions {
		if other, seen := e.at[v]; seen && (other == nil || other.Shape != s.Shape) {
			e.at[v] = nil
			continue
		}
		e.at[v] = s
	}
}

// versionRange is an exact version, or first to last, or everything below a
// version, or a semver range.
type versionRange struct {
	first, last       agents.Version
	firstKey, lastKey numbers
	below             bool // than last
	semver            string
}

// numbers are the numbers of a version; comparing them decides nearly always.
type numbers [3]uint64

func numbersOf(v *agents.Version) numbers {
	var n numbers
	for i := range min(len(v.Parts), len(n)) {
		n[i], _ = strconv.ParseUint(v.Parts[i], 10, 64) // at most 15 digits
	}
	return n
}

// compareVersions is agents.Version.Compare for versions that may be of one
// product.
func compareVersions(v *agents.Version, n numbers, w *agents.Version, m numbers) (int, error) {
	for i := range n {
		if n[i] != m[i] {
			return cmp.Compare(n[i], m[i]), nil
		}
	}
	return v.Compare(*w)
}

// NewIndex prepares a matrix for questions. policy holds the overrides, which
// are about statuses too that no matrix has.
func NewIndex(m *contract.SupportMatrix, file *contract.AgentsFile, policy *contract.Policy) (*Index, error) {
	x := &Index{GeneratedAt: m.GeneratedAt, agents: make(map[string]*indexed, len(file.Agents)), file: file}
	for i := range file.Agents {
		a := &file.Agents[i]
		x.agents[a.ID] = &indexed{def: a, policy: policyOf(policy, a.ID), entries: map[contract.Platform][]*indexedEntry{},
			supported: map[contract.Digest]bool{}, recorded: map[contract.Digest]bool{}, breaking: map[contract.Digest]bool{}, observed: map[place]Claim{}}
	}
	for i := range m.Agents {
		e := &m.Agents[i]
		in := x.agents[e.Agent]
		if in == nil {
			return nil, fmt.Errorf("reading the matrix: %q is not in %s", e.Agent, store.AgentsFile)
		}
		if err := in.add(e); err != nil {
			return nil, fmt.Errorf("reading the matrix, entry %d: %w", i, err)
		}
	}
	for _, in := range x.agents {
		if in.policy != nil {
			for _, k := range in.policy.KnownBreakingShapes {
				in.breaking[k.Shape] = true
			}
		}
		in.markForeign()
		if err := in.remember(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (in *indexed) add(e *contract.MatrixEntry) error {
	ie := &indexedEntry{MatrixEntry: e, versions: strings.Join(e.VersionRanges, " || "), at: map[string]*contract.ObservedShape{}}
	for _, text := range e.VersionRanges {
		r, err := parseRange(in.def, text)
		if err != nil {
			return err
		}
		ie.ranges = append(ie.ranges, r)
	}
	for i := range e.ObservedShapes {
		s := &e.ObservedShapes[i]
		if s.Extensions.Probe == in.def.RepresentativeProbe && !s.Extensions.Outvoted {
			ie.count(s)
			in.recorded[s.Shape] = true
			if e.SupportStatus == contract.SupportVersionRangeVerified {
				in.supported[s.Shape] = true
			}
		}
	}
	for _, v := range e.ServerVariants {
		if v.Status == "compatible" && slices.ContainsFunc(ie.rep, func(s *contract.ObservedShape) bool { return s.Shape == v.Shape }) {
			in.supported[v.Shape] = true
		}
	}
	for _, k := range e.KnownBreakingShapes {
		in.breaking[k.Shape] = true
	}
	for _, p := range e.Platforms {
		in.entries[p] = append(in.entries[p], ie)
	}
	if e.LatestVerified == nil {
		return nil
	}
	v, err := parseToken(in.def, *e.LatestVerified)
	if err != nil {
		return err
	}
	if n, err := v.Compare(in.newest); in.newest.Token == "" || err == nil && n > 0 {
		in.newest = v
	}
	return nil
}

// markForeign finds the entries of families that the representative probe does
// not speak. A list of models that stayed the same over some versions says
// nothing about how a chat went at those between them.
func (in *indexed) markForeign() {
	spoken := map[contract.ProtocolFamily]bool{}
	for _, list := range in.entries {
		for _, e := range list {
			for _, f := range e.ProtocolFamilies {
				spoken[f] = spoken[f] || len(e.rep) > 0
			}
		}
	}
	if !slices.Contains(slices.Collect(maps.Values(spoken)), true) {
		return // never captured: nobody knows its family
	}
	for _, list := range in.entries {
		for _, e := range list {
			e.foreign = !slices.ContainsFunc(e.ProtocolFamilies, func(f contract.ProtocolFamily) bool { return spoken[f] })
		}
	}
}

// remember answers for every captured version, so that questions about those
// are one look-up.
func (in *indexed) remember() error {
	for platform, entries := range in.entries {
		for _, e := range entries {
			for _, s := range e.ObservedShapes {
				for _, version := range s.Extensions.Versions {
					at := place{platform, version}
					if _, done := in.observed[at]; done {
						continue
					}
					v, err := parseToken(in.def, version)
					if err != nil {
						return err
					}
					c, err := in.classify(v, platform, Probed{})
					if err != nil {
						return err
					}
					in.observed[at] = c
				}
			}
		}
	}
	return nil
}

// parseRange reads a range of the matrix. Those of captured versions are read
// by the agent's scheme, which semver ranges would misread: builds, calendar
// versions, pre-releases.
func parseRange(a *contract.Agent, text string) (versionRange, error) {
	low, high, isPair := strings.Cut(text, " <=")
	low, isLow := strings.CutPrefix(low, ">=")
	if isPair && isLow {
		first, err1 := parseToken(a, low)
		last, err2 := parseToken(a, high)
		if err1 == nil && err2 == nil {
			return versionRange{first: first, last: last, firstKey: numbersOf(&first), lastKey: numbersOf(&last)}, nil
		}
	}
	if v, err := parseToken(a, text); err == nil {
		return versionRange{first: v, last: v, firstKey: numbersOf(&v), lastKey: numbersOf(&v)}, nil
	}
	if v, err := parseToken(a, strings.TrimPrefix(text, "<")); err == nil && strings.HasPrefix(text, "<") {
		return versionRange{last: v, lastKey: numbersOf(&v), below: true}, nil
	}
	_, err := agents.Version{Parts: []string{"0", "0"}}.In(text)
	return versionRange{semver: text}, err
}

func (r *versionRange) holds(v *agents.Version, n numbers) bool {
	if r.semver != "" {
		in, err := v.In(r.semver)
		return in && err == nil
	}
	high, err := compareVersions(v, n, &r.last, r.lastKey)
	if err != nil || r.below || high > 0 {
		return err == nil && high < 0
	}
	low, err := compareVersions(&r.first, r.firstKey, v, n)
	return err == nil && low <= 0
}

// parseToken is agents.ParseToken, in a few nanoseconds for the usual form.
func parseToken(a *contract.Agent, token string) (agents.Version, error) {
	parts := strings.Split(token, ".")
	plain := len(parts) == 3
	for _, p := range parts {
		plain = plain && p != "" && len(p) <= 15 && (p == "0" || p[0] != '0') && strings.Trim(p, "0123456789") == ""
	}
	if !plain {
		return agents.ParseToken(a, token)
	}
	v := agents.Version{Token: token, Line: token, Parts: parts, Scheme: contract.SchemePrerelease}
	if a.VersionProbe != nil {
		v.Scheme = a.VersionProbe.Scheme
	}
	return v, nil
}

// Versions returns the captured versions of an agent, newest first.
func (x *Index) Versions(agent string) []string {
	in := x.agents[agent]
	if in == nil {
		return nil
	}
	seen := map[string]bool{}
	for at := range in.observed {
		seen[at.version] = true
	}
	list := sortedKeys(seen)
	SortVersions(in.def, list)
	slices.Reverse(list)
	return list
}

// SortVersions sorts versions of an agent, oldest first. Versions of two
// products of one name have no order and stay as they are.
func SortVersions(a *contract.Agent, versions []string) {
	slices.SortStableFunc(versions, func(x, y string) int {
		n, err := agents.CompareVersions(a, x, y)
		if err != nil {
			return 0
		}
		return n
	})
}
