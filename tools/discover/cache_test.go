package discover

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tagged answers with an ETag, and with 304 to who has it.
func tagged(body, tag string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, body)
	}
}

func TestAnswersAreKeptByETag(t *testing.T) {
	s := newService(t)
	agent := testAgent(s)
	agent.Discover.Homebrew, agent.Discover.Vendor = nil, nil
	s.answers["/repos/openai/codex/releases"] = tagged("["+release("rust-v0.172.0", "")+"]", `"one"`)
	o := testOptions(s, agent)
	o.CacheDir = filepath.Join(t.TempDir(), "discover")
	for range 2 {
		if got := look(t, o); *got.LatestSeen != "0.172.0" {
			t.Fatalf("%+v", got)
		}
	}
	s.answers["/repos/openai/codex/releases"] = tagged("["+release("rust-v0.173.0", "")+"]", `"two"`)
	if got := look(t, o); *got.LatestSeen != "0.173.0" {
		t.Fatalf("an old answer is still used: %+v", got)
	}
	// What a crash or a full disk left is no answer.
	files, err := filepath.Glob(filepath.Join(o.CacheDir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "garbage", string(b[:len(b)-4])} {
		if err := os.WriteFile(files[0], []byte(broken), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := look(t, o); *got.LatestSeen != "0.173.0" {
			t.Errorf("after a broken entry: %+v", got)
		}
	}
	const path = "/repos/openai/codex/releases"
	want := []string{path, path + ` "one"`, path + ` "one"`, path, path, path}
	if !slices.Equal(s.calls, want) {
		t.Errorf("asked %q, want %q", s.calls, want)
	}
}

// Half an answer whose length nobody said, or the page of a portal, is not kept to
// come back with each "304 Not Modified".
func TestAnswersOfNoUseAreForgotten(t *testing.T) {
	s := newService(t)
	agent := testAgent(s)
	agent.Discover.Homebrew, agent.Discover.Vendor = nil, nil
	const path = "/repos/openai/codex/releases"
	whole := "[" + release("rust-v0.172.0", "") + "]"
	o := testOptions(s, agent)
	o.CacheDir = t.TempDir()
	s.answers[path] = tagged(whole[:len(whole)/2], `"one"`)
	if src := look(t, o).Sources[1]; src.Available {
		t.Fatalf("%+v", src)
	}
	s.answers[path] = tagged(whole, `"one"`)
	if src := look(t, o).Sources[1]; !src.Available || *src.Version != "0.172.0" {
		t.Errorf("the half answer came back: %+v", src)
	}
}

// A service that has had enough is left alone, also by the next run, and asked
// again when its limit is new.
func TestRateLimitIsKept(t *testing.T) {
	s := newService(t)
	agent := testAgent(s)
	agent.Discover.Homebrew, agent.Discover.Vendor = nil, nil
	const path = "/repos/openai/codex/releases"
	s.answers[path] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", fmt.Sprint(noon.Add(time.Hour).Unix()))
		w.WriteHeader(http.StatusForbidden)
	}
	o := testOptions(s, agent)
	o.CacheDir = t.TempDir()
	now := noon
	o.Now = func() time.Time { return now }
	for range 2 {
		got := look(t, o)
		if src := got.Sources[1]; src.Available || !strings.Contains(src.Reason, "until 2026-11-30T13:00:00Z") {
			t.Errorf("%+v", src)
		}
	}
	if len(s.calls) != 1 {
		t.Errorf("asked %d times within the limit", len(s.calls))
	}
	now = noon.Add(61 * time.Minute)
	s.text(path, "["+release("rust-v0.172.0", "")+"]")
	if got := look(t, o); *got.LatestSeen != "0.172.0" {
		t.Errorf("%+v", got)
	}
}

// Whatever a server answers, a source is available with a version or it says
// on one line why not.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"version":"1.2.3"}`)
	f.Add(`{"versions":{"stable":"1.2.3_1"}}`)
	f.Add(`[{"tag_name":"rust-v1.2.3"}]`)
	f.Add("lab/1.2.3/")
	f.Add("[null]")
	f.Fuzz(func(t *testing.T, body string) {
		s := newService(t)
		for _, path := range []string{"/repos/openai/codex/releases", "/repos/openai/codex/releases/latest", "/brew/cask/codex.json", "/vendor"} {
			s.text(path, body)
		}
		got := look(t, testOptions(s, testAgent(s)))
		for _, src := range got.Sources {
			if src.Available != (src.Version != nil) || src.Available == (src.Reason != "") || strings.ContainsAny(src.Reason, "\r\n\x1b") {
				t.Errorf("%+v", src)
			}
		}
	})
}
