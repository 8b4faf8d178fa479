package bisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

const root = "../.."

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// committed is the registry of this repository.
func committed(t *testing.T) *store.Registry {
	t.Helper()
	reg, err := store.Open(root)
	must(t, err)
	return reg
}

// withoutObservations is a registry with the committed shapes and rules, in
// which nothing was captured yet.
func withoutObservations(t *testing.T) *store.Registry {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "registry"), os.DirFS(filepath.Join(root, "registry"))))
	must(t, os.Remove(filepath.Join(dir, filepath.FromSlash(ReleasesPath))))
	shapes, err := filepath.Abs(filepath.Join(root, "shapes"))
	must(t, err)
	must(t, os.Symlink(shapes, filepath.Join(dir, "shapes")))
	reg, err := store.Open(dir)
	must(t, err)
	return reg
}

func agent(t *testing.T, reg *store.Registry, id string) *contract.Agent {
	t.Helper()
	var file contract.AgentsFile
	must(t, reg.ReadJSON(store.AgentsFile, &file))
	a, err := agents.Find(&file, id)
	must(t, err)
	return a
}

// replayed captures by looking up what was captured before.
type replayed struct {
	mu       sync.Mutex
	obs      map[string][]store.Observed // by version
	captured []string
	fail     map[string]error // ends the bisection
	gone     map[string]Reason
}

func (r *replayed) Capture(ctx context.Context, version string, tracks []Track, tell func(string)) (*Captured, error) {
	tell("looking it up")
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fail[version]; err != nil {
		return nil, err
	}
	r.captured = append(r.captured, version)
	out := &Captured{Unavailable: r.gone[version]}
	if out.Unavailable != "" {
		return out, nil
	}
	for _, o := range r.obs[version] {
		if slices.Contains(tracks, Track{o.Probe, o.Extensions.Profile}) {
			out.Observed = append(out.Observed, o)
		}
	}
	return out, nil
}

// recordings returns the committed observations of an agent by version, and the
// versions in order.
func recordings(t *testing.T, a *contract.Agent) (*replayed, *History) {
	t.Helper()
	obs, err := committed(t).Observations(a.ID)
	must(t, err)
	r := &replayed{obs: map[string][]store.Observed{}, fail: map[string]error{}, gone: map[string]Reason{}}
	var all []string
	for _, o := range obs {
		if !tells(&o, contract.Platform("linux-x64")) {
			continue
		}
		if r.obs[o.CLIVersion] == nil {
			all = append(all, o.CLIVersion)
		}
		r.obs[o.CLIVersion] = append(r.obs[o.CLIVersion], o)
	}
	return r, newHistory(a, all)
}

func options(t *testing.T, agentID string, tracks ...Track) (Options, *replayed) {
	t.Helper()
	reg := withoutObservations(t)
	a := agent(t, reg, agentID)
	r, h := recordings(t, a)
	return Options{
		Registry: reg, Agent: a, Platform: contract.Platform("linux-x64"), History: h, Tracks: tracks,
		Every: DefaultEvery, Jobs: 1, Capturer: r,
	}, r
}

var text = Track{"chat-text-success", contract.ProfileProduction}

// The releases that a bisection names are those of an exhaustive walk over the
// committed observations, save what was taken back between equal neighbours, in
// the promised number of captures (issue 6).
func TestCommittedHistory(t *testing.T) {
	for _, agentID := range []string{"codex", "claude", "pi"} {
		t.Run(agentID, func(t *testing.T) {
			o, _ := options(t, agentID, text)
			if agentID == "codex" {
				o.From, o.To = "0.42.0", "0.171.0"
			}
			found, err := Run(t.Context(), o)
			must(t, err)
			all := o
			all.Every = 1
			walk, err := Run(t.Context(), all)
			must(t, err)
			if len(walk.Tracks[0].Changes) == 0 {
				t.Fatal("the committed history has no change: this test proves nothing")
			}
			unseen := func(version string) bool {
				return slices.ContainsFunc(found.Tracks[0].Unseen, func(s Stretch) bool {
					from, _ := agents.CompareVersions(o.Agent, s.From, version)
					// The release after a stretch takes its change back.
					to := slices.Index(o.History.Releases, version) - slices.Index(o.History.Releases, s.To)
					return from <= 0 && to <= 1
				})
			}
			for _, v := range walk.Changed() {
				if !slices.Contains(found.Changed(), v) && !unseen(v) {
					t.Errorf("the change of %s was not found and is not among what was not looked at", v)
				}
			}
			for _, c := range found.Tracks[0].Changes {
				if !slices.Contains(walk.Changed(), c.To) || len(c.Between) > 0 {
					t.Errorf("%s → %s is no change between two releases", c.From, c.To)
				}
			}
			var at []int
			for _, c := range found.Tracks[0].Changes {
				at = append(at, slices.Index(o.History.Releases, c.To)-slices.Index(o.History.Releases, found.From))
			}
			n := len(found.Captured)
			if most := promised(found.Releases, o.Every, at); n > most {
				t.Errorf("%d captures, promised %d", n, most)
			}
			t.Logf("%s: %d of %d releases captured, changes in %v; exhaustive: %v", agentID, n, found.Releases, found.Changed(), walk.Changed())
		})
	}
}

// A bisection in several jobs finds the same as one after another, and captures
// no release twice.
func TestParallel(t *testing.T) {
	tracks := []Track{text, {"chat-tool-success", contract.ProfileProduction}, {"auth-failure", contract.ProfileProduction}}
	one, _ := options(t, "codex", tracks...)
	want, err := Run(t.Context(), one)
	must(t, err)
	many, captured := options(t, "codex", tracks...)
	many.Jobs = 4
	steps := 0
	many.Progress = func(p Progress) {
		steps++
		if len(p.Running) > many.Jobs {
			t.Errorf("%d captures at once", len(p.Running))
		}
	}
	got, err := Run(t.Context(), many)
	must(t, err)
	if !slices.Equal(got.Changed(), want.Changed()) {
		t.Errorf("four jobs found %v, one found %v", got.Changed(), want.Changed())
	}
	slices.Sort(captured.captured)
	if len(slices.Compact(captured.captured)) != len(got.Captured) {
		t.Error("a release was captured twice")
	}
	if steps < len(got.Captured) {
		t.Errorf("told of %d steps in %d captures", steps, len(got.Captured))
	}
}

// What is in the registry is not captured again, also after an attempt that
// broke off.
func TestResume(t *testing.T) {
	for _, cause := range []error{install.ErrNetwork, install.ErrDiskFull, context.Canceled} {
		t.Run(cause.Error(), func(t *testing.T) { testResume(t, cause) })
	}
}

func testResume(t *testing.T, cause error) {
	whole, _ := options(t, "codex", text)
	want, err := Run(t.Context(), whole)
	must(t, err)
	o, captured := options(t, "codex", text)
	broken := want.Captured[len(want.Captured)/2]
	captured.fail[broken] = fmt.Errorf("installing: %w", cause)
	r, err := Run(t.Context(), o)
	if !errors.Is(err, cause) {
		t.Fatalf("the error is %v", err)
	}
	if r == nil || r.Settled() {
		t.Error("a bisection that broke off has nothing left to capture")
	}
	keep(t, o.Registry, captured, captured.captured...) // a real capturer publishes
	before := len(captured.captured)
	delete(captured.fail, broken)
	got, err := Run(t.Context(), o)
	must(t, err)
	if n := len(captured.captured); n != len(want.Captured) || before == 0 {
		t.Errorf("%d captures before and %d in all; one attempt needs %d", before, n, len(want.Captured))
	}
	if !slices.Equal(got.Changed(), want.Changed()) {
		t.Errorf("found %v after resuming, want %v", got.Changed(), want.Changed())
	}
}

// A release that cannot be captured is gone round, listed, and not tried again
// within a day.
func TestUnavailable(t *testing.T) {
	o, captured := options(t, "codex", text)
	now := time.Date(2026, 6, 27, 10, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	state := t.TempDir()
	gone := o.History.Releases[len(o.History.Releases)-1]
	captured.gone[gone] = ReasonNotInstalled
	var err error
	o.Failures, err = OpenFailures(state, o.Registry, "codex", clock)
	must(t, err)
	r, err := Run(t.Context(), o)
	must(t, err)
	if len(r.Unavailable) != 1 || r.Unavailable[0].From != gone || r.Unavailable[0].Reason != ReasonNotInstalled {
		t.Errorf("unavailable are %v, want %s", r.Unavailable, gone)
	}
	for _, again := range []struct {
		after time.Duration
		tried bool
	}{{time.Hour, false}, {25 * time.Hour, true}} {
		now = now.Add(again.after)
		captured.captured = nil
		o.Failures, err = OpenFailures(state, o.Registry, "codex", clock)
		must(t, err)
		_, err = Run(t.Context(), o)
		must(t, err)
		if got := slices.Contains(captured.captured, gone); got != again.tried {
			t.Errorf("after %s it was tried again: %v", again.after, got)
		}
	}
}

// A release that did not say which one it is may have met a busy machine: the
// next attempt asks it again, and until then it is listed.
func TestNoAnswerIsTriedAgain(t *testing.T) {
	o, captured := options(t, "codex", text)
	state := t.TempDir()
	silent := o.History.Releases[len(o.History.Releases)-1]
	captured.gone[silent] = ReasonNoAnswer
	for range 2 {
		captured.captured = nil
		var err error
		o.Failures, err = OpenFailures(state, o.Registry, "codex", time.Now)
		must(t, err)
		r, err := Run(t.Context(), o)
		must(t, err)
		if !slices.Contains(captured.captured, silent) || len(r.Unavailable) != 1 || r.Unavailable[0].Reason != ReasonNoAnswer {
			t.Errorf("captured %v, unavailable are %v; want %s in both", captured.captured, r.Unavailable, silent)
		}
	}
}

// A capture that tells nothing about a track is not asked for again and again.
func TestNoObservation(t *testing.T) {
	o, captured := options(t, "codex", text)
	captured.obs = nil
	r, err := Run(t.Context(), o)
	must(t, err)
	if len(r.Captured) != r.Releases || len(r.Tracks[0].Missing) != 1 || r.Tracks[0].Missing[0].Reason != ReasonNothing {
		t.Errorf("captured %d of %d, missing %v", len(r.Captured), r.Releases, r.Tracks[0].Missing)
	}
}

func TestBounds(t *testing.T) {
	o, _ := options(t, "codex", text)
	for _, c := range []struct{ from, to string }{{"0.171.0", "0.42.0"}, {"newest", ""}, {"", "1;2"}} {
		o.From, o.To = c.from, c.to
		var bound *BoundError
		if _, err := Run(t.Context(), o); !errors.As(err, &bound) {
			t.Errorf("%q to %q: %v", c.from, c.to, err)
		}
	}
	o.From, o.To = "0.42.1", "0.42.9"
	var nothing *NothingError
	if _, err := Run(t.Context(), o); !errors.As(err, &nothing) {
		t.Errorf("no release in the bounds: %v", err)
	}
}
