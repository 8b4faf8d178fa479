package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Skipped is a range that the plan does not ask for: no release in it can be
// captured.
type Skipped struct {
	Agent    string            `json:"agent"`
	Version  string            `json:"version"` // the range
	Platform contract.Platform `json:"platform"`
	Probe    string            `json:"probe"`
	Text     string            `json:"text"` // why, and as of when
}

// oneMore asks for one version between the newest two captured neighbours of
// the representative probe that have versions between them: where they differ,
// it halves the place of the change, where they agree, it backs what is
// interpolated.
func (b *builder) oneMore(t *track) error {
	var best *gap
	var after *captured
	for _, v := range slices.Backward(t.versions) {
		if v.probes[t.agent.RepresentativeProbe] == nil || v.parsed.Prerelease != "" || v.parsed.Build != "" {
			continue // no range of npm's can say "between builds"
		}
		if after != nil {
			g := b.between(t, v, after)
			if g.ask == "" && g.nothing != "" {
				b.skipped = append(b.skipped, Skipped{t.agent.ID, g.span(), t.platform, t.agent.RepresentativeProbe, g.nothing})
			}
			if g.ask != "" && (best == nil || g.changed && !best.changed) {
				best = g
			}
			if best != nil && best.changed {
				break
			}
		}
		after = v
	}
	if best == nil {
		return nil
	}
	text := "they have one shape: one capture between them backs what is interpolated"
	if best.changed {
		text = "the shape changed between them: one capture says closer where"
	}
	b.add(t.agent, best.ask, t.platform, []string{t.agent.RepresentativeProbe},
		Reason{OneMore, t.agent.RepresentativeProbe, fmt.Sprintf("%s and %s were captured, nothing between; %s", best.from.text, best.to.text, text)})
	return nil
}

// gap is what lies between two captured neighbours.
type gap struct {
	from, to *captured
	changed  bool
	ask      string // the version or range to ask for, "" for none
	nothing  string // why a range that one would ask for holds nothing to capture
}

func (g *gap) span() string { return ">" + g.from.text + " <" + g.to.text }

// between says what to ask for between two neighbours. Where the agent's releases
// were looked up after the newer one, it is the middle of those that nobody tried
// in vain: the newest, which a range means, may be one of these. Else it is the
// range, if its numbers leave room for releases.
func (b *builder) between(t *track, from, to *captured) *gap {
	probe := t.agent.RepresentativeProbe
	g := &gap{from: from, to: to, changed: from.probes[probe].Shape.Signature != to.probes[probe].Shape.Signature}
	p := b.published(t.agent)
	if !p.reaches(to.parsed) {
		if apart(from.parsed, to.parsed) {
			g.ask = g.span()
		}
		return g
	}
	var open []string
	var failed int
	for _, r := range p.releases {
		if !less(from.parsed, r.parsed) || !less(r.parsed, to.parsed) {
			continue
		}
		if p.failed(r.text, t.platform, probe) {
			failed++
			continue
		}
		open = append(open, r.text)
	}
	switch {
	case len(open) > 0:
		g.ask = open[len(open)/2]
	case failed > 0:
		g.nothing = fmt.Sprintf("%d of its releases tried, none gave an observation (%s, %s)", failed, bisect.ReleasesPath, p.lookedAt)
	case apart(from.parsed, to.parsed):
		g.nothing = fmt.Sprintf("no release in it is on record (%s, %s)", bisect.ReleasesPath, p.lookedAt)
	}
	return g
}

// published is what an agent published, as far as somebody looked it up.
type published struct {
	releases []release // ascending
	lookedAt string    // the last time
	entries  []contract.AgentReleases
}

type release struct {
	text   string
	parsed agents.Version
}

// published reads what was looked up on any platform: a package is the same on
// all.
func (b *builder) published(a *contract.Agent) *published {
	if p := b.releases[a.ID]; p != nil {
		return p
	}
	p := &published{}
	b.releases[a.ID] = p
	seen := map[string]bool{}
	for _, e := range b.r.Releases.Agents {
		if e.Agent != a.ID {
			continue
		}
		p.entries = append(p.entries, e)
		p.lookedAt = max(p.lookedAt, e.LookedAt)
		for _, text := range e.Releases {
			parsed, err := agents.ParseToken(a, text)
			if err != nil || seen[text] {
				continue // what is no version can be no end of a range either
			}
			seen[text] = true
			p.releases = append(p.releases, release{text, parsed})
		}
	}
	slices.SortFunc(p.releases, func(x, y release) int {
		n, _ := x.parsed.Compare(y.parsed) // releases have no product to differ in
		return cmp.Or(n, cmp.Compare(x.text, y.text))
	})
	return p
}

// reaches reports whether the releases were looked up when this version, or a
// newer one, was there already.
func (p *published) reaches(v agents.Version) bool {
	return len(p.releases) > 0 && !less(p.releases[len(p.releases)-1].parsed, v)
}

// failed reports whether somebody tried to capture the release on a platform, or
// the probe of it, and the release gave nothing. A run that waits for a person, or
// whose redaction was refused, says nothing about the release: it is asked for
// again.
func (p *published) failed(version string, on contract.Platform, probe string) bool {
	for _, e := range p.entries {
		for _, n := range e.NotCaptured {
			ours := n.Reason == string(bisect.ReasonWaits) || n.Reason == string(bisect.ReasonRedaction)
			if e.Platform == on && n.Version == version && (n.Probe == "" || n.Probe == probe) && !ours {
				return true
			}
		}
	}
	return false
}

func less(a, b agents.Version) bool {
	n, err := a.Compare(b)
	return err == nil && n < 0
}

// apart reports whether releases between two versions are likely: their
// numbers leave room for some.
func apart(a, b agents.Version) bool {
	for i := range 3 {
		x, y := number(a, i), number(b, i)
		if x != y {
			return y-x > 1
		}
	}
	return false
}

func number(v agents.Version, i int) int {
	if i >= len(v.Parts) {
		return 0
	}
	n, _ := strconv.Atoi(v.Parts[i])
	return n
}
