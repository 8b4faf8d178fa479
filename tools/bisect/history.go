package bisect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// HistoryPath is the document that says which release changed what.
const HistoryPath = "docs/HISTORY.md"

// history is what the committed records say of all agents.
type history struct {
	reg       *store.Registry
	file      contract.AgentsFile
	releases  *contract.Releases
	incidents *contract.Incidents
	counted   map[string]int // observations by agent
}

// WriteHistory derives docs/HISTORY.md from the records. It depends on nothing
// else, so that anybody gets the same bytes.
func WriteHistory(reg *store.Registry) ([]byte, error) {
	h := &history{reg: reg, counted: map[string]int{}}
	err := reg.ReadJSON(store.AgentsFile, &h.file)
	if err == nil {
		h.releases, err = LoadReleases(reg)
	}
	if err == nil {
		h.incidents, err = LoadIncidents(reg)
	}
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	p := &page{w: &body, markdown: true}
	for i := range h.file.Agents {
		if err := h.agent(p, &h.file.Agents[i]); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	p = &page{w: &b, markdown: true}
	p.printf("%s", historyHead)
	if err := h.sizes(p); err != nil {
		return nil, err
	}
	if err := h.incidentTable(p); err != nil {
		return nil, err
	}
	b.Write(body.Bytes())
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), p.err
}

const historyHead = `# Which release changed what

Generated from the records by ` + "`agent-contracts bisect --history --write`" + `; do not edit.

Each change is one between two captures of the basic probes against the emulated
provider. "For a reader" is the verdict for anybody who parses what the older
release printed; "for the consumer" is OpenDesign v0.19.2, whose parser read the
newer one. A change is pinned to its release where no release lies between the
two captures; otherwise their number stands there. Between two equal captures a
change that was taken back would be invisible; "not looked at" counts the
releases that lie so. ` + "`agent-contracts explain SIGNAL`" + ` says what a signal means.

`

// platforms are those on which the agent was captured, sorted.
func platforms(obs []store.Observed) []contract.Platform {
	var out []contract.Platform
	for _, o := range obs {
		if !slices.Contains(out, o.Platform) {
			out = append(out, o.Platform)
		}
	}
	slices.Sort(out)
	return out
}

func (h *history) agent(p *page, a *contract.Agent) error {
	obs, err := counting(h.reg, a.ID)
	if err != nil {
		return err
	}
	h.counted[a.ID] = len(obs)
	for _, platform := range platforms(obs) {
		r, err := h.report(a, platform, obs)
		if err != nil {
			return err
		}
		if r != nil {
			h.section(p, a, platform, obs, r)
		}
	}
	return nil
}

// report answers for the agent's basic probes from its records; nil if it has
// none.
func (h *history) report(a *contract.Agent, platform contract.Platform, obs []store.Observed) (*Report, error) {
	o := Options{Registry: h.reg, Agent: a, Platform: platform, Every: 1, Jobs: 1, History: &History{}}
	for i := range obs {
		t := Track{obs[i].Probe, obs[i].Extensions.Profile}
		if slices.Contains(contract.BasicProbes, t.Probe) && tells(&obs[i], platform) && !slices.Contains(o.Tracks, t) {
			o.Tracks = append(o.Tracks, t)
		}
	}
	if len(o.Tracks) == 0 {
		return nil, nil
	}
	slices.SortFunc(o.Tracks, func(x, y Track) int {
		return cmp.Or(strings.Compare(x.Profile, y.Profile), slices.Index(contract.BasicProbes, x.Probe)-slices.Index(contract.BasicProbes, y.Probe))
	})
	published := h.published(a.ID, platform)
	if published != nil {
		o.History.Releases = published.Releases
	}
	b, err := newBisection(o)
	if err != nil {
		return nil, err
	}
	if published != nil {
		b.known.tried(published.NotCaptured)
	}
	return b.report()
}

func (h *history) published(agent string, p contract.Platform) *contract.AgentReleases {
	for i, r := range h.releases.Agents {
		if r.Agent == agent && r.Platform == p {
			return &h.releases.Agents[i]
		}
	}
	return nil
}

func (h *history) section(p *page, a *contract.Agent, platform contract.Platform, obs []store.Observed, r *Report) {
	p.heading(2, fmt.Sprintf("%s on %s", a.ID, platform))
	captured := map[string]bool{}
	for _, t := range r.Tracks {
		for _, s := range t.Timeline {
			captured[s.From], captured[s.To] = true, true
		}
	}
	p.line("%s", h.covered(a, platform, obs, r))
	for _, line := range h.notCaptured(a, platform) {
		p.line("not captured: %s", line)
	}
	p.printf("\n")
	for _, profile := range profiles(tracksOf(r)) {
		rows := changeRows(a, r, profile)
		if len(rows) == 0 {
			p.line("%s: no change between captures", profile)
			p.printf("\n")
		} else {
			p.heading(3, fmt.Sprintf("%s, profile %s", a.ID, profile))
			p.rows(append([][]string{{"release", "after", "probes", "for a reader", "for the consumer", "what changed"}}, rows...))
		}
		if h.published(a.ID, platform) != nil {
			looked(p, r, profile)
		}
	}
}

// looked says of each probe how far its captures reach and how many releases
// they leave out, so that no row above is taken for more than it is.
func looked(p *page, r *Report, profile string) {
	var reach, unseen []group
	for _, t := range r.Tracks {
		n := len(t.Timeline)
		if t.Profile != profile || n == 0 {
			continue
		}
		first, last := t.Timeline[0].From, t.Timeline[n-1].To
		if first != last {
			first += " to " + last
		}
		reach = grouped(reach, first, t.Probe)
		if n := t.unseen(); n > 0 {
			unseen = grouped(unseen, fmt.Sprint(n), t.Probe)
		}
	}
	p.line("captures from %s", groups(reach))
	if len(unseen) > 0 {
		p.line("not looked at between equal captures: %s", groups(unseen))
	}
	p.printf("\n")
}

// group is probes of which the same is said.
type group struct {
	what   string
	probes []string
}

func grouped(list []group, what, probe string) []group {
	i := slices.IndexFunc(list, func(g group) bool { return g.what == what })
	if i < 0 {
		return append(list, group{what, []string{probe}})
	}
	list[i].probes = append(list[i].probes, probe)
	return list
}

func groups(list []group) string {
	out := make([]string, len(list))
	for i, g := range list {
		out[i] = g.what + " (" + probeList(g.probes) + ")"
	}
	return strings.Join(out, ", ")
}

func tracksOf(r *Report) []Track {
	var out []Track
	for _, t := range r.Tracks {
		out = append(out, t.Track)
	}
	return out
}

// covered says how much of the published history the captures cover.
func (h *history) covered(a *contract.Agent, platform contract.Platform, obs []store.Observed, r *Report) string {
	versions := map[string]bool{}
	for i := range obs {
		if tells(&obs[i], platform) {
			versions[obs[i].CLIVersion] = true
		}
	}
	out := fmt.Sprintf("%d observations of %d releases", h.counted[a.ID], len(versions))
	if pub := h.published(a.ID, platform); pub != nil && len(pub.Releases) > 0 {
		out += fmt.Sprintf("; %d stable releases published (%s to %s), %d prereleases left out", len(pub.Releases), pub.Releases[0], pub.Releases[len(pub.Releases)-1], pub.Prereleases)
	}
	most := 0
	for _, t := range r.Tracks {
		most = max(most, t.unseen())
	}
	if most > 0 {
		out += fmt.Sprintf("; not looked at: up to %d releases between equal captures of a probe", most)
	}
	return out
}

// notCaptured lists the attempts without an observation, by reason and probe.
func (h *history) notCaptured(a *contract.Agent, platform contract.Platform) []string {
	pub := h.published(a.ID, platform)
	if pub == nil {
		return nil
	}
	type key struct {
		reason Reason
		track  Track
	}
	by := map[key][]string{}
	for _, n := range pub.NotCaptured {
		k := key{Reason(n.Reason), Track{n.Probe, n.Profile}}
		by[k] = append(by[k], n.Version)
	}
	var out []string
	for k, versions := range by {
		sortVersions(a, versions)
		what := ""
		if k.track != (Track{}) {
			what = k.track.String() + " of "
		}
		out = append(out, fmt.Sprintf("%s%s (%s)", what, strings.Join(versions, ", "), k.reason.Meaning()))
	}
	slices.Sort(out)
	return out
}

// changeRow is one change, seen by several probes.
type changeRow struct {
	change Change // its signals are those of all probes
	probes []string
}

func changeRows(a *contract.Agent, r *Report, profile string) [][]string {
	var list []*changeRow
	for _, t := range r.Tracks {
		if t.Profile != profile {
			continue
		}
		for _, c := range t.Changes {
			i := slices.IndexFunc(list, func(x *changeRow) bool { return x.change.From == c.From && x.change.To == c.To })
			if i < 0 {
				list = append(list, &changeRow{change: c, probes: []string{t.Probe}})
				list[len(list)-1].change.Signals = slices.Clone(c.Signals)
				continue
			}
			list[i].add(t.Probe, c)
		}
	}
	slices.SortStableFunc(list, func(x, y *changeRow) int {
		to, _ := agents.CompareVersions(a, x.change.To, y.change.To)
		from, _ := agents.CompareVersions(a, x.change.From, y.change.From)
		return cmp.Or(to, from)
	})
	var out [][]string
	for _, x := range list {
		after := x.change.From
		if n := len(x.change.Between); n > 0 {
			after += fmt.Sprintf(" (%d between)", n)
		}
		out = append(out, []string{x.change.To, after, probeList(x.probes), verdictWord(x.change.Reader), verdictWord(x.change.Verdict), "`" + signals(x.change.Signals, 8) + "`"})
	}
	return out
}

func (x *changeRow) add(probe string, c Change) {
	x.probes = append(x.probes, probe)
	if worse(c.Reader, x.change.Reader) {
		x.change.Reader = c.Reader
	}
	if worse(c.Verdict, x.change.Verdict) {
		x.change.Verdict = c.Verdict
	}
	for _, s := range c.Signals {
		if !slices.ContainsFunc(x.change.Signals, func(have compare.Signal) bool { return have.Fingerprint == s.Fingerprint }) {
			x.change.Signals = append(x.change.Signals, s)
		}
	}
	slices.SortStableFunc(x.change.Signals, func(a, b compare.Signal) int { return rank(b) - rank(a) })
}

// probeList spells the probes: all of them in a word.
func probeList(probes []string) string {
	if len(probes) >= len(contract.BasicProbes)-1 { // the version probe seldom changes
		return "all"
	}
	return strings.Join(probes, ", ")
}

// verdictWord spells a verdict for people.
func verdictWord(v contract.Verdict) string {
	switch v {
	case contract.VerdictParserIncompatible:
		return "**breaks**"
	case contract.VerdictCompatibleNewShape:
		return "compatible"
	case contract.VerdictSameShape:
		return "same"
	}
	return string(v)
}

func worse(a, b contract.Verdict) bool {
	order := []contract.Verdict{contract.VerdictSameShape, contract.VerdictCompatibleNewShape, contract.VerdictParserIncompatible}
	return slices.Index(order, a) > slices.Index(order, b)
}
