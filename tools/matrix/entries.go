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
}

func (b *builder) entries(obs []*store.Observed) ([]contract.MatrixEntry, error) {
	claims, err := b.claims(obs)
	if err != nil {
		return nil, err
	}
	latestVerified := ""
	for _, c := range claims {
		if err := b.judge(c); err != nil {
			return nil, err
		}
		if c.status == contract.SupportVersionRangeVerified {
			latestVerified = c.version
		}
	}
	latestSeen, err := b.latestSeen(claims)
	if err != nil {
		return nil, err
	}
	var out []contract.MatrixEntry
	for len(claims) > 0 {
		n := 1
		for n < len(claims) && joins(claims[n-1], claims[n]) {
			n++
		}
		e := b.entry(claims[:n])
		e.LatestVerified, e.LatestSeen = optional(latestVerified), optional(latestSeen)
		if err := b.applyPolicy(&e, claims[:n]); err != nil {
			return nil, err
		}
		out = append(out, e)
		claims = claims[n:]
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
		case p.settled == "":
			c.notes = append(c.notes, probe+": captures disagree about the shape; a third one decides")
		case p.newest[p.settled].ParserReplay.Status == contract.ReplayIncompatible:
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
	if len(p.newest[p.settled].Extensions.Violations) > 0 {
		c.notes = append(c.notes, b.agent.RepresentativeProbe+": the run does not meet the probe's expectation")
		return contract.SupportUnknown
	}
	switch p.newest[p.settled].ParserReplay.Status {
	case contract.ReplayCompatible:
		return contract.SupportVersionRangeVerified
	case contract.ReplayNotRun:
		c.notes = append(c.notes, b.agent.RepresentativeProbe+": the consumer has no parser for this format")
	}
	return contract.SupportUnknown
}

// decided applies what people decided in registry/policy.json.
func (b *builder) decided(c *versionClaim) error {
	p := b.policy()
	if p == nil {
		return nil
	}
	for _, old := range p.TooOld {
		n, err := agents.CompareVersions(b.agent, c.version, old.Below)
		if err != nil {
			return fmt.Errorf("policy.json, too_old: %w", err)
		}
		if n < 0 && b.inScope(old.Scope) {
			c.status, c.reason, c.evidence = contract.SupportTooOld, old.Reason, old.Evidence
		}
	}
	v, err := agents.ParseToken(b.agent, c.version)
	if err != nil {
		return err
	}
	for _, k := range p.KnownBreaking {
		hit, err := inAny(v, k.VersionRanges)
		if err != nil {
			return fmt.Errorf("policy.json, known_breaking: %w", err)
		}
		if hit && b.inScope(k.Scope) {
			c.status, c.reason, c.evidence = contract.SupportKnownBreaking, k.Reason, k.Evidence
		}
	}
	for _, k := range p.KnownBreakingShapes {
		if rep := c.probes[b.agent.RepresentativeProbe]; rep != nil && rep.settled == k.Shape && c.reason == "" {
			c.status = contract.SupportKnownBreakingShape
		}
	}
	return nil
}

func (b *builder) policy() *contract.AgentPolicy {
	for i := range b.records.Policy.Agents {
		if b.records.Policy.Agents[i].Agent == b.agent.ID {
			return &b.records.Policy.Agents[i]
		}
	}
	return nil
}

func (b *builder) inScope(s contract.Scope) bool {
	return (len(s.Platforms) == 0 || slices.Contains(s.Platforms, b.group.platform)) &&
		(len(s.ProtocolFamilies) == 0 || slices.Contains(s.ProtocolFamilies, b.group.family))
}

func inAny(v agents.Version, ranges []string) (bool, error) {
	for _, r := range ranges {
		if in, err := v.In(r); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

// joins reports whether two neighbouring versions belong to one claim: the
// same status for the same reason, and the same shape for every probe that
// both have. Between unequal neighbours nothing is claimed.
func joins(a, b *versionClaim) bool {
	if a.status != b.status || a.reason != b.reason || !slices.Equal(a.notes, b.notes) {
		return false
	}
	for probe, pa := range a.probes {
		if pb := b.probes[probe]; pb != nil && (pa.settled != pb.settled || pa.settled == "") {
			return false
		}
	}
	return true
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
		Notes:               append([]string{}, first.notes...),
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
			}
		}
	}
	out := make([]contract.ObservedShape, 0, len(found))
	for _, s := range found {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y contract.ObservedShape) int {
		return cmp.Or(cmp.Compare(x.Extensions.Probe, y.Extensions.Probe), cmp.Compare(x.Shape, y.Shape), cmp.Compare(x.Extensions.Provider, y.Extensions.Provider))
	})
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

// applyPolicy adds notes, breaking shapes and overrides of registry/policy.json.
func (b *builder) applyPolicy(e *contract.MatrixEntry, claims []*versionClaim) error {
	p := b.policy()
	if p == nil {
		return nil
	}
	for _, k := range p.KnownBreakingShapes {
		if slices.ContainsFunc(e.ObservedShapes, func(s contract.ObservedShape) bool { return s.Shape == k.Shape }) {
			e.KnownBreakingShapes = append(e.KnownBreakingShapes, k)
		}
	}
	for _, n := range p.Notes {
		hit, err := b.touches(claims, n.VersionRanges)
		if err != nil {
			return fmt.Errorf("policy.json, notes: %w", err)
		}
		if hit && b.inScope(n.Scope) {
			e.Notes = append(e.Notes, n.Text)
		}
	}
	for _, o := range p.Overrides {
		hit, err := b.touches(claims, o.VersionRanges)
		if err != nil {
			return fmt.Errorf("policy.json, overrides: %w", err)
		}
		if hit && b.inScope(o.Scope) && (o.SupportStatus == "" || o.SupportStatus == e.SupportStatus) {
			e.Policy.AllowRun = o.AllowRun
		}
	}
	return nil
}

func (b *builder) touches(claims []*versionClaim, ranges []string) (bool, error) {
	if len(ranges) == 0 {
		return true, nil
	}
	for _, c := range claims {
		v, err := agents.ParseToken(b.agent, c.version)
		if err != nil {
			return false, err
		}
		if hit, err := inAny(v, ranges); hit || err != nil {
			return hit, err
		}
	}
	return false, nil
}
