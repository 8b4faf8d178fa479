package health

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// seen makes an observation of agent a; day orders them in time.
type seen struct {
	version, probe  string
	shape           string
	said, came      string // default: turn.completed, success
	weak, live, bin bool
	broken          []string // kinds of violations
	useless, wrong  int
	profile         string
	day             int
	revision        string
}

func (s seen) place() string {
	return fmt.Sprintf("observations/a/%s/linux-x64/%03d.%s%s.observation.json", s.version, s.day, s.probe, s.profile)
}

func (s seen) observed() store.Observed {
	o := contract.Observation{Agent: "a", CLIVersion: s.version, Platform: "linux-x64", Probe: s.probe, Shape: contract.ShapeRef{Signature: contract.Sum([]byte(s.shape))}}
	o.Capture.CapturedAt = time.Date(2026, 1, 1+s.day, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	o.Install.Source = "npm:a@" + s.version
	if s.bin {
		o.Install.Source = "binary:a"
	}
	x := &o.Extensions
	x.Provider, x.Profile, x.ReportedResult, x.RunResult, x.WeakSuccess = contract.ProviderEmulated, contract.ProfileProduction, s.said, s.came, s.weak
	if s.live {
		x.Provider = contract.ProviderLive
	}
	if s.profile != "" {
		x.Profile = s.profile
	}
	if s.came == "" {
		x.RunResult = "success"
	}
	for _, k := range s.broken {
		x.Violations = append(x.Violations, contract.ContractViolation{Kind: k, Path: "/constraints/0", Expected: "at least 1 " + k, Actual: "0"})
	}
	if s.useless+s.wrong > 0 {
		x.Usefulness = &contract.Usefulness{LowUtility: s.useless, WrongToolBoundary: s.wrong}
	}
	x.ProbeRevision = contract.Sum([]byte(s.revision))
	return store.Observed{Path: s.place(), Observation: o}
}

func records(list ...seen) *Records {
	r := &Records{Agents: &contract.AgentsFile{Agents: []contract.Agent{{ID: "a", FreshnessDays: 14, VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease}}}}}
	for _, s := range list {
		r.Observations = append(r.Observations, s.observed())
	}
	return r
}

// correct corrects a run on a day.
func (r *Records) correct(s seen, day int, u contract.UserCorrection) {
	at := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	r.Corrections = append(r.Corrections, store.Stated{Path: fmt.Sprintf("evidence/%d", len(r.Corrections)), Evidence: contract.Evidence{
		Kind: contract.EvidenceUserCorrection, Observation: contract.FileRef{Path: s.place()}, RecordedAt: at, UserCorrection: &u,
	}})
}

func build(t testing.TB, r *Records, o Options) *Report {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	}
	report, err := Build(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// What the CLI said and what the run came to are counted side by side, and a
// weak success stays a success.
func TestCounts(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: "p", said: "turn.completed", day: 3, weak: true, broken: []string{"min_items", "must_see", "min_items"}},
		seen{version: "1.0.0", probe: "p", said: "turn.failed", came: "failed", day: 1},
		seen{version: "1.0.0", probe: "p", said: "success", came: "failed", day: 2, useless: 2, wrong: 1},
		seen{version: "1.0.0", probe: "p", said: "session.resume_hint", came: "cancelled", day: 4},
		seen{version: "1.0.0", probe: "p", day: 5},
	)
	r.correct(seen{version: "1.0.0", probe: "p", day: 2}, 6, contract.UserCorrection{RunResult: contract.RunSuccess})
	got := build(t, r, Options{})
	if len(got.Rows) != 1 {
		t.Fatalf("%d rows", len(got.Rows))
	}
	row := got.Rows[0]
	if row.Runs != 5 || row.Reported != (Reported{Success: 2, Failed: 1, Other: 1, Nothing: 1}) || row.ReportedWords["success"] != 1 {
		t.Errorf("runs %d, reported %+v %v", row.Runs, row.Reported, row.ReportedWords)
	}
	if row.RunResults[contract.RunSuccess] != 2 || row.RunResults[contract.RunFailed] != 2 || row.RunResults[contract.RunCancelled] != 1 {
		t.Errorf("results %v", row.RunResults)
	}
	if row.Violations["min_items"] != 2 || row.Violations["must_see"] != 1 || row.WeakSuccess != 1 {
		t.Errorf("violations %v, weak %d", row.Violations, row.WeakSuccess)
	}
	if row.LowUtility != 2 || row.WrongToolBoundary != 1 || row.UserCorrections != 1 {
		t.Errorf("low %d, wrong %d, corrected %d", row.LowUtility, row.WrongToolBoundary, row.UserCorrections)
	}
	if row.FirstCaptured != "2026-01-02T00:00:00Z" || row.LastCaptured != "2026-01-06T00:00:00Z" || len(row.History) != 5 || row.History[1].Corrections[0] != "evidence/0" {
		t.Errorf("times %s to %s, history %+v", row.FirstCaptured, row.LastCaptured, row.History)
	}
}

func TestRowsComeInVersionOrder(t *testing.T) {
	r := records(seen{version: "1.10.0", probe: "p"}, seen{version: "1.9.0", probe: "q"}, seen{version: "1.9.0", probe: "p", profile: "compatible"},
		seen{version: "1.9.0", probe: "p"}, seen{version: "1.10.0-alpha.1", probe: "p"}, seen{version: "1.9.0", probe: "p", live: true, day: 1})
	var got []string
	for _, row := range build(t, r, Options{}).Rows {
		got = append(got, strings.Join([]string{row.CLIVersion, row.Probe, row.Profile, string(row.Provider)}, " "))
	}
	want := []string{"1.9.0 p compatible emulated", "1.9.0 p production emulated", "1.9.0 p production live", "1.9.0 q production emulated",
		"1.10.0-alpha.1 p production emulated", "1.10.0 p production emulated"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFilters(t *testing.T) {
	r := records(seen{version: "1.0.0", probe: "p", day: 1}, seen{version: "1.0.0", probe: "p", day: 9}, seen{version: "1.0.0", probe: "q", day: 2})
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"all", Options{}, "p2 q1"},
		{"an agent", Options{Agent: "a"}, "p2 q1"},
		{"another agent", Options{Agent: "b"}, ""},
		{"a probe", Options{Probe: "q"}, "q1"},
		{"since", Options{Since: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}, "p1"},
		{"since the very moment", Options{Since: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}, "p1 q1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, row := range build(t, r, c.o).Rows {
				got = append(got, fmt.Sprintf("%s%d", row.Probe, row.Runs))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func TestSuggestions(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }
	failed := contract.UserCorrection{RunResult: contract.RunFailed, Failure: &contract.CorrectedFailure{Category: contract.CategoryAuth, Detail: "missing_api_key"}}
	for _, c := range []struct {
		name    string
		seen    []seen
		correct int // on which day the first run is corrected; 0 for never
		o       Options
		want    []string // "command | probe code text"
	}{
		{name: "all is well", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.1.0", probe: "p"}}},
		{name: "weak success", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.0.0", probe: "p", day: 1, weak: true}},
			want: []string{"agent-contracts capture a@1.0.0 --probe p | p weak_success the newest run is a success without substance (1 of 2 are)"}},
		{name: "a weak success that a second run confirmed", seen: []seen{{version: "1.0.0", probe: "p", weak: true}, {version: "1.0.0", probe: "p", day: 1, weak: true}}},
		{name: "a violation that a second run confirmed", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.1.0", probe: "p", broken: []string{"pairing"}}, {version: "1.1.0", probe: "p", day: 1, broken: []string{"pairing"}}}},
		{name: "a second run breaks something else", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.1.0", probe: "p", broken: []string{"one_terminal"}}, {version: "1.1.0", probe: "p", day: 1, broken: []string{"pairing"}}},
			want: []string{"agent-contracts capture a@1.1.0 --probe p | p new_violation pairing /constraints/0: wanted at least 1 pairing, got 0; 1.0.0 met it"}},
		{name: "a weak success that a later run answered", seen: []seen{{version: "1.0.0", probe: "p", weak: true}, {version: "1.0.0", probe: "p", day: 1}}},
		{name: "a violation that the version before did not have", seen: []seen{{version: "1.9.0", probe: "p", broken: []string{"one_terminal"}}, {version: "1.10.0", probe: "p", broken: []string{"one_terminal", "pairing"}}},
			want: []string{"agent-contracts capture a@1.10.0 --probe p | p new_violation pairing /constraints/0: wanted at least 1 pairing, got 0; 1.9.0 met it"}},
		{name: "and whose probe was another one then", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.1.0", probe: "p", broken: []string{"pairing"}, revision: "2"}},
			want: []string{"agent-contracts capture a@1.1.0 --probe p | p new_violation pairing /constraints/0: wanted at least 1 pairing, got 0; 1.0.0 met it under another revision of the probe"}},
		{name: "the first version has nothing before it", seen: []seen{{version: "1.0.0", probe: "p", broken: []string{"pairing"}}}},
		{name: "another profile is no version before", seen: []seen{{version: "1.0.0", probe: "p", profile: "compatible"}, {version: "1.1.0", probe: "p", broken: []string{"pairing"}}}},
		{name: "the version before counts although it is not shown", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.1.0", probe: "p", day: 1, broken: []string{"pairing"}}}, o: Options{Since: day(1)},
			want: []string{"agent-contracts capture a@1.1.0 --probe p | p new_violation pairing /constraints/0: wanted at least 1 pairing, got 0; 1.0.0 met it"}},
		{name: "a correction", seen: []seen{{version: "1.0.0", probe: "p"}}, correct: 1,
			want: []string{"agent-contracts capture a@1.0.0 --probe p | p user_correction the reading says success, a maintainer says failed (auth/missing_api_key)"}},
		{name: "a correction that a later run followed", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.0.0", probe: "p", day: 2}}, correct: 1},
		{name: "a dispute", seen: []seen{{version: "1.0.0", probe: "p", shape: "A"}, {version: "1.0.0", probe: "p", shape: "B", day: 1}},
			want: []string{"agent-contracts capture a@1.0.0 --probe p | p dispute captures disagree about the shape; one more decides"}},
		{name: "a third capture decided", seen: []seen{{version: "1.0.0", probe: "p", shape: "A"}, {version: "1.0.0", probe: "p", shape: "B", day: 1}, {version: "1.0.0", probe: "p", shape: "A", day: 2}}},
		{name: "a server has variants, no dispute", seen: []seen{{version: "1.0.0", probe: "p", shape: "A", live: true}, {version: "1.0.0", probe: "p", shape: "B", day: 1, live: true}}},
		{name: "a named program disputes no release", seen: []seen{{version: "1.0.0", probe: "p", shape: "A"}, {version: "1.0.0", probe: "p", shape: "B", day: 1, bin: true}}},
		{name: "probes of one version go together", seen: []seen{{version: "1.0.0", probe: "q", weak: true}, {version: "1.0.0", probe: "p", weak: true}},
			want: []string{"agent-contracts capture a@1.0.0 --probe p,q | p weak_success the newest run is a success without substance (1 of 1 are) | q weak_success the newest run is a success without substance (1 of 1 are)"}},
		{name: "not stale on the last day", seen: []seen{{version: "1.0.0", probe: "p"}}, o: Options{Now: day(14)}},
		{name: "stale", seen: []seen{{version: "1.0.0", probe: "p", day: 2}, {version: "1.1.0", probe: "p"}}, o: Options{Now: day(20)},
			want: []string{"agent-contracts capture a@latest |  stale last captured 2026-01-01, the limit is 14 days"}},
		{name: "the history makes nothing fresh", seen: []seen{{version: "1.0.0", probe: "p", day: 19}, {version: "1.1.0", probe: "p"}}, o: Options{Now: day(20)},
			want: []string{"agent-contracts capture a@latest |  stale last captured 2026-01-01, the limit is 14 days"}},
		{name: "stale in one probe", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.0.0", probe: "q", day: 20}}, o: Options{Now: day(20), Probe: "p"},
			want: []string{"agent-contracts capture a@latest --probe p |  stale last captured 2026-01-01, the limit is 14 days"}},
		{name: "a named program keeps nothing fresh", seen: []seen{{version: "1.0.0", probe: "p"}, {version: "1.0.0", probe: "p", day: 19, bin: true}}, o: Options{Now: day(20)},
			want: []string{"agent-contracts capture a@latest |  stale last captured 2026-01-01, the limit is 14 days"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := records(c.seen...)
			if c.correct > 0 {
				r.correct(c.seen[0], c.correct, failed)
			}
			if c.o.Now.IsZero() {
				c.o.Now = day(3)
			}
			var got []string
			for _, s := range build(t, r, c.o).Suggestions {
				line := s.Command
				for _, why := range s.Reasons {
					line += " | " + why.Probe + " " + string(why.Code) + " " + why.Text
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The same records in any order give the same report.
func TestOrderDoesNotMatter(t *testing.T) {
	var list []seen
	for _, v := range []string{"1.0.0", "1.1.0", "1.10.0"} {
		for i, p := range []string{"p", "q"} {
			list = append(list, seen{version: v, probe: p, shape: v, weak: i == 0}, seen{version: v, probe: p, shape: p, day: 1, broken: []string{"pairing"}})
		}
	}
	var want []byte
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		b, err := contract.Encode(build(t, records(list...), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = b
		}
		if !bytes.Equal(b, want) {
			t.Fatalf("order %d gives another report", seed)
		}
	}
}

func TestUnknownAgentIsNamed(t *testing.T) {
	r := records(seen{version: "1.0.0", probe: "p"}, seen{version: "1.1.0", probe: "p"})
	r.Agents.Agents = nil
	if _, err := Build(r, Options{}); err == nil || !strings.Contains(err.Error(), "a has observations but no entry") {
		t.Errorf("got %v", err)
	}
}
