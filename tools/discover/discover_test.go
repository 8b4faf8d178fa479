package discover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// service plays GitHub, Homebrew and a vendor with recorded answers, by path.
type service struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]func(http.ResponseWriter, *http.Request)
	calls   []string // path, and what the request was conditional on
}

func newService(t *testing.T) *service {
	s := &service{answers: map[string]func(http.ResponseWriter, *http.Request){}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("If-None-Match")))
		if h := s.answers[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) text(path, body string) {
	s.answers[path] = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func testAgent(s *service) *contract.Agent {
	return &contract.Agent{
		ID: "codex", VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease},
		Install: &contract.AgentInstall{NPM: contract.NPMInstall{Package: "@openai/codex", Bin: "codex"}},
		Discover: &contract.AgentDiscover{
			GitHub:   &contract.GitHubReleases{Repository: "openai/codex", TagPrefix: "rust-"},
			Homebrew: &contract.HomebrewEntry{Kind: contract.HomebrewCask, Name: "codex"},
			Vendor:   &contract.VendorEndpoint{URL: s.URL + "/vendor", Pattern: `lab/(?P<version>[0-9.]+)/`},
		},
	}
}

func testOptions(s *service, list ...*contract.Agent) Options {
	return Options{
		Agents: list, Now: func() time.Time { return noon }, GitHubAPI: s.URL, HomebrewAPI: s.URL + "/brew",
		Releases: func(context.Context, *contract.Agent) (*install.Releases, error) {
			at := time.Date(2026, 11, 20, 0, 51, 29, 0, time.FixedZone("", 3600))
			return &install.Releases{Tags: map[string]string{"latest": "0.171.0", "alpha": "0.172.0-alpha.1"}, Published: map[string]time.Time{"0.171.0": at}}, nil
		},
		Local: func(context.Context, *contract.Agent) (string, agents.Version, error) {
			return "codex", agents.Version{Token: "0.180.0", Product: "codex-cli"}, nil
		},
		Verified: func(string) string { return "0.170.0" },
	}
}

func look(t *testing.T, o Options) Agent {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Agents[0]
}

// release is what GitHub lists of one release.
func release(tag, more string) string {
	return `{"tag_name":"` + tag + `","published_at":"2026-11-29T01:02:03Z"` + more + `}`
}

func TestEverySourceIsAsked(t *testing.T) {
	s := newService(t)
	s.text("/repos/openai/codex/releases", "["+strings.Join([]string{
		release("rust-v0.173.0-alpha.2", `,"prerelease":true`), release("rust-v0.174.0", `,"draft":true`), release("sdk-v9.0.0", ""),
		release("rust-v0.9.0", ""), release("rust-v0.172.0", ""), release("rust-v0.173.0-beta.1", ""), release("nightly", ""),
	}, ",")+"]")
	s.text("/brew/cask/codex.json", `{"token":"codex","version":"0.170.1,4711","versions":{"stable":"9.9.9"}}`)
	s.text("/vendor", "curl https://downloads.example.com/lab/0.169.0/linux/x64.tar.gz")
	got := look(t, testOptions(s, testAgent(s)))
	text := func(v string) *string { return &v }
	want := Agent{
		Agent: "codex", LatestSeen: text("0.172.0"), Source: "github:openai/codex", PublishedAt: text("2026-11-29T01:02:03Z"), LatestVerified: text("0.170.0"), Behind: true,
		Sources: []Source{
			{Source: "npm:@openai/codex", Available: true, Version: text("0.171.0"), PublishedAt: text("2026-11-19T23:51:29Z"), Tags: map[string]string{"latest": "0.171.0", "alpha": "0.172.0-alpha.1"}},
			{Source: "github:openai/codex", Available: true, Version: text("0.172.0"), PublishedAt: text("2026-11-29T01:02:03Z")},
			{Source: "homebrew:cask/codex", Available: true, Version: text("0.170.1")},
			{Source: "vendor:" + strings.TrimPrefix(s.URL, "http://"), Available: true, Version: text("0.169.0")},
			{Source: "local:codex", Available: true, Version: text("0.180.0")}, // shown, and no release
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A source whose address in the environment is none fails alone, too.
func TestABrokenAddressFailsAlone(t *testing.T) {
	s := newService(t)
	o := testOptions(s, testAgent(s))
	o.GitHubAPI = "nonsense"
	got := look(t, o)
	if got.LatestSeen == nil || *got.LatestSeen != "0.171.0" || got.Sources[1].Available || !strings.Contains(got.Sources[1].Reason, `GITHUB_API_URL is no URL: "nonsense"`) {
		t.Errorf("%+v", got)
	}
}

// A source that fails says so and takes nothing with it.
func TestEachSourceFailsAlone(t *testing.T) {
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, `{"message":"secret words of a server"}`)
		}
	}
	say := func(body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
	}
	const releases, brew, vendor = "/repos/openai/codex/releases", "/brew/cask/codex.json", "/vendor"
	for name, tt := range map[string]struct {
		path   string
		answer func(http.ResponseWriter, *http.Request)
		source string
		reason string
	}{
		"GitHub is down":              {releases, status(502), "github:", "502 Bad Gateway"},
		"GitHub's limit":              {releases, status(403, "X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1796061600"), "github:", "rate limit is used up until"},
		"GitHub's second limit":       {releases, status(429, "Retry-After", "60"), "github:", "it answered 429"},
		"no release at all":           {releases, say("[]"), "github:", "404 Not Found"}, // of releases/latest
		"no JSON from GitHub":         {releases, say("<html>"), "github:", "invalid character"},
		"Homebrew does not know it":   {brew, status(404), "homebrew:", "404 Not Found"},
		"a page instead of JSON":      {brew, say("<html>"), "homebrew:", "not the JSON"},
		"a cask without a version":    {brew, say(`{"version":""}`), "homebrew:", "no stable version"},
		"a cask named latest":         {brew, say(`{"version":"latest"}`), "homebrew:", "not a version"},
		"the vendor's page changed":   {vendor, say("<html>welcome</html>"), "vendor:", "does not match"},
		"the vendor's page is a book": {vendor, say(strings.Repeat("lab/", maxAnswer)), "vendor:", "longer than 4 MB"},
		"the vendor hangs up": {vendor, func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		}, "vendor:", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.text(releases, "["+release("rust-v0.171.0", "")+"]")
			s.text(brew, `{"version":"0.171.0"}`)
			s.text(vendor, "lab/0.171.0/")
			s.answers[tt.path] = tt.answer
			got := look(t, testOptions(s, testAgent(s)))
			if got.LatestSeen == nil || *got.LatestSeen != "0.171.0" {
				t.Errorf("latest_seen is %v, the other sources know it", got.LatestSeen)
			}
			for _, src := range got.Sources {
				failed := strings.HasPrefix(src.Source, tt.source)
				if src.Available == failed || failed && (!strings.Contains(src.Reason, tt.reason) || src.Version != nil) || !failed && src.Reason != "" {
					t.Errorf("%+v", src)
				}
				if strings.Contains(src.Reason, "secret") || strings.ContainsAny(src.Reason, "\r\n") {
					t.Errorf("the reason repeats what a server wrote: %q", src.Reason)
				}
			}
		})
	}
}

func TestNothingAnswers(t *testing.T) {
	s := newService(t)
	s.Close()
	o := testOptions(s, testAgent(s))
	o.Releases = func(context.Context, *contract.Agent) (*install.Releases, error) { return nil, errors.New("no npm") }
	o.Local = func(context.Context, *contract.Agent) (string, agents.Version, error) {
		return "codex", agents.Version{Token: "1.0.0"}, nil // of another product
	}
	got := look(t, o)
	if got.Looked() || got.Behind || got.LatestSeen != nil || len(got.Sources) != 5 {
		t.Errorf("%+v", got)
	}
	for _, src := range got.Sources {
		if src.Available || src.Reason == "" || src.Version != nil {
			t.Errorf("%+v", src)
		}
	}
}

func TestInterrupted(t *testing.T) {
	s := newService(t)
	ctx, cancel := context.WithCancel(t.Context())
	o := testOptions(s, testAgent(s))
	o.Progress = func(string, string) { cancel() }
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
