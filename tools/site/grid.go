package site

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// fact is what is known of one probe at one version.
type fact struct {
	state   matrix.ProbeState
	shape   contract.Digest
	reading contract.ReplayStatus
	runs    int
}

// track is a question that was asked version after version.
type track struct {
	profile string
	family  contract.ProtocolFamily
	probe   string
}

func trackOf(o *store.Observed) track {
	return track{o.Extensions.Profile, o.ProtocolFamily, o.Probe}
}

// facts are everything that is known of an agent on a platform.
type facts struct {
	platform contract.Platform
	versions []string // oldest first
	at       map[track]map[string]fact
}

// grid is the picture of an agent on a platform: versions across, probes down.
type grid struct {
	Agent    *contract.Agent
	Platform contract.Platform
	Columns  []column
	Groups   []group
	// First and Last are the columns that a page shows; a page has room for
	// mostColumns and mostCells.
	First, Last int
}

// How many versions a picture has room for, and how many captures: each is some
// 140 bytes of a page.
const (
	mostColumns = 16
	mostCells   = 300
)

// stretches cuts the columns into those of one page each, the newest first.
func (g *grid) stretches() (out [][2]int) {
	for last := len(g.Columns); last > 0; {
		first, cells := last-1, g.captured(last-1)
		for first > 0 && last-first < mostColumns && cells+g.captured(first-1) <= mostCells {
			first--
			cells += g.captured(first)
		}
		out = append(out, [2]int{first, last})
		last = first
	}
	return out
}

// captured counts the tracks of which something is known in a column.
func (g *grid) captured(column int) (n int) {
	for _, x := range g.Groups {
		for _, r := range x.Rows {
			if r.Cells[column].State != matrix.ProbeNotCaptured {
				n++
			}
		}
	}
	return n
}

// window keeps the nth stretch of columns, counted from the newest, and reports
// whether there is any.
func (g *grid) window(n int) bool {
	stretches := g.stretches()
	if n >= len(stretches) {
		return false
	}
	g.First, g.Last = stretches[n][0], stretches[n][1]
	g.Columns = g.Columns[g.First:g.Last]
	for i := range g.Groups {
		for j := range g.Groups[i].Rows {
			r := &g.Groups[i].Rows[j]
			r.Cells = r.Cells[g.First:g.Last]
			r.Cells[0].Joined = false
		}
		g.Groups[i].Rows = slices.DeleteFunc(g.Groups[i].Rows, func(r row) bool {
			return !slices.ContainsFunc(r.Cells, func(c cell) bool { return c.State != matrix.ProbeNotCaptured })
		})
	}
	g.Groups = slices.DeleteFunc(g.Groups, func(x group) bool { return len(x.Rows) == 0 })
	return true
}

type column struct {
	Version string
	Href    string
	Changed int // tracks whose shape is another one than at the version before
	Chip    chip
}

// group has the tracks of one profile and family.
type group struct {
	Profile string
	Family  contract.ProtocolFamily
	Rows    []row
}

type row struct {
	Probe          string
	Representative bool
	Shapes         int
	Cells          []cell
}

// cell is one probe at one version. Colour, pattern and letter all say which of
// the row's shapes it is, so that none of them is needed alone.
type cell struct {
	State  matrix.ProbeState
	Letter string
	Color  int  // 1 to colors
	Joined bool // to the cell on its left: the same shape
	Lossy  bool // the consumer loses something
	Shape  contract.Digest
	Href   string // of its evidence
	Label  string // all of it in words
}

// colors is the number of colours, and of patterns.
const colors = 8

// gather collects what is known of an agent on each platform.
func (s *Site) gather(agent *contract.Agent) []facts {
	var out []facts
	for _, h := range s.histories[agent.ID] {
		f := facts{platform: h.Platform, at: map[track]map[string]fact{}}
		for _, v := range h.Versions {
			f.versions = append(f.versions, v.Version)
			for _, p := range v.Probes {
				f.put(track{contract.ProfileProduction, p.ProtocolFamily, p.Probe}, v.Version, fact{p.State, p.Shape, p.Reading, len(p.Observations)})
			}
			s.gatherAside(&f, v)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		out = s.gatherClaims(agent)
	}
	return out
}

func (f *facts) put(t track, version string, known fact) {
	if f.at[t] == nil {
		f.at[t] = map[string]fact{}
	}
	f.at[t][version] = known
}

// gatherAside adds what was captured in other profiles than the consumer's.
func (s *Site) gatherAside(f *facts, v matrix.VersionHistory) {
	for _, e := range v.SetAside {
		o := s.observations[e.Path]
		if o == nil || o.Extensions.Profile == contract.ProfileProduction {
			continue
		}
		t := trackOf(o)
		known := fact{matrix.ProbeObserved, o.Shape.Signature, o.ParserReplay.Status, 1}
		if old, ok := f.at[t][v.Version]; ok {
			known.runs = old.runs + 1
			if old.shape != known.shape {
				known.state, known.shape = matrix.ProbeDisputed, ""
			}
		}
		f.put(t, v.Version, known)
	}
}

// gatherClaims reads the matrix alone, for a registry without observations.
func (s *Site) gatherClaims(agent *contract.Agent) []facts {
	byPlatform := map[contract.Platform]*facts{}
	var order []contract.Platform
	for _, e := range s.Matrix.Agents {
		if e.Agent != agent.ID || len(e.ProtocolFamilies) == 0 {
			continue
		}
		for _, p := range e.Platforms {
			if byPlatform[p] == nil {
				byPlatform[p] = &facts{platform: p, at: map[track]map[string]fact{}}
				order = append(order, p)
			}
			byPlatform[p].claim(&e)
		}
	}
	var out []facts
	for _, p := range order {
		f := byPlatform[p]
		slices.SortStableFunc(f.versions, func(a, b string) int {
			n, _ := agents.CompareVersions(agent, a, b) // versions of two products have no order
			return n
		})
		f.versions = slices.Compact(f.versions)
		out = append(out, *f)
	}
	return out
}

func (f *facts) claim(e *contract.MatrixEntry) {
	for _, o := range e.ObservedShapes {
		if o.Extensions.Outvoted {
			continue
		}
		t := track{contract.ProfileProduction, e.ProtocolFamilies[0], o.Extensions.Probe}
		for _, v := range o.Extensions.Versions {
			f.versions = append(f.versions, v)
			f.put(t, v, fact{state: matrix.ProbeObserved, shape: o.Shape, runs: 1})
		}
		for _, v := range o.Extensions.Interpolated {
			if _, known := f.at[t][v]; !known {
				f.put(t, v, fact{state: matrix.ProbeInterpolated, shape: o.Shape})
			}
		}
	}
}

// grid draws facts.
func (s *Site) grid(agent *contract.Agent, f *facts) grid {
	g := grid{Agent: agent, Platform: f.platform}
	for _, v := range f.versions {
		c := column{Version: v, Href: versionPath(agent.ID, v, f.platform)}
		if claim, err := s.Index.Find(agent.ID, v, f.platform); err == nil {
			c.Chip = chipOf(claim.Status, claim.Policy.AllowRun)
		}
		g.Columns = append(g.Columns, c)
	}
	tracks := make([]track, 0, len(f.at))
	for t := range f.at {
		tracks = append(tracks, t)
	}
	slices.SortFunc(tracks, func(a, b track) int {
		return cmp.Or(cmp.Compare(profileRank(a.profile), profileRank(b.profile)), cmp.Compare(a.profile, b.profile), cmp.Compare(familyRank(agent, a.family), familyRank(agent, b.family)),
			cmp.Compare(probeRank(agent, a.probe), probeRank(agent, b.probe)), cmp.Compare(a.probe, b.probe))
	})
	for _, t := range tracks {
		n := len(g.Groups)
		if n == 0 || g.Groups[n-1].Profile != t.profile || g.Groups[n-1].Family != t.family {
			g.Groups = append(g.Groups, group{Profile: t.profile, Family: t.family})
			n++
		}
		r := g.draw(t, f)
		g.Groups[n-1].Rows = append(g.Groups[n-1].Rows, r)
	}
	return g
}

// draw makes the row of one track, and counts its changes.
func (g *grid) draw(t track, f *facts) row {
	r := row{Probe: t.probe, Representative: t.probe == g.Agent.RepresentativeProbe && t.profile == contract.ProfileProduction}
	letters := map[contract.Digest]int{}
	var last contract.Digest // of the nearest captured version on the left
	joined := false
	for i, v := range f.versions {
		known, ok := f.at[t][v]
		if !ok {
			known.state = matrix.ProbeNotCaptured
		}
		c := cell{State: known.state, Shape: known.shape, Href: proofPath(g.Agent.ID, v, f.platform, t)}
		if known.shape != "" {
			n, seen := letters[known.shape]
			if !seen {
				n = len(letters)
				letters[known.shape] = n
			}
			c.Letter, c.Color = letter(n), n%colors+1
			c.Joined = joined && known.shape == last
			if last != "" && last != known.shape {
				g.Columns[i].Changed++
			}
			last = known.shape
		}
		joined = known.shape != ""
		c.Lossy = known.reading == contract.ReplayIncompatible
		c.Label = c.words(t.probe, v, known)
		r.Cells = append(r.Cells, c)
	}
	r.Shapes = len(letters)
	return r
}

func (c *cell) words(probe, version string, known fact) string {
	text := probe + " at " + version + ": "
	switch c.State {
	case matrix.ProbeObserved:
		text += "shape " + c.Letter
		if known.runs > 1 {
			text += fmt.Sprintf(", %d captures", known.runs)
		}
	case matrix.ProbeInterpolated:
		text += "not captured, shape " + c.Letter + " on both sides"
	case matrix.ProbeDisputed:
		text += "captures disagree"
	case matrix.ProbeVariants:
		text += "the server has several shapes"
	default:
		text += "not captured"
	}
	if c.Lossy {
		text += "; the consumer loses something"
	}
	return text
}

// letter names the nth shape of a row: A to Z, then A2, B2 …
func letter(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name += fmt.Sprint(n/26 + 1)
	}
	return name
}

// profileRank puts the consumer's own profile first.
func profileRank(p string) int {
	if p == contract.ProfileProduction {
		return 0
	}
	return 1
}

func familyRank(a *contract.Agent, f contract.ProtocolFamily) int {
	return slices.Index(a.ProtocolFamilies, f)
}

// probeRank puts the representative probe first, then the basic ones.
func probeRank(a *contract.Agent, probe string) int {
	if probe == a.RepresentativeProbe {
		return -1
	}
	if i := slices.Index(contract.BasicProbes, probe); i >= 0 {
		return i
	}
	return len(contract.BasicProbes)
}

// proofPath is the address of a track's evidence at a version. Profiles other
// than the consumer's have pages of their own.
func proofPath(agent, version string, p contract.Platform, t track) string {
	at := versionPath(agent, version, p)
	if t.profile != contract.ProfileProduction {
		at += t.profile + "/"
	}
	return at + "#" + t.probe
}

// versionPath is the address of a version's page.
func versionPath(agent, version string, p contract.Platform) string {
	return strings.Join([]string{agent, version, string(p), ""}, "/")
}
