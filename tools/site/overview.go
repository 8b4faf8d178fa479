package site

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// overview is the first page: every agent in a line.
type overview struct {
	Captured     []agentLine
	Others       []otherLine
	Observations int
	Versions     int
	Shapes       int
	Query        string // what the reader filters by
}

// agentLine is one agent in the overview.
type agentLine struct {
	Agent    *contract.Agent
	Search   string // what the filter looks through
	Hidden   bool   // by the filter
	Grid     grid
	Lane     []segment // the representative probe over the versions
	LaneText string
	Newest   column
	Verified string // newest verified version, "" for none
	Quality  *matrix.Quality
	Fresh    fresh
}

// otherLine is an agent without a capture, and why.
type otherLine struct {
	Agent  *contract.Agent
	Search string
	Hidden bool
	Why    string
}

// segment is a run of versions with one shape in a lane.
type segment struct {
	X, Width int
	Color    int // 0 where nothing is known
	Title    string
}

// laneStep is the width of a version in a lane.
const laneStep = 11

func (s *Site) overview(query string) *overview {
	captured, others := s.withRecords()
	p := &overview{Observations: len(s.Records.Observations), Shapes: len(s.shapes), Query: query}
	for _, a := range captured {
		line := s.agentLine(a)
		p.Versions += len(line.Grid.Columns)
		line.Hidden = !matches(line.Search, query)
		p.Captured = append(p.Captured, line)
	}
	for _, a := range others {
		line := otherLine{Agent: a, Search: searchText(a), Why: firstSentence(a.Exemption)}
		line.Hidden = !matches(line.Search, query)
		p.Others = append(p.Others, line)
	}
	return p
}

// matches reports whether every word of the query is in the text.
func matches(text, query string) bool {
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func searchText(a *contract.Agent) string {
	words := []string{a.ID, a.Name, fmt.Sprintf("tier %d", a.Tier)}
	for _, f := range a.ProtocolFamilies {
		words = append(words, string(f))
	}
	return strings.ToLower(strings.Join(words, " "))
}

func firstSentence(text string) string {
	if i := strings.Index(text, ". "); i > 0 {
		return text[:i+1]
	}
	return text
}

// agentLine sums an agent up. Of several platforms it shows the one with most
// versions.
func (s *Site) agentLine(a *contract.Agent) agentLine {
	line := agentLine{Agent: a, Grid: grid{Agent: a}}
	for _, f := range s.gather(a) {
		if g := s.grid(a, &f); len(g.Columns) > len(line.Grid.Columns) {
			line.Grid = g
		}
	}
	line.Search = searchText(a)
	if n := len(line.Grid.Columns); n > 0 {
		line.Newest = line.Grid.Columns[n-1]
		line.Search += " " + strings.ToLower(line.Newest.Version+" "+line.Newest.Chip.Word)
		if c, err := s.Index.Find(a.ID, line.Newest.Version, line.Grid.Platform); err == nil {
			line.Verified = c.LatestVerified
		}
	}
	for i := range s.quality[a.ID] {
		if q := &s.quality[a.ID][i]; q.Platform == line.Grid.Platform && q.Observed > 0 {
			line.Quality = q
		}
	}
	line.Fresh = freshness(a, s.lastCapture(a.ID))
	line.Lane, line.LaneText = lane(&line.Grid)
	return line
}

// lastCapture is the time of an agent's newest capture, "" for none.
func (s *Site) lastCapture(agent string) (at string) {
	for i := range s.Records.Observations {
		if o := &s.Records.Observations[i]; o.Agent == agent {
			at = max(at, o.Capture.CapturedAt)
		}
	}
	for _, e := range s.Matrix.Agents {
		if at == "" && e.Agent == agent && e.LastObservedAt != nil {
			at = max(at, *e.LastObservedAt)
		}
	}
	return at
}

// lane draws the row that stands for the agent: the representative probe's, or
// the first one of an agent that the consumer does not start in production.
func lane(g *grid) ([]segment, string) {
	var best *row
	for i := range g.Groups {
		for j := range g.Groups[i].Rows {
			r := &g.Groups[i].Rows[j]
			if best == nil && r.Probe == g.Agent.RepresentativeProbe || r.Representative && r.Shapes > 0 {
				best = r
			}
		}
	}
	if best == nil {
		return nil, "no capture of " + g.Agent.RepresentativeProbe
	}
	var out []segment
	from := 0
	for i, c := range best.Cells {
		if i > 0 && c.Joined {
			out[len(out)-1].Width += laneStep
			out[len(out)-1].Title = g.Columns[from].Version + " to " + g.Columns[i].Version + ": shape " + c.Letter
			continue
		}
		from = i
		title := g.Columns[i].Version + ": "
		if c.Letter != "" {
			title += "shape " + c.Letter
		} else {
			title += plain(c.State)
		}
		out = append(out, segment{X: i * laneStep, Width: laneStep, Color: c.Color, Title: title})
	}
	return out, fmt.Sprintf("%s over %s: %s", best.Probe, count(len(best.Cells), "version"), count(best.Shapes, "shape"))
}

// LaneWidth is the width of the lane's picture.
func (l *agentLine) LaneWidth() int { return max(len(l.Grid.Columns)*laneStep, laneStep) }
