// Package bisect answers which release changed what: it captures a grid of an
// agent's published history, bisects between unequal neighbours, and says what
// it did not look at (DESIGN D7 and D10). What the registry holds already
// counts as captured, so that it resumes and never repeats finished work.
package bisect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// DefaultEvery is how many releases apart the first captures are.
const DefaultEvery = 8

// Track is one thing that is followed through the releases: a probe, run in
// one way to start the CLI.
type Track struct {
	Probe   string `json:"probe"`
	Profile string `json:"profile"`
}

// String spells a track for people: the probe, and the profile where it is not
// the production one.
func (t Track) String() string {
	if t.Profile == contract.ProfileProduction {
		return t.Probe
	}
	return t.Probe + " (" + t.Profile + ")"
}

// Capturer runs the tracks of one release and puts what they came to into the
// registry.
type Capturer interface {
	// Capture returns what became known. An error ends the whole bisection: the
	// network or the disk is gone, or somebody interrupted it; the release is
	// then as unknown as before.
	Capture(ctx context.Context, version string, tracks []Track, tell func(what string)) (*Captured, error)
}

// Captured is what the capture of one release came to.
type Captured struct {
	// Observed are the new observations.
	Observed []store.Observed
	// Unavailable says why the release as a whole cannot be captured, "" if it
	// can.
	Unavailable Reason
	// Problem is what the capture said about that.
	Problem string
	// Missing says why a track gave no observation.
	Missing map[Track]Reason
}

// Options says what to look for.
type Options struct {
	Registry *store.Registry
	Agent    *contract.Agent
	Platform contract.Platform
	History  *History
	// Tracks are followed together and share the installation of a release.
	Tracks []Track
	// Launched has, for each release, the tracks that there is a known way to
	// start; nil means all of them.
	Launched map[string][]Track
	// From and To bound the releases, both included; "" is the oldest and the
	// newest that the tracks can be run on.
	From, To string
	// Every is how many releases apart the first captures are, at least 1.
	Every int
	// Jobs is how many releases are captured at once.
	Jobs     int
	Capturer Capturer // nil captures nothing: the answer says what is known
	// Failures remembers between two attempts what could not be captured; nil
	// remembers nothing.
	Failures *Failures
	Progress func(Progress)
}

// Progress is one step of a bisection.
type Progress struct {
	Known    int      // releases that every track knows
	Captured int      // by this run
	Wanted   int      // that are known to be needed still, those under way included
	Running  []string // releases being captured
	Version  string   // the release that the step is about
	What     string   // installing, running …
	// Done says that the capture of Version ended.
	Done bool
}

// Run captures until every change between two releases is pinned to one of
// them, or to releases of which none between can be captured, and returns the
// answer. On an error the answer says what is known so far.
func Run(ctx context.Context, o Options) (*Report, error) {
	b, err := newBisection(o)
	if err != nil {
		return nil, err
	}
	if o.Capturer != nil {
		err = b.capture(ctx)
	}
	report, reportErr := b.report()
	if err == nil {
		err = reportErr
	}
	return report, err
}

// bisection is one search under way.
type bisection struct {
	opts     Options
	versions []string // ascending, those in the bounds
	known    *known
	captured []string // by this run
	running  []string
}

func newBisection(o Options) (*bisection, error) {
	if o.Every < 1 || o.Jobs < 1 {
		return nil, fmt.Errorf("bisecting %s: every %d releases with %d jobs: want 1 or more", o.Agent.ID, o.Every, o.Jobs)
	}
	if len(o.Tracks) == 0 {
		return nil, fmt.Errorf("bisecting %s: no probe given", o.Agent.ID)
	}
	b := &bisection{opts: o}
	var err error
	if b.known, err = load(o); err != nil {
		return nil, err
	}
	all := slices.Clone(o.History.Releases)
	for v := range b.known.observed {
		if !slices.Contains(all, v) && !prerelease(o.Agent, v) {
			all = append(all, v)
		}
	}
	if b.versions, err = between(o.Agent, all, o.From, o.To); err != nil {
		return nil, err
	}
	if len(b.versions) == 0 {
		return nil, &NothingError{Agent: o.Agent.ID, From: o.From, To: o.To}
	}
	if o.Launched != nil {
		for _, v := range b.versions {
			for _, t := range o.Tracks {
				if !slices.Contains(o.Launched[v], t) {
					b.known.missing[cell{v, t}] = ReasonNotLaunched
				}
			}
		}
	}
	return b, nil
}

// NothingError says that no release lies in the bounds.
type NothingError struct{ Agent, From, To string }

// Error implements error.
func (e *NothingError) Error() string {
	return fmt.Sprintf("%s has no stable release from %s to %s", e.Agent, orWord(e.From, "the oldest"), orWord(e.To, "the newest"))
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// wanted returns the releases to capture next: those that a track needs and
// nobody captures already, those of the grid first, each part ascending.
func (b *bisection) wanted() []string {
	grid, middles := map[int]bool{}, map[int]bool{}
	for _, t := range b.opts.Tracks {
		g, m := b.series(t).wanted(b.opts.Every)
		for _, i := range g {
			grid[i] = true
		}
		for _, i := range m {
			middles[i] = true
		}
	}
	var first, then []string
	for i, v := range b.versions {
		switch {
		case slices.Contains(b.running, v):
		case grid[i]:
			first = append(first, v)
		case middles[i]:
			then = append(then, v)
		}
	}
	return append(first, then...)
}

// series returns what is known of one track, release by release.
func (b *bisection) series(t Track) *series {
	s := &series{points: make([]point, len(b.versions))}
	for i, v := range b.versions {
		p := &s.points[i]
		p.answer = b.known.answer(v, t)
		p.gone = len(p.answer) == 0 && b.known.cannot(v, t) != ""
		p.running = slices.Contains(b.running, v)
	}
	return s
}

// outcome is one capture that ended.
type outcome struct {
	version string
	got     *Captured
	err     error
}

// capture works until nothing is wanted. An error stops new captures; those
// under way are waited for, so that what they find is kept.
func (b *bisection) capture(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, steps := make(chan outcome), make(chan Progress)
	var failed error
	for {
		wanted := b.wanted()
		for failed == nil && len(b.running) < b.opts.Jobs && len(wanted) > 0 {
			b.start(ctx, wanted[0], ended, steps)
			wanted = b.wanted()
		}
		if len(b.running) == 0 {
			return failed
		}
		select {
		case p := <-steps:
			b.tell(p, len(wanted))
		case o := <-ended:
			b.running = slices.DeleteFunc(b.running, func(v string) bool { return v == o.version })
			if o.err != nil && failed == nil {
				failed = fmt.Errorf("capturing %s@%s: %w", b.opts.Agent.ID, o.version, o.err)
				cancel()
			}
			if o.err == nil {
				if err := b.learn(o.version, o.got); err != nil && failed == nil {
					failed = err
				}
			}
			b.tell(Progress{Version: o.version, Done: o.err == nil, What: o.got.summary()}, len(b.wanted()))
		}
	}
}

func (b *bisection) start(ctx context.Context, version string, ended chan<- outcome, steps chan<- Progress) {
	b.running = append(b.running, version)
	tracks := b.known.open(version, b.opts.Tracks)
	go func() {
		got, err := b.opts.Capturer.Capture(ctx, version, tracks, func(what string) {
			steps <- Progress{Version: version, What: what}
		})
		ended <- outcome{version, got, err}
	}()
}

func (b *bisection) learn(version string, got *Captured) error {
	b.captured = append(b.captured, version)
	b.known.learn(version, got)
	for _, t := range b.known.open(version, b.opts.Tracks) { // or it would be captured for ever
		got.miss(t, ReasonNothing)
		b.known.learn(version, got)
	}
	if b.opts.Failures == nil {
		return nil
	}
	return b.opts.Failures.add(version, got)
}

func (b *bisection) tell(p Progress, waiting int) {
	if b.opts.Progress == nil {
		return
	}
	p.Captured, p.Running, p.Wanted = len(b.captured), slices.Clone(b.running), waiting+len(b.running)
	for _, v := range b.versions {
		if len(b.known.open(v, b.opts.Tracks)) == 0 {
			p.Known++
		}
	}
	b.opts.Progress(p)
}

// summary says in a few words what a capture came to.
func (c *Captured) summary() string {
	switch {
	case c == nil:
		return "stopped"
	case c.Unavailable != "":
		return fmt.Sprintf("cannot be captured (%s): %s", c.Unavailable, cmp.Or(c.Problem, c.Unavailable.Meaning()))
	case len(c.Missing) > 0:
		return fmt.Sprintf("%d observation(s), %d track(s) without one", len(c.Observed), len(c.Missing))
	}
	return fmt.Sprintf("%d observation(s)", len(c.Observed))
}
