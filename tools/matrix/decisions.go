package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// What people decided in registry/policy.json (FINE-PRINT 2).

// decided applies it to one version.
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
	for _, k := range p.KnownBreaking {
		hit, err := b.covers(c.version, k.VersionRanges, k.Scope)
		if err != nil {
			return fmt.Errorf("policy.json, known_breaking: %w", err)
		}
		if hit && c.status != contract.SupportTooOld { // the specification asks for too_old first
			c.status, c.reason, c.evidence = contract.SupportKnownBreaking, k.Reason, k.Evidence
		}
	}
	for _, k := range p.KnownBreakingShapes {
		if rep := c.probes[b.agent.RepresentativeProbe]; rep != nil && rep.settled == k.Shape && c.reason == "" {
			c.status = contract.SupportKnownBreakingShape
		}
	}
	return b.annotate(p, c)
}

func (b *builder) annotate(p *contract.AgentPolicy, c *versionClaim) error {
	for _, n := range p.Notes {
		hit, err := b.covers(c.version, n.VersionRanges, n.Scope)
		if err != nil {
			return fmt.Errorf("policy.json, notes: %w", err)
		}
		if hit {
			c.policyNotes = append(c.policyNotes, n.Text)
		}
	}
	for _, o := range p.Overrides {
		hit, err := b.covers(c.version, o.VersionRanges, o.Scope)
		if err != nil {
			return fmt.Errorf("policy.json, overrides: %w", err)
		}
		if hit && (o.SupportStatus == "" || o.SupportStatus == c.status) {
			c.allow = o.AllowRun
		}
	}
	return nil
}

func (b *builder) policy() *contract.AgentPolicy { return policyOf(&b.records.Policy, b.agent.ID) }

func policyOf(p *contract.Policy, agent string) *contract.AgentPolicy {
	for i := range p.Agents {
		if p.Agents[i].Agent == agent {
			return &p.Agents[i]
		}
	}
	return nil
}

func (b *builder) inScope(s contract.Scope) bool { return inScope(s, b.group.platform, b.group.family) }

func inScope(s contract.Scope, p contract.Platform, f contract.ProtocolFamily) bool {
	return (len(s.Platforms) == 0 || slices.Contains(s.Platforms, p)) &&
		(len(s.ProtocolFamilies) == 0 || f == "" || slices.Contains(s.ProtocolFamilies, f))
}

// covers reports whether a decision is about the version; one without ranges is
// about all.
func (b *builder) covers(version string, ranges []string, s contract.Scope) (bool, error) {
	if !b.inScope(s) || len(ranges) == 0 {
		return b.inScope(s), nil
	}
	v, err := agents.ParseToken(b.agent, version)
	if err != nil {
		return false, err
	}
	return inAny(v, ranges)
}

func inAny(v agents.Version, ranges []string) (bool, error) {
	for _, r := range ranges {
		if in, err := v.In(r); in || err != nil {
			return in, err
		}
	}
	return false, nil
}

// wholeGaps says for each version whether it belongs to one claim with the
// version before it: the same status for the same reason, no probe whose shape
// changes between them (also when the two captures that show it lie further
// apart), and no decision about a version in between. Between others nothing is
// claimed (DESIGN D10).
func (b *builder) wholeGaps(claims []*versionClaim) []bool {
	whole := make([]bool, len(claims))
	for i := 1; i < len(claims); i++ {
		x, y := claims[i-1], claims[i]
		whole[i] = x.active == y.active && x.status == y.status && x.reason == y.reason && x.allow == y.allow &&
			slices.Equal(x.notes, y.notes) && slices.Equal(x.policyNotes, y.policyNotes)
	}
	last := map[string]int{} // the newest version so far of each probe
	for i, c := range claims {
		for probe, p := range c.probes {
			before, seen := last[probe]
			if seen && (p.settled == "" || claims[before].probes[probe].settled != p.settled) {
				for gap := before + 1; gap <= i; gap++ {
					whole[gap] = false
				}
			}
			last[probe] = i
		}
	}
	b.cutAtDecisions(claims, whole)
	return whole
}

// cutAtDecisions ends a claim where people decided something about versions
// that nobody captured.
func (b *builder) cutAtDecisions(claims []*versionClaim, whole []bool) {
	p := b.policy()
	if p == nil {
		return
	}
	var bounds []agents.Version
	for _, old := range p.TooOld {
		bounds = append(bounds, b.bounds([]string{old.Below}, old.Scope)...)
	}
	for _, k := range p.KnownBreaking {
		bounds = append(bounds, b.bounds(k.VersionRanges, k.Scope)...)
	}
	for _, n := range p.Notes {
		bounds = append(bounds, b.bounds(n.VersionRanges, n.Scope)...)
	}
	for _, o := range p.Overrides {
		bounds = append(bounds, b.bounds(o.VersionRanges, o.Scope)...)
	}
	for i := 1; i < len(claims) && len(bounds) > 0; i++ {
		low, high := claims[i-1].parsed, claims[i].parsed
		for _, v := range bounds {
			below, err1 := low.Compare(v)
			above, err2 := v.Compare(high)
			if err1 == nil && err2 == nil && below < 0 && above < 0 {
				whole[i] = false
			}
		}
	}
}

var boundPattern = lazyregexp.New(`[0-9]+(?:\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?`)

// bounds returns the versions that ranges name.
func (b *builder) bounds(ranges []string, s contract.Scope) []agents.Version {
	if !b.inScope(s) {
		return nil
	}
	var out []agents.Version
	for _, r := range ranges {
		for _, token := range boundPattern.Get().FindAllString(r, -1) {
			if !strings.Contains(token, ".") {
				token += ".0"
			}
			if v, err := agents.ParseToken(b.agent, token); err == nil {
				out = append(out, v)
			}
		}
	}
	return out
}

// decidedEntries are the decisions themselves, which hold for versions that
// nobody captured: they have a reason and no shape. have are the entries from
// captures; one of the same versions says more.
func decidedEntries(r *Records, have []contract.MatrixEntry) []contract.MatrixEntry {
	var out []contract.MatrixEntry
	for i := range r.Policy.Agents {
		p := &r.Policy.Agents[i]
		agent := r.Agents.Agent(p.Agent)
		if agent == nil {
			continue // validate reports it
		}
		add := func(status contract.SupportStatus, ranges []string, s contract.Scope, reason string, evidence []string) {
			for _, e := range spread(agent, s) {
				e.SupportStatus, e.VersionRanges, e.Policy.AllowRun = status, ranges, contract.DefaultAllowRun(status)
				e.Extensions = contract.MatrixExtensions{Reason: reason, Evidence: evidence, Profile: contract.ProfileProduction}
				same := func(o contract.MatrixEntry) bool {
					return o.Agent == e.Agent && o.Platforms[0] == e.Platforms[0] && o.ProtocolFamilies[0] == e.ProtocolFamilies[0] && slices.Equal(o.VersionRanges, ranges)
				}
				if !slices.ContainsFunc(have, same) && !slices.ContainsFunc(out, same) {
					out = append(out, e)
				}
			}
		}
		for _, old := range p.TooOld {
			add(contract.SupportTooOld, []string{"<" + old.Below}, old.Scope, old.Reason, old.Evidence)
		}
		for _, k := range p.KnownBreaking {
			add(contract.SupportKnownBreaking, k.VersionRanges, k.Scope, k.Reason, k.Evidence)
		}
	}
	return out
}

// spread returns an empty entry for each family and platform of a scope.
func spread(a *contract.Agent, s contract.Scope) []contract.MatrixEntry {
	var out []contract.MatrixEntry
	for _, f := range a.ProtocolFamilies {
		for _, p := range contract.Platforms {
			if p == "unknown" && len(s.Platforms) == 0 || !inScope(s, p, f) {
				continue
			}
			out = append(out, contract.MatrixEntry{
				Agent: a.ID, Platforms: []contract.Platform{p}, ProtocolFamilies: []contract.ProtocolFamily{f},
				ObservedShapes: []contract.ObservedShape{}, ServerVariants: []contract.ServerVariant{},
				KnownBreakingShapes: []contract.KnownBreakingShape{}, Notes: []string{},
			})
		}
	}
	return out
}
