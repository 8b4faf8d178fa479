//go:build unix

package serve

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func TestMain(m *testing.M) {
	if harness.SuperviseMain() { // starts the programs that are asked for their versions
		return
	}
	os.Exit(m.Run())
}

// world is a server of the repository's registry on a machine of its own.
type world struct {
	*Server
	bin string // the machine's PATH
}

// readRepository reads it once for all tests.
var readRepository = sync.OnceValues(func() (*snapshot, error) {
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	s := newServer(Config{Registry: reg, Now: time.Now})
	return s.read()
})

func newWorld(t testing.TB) *world {
	t.Helper()
	snap, err := readRepository()
	if err != nil {
		t.Fatal(err)
	}
	reg := snap.site.Registry()
	dir := t.TempDir()
	for d := dir; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil { // children of root run as another user
			t.Fatal(err)
		}
	}
	bin, state := filepath.Join(dir, "bin"), filepath.Join(dir, "state")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	w := &world{bin: bin}
	w.Server = newServer(Config{
		Program:  filepath.Join(dir, "agent-contracts"), // a test that has probes answered puts it there
		Registry: reg, Requests: requests.Open(state, reg, time.Now), Now: time.Now, Fault: func(err error) { t.Errorf("fault: %v", err) },
		Checker: compat.Checker{StateDir: state, LookupEnv: func(name string) (string, bool) { return bin + ":/usr/bin:/bin", name == "PATH" }},
	})
	w.now.Store(snap)
	return w
}

// install puts a program on PATH that prints a line when asked for its version.
func (w *world) install(t testing.TB, name, line string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.bin, name), []byte("#!/bin/sh\necho '"+line+"'\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
}

// request is a GET from this machine; edit may change it.
func request(target string, edit func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7411/", nil)
	r.RemoteAddr = "127.0.0.1:50000"
	u, err := url.ParseRequestURI(target)
	if err != nil {
		panic(err) // package http answers 400 to what is no address
	}
	r.URL, r.RequestURI = u, target
	if edit != nil {
		edit(r)
	}
	return r
}

func (w *world) get(target string, edit func(*http.Request)) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.Handler().ServeHTTP(rec, request(target, edit))
	return rec
}

// Hostile and mistaken requests get the status that says what is wrong, and
// nothing else.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	for _, c := range []struct {
		what, target string
		edit         func(*http.Request)
		want         int
	}{
		{"traversal", "/api/v1/records/../../etc/passwd", nil, 400},
		{"escaped traversal", "/api/v1/records/%2e%2e/%2e%2e/etc/passwd", nil, 400},
		{"escaped slashes", "/api/v1/records/shapes%2f..%2f..%2fetc%2fpasswd", nil, 400},
		{"backslashes", `/api/v1/records/shapes/..\..\etc\passwd`, nil, 400},
		{"a NUL", "/codex%00/", nil, 400},
		{"an empty part", "//codex/", nil, 400},
		{"a record outside the records", "/api/v1/records/go.mod", nil, 404},
		{"a folder of records", "/api/v1/records/registry", nil, 404},
		{"a hidden file", "/api/v1/records/registry/.git/config", nil, 404},
		{"git", "/.git/config", nil, 404},
		{"huge query", "/api/v1/observations?agent=" + strings.Repeat("a", MaxQuery), nil, 414},
		{"huge address", "/" + strings.Repeat("a", 3*MaxQuery), nil, 414},
		{"unknown agent", "/api/agents/nope/cli-compatibility", nil, 404},
		{"unknown agent, hostile", "/api/agents/%3Cscript%3E/cli-compatibility", nil, 404},
		{"unknown page", "/nope/", nil, 404},
		{"unknown badge", "/badge/nope.svg", nil, 404},
		{"unknown parameter", "/api/agents/codex/cli-compatibility?prob=1", nil, 400},
		{"parameter twice", "/api/agents/codex/cli-compatibility?probe=0&probe=1", nil, 400},
		{"probe of no kind", "/api/agents/codex/cli-compatibility?probe=yes", nil, 400},
		{"broken query", "/api/v1/observations?agent=%zz", nil, 400},
		{"parameter of a page", "/codex/?x=1", nil, 400},
		{"observations of an unknown agent", "/api/v1/observations?agent=codx", nil, 404},
		{"no platform", "/api/v1/observations?platform=plan9", nil, 400},
		{"limit of 0", "/api/v1/observations?limit=0", nil, 400},
		{"limit too large", "/api/v1/observations?limit=100000", nil, 400},
		{"after nothing", "/api/v1/observations?after=nope", nil, 400},
		{"diff of nothing", "/api/v1/diff", nil, 400},
		{"diff of what is not there", "/api/v1/diff?from=000000000000&to=000000000001", nil, 404},
		{"classify without version", "/api/v1/classify?agent=codex", nil, 400},
		{"classify no version", "/api/v1/classify?agent=codex&version=latest", nil, 400},
		{"classify a bad shape", "/api/v1/classify?agent=codex&version=0.144.0&shape=sha256:12", nil, 400},
		{"POST", "/api/agents/codex/cli-compatibility", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		{"DELETE", "/", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		{"a body", "/", func(r *http.Request) { r.ContentLength = 5 }, 400},
		{"another host", "/", host("evil.example"), 421},
		{"another host on the port", "/", host("evil.example:7411"), 421},
		{"no host", "/", host(""), 421},
		{"a host that looks like ours", "/", host("localhost.evil.example"), 421},
		{"cross-origin", "/api/agents/codex/cli-compatibility", header("Origin", "https://evil.example"), 403},
		{"null origin", "/api/agents/codex/cli-compatibility", header("Origin", "null"), 403},
		{"another port's page", "/api/v1/codex.json", header("Origin", "http://127.0.0.1:9999"), 403},
		{"cross-site image", "/badge/codex.svg", header("Sec-Fetch-Site", "cross-site"), 403},
		{"cross-site navigation to a probe", "/api/agents/codex/cli-compatibility?probe=1", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "document")
		}, 403},
		{"this machine, from another", "/api/agents/cli-compatibility", func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" }, 403},
		{"the machine page, from another", "/machine/", func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" }, 403},
		{"the review queue, from another", "/api/v1/review", func(r *http.Request) { r.RemoteAddr = "192.0.2.7:1234" }, 403},
	} {
		rec := w.get(c.target, c.edit)
		if rec.Code != c.want {
			t.Errorf("%s: status %d, want %d", c.what, rec.Code, c.want)
		}
		body := rec.Body.String()
		if strings.Contains(body, "root:") || strings.Contains(body, "<script>") || strings.Contains(body, w.bin) || len(body) > 5000 {
			t.Errorf("%s: the answer has %d bytes, among them what should not be there", c.what, len(body))
		}
		if c.want == 405 && rec.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", c.what, rec.Header().Get("Allow"))
		}
		if rec.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(rec.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: the answer lacks its guards", c.what)
		}
	}
}

// People may follow a link from anywhere to a page, and pages load what is ours.
func TestWelcome(t *testing.T) {
	w := newWorld(t)
	navigate := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
	}
	own := func(r *http.Request) {
		r.Header.Set("Origin", "http://127.0.0.1:7411")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Host = "127.0.0.1:7411"
	}
	for _, c := range []struct {
		target string
		edit   func(*http.Request)
		want   int
	}{
		{"/codex/", navigate, 200}, {"/", func(r *http.Request) { r.Host = "[::1]:7411" }, 200}, {"/", func(r *http.Request) { r.Host = "LOCALHOST:7411" }, 200},
		{"/api/v1/codex.json", own, 200}, {"/machine/", own, 200}, {"/codex", nil, 308}, {"/machine", nil, 308}, {"/review", nil, 308}, {"/?q=codex", nil, 200}, {"/review/", nil, 200},
	} {
		if rec := w.get(c.target, c.edit); rec.Code != c.want {
			t.Errorf("%s: status %d, want %d", c.target, rec.Code, c.want)
		}
	}
	w.config.Hosts = []string{"contracts.example"}
	public := func(r *http.Request) { r.Host, r.RemoteAddr = "Contracts.example", "192.0.2.7:1234" }
	if rec := w.get("/codex/", public); rec.Code != 200 {
		t.Errorf("an allowed name: status %d", rec.Code)
	}
	if rec := w.get("/machine/", func(r *http.Request) { r.Host = "contracts.example" }); rec.Code != 403 {
		t.Errorf("this machine by its public name: status %d, want 403", rec.Code)
	}
}

func TestETagAndGzip(t *testing.T) {
	w := newWorld(t)
	plain := w.get("/codex/", nil)
	zipped := w.get("/codex/", func(r *http.Request) { r.Header.Set("Accept-Encoding", "br, gzip") })
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil || string(b) != plain.Body.String() {
		t.Errorf("compressed and not, the page differs (%v)", err)
	}
	if plain.Header().Get("ETag") == zipped.Header().Get("ETag") || zipped.Header().Get("Vary") != "Accept-Encoding" {
		t.Errorf("ETags %s and %s, Vary %q", plain.Header().Get("ETag"), zipped.Header().Get("ETag"), zipped.Header().Get("Vary"))
	}
	for _, tag := range []string{plain.Header().Get("ETag"), zipped.Header().Get("ETag"), "W/" + plain.Header().Get("ETag"), `"x", ` + plain.Header().Get("ETag"), "*"} {
		rec := w.get("/codex/", func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
		if rec.Code != 304 || rec.Body.Len() > 0 {
			t.Errorf("If-None-Match %s: status %d, %d bytes", tag, rec.Code, rec.Body.Len())
		}
	}
	if rec := w.get("/codex/", func(r *http.Request) { r.Header.Set("If-None-Match", `"other"`) }); rec.Code != 200 {
		t.Errorf("another ETag: status %d", rec.Code)
	}
	if rec := w.get("/codex/", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip;q=0") }); rec.Header().Get("Content-Encoding") != "" {
		t.Error("a client that takes no gzip got it")
	}
	head := w.get("/codex/", func(r *http.Request) { r.Method = http.MethodHead })
	if head.Code != 200 || head.Body.Len() > 0 || head.Header().Get("ETag") != plain.Header().Get("ETag") {
		t.Errorf("HEAD: status %d, %d bytes, ETag %s", head.Code, head.Body.Len(), head.Header().Get("ETag"))
	}
}

// An answer's tag says what it says, not when.
func TestCompatibilityTagIsTimeless(t *testing.T) {
	w := newWorld(t)
	w.install(t, "codex", "codex-cli 0.144.0")
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	w.config.Now = func() time.Time { return at }
	a := w.get("/api/agents/codex/cli-compatibility", nil)
	at = at.Add(time.Hour)
	b := w.get("/api/agents/codex/cli-compatibility", nil)
	if a.Header().Get("ETag") != b.Header().Get("ETag") || a.Body.String() == b.Body.String() {
		t.Errorf("an hour apart: ETags %s and %s", a.Header().Get("ETag"), b.Header().Get("ETag"))
	}
	w.install(t, "codex", "codex-cli 0.20.0")
	if c := w.get("/api/agents/codex/cli-compatibility", nil); c.Header().Get("ETag") == a.Header().Get("ETag") {
		t.Error("another version is installed, and the ETag is the same")
	}
}

// start serves on a free port until the test ends.
func (w *world) start(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ending: %v", err)
		}
	})
	return l.Addr().String()
}

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}
