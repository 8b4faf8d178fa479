package bisect

import (
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Report is the answer: which release changed what.
type Report struct {
	Agent    string            `json:"agent"`
	Platform contract.Platform `json:"platform"`
	// From and To are the oldest and the newest release looked at.
	From string `json:"from"`
	To   string `json:"to"`
	// Releases counts the stable releases from From to To.
	Releases int `json:"releases"`
	Every    int `json:"every"`
	// Captured are the releases that this run captured or tried to, in order.
	Captured []string `json:"captured"`
	// Wanted are the releases that are needed still: none after a whole run.
	Wanted []string      `json:"wanted"`
	Tracks []TrackReport `json:"tracks"`
	// Unavailable are the releases that cannot be captured at all.
	Unavailable []Stretch `json:"unavailable"`
	// Prereleases are left out.
	Prereleases []string `json:"prereleases"`
}

// TrackReport is the answer for one track.
type TrackReport struct {
	Track
	// Timeline are the stretches of releases that speak alike.
	Timeline []Stretch `json:"timeline"`
	Changes  []Change  `json:"changes"`
	// Unseen are the releases between two captures that are equal; a change that
	// was taken back between them is invisible.
	Unseen []Stretch `json:"unseen"`
	// Missing are the releases that are available but have no capture here.
	Missing []Stretch `json:"missing"`
	// Disputed are the releases whose captures disagree, evenly.
	Disputed []string `json:"disputed"`
}

// Stretch is a run of neighbouring releases.
type Stretch struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Releases counts those from From to To, Captured those with an observation.
	Releases int `json:"releases"`
	Captured int `json:"captured"`
	// Signatures are those of the captures.
	Signatures []contract.Digest `json:"signatures,omitempty"`
	// Reason says why there is no capture.
	Reason Reason `json:"reason,omitempty"`
}

// Change is a release that does not speak as the one before it.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Between are the releases between the two, none of which was captured: the
	// change came with one of them or with To. Open says that a capture of one
	// would tell more.
	Between []string `json:"between"`
	Open    bool     `json:"open"`

	// Reader is the verdict for any reader that was written for From, by the
	// signals alone; Verdict is the one for the pinned consumer, whose reading
	// of To decides where there is one.
	Reader  contract.Verdict `json:"reader"`
	Verdict contract.Verdict `json:"verdict"`
	Signals []compare.Signal `json:"signals"`
	// Evidence are the places of the two observations.
	Evidence [2]string `json:"evidence"`
}

func (b *bisection) report() (*Report, error) {
	r := &Report{
		Agent: b.opts.Agent.ID, Platform: b.opts.Platform, Every: b.opts.Every,
		From: b.versions[0], To: b.versions[len(b.versions)-1], Releases: len(b.versions),
		Captured: orEmpty(b.captured), Wanted: orEmpty(b.wanted()),
		Tracks: []TrackReport{}, Prereleases: []string{},
	}
	var err error
	if pre, err := between(b.opts.Agent, b.opts.History.Prereleases, r.From, r.To); err == nil {
		r.Prereleases = orEmpty(pre)
	}
	r.Unavailable = b.stretches(func(v string) Reason { return b.known.unavailable[v] })
	families, err := b.opts.Registry.Families()
	if err != nil {
		return nil, err
	}
	d := &differ{reg: b.opts.Registry, families: families}
	for _, t := range b.opts.Tracks {
		tr, err := b.track(t, d)
		if err != nil {
			return r, err
		}
		r.Tracks = append(r.Tracks, *tr)
	}
	return r, nil
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// stretches joins neighbouring releases with the same reason.
func (b *bisection) stretches(why func(version string) Reason) []Stretch {
	out := []Stretch{}
	last := -2
	for i, v := range b.versions {
		reason := why(v)
		if reason == "" {
			continue
		}
		if n := len(out); n > 0 && last == i-1 && out[n-1].Reason == reason {
			out[n-1].To = v
			out[n-1].Releases++
		} else {
			out = append(out, Stretch{From: v, To: v, Releases: 1, Reason: reason})
		}
		last = i
	}
	return out
}

func (b *bisection) track(t Track, d *differ) (*TrackReport, error) {
	r := &TrackReport{Track: t, Timeline: []Stretch{}, Changes: []Change{}, Unseen: []Stretch{}, Disputed: []string{}}
	s := b.series(t)
	last := -1
	for i, p := range s.points {
		if len(p.answer) == 0 {
			continue
		}
		v := b.versions[i]
		if len(p.answer) > 1 {
			r.Disputed = append(r.Disputed, v)
		}
		if last >= 0 && s.points[last].answer.same(p.answer) {
			n := len(r.Timeline) - 1
			r.Timeline[n].To, r.Timeline[n].Captured = v, r.Timeline[n].Captured+1
			r.Timeline[n].Releases += i - last
			if m := s.open(last, i); len(m) > 0 {
				r.Unseen = append(r.Unseen, Stretch{From: b.versions[m[0]], To: b.versions[m[len(m)-1]], Releases: len(m)})
			}
			last = i
			continue
		}
		if last >= 0 {
			c, err := d.change(b.known.newest(b.versions[last], t), b.known.newest(v, t))
			if err != nil {
				return nil, err
			}
			c.Between, c.Open = orEmpty(b.versions[last+1:i]), len(s.open(last, i)) > 0
			r.Changes = append(r.Changes, *c)
		}
		r.Timeline = append(r.Timeline, Stretch{From: v, To: v, Releases: 1, Captured: 1, Signatures: p.answer})
		last = i
	}
	r.Missing = b.stretches(func(v string) Reason {
		if b.known.unavailable[v] != "" || len(b.known.answer(v, t)) > 0 {
			return ""
		}
		return b.known.missing[cell{v, t}]
	})
	return r, nil
}

// open returns the releases between two that could be captured.
func (s *series) open(from, to int) []int {
	var out []int
	for i := from + 1; i < to; i++ {
		if !s.points[i].gone {
			out = append(out, i)
		}
	}
	return out
}

// differ compares observations.
type differ struct {
	reg      *store.Registry
	families *contract.Families
}

// change compares an older observation with a newer one, by what their records
// say: shapes, frames that came by chance, exit codes.
func (d *differ) change(a, b *store.Observed) (*Change, error) {
	older, err := d.side(a)
	if err != nil {
		return nil, err
	}
	newer, err := d.side(b)
	if err != nil {
		return nil, err
	}
	res := compare.Runs(older, newer, d.families.Dialect(b.Extensions.Dialect))
	lost := replay.Lost(capture.Reading(d.reg, &a.Observation), capture.Reading(d.reg, &b.Observation), replay.Fails(a.Extensions.Violations, b.Extensions.Violations))
	return &Change{
		From: a.CLIVersion, To: b.CLIVersion, Signals: res.Signals, Reader: res.Verdict,
		Verdict:  res.Judge(compare.Evidence{Redaction: b.Redaction.Status, Replay: b.ParserReplay.Status, Lost: len(lost) > 0}),
		Evidence: [2]string{a.Path, b.Path},
	}, nil
}

func (d *differ) side(o *store.Observed) (compare.Side, error) {
	shape, err := d.reg.Shape(o.ProtocolFamily, o.Shape.Signature)
	if err != nil {
		return compare.Side{}, fmt.Errorf("comparing %s: %w", o.Path, err)
	}
	return compare.Side{
		Shape: shape, Dialect: d.families.Dialect(o.Extensions.Dialect), Optional: o.Extensions.OptionalKinds, AfterTerminal: o.Extensions.AfterTerminal, ExitCode: o.Extensions.ExitCode,
	}, nil
}

// unseen counts the releases between equal captures.
func (t *TrackReport) unseen() int {
	n := 0
	for _, s := range t.Unseen {
		n += s.Releases
	}
	return n
}

// Settled reports whether nothing is left to capture.
func (r *Report) Settled() bool { return len(r.Wanted) == 0 }

// Pinned reports whether every change is known to have come with one release.
func (r *Report) Pinned() bool {
	for _, t := range r.Tracks {
		for _, c := range t.Changes {
			if len(c.Between) > 0 {
				return false
			}
		}
	}
	return true
}

// Changed returns the releases that changed a track, each once and in order.
func (r *Report) Changed() []string {
	var out []string
	for _, t := range r.Tracks {
		for _, c := range t.Changes {
			if !slices.Contains(out, c.To) {
				out = append(out, c.To)
			}
		}
	}
	return out
}
