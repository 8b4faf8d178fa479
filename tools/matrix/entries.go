package matrix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// builder derives the entries of one group.
type builder struct {
	records *Records
	agent   *contract.Agent
	group   group
	levels  map[contract.Digest]contract.ValidityLevel
	// standing says what counts of the observations.
	standing Standing
}

// judged returns the versions of the group, oldest first, with their status,
// and for each of them whether it belongs to one claim with the one before it.
func (b *builder) judged(obs []*store.Observed) (claims []*versionClaim, whole []bool, err error) {
	if claims, err = b.claims(obs); err != nil {
		return nil, nil, err
	}
	for _, c := range claims {
		if err := b.judge(c); err != nil {
			return nil, nil, err
		}
	}
	return claims, b.wholeGaps(claims), nil
}

func (b *builder) entries(obs []*store.Observed) ([]contract.MatrixEntry, error) {
	claims, whole, err := b.judged(obs)
	if err != nil {
		return nil, err
	}
	latestVerified := ""
	for _, c := range claims {
		if c.status == contract.SupportVersionRangeVerified {
			latestVerified = c.version
		}
	}
	latestSeen, err := b.latestSeen(claims)
	if err != nil {
		return nil, err
	}
	var out []contract.MatrixEntry
	for first := 0; first < len(claims); {
		end := first + 1
		for end < len(claims) && whole[end] {
			end++
		}
		if claims[first].active { // nothing is claimed about a version whose captures were all withdrawn
			e := b.entry(claims[first:end])
			e.LatestVerified, e.LatestSeen = optional(latestVerified), optional(latestSeen)
			out = append(out, e)
		}
		first = end
	}
	return out, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// judge gives a version its status.
func (b *builder) judge(c *versionClaim) error {
	c.status = contract.SupportVersionRangeVerified
	for _, probe := range sortedKeys(c.probes) {
		p := c.probes[probe]
		switch {
		case p.live:
			c.status = contract.SupportServerVariantPossible
			c.notes = append(c.notes, probe+": several shapes from the live provider; run a local probe to know which one is active")
		case len(p.active) == 0:
			c.notes = append(c.notes, probe+": every capture was withdrawn")
		case p.settled == "":
			c.notes = append(c.notes, probe+": captures disagree about the shape; a third one decides")
		case p.reading() == contract.ReplayIncompatible:
			c.notes = append(c.notes, probe+": the consumer's reading loses or doubles something; see the golden files")
		}
	}
	if c.status == contract.SupportVersionRangeVerified {
		c.status = b.representative(c)
	}
	return b.decided(c)
}

// representative returns the status that the agent's representative probe
// supports (FINE-PRINT 17).
func (b *builder) representative(c *versionClaim) contract.SupportStatus {
	p := c.probes[b.agent.RepresentativeProbe]
	if p == nil {
		c.notes = append(c.notes, b.agent.RepresentativeProbe+": not captured")
		return contract.SupportUnknown
	}
	if p.settled == "" {
		return contract.SupportUnknown
	}
	if p.violated() {
		c.notes = append(c.notes, b.agent.RepresentativeProbe+": the run does not meet the probe's expectation")
		return contract.SupportUnknown
	}
	switch p.reading() {
	case contract.ReplayCompatible:
		return contract.SupportVersionRangeVerified
	case contract.ReplayNotRun:
		c.notes = append(c.notes, b.agent.RepresentativeProbe+": the consumer has no parser for this format")
	}
	return contract.SupportUnknown
}

func (b *builder) latestSeen(claims []*versionClaim) (string, error) {
	latest := claims[len(claims)-1].version
	for _, s := range b.records.LatestSeen.Agents {
		if s.Agent != b.agent.ID {
			continue
		}
		n, err := agents.CompareVersions(b.agent, s.Version, latest)
		if err != nil {
			return "", fmt.Errorf("latest-seen.json: %w", err)
		}
		if n > 0 {
			latest = s.Version
		}
	}
	return latest, nil
}

func (b *builder) entry(claims []*versionClaim) contract.MatrixEntry {
	first, last := claims[0], claims[len(claims)-1]
	e := contract.MatrixEntry{
		Agent:               b.agent.ID,
		VersionRanges:       []string{first.version},
		Platforms:           []contract.Platform{b.group.platform},
		ProtocolFamilies:    []contract.ProtocolFamily{b.group.family},
		SupportStatus:       first.status,
		ServerVariants:      []contract.ServerVariant{},
		KnownBreakingShapes: []contract.KnownBreakingShape{},
		Policy:              contract.MatrixPolicy{AllowRun: contract.DefaultAllowRun(first.status)},
		Notes:               append(append([]string{}, first.notes...), first.policyNotes...),
		Extensions:          contract.MatrixExtensions{Reason: first.reason, Evidence: first.evidence, Profile: contract.ProfileProduction},
	}
	if first != last {
		e.VersionRanges[0] = ">=" + first.version + " <=" + last.version
	} else if first.status == contract.SupportVersionRangeVerified {
		e.Policy.AllowRun = contract.AllowRunAllow // an exact, observed version (FINE-PRINT 17)
	}
	e.ObservedShapes = b.observed(claims)
	for _, s := range e.ObservedShapes {
		if e.LastObservedAt == nil || s.ObservedAt > *e.LastObservedAt {
			e.LastObservedAt = &s.ObservedAt
		}
	}
	if first.status == contract.SupportServerVariantPossible {
		e.ServerVariants = variants(claims)
	}
	if p := b.policy(); p != nil {
		for _, k := range p.KnownBreakingShapes {
			if slices.ContainsFunc(e.ObservedShapes, func(s contract.ObservedShape) bool { return s.Shape == k.Shape }) {
				e.KnownBreakingShapes = append(e.KnownBreakingShapes, k)
			}
		}
	}
	if first.allow != "" {
		e.Policy.AllowRun = first.allow
	}
	return e
}

// observed lists every shape of the range, disputed ones too.
func (b *builder) observed(claims []*versionClaim) []contract.ObservedShape {
	type key struct {
		probe    string
		sig      contract.Digest
		provider contract.ProviderKind
	}
	found := map[key]*contract.ObservedShape{}
	for _, c := range claims {
		for probe, p := range c.probes {
			for sig, o := range p.newest {
				k := key{probe, sig, o.Extensions.Provider}
				s := found[k]
				if s == nil {
					s = &contract.ObservedShape{Shape: sig, ValidityLevel: b.levels[sig],
						Extensions: contract.ObservedShapeExtensions{Probe: probe, Provider: k.provider, Profile: o.Extensions.Profile}}
					found[k] = s
				}
				s.ObservedAt = max(s.ObservedAt, o.Capture.CapturedAt)
				s.Extensions.Versions = append(s.Extensions.Versions, c.version)
				s.Extensions.Outvoted = p.settled != "" && sig != p.settled && !p.live
			}
		}
	}
	out := make([]contract.ObservedShape, 0, len(found))
	for k, s := range found {
		s.Extensions.Interpolated = interpolated(claims, k.probe, s)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y contract.ObservedShape) int {
		return cmp.Or(cmp.Compare(x.Extensions.Probe, y.Extensions.Probe), cmp.Compare(x.Shape, y.Shape), cmp.Compare(x.Extensions.Provider, y.Extensions.Provider))
	})
	return out
}

// interpolated lists the versions between those that a shape was observed at
// where nobody ran its probe. What an outvoted or disputed shape is between is
// nobody's guess.
func interpolated(claims []*versionClaim, probe string, s *contract.ObservedShape) []string {
	var out, between []string
	inside := false
	for _, c := range claims {
		p := c.probes[probe]
		switch {
		case p == nil && inside:
			between = append(between, c.version)
		case p != nil && p.settled == s.Shape && !p.live:
			out, between, inside = append(out, between...), nil, true
		case p != nil:
			between, inside = nil, false
		}
	}
	return out
}

// variants lists the shapes of a live provider's probes. Several probes can
// have one shape: the status that asks for most care counts.
func variants(claims []*versionClaim) []contract.ServerVariant {
	care := contract.ServerVariantStatuses // from no care to most
	status := map[contract.Digest]string{}
	for _, c := range claims {
		for _, p := range c.probes {
			if !p.live {
				continue
			}
			for sig, o := range p.newest {
				is := "compatible_pending_fixture"
				switch o.ParserReplay.Status {
				case contract.ReplayCompatible:
					is = "compatible"
				case contract.ReplayIncompatible:
					is = "breaking"
				}
				if slices.Index(care, is) > slices.Index(care, status[sig]) {
					status[sig] = is
				}
			}
		}
	}
	out := []contract.ServerVariant{}
	for _, sig := range sortedKeys(status) {
		out = append(out, contract.ServerVariant{Shape: sig, Status: status[sig]})
	}
	return out
}
