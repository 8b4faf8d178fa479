package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// agentPage is everything about one agent.
type agentPage struct {
	Line    agentLine
	Tier    string
	Grids   []grid
	Changes []change // newest first
	Quality []matrix.Quality
	Missing []missing
	Newer   string // addresses of the pages with other versions, "" for none
	Older   string
}

// change is what differs between a version and the one captured before it.
type change struct {
	Platform contract.Platform
	From, To column
	// Signals are those of all probes, the most severe first, at most a few.
	Signals []signal
	More    int // signals that are left out
	Probes  []changedProbe
}

// signal is a change of the protocol, in words.
type signal struct {
	Severity compare.Severity
	Text     string
	Meaning  string
}

type changedProbe struct {
	Name string
	Diff string // address of the page that compares the two shapes
}

// missing is a probe that the agent should have and does not.
type missing struct {
	Probe  string
	Status contract.CoverageStatus
	Reason string
}

// mostSignals is how many signals a change lists.
const mostSignals = 6

// agentPage makes the page about the nth stretch of an agent's versions,
// counted from the newest; nil where there is none.
func (s *Site) agentPage(a *contract.Agent, n int) *agentPage {
	p := &agentPage{Line: s.agentLine(a), Quality: s.quality[a.ID]}
	if a.Tier < len(tierWords) {
		p.Tier = tierWords[a.Tier]
	}
	for _, f := range s.gather(a) {
		g := s.grid(a, &f)
		changed := s.changes(&g)
		if !g.window(n) {
			continue
		}
		p.Grids = append(p.Grids, g)
		for _, c := range changed {
			if i := slices.Index(f.versions, c.To.Version); i >= g.First && i < g.Last {
				p.Changes = append(p.Changes, c)
			}
		}
		if g.First > 0 {
			p.Older = olderPath(a.ID, n+1)
		}
	}
	if n > 0 {
		if len(p.Grids) == 0 {
			return nil
		}
		p.Newer = olderPath(a.ID, n-1)
	}
	for probe, c := range a.Coverage {
		if c.Status != contract.CoverageCaptured {
			p.Missing = append(p.Missing, missing{probe, c.Status, c.Reason})
		}
	}
	slices.SortFunc(p.Missing, func(x, y missing) int { return strings.Compare(x.Probe, y.Probe) })
	return p
}

// olderPath is the address of an agent's page about the nth stretch of its
// versions.
func olderPath(agent string, n int) string {
	if n == 0 {
		return agent + "/"
	}
	return fmt.Sprintf("%s/older-%d/", agent, n)
}

// changes lists what changed from version to version, the newest first.
func (s *Site) changes(g *grid) []change {
	var out []change
	for i := len(g.Columns) - 1; i > 0; i-- {
		c := change{Platform: g.Platform, From: g.Columns[i-1], To: g.Columns[i]}
		all := map[contract.Digest]compare.Signal{}
		for _, group := range g.Groups {
			for _, r := range group.Rows {
				before := captured(r.Cells[:i])
				now := r.Cells[i]
				if before == nil || now.Shape == "" || now.Shape == before.Shape {
					continue
				}
				name := r.Probe
				if group.Profile != contract.ProfileProduction {
					name += " (" + group.Profile + ")"
				}
				c.Probes = append(c.Probes, changedProbe{name, diffPath(before.Shape, now.Shape)})
				if _, _, r, err := s.Compare(string(before.Shape), string(now.Shape)); err == nil {
					for _, found := range r.Signals {
						all[found.Fingerprint] = found
					}
				}
			}
		}
		if len(c.Probes) == 0 {
			continue
		}
		c.Signals, c.More = worst(all)
		out = append(out, c)
	}
	return out
}

// captured returns the last cell with a shape, nil for none.
func captured(cells []cell) *cell {
	for i := len(cells) - 1; i >= 0; i-- {
		if cells[i].Shape != "" {
			return &cells[i]
		}
	}
	return nil
}

// worst returns the most severe signals, and how many others there are.
func worst(all map[contract.Digest]compare.Signal) ([]signal, int) {
	list := make([]compare.Signal, 0, len(all))
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b compare.Signal) int {
		if n := severityRank(b.Severity) - severityRank(a.Severity); n != 0 {
			return n
		}
		return strings.Compare(a.String(), b.String())
	})
	var out []signal
	for _, s := range list[:min(len(list), mostSignals)] {
		out = append(out, signalOf(s))
	}
	return out, len(list) - len(out)
}

func severityRank(s compare.Severity) int {
	return slices.Index([]compare.Severity{compare.Info, compare.Warning, compare.Breaking}, s)
}

func signalOf(s compare.Signal) signal {
	return signal{Severity: s.Severity, Text: s.String(), Meaning: meaningOf(s.ID)}
}

// Compare compares two shapes, named as Shape takes them.
func (s *Site) Compare(from, to string) (a, b *contract.Shape, r compare.Result, err error) {
	if a, err = s.Shape(from); err != nil {
		return nil, nil, r, err
	}
	if b, err = s.Shape(to); err != nil {
		return nil, nil, r, err
	}
	return a, b, compare.Shapes(a, b, s.dialectOf(b)), nil
}

// diffPath is the address of the page that compares two shapes.
func diffPath(from, to contract.Digest) string {
	return "diff/" + shortOf(from) + ".." + shortOf(to) + "/"
}
