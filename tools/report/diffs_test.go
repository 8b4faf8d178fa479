package report

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

var now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

func derive(t *testing.T) (map[string][]byte, []*contract.DriftReport, *Ignores) {
	t.Helper()
	reg := registry(t, "codex", "chat-text-success")
	reports, ignores, err := Diffs(context.Background(), reg, now, nil)
	must(t, err)
	files, err := Files(reports)
	must(t, err)
	return files, reports, ignores
}

// codex 0.44.0 is the first of the captured versions whose frames have another
// envelope.
func TestDiffsFindTheRelease(t *testing.T) {
	_, reports, _ := derive(t)
	i := slices.IndexFunc(reports, func(r *contract.DriftReport) bool { return r.CLIVersion == "0.44.0" })
	if i < 0 {
		t.Fatal("no change of 0.44.0")
	}
	r := reports[i]
	if r.Verdict == contract.VerdictSameShape || r.Signals[0].ID != compare.EnvelopeChanged {
		t.Errorf("verdict %s, first signal %s", r.Verdict, r.Signals[0].ID)
	}
	if !strings.HasPrefix(r.Path(), "reports/diffs/codex/0.44.0-sha256-") {
		t.Errorf("place %s", r.Path())
	}
}

// What is written validates, is what Check wants, and stays when written again;
// what no change gives any more is removed.
func TestWriteThenCheck(t *testing.T) {
	reg := registry(t, "codex", "chat-text-success")
	reports, _, err := Diffs(context.Background(), reg, now, nil)
	must(t, err)
	files, err := Files(reports)
	must(t, err)
	d, err := Check(reg, files)
	must(t, err)
	if len(d.Missing) != len(files) || len(files) != 2*len(reports) {
		t.Fatalf("%d of %d files are missing", len(d.Missing), len(files))
	}
	must(t, Write(context.Background(), reg, files, d))
	surplus := filepath.Join(reg.Dir(), "reports", "diffs", "codex", "old.md")
	must(t, os.WriteFile(surplus, []byte("x"), 0o644))
	changed := filepath.Join(reg.Dir(), filepath.FromSlash(reports[0].Path()))
	must(t, os.WriteFile(changed, []byte("{}"), 0o644))
	d, err = Check(reg, files)
	must(t, err)
	if len(d.Missing) != 0 || len(d.Changed) != 1 || len(d.Surplus) != 1 || len(d.Lines()) != 2 {
		t.Fatalf("difference %+v", d)
	}
	must(t, Write(context.Background(), reg, files, d))
	if d, err = Check(reg, files); err != nil || !d.None() {
		t.Fatalf("difference %+v, %v", d, err)
	}
	res, err := validate.Run(reg, []string{"reports/diffs"})
	must(t, err)
	if !res.OK() {
		t.Errorf("problems %v", res.Problems)
	}
}

// A report that names an observation of another shape does not validate.
func TestReportOfOtherShapesIsRefused(t *testing.T) {
	reg := registry(t, "codex", "chat-text-success")
	reports, _, err := Diffs(context.Background(), reg, now, nil)
	must(t, err)
	r := *reports[0]
	r.Cells = slices.Clone(r.Cells)
	r.Cells[0].OlderObservation = r.Cells[0].NewerObservation
	files, err := Files([]*contract.DriftReport{&r})
	must(t, err)
	must(t, Write(context.Background(), reg, files, &Difference{Missing: []string{r.Path()}}))
	res, err := validate.Run(reg, []string{"reports/diffs"})
	must(t, err)
	if res.OK() || res.Problems[0].Code != "DRIFT-CELL" {
		t.Errorf("problems %v", res.Problems)
	}
}

// A withdrawn observation takes no part.
func TestWithdrawnObservationsDoNotCount(t *testing.T) {
	reg := registry(t, "codex", "chat-text-success")
	obs, err := reg.Observations("codex")
	must(t, err)
	var withdrawn string
	for _, o := range obs {
		if o.CLIVersion == "0.42.0" {
			withdrawn = o.Path
			b, err := json.Marshal(map[string]any{"observation": map[string]any{"path": o.Path}, "withdrawal": map[string]any{}})
			must(t, err)
			must(t, os.MkdirAll(filepath.Join(reg.Dir(), "evidence"), 0o755))
			must(t, os.WriteFile(filepath.Join(reg.Dir(), "evidence", "x.evidence.json"), b, 0o644))
		}
	}
	reports, _, err := Diffs(context.Background(), reg, now, nil)
	must(t, err)
	for _, r := range reports {
		for _, c := range r.Cells {
			if c.OlderObservation == withdrawn || c.NewerObservation == withdrawn {
				t.Errorf("%s rests on a withdrawn observation", r.Path())
			}
		}
	}
}

// Taking back a statement about an observation takes nothing from the observation.
func TestWithdrawnStatementsLeaveTheObservation(t *testing.T) {
	reg := registry(t, "codex", "chat-text-success")
	before, err := observations(reg)
	must(t, err)
	b, err := json.Marshal(map[string]any{
		"observation": map[string]any{"path": before[0].Path},
		"withdrawal":  map[string]any{"record": map[string]any{"path": "evidence/promotion.evidence.json"}},
	})
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(reg.Dir(), "evidence"), 0o755))
	must(t, os.WriteFile(filepath.Join(reg.Dir(), "evidence", "x.evidence.json"), b, 0o644))
	after, err := observations(reg)
	must(t, err)
	if len(after) != len(before) {
		t.Errorf("%d observations count, of %d", len(after), len(before))
	}
}

func TestIgnores(t *testing.T) {
	_, reports, _ := derive(t)
	i := slices.IndexFunc(reports, func(r *contract.DriftReport) bool { return len(r.Signals) > 0 })
	sig := reports[i].Signals[0]
	entry := func(fingerprint contract.Digest, agent, expires string) contract.DriftIgnore {
		return contract.DriftIgnore{Fingerprint: fingerprint, Agent: agent, Reason: "known", ExpiresAt: expires}
	}
	later, earlier := "2027-06-01T00:00:00Z", "2026-12-31T23:59:59Z"
	tests := []struct {
		name    string
		entry   contract.DriftIgnore
		ignored bool
		stale   string
	}{
		{"in force", entry(sig.Fingerprint, "codex", later), true, ""},
		{"for every agent", entry(sig.Fingerprint, "", later), true, ""},
		{"of another agent", entry(sig.Fingerprint, "claude", later), false, "matches no change"},
		{"expired", entry(sig.Fingerprint, "codex", earlier), false, "expired"},
		{"expires now", entry(sig.Fingerprint, "codex", "2027-01-01T00:00:00Z"), false, "expired"},
		{"matches nothing", entry(contract.Sum([]byte("x")), "", later), false, "matches no change"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := &Ignores{list: &contract.DriftIgnores{Ignored: []contract.DriftIgnore{tt.entry}}, now: now, used: map[int]bool{}}
			signals := slices.Clone(reports[i].Signals)
			in.Apply(signals, "codex")
			if (signals[0].Ignored != "") != tt.ignored {
				t.Errorf("ignored %q", signals[0].Ignored)
			}
			stale := strings.Join(in.Stale(), "\n")
			if (stale == "") != (tt.stale == "") || !strings.Contains(stale, tt.stale) {
				t.Errorf("stale: %q", stale)
			}
		})
	}
}

// A change that is ignored no longer breaks, unless the parser itself does.
func TestIgnoredChangesDoNotBreak(t *testing.T) {
	older, newer := run(t, codexRun), run(t, strings.Replace(codexRun, `,"output_tokens":1`, "", 1))
	r := compare.Runs(older.Side, newer.Side, newer.Dialect)
	signals := Signals(r.Signals, nil)
	if got := Judge(r, signals, compare.Evidence{}); got != contract.VerdictParserIncompatible {
		t.Fatalf("verdict %s", got)
	}
	for i := range signals {
		signals[i].Ignored = "known"
	}
	if got := Judge(r, signals, compare.Evidence{}); got != contract.VerdictCompatibleNewShape {
		t.Errorf("verdict %s with every change ignored", got)
	}
	if got := Judge(r, signals, compare.Evidence{Replay: contract.ReplayIncompatible}); got != contract.VerdictParserIncompatible {
		t.Errorf("verdict %s although the parser breaks", got)
	}
}

func TestReaders(t *testing.T) {
	tests := []struct{ name, old, new, signal, reference, consumer string }{
		{"read member", `"text":"done"`, `"texts":"done"`, "field_renamed", "reads item.text", "reads item.text"},
		{"unread member", `"id":"item_1",`, "", "field_removed", "never reads it", "never reads it"},
		{"new member", `"text":"done"`, `"text":"done","phase":"x"`, "field_added", "does not know it", "does not know it"},
		{"kind gone", `{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}` + "\n", "", "event_removed", "reads item", "reads item"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			older, newer := run(t, codexRun), run(t, strings.Replace(codexRun, tt.old, tt.new, 1))
			r := compare.Runs(older.Side, newer.Side, newer.Dialect)
			reads, err := Measure(older, r.Signals, Adapters())
			must(t, err)
			signals := Signals(r.Signals, reads)
			i := slices.IndexFunc(signals, func(s contract.DriftSignal) bool { return s.ID == tt.signal })
			if i < 0 {
				t.Fatalf("signals %v", signals)
			}
			who := Who(signals[i])
			for _, want := range []string{"reference " + tt.reference, "open-design-parser " + tt.consumer} {
				if !strings.Contains(who, want) {
					t.Errorf("%q, want %q", who, want)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	reg := registry(t, "codex", "chat-text-success")
	obs, err := reg.Observations("codex")
	must(t, err)
	o := obs[0]
	hex := o.Shape.Signature.Hex()
	short := strings.TrimSuffix(strings.TrimPrefix(o.Path, "observations/"), ".observation.json")
	for id, want := range map[string]string{
		string(o.Shape.Signature): o.Shape.Path,
		"sha256-" + hex:           o.Shape.Path,
		"sha256:" + hex[:12]:      o.Shape.Path,
		"sha256:" + hex[:7]:       "",
		"sha256:0000000000":       "",
		short:                     o.Path,
		"codex/0.0.0/linux-x64/x.chat-text-success":       "",
		strings.Replace(short, "codex", "../codex", 1):    "",
		"sha256-" + hex + ".sanitized":                    "",
		filepath.Base(o.Extensions.Fixture):               o.Extensions.Fixture,
		strings.Repeat("sha256:", 1) + hex + "0123456789": "",
	} {
		if filepath.Base(o.Extensions.Fixture) == id || strings.HasSuffix(id, ".sanitized") {
			want = o.Extensions.Fixture
		}
		if got, err := Find(reg, id); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", id, got, err, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	older, newer := run(t, codexRun), run(t, strings.NewReplacer(`"turn.started"`, `"turn.begun"`, `"text":"done"`, `"text|a":"x"`).Replace(codexRun))
	r := compare.Runs(older.Side, newer.Side, newer.Dialect)
	reads, err := Measure(older, r.Signals, Adapters())
	must(t, err)
	signals := Signals(r.Signals, reads)
	signals[len(signals)-1].Ignored = "known | since long"
	report := &contract.DriftReport{
		SchemaVersion: 1, Agent: "codex", CLIVersion: "0.134.0", ProtocolFamily: contract.FamilyEvents,
		Older: contract.DriftSide{Signature: older.Shape.Signature, Dialect: "codex"}, Newer: contract.DriftSide{Signature: newer.Shape.Signature, Dialect: "codex"},
		Cells:   []contract.DriftCell{{Platform: "linux-x64", Probe: "chat-text-success", Profile: "production", OlderVersion: "0.133.0", OlderObservation: "a", NewerObservation: "b"}},
		Verdict: Judge(r, signals, compare.Evidence{Replay: newer.Replay}), Signals: signals,
	}
	var md, github bytes.Buffer
	must(t, Markdown(&md, report))
	golden(t, "diff.md", md.Bytes())
	must(t, Annotations(&github, "a: b, c", signals))
	golden(t, "annotations.txt", github.Bytes())
	for line := range strings.Lines(github.String()) {
		if !strings.HasPrefix(line, "::") || strings.Contains(line, "title=a: b") {
			t.Errorf("annotation %q", line)
		}
	}
}
