package bisect

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

// What is wrong with one release is gone round; what is wrong with this machine
// ends the search, and nothing is written down about the release.
func TestUnavailableReasons(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Reason
	}{
		{&install.NoSuchVersionError{Package: "p", Spec: "1.0.0"}, ReasonNotPublished},
		{install.ErrNPM, ReasonNotInstalled},
		{install.ErrNoBinary, ReasonNoProgram},
		{install.ErrIntegrity, ReasonIntegrity},
		{&capture.CannotKnowError{What: "it says that it is version 2.0.0", About: capture.ErrOtherVersion}, ReasonNoVersion},
		{&capture.CannotKnowError{What: "asking x for its version", Err: errors.New("no version"), About: capture.ErrNoAnswer}, ReasonNoAnswer},
		{&capture.CannotKnowError{What: "asking x for its version", Err: errors.New("making a sandbox"), About: capture.ErrMachine}, ""},
		{&capture.CannotKnowError{What: "x changed while it was captured"}, ReasonNothing},
		{install.ErrNetwork, ""},
		{install.ErrDiskFull, ""},
		{install.ErrNPMMissing, ""},
		{install.ErrCache, ""},
		{context.Canceled, ""},
		{errors.New("a fault of ours"), ""},
	} {
		if got := unavailable(fmt.Errorf("installing x@1.0.0: %w", c.err)); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

func TestReasonsHaveMeanings(t *testing.T) {
	for _, r := range []Reason{
		ReasonNotPublished, ReasonNotInstalled, ReasonNoProgram, ReasonIntegrity, ReasonNoVersion, ReasonNoAnswer,
		ReasonNotLaunched, ReasonRedaction, ReasonWaits, ReasonNothing,
	} {
		if r.Meaning() == string(r) {
			t.Errorf("%s has no meaning", r)
		}
	}
}

// A release without a known way to start it is not captured, and is listed.
func TestFindTracks(t *testing.T) {
	reg := committed(t)
	a := agent(t, reg, "opencode")
	opts := capture.Options{Registry: reg, Probes: []string{"chat-text-success"}}
	tracks, launched, err := FindTracks(t.Context(), opts, a, []string{"1.0.9", "1.2.27"}, contract.ProfileProduction)
	must(t, err)
	if len(tracks) != 1 || tracks[0] != text || len(launched["1.2.27"]) != 1 || launched["1.0.9"] != nil {
		t.Errorf("tracks %v, launched %v", tracks, launched)
	}
	o, captured := options(t, "codex", text)
	o.Launched = map[string][]Track{}
	for _, v := range o.History.Releases[1:] {
		o.Launched[v] = []Track{text}
	}
	r, err := Run(t.Context(), o)
	must(t, err)
	first := o.History.Releases[0]
	if m := r.Tracks[0].Missing; len(m) != 1 || m[0].From != first || m[0].Reason != ReasonNotLaunched {
		t.Errorf("missing are %v, want %s", m, first)
	}
	for _, v := range captured.captured {
		if v == first {
			t.Errorf("%s was captured", v)
		}
	}
}
