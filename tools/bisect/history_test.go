package bisect

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// keep puts recorded observations of some releases into a registry.
func keep(t *testing.T, reg *store.Registry, r *replayed, versions ...string) {
	t.Helper()
	for _, v := range versions {
		if len(r.obs[v]) == 0 {
			t.Fatalf("there is no recording of %s", v)
		}
		for _, o := range r.obs[v] {
			b, err := contract.Encode(o.Observation)
			must(t, err)
			p := filepath.Join(reg.Dir(), filepath.FromSlash(o.Path))
			must(t, os.MkdirAll(filepath.Dir(p), 0o755))
			must(t, os.WriteFile(p, b, 0o644))
		}
	}
}

func TestRecord(t *testing.T) {
	o, captured := options(t, "codex", text)
	o.History = &History{Releases: []string{"0.42.0", "0.43.0", "0.44.0"}, Prereleases: []string{"0.44.0-alpha.1"}}
	var err error
	o.Failures, err = OpenFailures(t.TempDir(), o.Registry, "codex", time.Now)
	must(t, err)
	must(t, o.Failures.add("0.43.0", &Captured{Unavailable: ReasonNotInstalled}))
	must(t, o.Failures.add("0.44.0", &Captured{Missing: map[Track]Reason{text: ReasonRedaction}}))
	at := time.Date(2026, 6, 27, 10, 0, 0, 0, time.UTC)
	must(t, Record(t.Context(), o, at))
	got, err := LoadReleases(o.Registry)
	must(t, err)
	must(t, got.Validate())
	want := []contract.NotCaptured{
		{Version: "0.43.0", Reason: "not_installable"},
		{Version: "0.44.0", Probe: text.Probe, Profile: text.Profile, Reason: "redaction_refused"},
	}
	if a := got.Agents[0]; len(a.NotCaptured) != 2 || a.NotCaptured[0] != want[0] || a.NotCaptured[1] != want[1] || a.Prereleases != 1 || len(a.Releases) != 3 {
		t.Errorf("recorded %+v", a)
	}
	// What is captured later is no failure any more, what is withdrawn stays, and
	// where nothing is new the file stays as it is.
	keep(t, o.Registry, captured, "0.44.0")
	o.History = &History{Releases: []string{"0.42.0", "0.44.0"}}
	o.Failures = nil
	must(t, Record(t.Context(), o, at.Add(time.Hour)))
	got, err = LoadReleases(o.Registry)
	must(t, err)
	if a := got.Agents[0]; len(a.NotCaptured) != 1 || a.NotCaptured[0] != want[0] || len(a.Releases) != 3 {
		t.Errorf("recorded %+v", a)
	}
	before, err := o.Registry.ReadFile(ReleasesPath)
	must(t, err)
	must(t, Record(t.Context(), o, at.Add(2*time.Hour)))
	after, err := o.Registry.ReadFile(ReleasesPath)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("nothing is new and the file differs")
	}
}

func TestHistory(t *testing.T) {
	o, captured := options(t, "codex", text)
	keep(t, o.Registry, captured, "0.42.0", "0.44.0", "0.133.0")
	must(t, os.Remove(filepath.Join(o.Registry.Dir(), filepath.FromSlash(IncidentsPath))))
	must(t, os.WriteFile(filepath.Join(o.Registry.Dir(), filepath.FromSlash(ReleasesPath)), []byte(`{"schema_version": 1, "agents": [
		{"agent": "codex", "platform": "linux-x64", "looked_at": "2026-06-27T10:00:00Z", "prereleases": 3,
		 "releases": ["0.42.0", "0.44.0", "0.45.0", "0.133.0"], "not_captured": [{"version": "0.45.0", "reason": "not_installable"}]}]}`), 0o644))
	got, err := WriteHistory(o.Registry)
	must(t, err)
	for _, want := range []string{
		"\n| 0.44.0 | 0.42.0 | all | **breaks** | compatible | `envelope_changed:",
		"\n| 0.133.0 | 0.44.0 (1 between) | chat-text-success",
		"\n- not captured: 0.45.0 (npm could not install it)\n",
		"; 4 stable releases published (0.42.0 to 0.133.0), 3 prereleases left out",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the document lacks %q:\n%s", want, got)
		}
	}
	again, err := WriteHistory(o.Registry)
	must(t, err)
	if !bytes.Equal(got, again) {
		t.Error("the same records give two documents")
	}
}

// What a profile's captures leave out is said probe by probe; what gave nothing
// when it was tried was looked at (issue 6).
func TestHistoryLookedAt(t *testing.T) {
	o, captured := options(t, "codex", text)
	keep(t, o.Registry, captured, "0.44.0", "0.60.1")
	must(t, os.Remove(filepath.Join(o.Registry.Dir(), filepath.FromSlash(IncidentsPath))))
	tried := func(list string) string {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(o.Registry.Dir(), filepath.FromSlash(ReleasesPath)), []byte(`{"schema_version": 1, "agents": [
			{"agent": "codex", "platform": "linux-x64", "looked_at": "2026-06-27T10:00:00Z", "prereleases": 0,
			 "releases": ["0.44.0", "0.45.0", "0.46.0", "0.47.0", "0.60.1"], "not_captured": [`+list+`]}]}`), 0o644))
		got, err := WriteHistory(o.Registry)
		must(t, err)
		return string(got)
	}
	const whole, one = `{"version": "0.45.0", "reason": "not_installable"}`, `{"version": "0.46.0", "probe": "chat-text-success", "profile": "production", "reason": "no_observation"}`
	for _, c := range []struct {
		tried string
		most  int
		line  string
	}{
		{"", 3, "3 (version-probe, chat-text-success, auth-failure, provider-failure, interrupted-or-malformed-stream)"},
		{whole, 2, "2 (version-probe, chat-text-success, auth-failure, provider-failure, interrupted-or-malformed-stream)"},
		{whole + "," + one, 2, "2 (version-probe, auth-failure, provider-failure, interrupted-or-malformed-stream), 1 (chat-text-success)"},
	} {
		got := tried(c.tried)
		for _, want := range []string{
			fmt.Sprintf("; not looked at: up to %d releases between equal captures of a probe\n", c.most),
			"\n\n- captures from 0.44.0 to 0.60.1 (all)\n- not looked at between equal captures: " + c.line + "\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("tried %s: the document lacks %q:\n%s", c.tried, want, got)
			}
		}
	}
}

// Every incident of a release that was captured is found, and named as it is
// expected (issue 6).
func TestIncidents(t *testing.T) {
	found, err := CheckIncidents(committed(t))
	must(t, err)
	shown := 0
	for _, f := range found {
		if f.Reason != "" {
			continue
		}
		shown++
		if !f.Found {
			t.Errorf("%s: %s", f.ID, f.Why)
		}
	}
	if shown == 0 {
		t.Error("no incident has captures: this test proves nothing")
	}
}

// An expectation that does not hold is not found.
func TestIncidentNotFound(t *testing.T) {
	o, captured := options(t, "codex", text)
	keep(t, o.Registry, captured, "0.42.0", "0.44.0")
	write := func(to, verdict, signal string) {
		must(t, os.WriteFile(filepath.Join(o.Registry.Dir(), filepath.FromSlash(IncidentsPath)), []byte(`{"schema_version": 1, "incidents": [
			{"id": "x", "what": "w", "broke": "b", "source": ["https://example.com"], "agent": "codex", "probe": "chat-text-success", "profile": "production",
			 "from": "0.42.0", "to": "`+to+`", "verdict": "`+verdict+`", "signals": ["`+signal+`"]}]}`), 0o644))
	}
	const signal = "stderr_class_changed:protocol->none"
	for _, c := range []struct{ to, verdict, signal, why string }{
		{"0.44.0", "parser_incompatible", signal, ""},
		{"0.44.0", "compatible_new_shape", signal, "the verdict is parser_incompatible"},
		{"0.44.0", "parser_incompatible", "event_removed:x", "without event_removed:x"},
		{"0.45.0", "parser_incompatible", signal, "not captured"},
	} {
		write(c.to, c.verdict, c.signal)
		found, err := CheckIncidents(o.Registry)
		must(t, err)
		if found[0].Found != (c.why == "") || found[0].Why != c.why {
			t.Errorf("%+v: found %v, %q", c, found[0].Found, found[0].Why)
		}
	}
}

// A withdrawn capture shows no change; taking back a statement about a capture
// leaves the capture.
func TestHistoryWithoutWithdrawn(t *testing.T) {
	for what, tt := range map[string]struct {
		withdrawal contract.Withdrawal
		told       bool
	}{
		"the capture": {contract.Withdrawal{By: "jo", Reason: "wrong scenario"}, false},
		"a statement": {contract.Withdrawal{By: "jo", Reason: "spent", Record: &contract.FileRef{Path: "evidence/codex/x.evidence.json"}}, true},
	} {
		o, captured := options(t, "codex", text)
		keep(t, o.Registry, captured, "0.42.0", "0.44.0", "0.133.0")
		must(t, os.Remove(filepath.Join(o.Registry.Dir(), filepath.FromSlash(IncidentsPath))))
		folder := filepath.Join(o.Registry.Dir(), "evidence", "codex")
		must(t, os.MkdirAll(folder, 0o755))
		for i, x := range captured.obs["0.44.0"] {
			e := contract.Evidence{Withdrawal: &tt.withdrawal}
			e.Observation.Path = x.Path
			b, err := contract.Encode(e)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.evidence.json", i)), b, 0o644))
		}
		got, err := WriteHistory(o.Registry)
		must(t, err)
		if told := strings.Contains(string(got), "\n| 0.44.0 | 0.42.0"); told != tt.told {
			t.Errorf("%s: told %v in\n%s", what, told, got)
		}
	}
}
