package site

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// consumerPage says what the pinned consumer loses, by agent.
type consumerPage struct {
	Kinds []lossKind
	Lines []consumerLine
}

// lossKind is a way to lose something, with its meaning.
type lossKind struct {
	Kind    replay.FindingKind
	Meaning string
}

// consumerLine is one agent: runs that the consumer reads well and not, its
// losses by kind, and the failures that it calls by another name.
type consumerLine struct {
	Agent                   *contract.Agent
	Runs, Lossy, NotRead    int
	Losses                  []int // runs with a loss, by kind
	Failures, Misclassified int
}

// Share is the part of the runs read without a loss, from 0 to 1.
func (l *consumerLine) Share() float64 {
	if n := l.Runs - l.NotRead; n > 0 {
		return float64(n-l.Lossy) / float64(n)
	}
	return 0
}

// lossMeanings are the kinds of findings that break, in the order of the page.
var lossMeanings = []lossKind{
	{replay.MissingText, "text of the answer does not arrive"},
	{replay.DoubledText, "text arrives twice"},
	{replay.MissingToolUse, "a tool call does not arrive"},
	{replay.DoubledToolUse, "a tool call arrives twice"},
	{replay.MissingToolResult, "a tool's result does not arrive"},
	{replay.WrongToolResult, "a failed call is shown as done, or the reverse"},
	{replay.MissingUsage, "the token counts do not arrive"},
	{replay.WrongUsage, "the token counts are wrong"},
	{replay.MissingFailure, "a failed run is taken for a success"},
	{replay.InventedFailure, "a success is taken for a failure"},
	{replay.OtherResult, "a cancelled run is taken for another one, or the reverse"},
	{replay.UnexpectedRaw, "a known frame is shown raw"},
}

// losses are the findings about one capture.
type losses struct {
	seen     *store.Observed
	findings []replay.Finding
}

// readLosses returns, by agent, the captures of which the consumer loses
// something.
func (s *Site) readLosses() (map[string][]losses, error) {
	out := map[string][]losses{}
	known := map[[3]string][]replay.Finding{}
	for i := range s.Records.Observations {
		o := &s.Records.Observations[i]
		if o.ParserReplay.Status != contract.ReplayIncompatible {
			continue
		}
		key := [3]string{o.Extensions.Fixture, o.Agent, o.Extensions.Dialect}
		found, ok := known[key]
		if !ok {
			var err error
			if found, err = s.findings(o); err != nil {
				return nil, fmt.Errorf("reading %s: %w", o.Extensions.Fixture, err)
			}
			known[key] = found
		}
		out[o.Agent] = append(out[o.Agent], losses{o, found})
	}
	return out, nil
}

// findings reads a transcript with both adapters.
func (s *Site) findings(o *store.Observed) ([]replay.Finding, error) {
	b, err := s.reg.ReadFile(o.Extensions.Fixture)
	if err != nil {
		return nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	d := s.families.Dialect(o.Extensions.Dialect)
	if d == nil {
		return nil, fmt.Errorf("there is no dialect %q", o.Extensions.Dialect)
	}
	in := replay.Input{Transcript: t, Agent: o.Agent, Dialect: d}
	ref, err := replay.Reference(in)
	if err != nil {
		return nil, err
	}
	consumer, err := replay.OpenDesign(in)
	if err != nil {
		return nil, err
	}
	return replay.Compatible(ref, consumer).Breaking(), nil
}

func (s *Site) consumerPage() (*consumerPage, error) {
	all, err := s.lossy()
	if err != nil {
		return nil, err
	}
	p := &consumerPage{Kinds: lossMeanings}
	captured, _ := s.withRecords()
	for _, a := range captured {
		line := consumerLine{Agent: a, Losses: make([]int, len(lossMeanings))}
		for i := range s.Records.Observations {
			if o := &s.Records.Observations[i]; o.Agent == a.ID {
				line.Runs++
				switch o.ParserReplay.Status {
				case contract.ReplayIncompatible:
					line.Lossy++
				case contract.ReplayNotRun:
					line.NotRead++
				}
			}
		}
		for _, l := range all[a.ID] {
			for i, k := range lossMeanings {
				if slices.ContainsFunc(l.findings, func(f replay.Finding) bool { return f.Kind == k.Kind }) {
					line.Losses[i]++
				}
			}
		}
		for _, e := range s.errorCases[a.ID] {
			if differs, known := e.Differences(contract.ConsumerOpenDesign); known {
				line.Failures++
				if len(differs) > 0 {
					line.Misclassified++
				}
			}
		}
		if line.Runs > 0 {
			p.Lines = append(p.Lines, line)
		}
	}
	return p, nil
}

// consumerAgentPage says what the consumer loses of one agent, and which of its
// failures it calls by another name.
type consumerAgentPage struct {
	Agent    *contract.Agent
	Losses   []lossGroup
	Failures []misread
	More     int // failures that are left out
	Agreed   int
}

// lossGroup is one loss with the versions and probes that have it.
type lossGroup struct {
	Kind     replay.FindingKind
	Subjects []string // what is lost: tools, frames, counts
	Meaning  string
	Where    []lossPlace // newest captures last
	Older    int         // versions that are left out
	Runs     int
}

type lossPlace struct {
	Version string
	Probes  []seenAt
}

// misread is a failure with what is right and what the consumer says.
type misread struct {
	Version, Probe string
	Right, Says    string
	Differs        []string
	Place          string
}

// mostMisread bounds the list of failures.
const mostMisread = 120

func (s *Site) consumerAgentPage(a *contract.Agent) (*consumerAgentPage, error) {
	all, err := s.lossy()
	if err != nil {
		return nil, err
	}
	p := &consumerAgentPage{Agent: a}
	for _, l := range all[a.ID] {
		for _, f := range l.findings {
			f.Count = 0
			p.add(f, l.seen)
		}
	}
	p.merge()
	for i := range s.errorCases[a.ID] {
		e := &s.errorCases[a.ID][i]
		differs, known := e.Differences(contract.ConsumerOpenDesign)
		switch {
		case !known:
			continue
		case len(differs) == 0:
			p.Agreed++
			continue
		case len(p.Failures) == mostMisread:
			p.More++
			continue
		}
		p.Failures = append(p.Failures, misread{cmp.Or(e.Extensions.CLIVersion, "synthetic"), e.Probe, failureWords(e.Expected), failureWords(e.Extensions.Consumers[contract.ConsumerOpenDesign]), differs, e.Path})
	}
	return p, nil
}

func (p *consumerAgentPage) add(f replay.Finding, o *store.Observed) {
	i := slices.IndexFunc(p.Losses, func(g lossGroup) bool { return g.Kind == f.Kind && g.Subjects[0] == f.Subject })
	if i < 0 {
		p.Losses = append(p.Losses, lossGroup{Kind: f.Kind, Subjects: []string{f.Subject}, Meaning: lossMeanings[kindRank(f.Kind)].Meaning})
		i = len(p.Losses) - 1
	}
	g := &p.Losses[i]
	g.Runs++
	if n := len(g.Where); n == 0 || g.Where[n-1].Version != o.CLIVersion {
		g.Where = append(g.Where, lossPlace{Version: o.CLIVersion})
	}
	w := &g.Where[len(g.Where)-1]
	seen := seenAt{Agent: o.Agent, Version: o.CLIVersion, Probe: o.Probe, Href: proofPath(o.Agent, o.CLIVersion, o.Platform, trackOf(o))}
	if o.Extensions.Profile != contract.ProfileProduction {
		seen.Probe += " (" + o.Extensions.Profile + ")"
	}
	if !slices.Contains(w.Probes, seen) {
		w.Probes = append(w.Probes, seen)
	}
}

// merge joins losses of one kind that come at the same places, and sorts them
// as the overview does.
func (p *consumerAgentPage) merge() {
	var out []lossGroup
	for _, g := range p.Losses {
		i := slices.IndexFunc(out, func(o lossGroup) bool {
			return o.Kind == g.Kind && slices.EqualFunc(o.Where, g.Where, func(x, y lossPlace) bool {
				return x.Version == y.Version && slices.Equal(x.Probes, y.Probes)
			})
		})
		if i >= 0 {
			out[i].Subjects = append(out[i].Subjects, g.Subjects...)
			continue
		}
		out = append(out, g)
	}
	slices.SortStableFunc(out, func(x, y lossGroup) int {
		return cmp.Or(kindRank(x.Kind)-kindRank(y.Kind), y.Runs-x.Runs, strings.Compare(x.Subjects[0], y.Subjects[0]))
	})
	for i := range out {
		if n := len(out[i].Where) - mostWhere; n > 0 {
			out[i].Older, out[i].Where = n, out[i].Where[n:]
		}
	}
	p.Losses = out
}

// mostWhere is how many versions a loss lists.
const mostWhere = 6

// kindRank is the place of a kind of loss in the overview.
func kindRank(k replay.FindingKind) int {
	return max(0, slices.IndexFunc(lossMeanings, func(m lossKind) bool { return m.Kind == k }))
}

func failureWords(f *contract.FailureClassification) string {
	if f == nil {
		return "success"
	}
	return string(f.Category) + " / " + f.Detail
}
