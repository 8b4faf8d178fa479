//go:build unix

package serve

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
)

// dto reads an answer and holds it against the specification's schema.
func dto(t *testing.T, rec *httptest.ResponseRecorder) contract.CompatibilityResponse {
	t.Helper()
	if rec.Code != 200 {
		t.Fatalf("status %d: %s", rec.Code, rec.Body)
	}
	if problems := contract.Validate(contract.KindCompatibility, "answer", rec.Body.Bytes()); contract.HasErrors(problems) {
		t.Errorf("the answer is no AgentCliCompatibilityResponse: %v", problems)
	}
	var d contract.CompatibilityResponse
	decode(t, rec.Body.Bytes(), &d)
	return d
}

func TestInstalled(t *testing.T) {
	w := newWorld(t)
	w.install(t, "codex", "codex-cli 0.144.0")
	w.install(t, "claude", "99.0.0 (Claude Code)")
	w.install(t, "qwen", "no version at all")
	want := map[string]string{"codex": "0.144.0 version_range_verified allow", "claude": "99.0.0 newer_than_verified warn", "qwen": "- unknown warn", "gemini": "- unknown warn"}
	for agent, text := range want {
		d := dto(t, w.get("/api/agents/"+agent+"/cli-compatibility?probe=0", nil))
		if got := line(&d); got != text {
			t.Errorf("%s: %s, want %s", agent, got, text)
		}
	}
	rec := w.get("/api/agents/cli-compatibility", nil)
	var list []contract.CompatibilityResponse
	decode(t, rec.Body.Bytes(), &list)
	if len(list) != 3 {
		t.Fatalf("%d CLIs in the list, want those that are on PATH", len(list))
	}
	for _, d := range list {
		if got := line(&d); got != want[d.Agent] {
			t.Errorf("in the list, %s: %s, want %s", d.Agent, got, want[d.Agent])
		}
	}
}

func line(d *contract.CompatibilityResponse) string {
	version := "-"
	if d.InstalledVersion != nil {
		version = *d.InstalledVersion
	}
	return fmt.Sprintf("%s %s %s", version, d.Status, d.Policy.AllowRun)
}

// A machine without a CLI has an empty list, not null.
func TestNothingInstalled(t *testing.T) {
	w := newWorld(t)
	w.config.Checker.LookupEnv = func(string) (string, bool) { return t.TempDir(), true }
	if got := w.get("/api/agents/cli-compatibility", nil).Body.String(); got != "[]\n" {
		t.Errorf("got %q", got)
	}
}

// Whoever asks while a local probe runs is told to wait, and the place is free
// again afterwards.
func TestOneProbeAtATime(t *testing.T) {
	w := newWorld(t)
	w.probes <- struct{}{}
	rec := w.get("/api/agents/gemini/cli-compatibility?probe=1", nil)
	if rec.Code != 429 || rec.Header().Get("Retry-After") == "" {
		t.Errorf("while another probe runs: status %d, Retry-After %q", rec.Code, rec.Header().Get("Retry-After"))
	}
	<-w.probes
	w.program(t, 1, says(1, available(t, answerOf(t, w, "gemini"))))
	for range 2 {
		if rec := w.get("/api/agents/gemini/cli-compatibility?probe=1", nil); rec.Code != 200 {
			t.Errorf("status %d", rec.Code)
		}
	}
}

// Over HTTP a version is classified as in Go, with and without a probe.
func TestClassifyAgreesWithTheIndex(t *testing.T) {
	w := newWorld(t)
	x := w.current().site.Index
	shapes := []string{"", "none", "sha256:" + fmt.Sprintf("%064d", 1)}
	for _, o := range w.current().site.Records.Observations[:5] {
		shapes = append(shapes, string(o.Shape.Signature))
	}
	compared := 0
	for _, a := range x.Agents() {
		versions := append(x.Versions(a.ID), "0.0.1", "9999.0.0", "1.2.3-beta.1")
		for _, version := range versions {
			for i, shape := range shapes {
				q := url.Values{"agent": {a.ID}, "version": {version}, "platform": {string(contract.Platforms[i%len(contract.Platforms)])}}
				probe := matrix.Probed{Live: i%2 == 1}
				if shape != "" {
					q.Set("shape", shape)
					probe.Done = true
				}
				if shape != "none" {
					probe.Shape = contract.Digest(shape)
				}
				if probe.Live {
					q.Set("live", "1")
				}
				want, err := x.Classify(a.ID, version, contract.Platforms[i%len(contract.Platforms)], probe)
				if err != nil {
					continue // not a version of this agent's scheme
				}
				got := dto(t, w.get("/api/v1/classify?"+q.Encode(), nil))
				if probe.Done {
					want.Evidence.ObservedAt = &got.GeneratedAt
				}
				if d := cmp.Diff([]any{want.Status, want.Policy}, []any{got.Status, got.Policy}) + cmp.Diff(text(t, want.Evidence), text(t, got.Evidence)); d != "" {
					t.Errorf("%s:\n%s", q.Encode(), d)
				}
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d rows were compared", compared)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Many clients at once get the same answers as one.
func TestConcurrentClients(t *testing.T) {
	w := newWorld(t)
	w.install(t, "codex", "codex-cli 0.144.0")
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() {
			for _, target := range []string{"/api/agents/codex/cli-compatibility", "/codex/", "/api/v1/observations?limit=2", "/api/v1/classify?agent=codex&version=0.20.0"} {
				if rec := w.get(target, nil); rec.Code != 200 {
					t.Errorf("%s: status %d", target, rec.Code)
				}
			}
		})
	}
	group.Wait()
}
