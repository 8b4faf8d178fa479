package bisect

import (
	"context"
	"errors"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Reason says why a release, or a track of it, has no observation.
type Reason string

// The reasons.
const (
	ReasonNotPublished Reason = "not_published"     // withdrawn, or never in this package registry
	ReasonNotInstalled Reason = "not_installable"   // npm or the package is at fault
	ReasonNoProgram    Reason = "no_program"        // the package has no program for this platform
	ReasonIntegrity    Reason = "integrity"         // not what the package registry published
	ReasonNoVersion    Reason = "other_version"     // it says that it is another release
	ReasonNoAnswer     Reason = "no_answer"         // it did not say which release it is
	ReasonNotLaunched  Reason = "no_launch"         // no known way to start the release for this probe
	ReasonRedaction    Reason = "redaction_refused" // the proof of the redaction did not hold
	ReasonWaits        Reason = "awaiting_answer"   // a person has to answer a question first
	ReasonNothing      Reason = "no_observation"    // the run told nothing
)

// Reasons lists every reason with what it means.
var Reasons = []struct {
	Reason  Reason
	Meaning string
}{
	{ReasonNotPublished, "the package registry does not have it"},
	{ReasonNotInstalled, "npm could not install it"},
	{ReasonNoProgram, "its package has no program for this platform"},
	{ReasonIntegrity, "what was installed is not what the package registry published"},
	{ReasonNoVersion, "the program says that it is another release"},
	{ReasonNoAnswer, "the program did not start, or did not say which release it is in time"},
	{ReasonNotLaunched, "there is no known way to start it for the probe"},
	{ReasonRedaction, "redaction was refused: the proof did not hold, so nothing is published"},
	{ReasonWaits, "a person has to answer a question first (agent-contracts review list)"},
	{ReasonNothing, "the run told nothing"},
}

// Meaning returns what the reason means.
func (r Reason) Meaning() string {
	for _, known := range Reasons {
		if known.Reason == r {
			return known.Meaning
		}
	}
	return string(r)
}

func (c *Captured) miss(t Track, why Reason) {
	if c.Missing == nil {
		c.Missing = map[Track]Reason{}
	}
	c.Missing[t] = why
}

// realCapturer captures real releases and keeps the cache small.
type realCapturer struct {
	opts  capture.Options
	agent *contract.Agent
	cache *install.Cache
	// kept are the releases that were in the cache before, which stay there.
	kept map[string]bool
}

// NewCapturer returns a capturer of real releases. opts needs all but targets
// and probes. A release that it installed leaves the cache again.
func NewCapturer(agent *contract.Agent, opts capture.Options) (Capturer, error) {
	cache, err := install.OpenCache(opts.Install.Cache)
	if err != nil {
		return nil, err
	}
	c := &realCapturer{opts: opts, agent: agent, cache: cache, kept: map[string]bool{}}
	for _, v := range cache.Releases(agent.ID) {
		c.kept[v] = true
	}
	return c, nil
}

// Capture implements Capturer. Tracks of one profile are captured together.
func (c *realCapturer) Capture(ctx context.Context, version string, tracks []Track, tell func(string)) (*Captured, error) {
	out := &Captured{}
	var err error
	for _, profile := range profiles(tracks) {
		if err = c.profile(ctx, version, profile, tracks, tell, out); err != nil || out.Unavailable != "" {
			break
		}
	}
	if !c.kept[version] {
		err = errors.Join(err, c.cache.Evict(c.agent.ID, version))
	}
	return out, err
}

func (c *realCapturer) profile(ctx context.Context, version, profile string, tracks []Track, tell func(string), out *Captured) error {
	target := capture.Target{Agent: c.agent.ID, Version: version, Profile: profile}
	for _, t := range tracks {
		if t.Profile == profile {
			target.Probes = append(target.Probes, t.Probe)
		}
	}
	opts := c.opts
	opts.Targets, opts.Probes, opts.Repeat = []capture.Target{target}, target.Probes, 1
	opts.Progress = func(p capture.Progress) {
		if p.Cell == nil {
			tell(p.What)
		} else if p.Result == nil {
			tell(p.Cell.Probe)
		}
	}
	report, err := capture.Run(ctx, opts)
	if err != nil {
		why := unavailable(err)
		if why == "" || ctx.Err() != nil {
			return err
		}
		out.Unavailable, out.Problem = why, err.Error()
		return nil
	}
	for _, res := range report.Results {
		t := Track{res.Cell.Probe, res.Cell.Profile}
		switch {
		case res.Observation != nil:
			out.Observed = append(out.Observed, store.Observed{Observation: *res.Observation})
		case len(res.WaitsFor) > 0:
			out.miss(t, ReasonWaits)
		case res.Redaction != "" && res.Redaction != contract.RedactionPassed:
			out.miss(t, ReasonRedaction)
		default:
			out.miss(t, ReasonNothing)
		}
	}
	return nil
}

func profiles(tracks []Track) []string {
	var out []string
	for _, t := range tracks {
		if !slices.Contains(out, t.Profile) {
			out = append(out, t.Profile)
		}
	}
	return out
}

// unavailable tells errors that are about the release, which the search goes
// around, from those about this machine and its network (""), which end it.
func unavailable(err error) Reason {
	var unknown *capture.CannotKnowError
	switch {
	case errors.Is(err, install.ErrNetwork), errors.Is(err, install.ErrDiskFull), errors.Is(err, install.ErrNPMMissing), errors.Is(err, install.ErrCache),
		errors.Is(err, capture.ErrMachine):
		return ""
	case errors.Is(err, install.ErrNoSuchVersion):
		return ReasonNotPublished
	case errors.Is(err, install.ErrNoBinary):
		return ReasonNoProgram
	case errors.Is(err, install.ErrIntegrity):
		return ReasonIntegrity
	case errors.Is(err, install.ErrNPM):
		return ReasonNotInstalled
	case errors.Is(err, capture.ErrOtherVersion):
		return ReasonNoVersion
	case errors.Is(err, capture.ErrNoAnswer):
		return ReasonNoAnswer
	case errors.As(err, &unknown):
		return ReasonNothing
	}
	return ""
}

// FindTracks returns the tracks of the probes in opts that can be started in at
// least one of the releases, and for each release those that can be.
func FindTracks(ctx context.Context, opts capture.Options, agent *contract.Agent, versions []string, profile string) ([]Track, map[string][]Track, error) {
	if len(versions) == 0 {
		return nil, nil, &NothingError{Agent: agent.ID}
	}
	var tracks []Track
	launched := map[string][]Track{}
	for _, v := range versions {
		opts.Targets = []capture.Target{{Agent: agent.ID, Version: v, Profile: profile}}
		plan, err := capture.MakePlan(ctx, opts)
		var unknown *capture.CannotKnowError
		if errors.As(err, &unknown) {
			continue // no way to start this one
		}
		if err != nil {
			return nil, nil, err
		}
		for _, c := range plan.Cells {
			t := Track{c.Probe, c.Profile}
			launched[v] = append(launched[v], t)
			if !slices.Contains(tracks, t) {
				tracks = append(tracks, t)
			}
		}
	}
	return tracks, launched, nil
}
