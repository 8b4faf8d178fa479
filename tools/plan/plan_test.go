package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const rep = "chat-tool-success"

func agent(id string, tier int) contract.Agent {
	return contract.Agent{
		ID: id, Tier: tier, FreshnessDays: 14, RepresentativeProbe: rep, ProtocolFamilies: []contract.ProtocolFamily{"json-event-stream/v1"},
		Install:      &contract.AgentInstall{NPM: contract.NPMInstall{Package: id, Bin: id}},
		VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease},
		Coverage:     map[string]contract.ProbeCoverage{rep: {Status: contract.CoverageCaptured}},
	}
}

// run is one observation, captured ago before noon.
type run struct {
	agent, version, probe, shape string
	ago                          time.Duration
	change                       func(*store.Observed)
}

func (r run) observed() store.Observed {
	o := store.Observed{}
	o.Agent, o.CLIVersion, o.Probe, o.Platform, o.ProtocolFamily = r.agent, r.version, r.probe, "linux-x64", "json-event-stream/v1"
	o.ValidityLevel, o.Install.Source = contract.LevelRuntimeObserved, "npm:"+r.agent+"@"+r.version
	o.Capture.CapturedAt, o.Capture.Runner = noon.Add(-r.ago).Format(time.RFC3339), "local/linux-x64"
	o.Capture.RawClientTranscriptSHA256 = contract.Sum([]byte(o.Capture.CapturedAt)) // no two runs are one
	o.Shape.Signature = contract.Sum([]byte(r.shape))
	o.Extensions.Profile, o.Extensions.Provider, o.Extensions.RunResult = contract.ProfileProduction, contract.ProviderEmulated, "success"
	o.Path = fmt.Sprintf("observations/%s/%s/linux-x64/%s.%s.observation.json", r.agent, r.version, o.Capture.CapturedAt, r.probe)
	if r.change != nil {
		r.change(&o)
	}
	return o
}

func records(agents []contract.Agent, runs ...run) *Records {
	r := &Records{}
	r.Agents = &contract.AgentsFile{Agents: agents}
	for _, x := range runs {
		r.Observations = append(r.Observations, x.observed())
	}
	return r
}

// twice is a shape that is confirmed.
func twice(id, version, shape string, ago time.Duration) []run {
	return []run{{id, version, rep, shape, ago, nil}, {id, version, rep, shape, ago + 2*time.Hour, nil}}
}

func sourced(level contract.ValidityLevel, version string) store.Sourced {
	s := store.Sourced{Path: "evidence/x.source-evidence.json"}
	s.Agent, s.ValidityLevel, s.CLIVersion = "codex", level, version
	return s
}

func statement(r run, kind contract.EvidenceKind) store.Stated {
	o := r.observed()
	s := store.Stated{Path: "evidence/y.evidence.json"}
	s.Kind, s.Agent, s.RecordedAt, s.Observation.Path = kind, o.Agent, noon.Format(time.RFC3339), o.Path
	switch kind {
	case contract.EvidenceWithdrawal:
		s.Withdrawal = &contract.Withdrawal{By: "m", Reason: "r"}
	case contract.EvidenceUserCorrection:
		s.UserCorrection = &contract.UserCorrection{RunResult: contract.RunFailed, Reason: "r"}
	}
	return s
}

// Each reason appears for its cause, names what to capture, and goes away with
// the capture that answers it.
func TestReasons(t *testing.T) {
	hour := time.Hour
	day := 24 * hour
	seen := func(version string) func(*Records) {
		return func(r *Records) { r.LatestSeen.Agents = []contract.LatestSeenAgent{{Agent: "codex", Version: version}} }
	}
	good := twice("codex", "0.133.0", "S", hour)
	for name, tt := range map[string]struct {
		runs   []run
		change func(*Records)
		want   []string // version code,code…
	}{
		"nothing to do":                 {good, nil, nil},
		"nothing captured":              {nil, nil, []string{"latest new_version"}},
		"a new version":                 {good, seen("0.134.0"), []string{"0.134.0 new_version"}},
		"the new one is captured":       {append(twice("codex", "0.134.0", "S", 2*hour), good...), seen("0.134.0"), nil},
		"stale":                         {twice("codex", "0.133.0", "S", 15*day), seen("0.133.0"), []string{"0.133.0 stale"}},
		"stale, and there is a new one": {twice("codex", "0.133.0", "S", 15*day), seen("0.134.0"), []string{"0.134.0 new_version,stale"}},
		"source evidence":               {good, func(r *Records) { r.Sources = []store.Sourced{sourced(contract.LevelSourceDerived, "0.135.0")} }, []string{"0.135.0 source_risk"}},
		"documented by the vendor":      {good, func(r *Records) { r.Sources = []store.Sourced{sourced(contract.LevelVendorDocumented, "0.135.0")} }, []string{"0.135.0 source_risk"}},
		"source evidence is captured":   {good, func(r *Records) { r.Sources = []store.Sourced{sourced(contract.LevelSourceDerived, "0.133.0")} }, nil},
		"a synthetic record":            {good, func(r *Records) { r.Sources = []store.Sourced{sourced(contract.LevelSyntheticMock, "0.135.0")} }, nil},
		"a dispute":                     {[]run{{"codex", "0.133.0", rep, "S", hour, nil}, {"codex", "0.133.0", rep, "T", 2 * hour, nil}}, nil, []string{"0.133.0 dispute,unconfirmed"}},
		"a third capture decides":       {append([]run{{"codex", "0.133.0", rep, "T", 3 * hour, nil}}, good...), nil, nil},
		"the wrong one is withdrawn": {append([]run{{"codex", "0.133.0", rep, "T", 0, nil}}, good...), func(r *Records) {
			r.Statements = []store.Stated{statement(run{"codex", "0.133.0", rep, "T", 0, nil}, contract.EvidenceWithdrawal)}
		}, nil},
		"a correction": {good, func(r *Records) {
			r.Statements = []store.Stated{statement(good[0], contract.EvidenceUserCorrection)}
		}, []string{"0.133.0 user_correction"}},
		"a new violation": {append([]run{{"codex", "0.133.0", rep, "S", 0, func(o *store.Observed) {
			o.Extensions.Violations = []contract.ContractViolation{{Kind: "missing_event", Path: "/must_see/0", Expected: "done", Actual: "0"}}
		}}}, append(twice("codex", "0.132.0", "S", 3*hour), good...)...), nil, []string{"0.133.0 new_violation"}},
		"weak success": {append([]run{{"codex", "0.133.0", rep, "S", 0, func(o *store.Observed) { o.Extensions.WeakSuccess = true }}}, good...), nil, []string{"0.133.0 weak_success"}},
		"an uncovered probe": {append(twice("codex", "0.132.0", "S", 3*hour), good...), func(r *Records) {
			r.Agents.Agents[0].Coverage["auth-failure"] = contract.ProbeCoverage{Status: contract.CoverageCaptured}
			r.Agents.Agents[0].Coverage["rpc-cancel"] = contract.ProbeCoverage{Status: contract.CoverageImpossible, Reason: "no protocol"}
		}, []string{"0.133.0 uncovered_probe"}},
		"seen once":                        {good[:1], nil, []string{"0.133.0 unconfirmed"}},
		"seen a moment ago":                {[]run{{"codex", "0.133.0", rep, "S", 59 * time.Minute, nil}}, nil, nil},
		"seen again too early":             {append([]run{{"codex", "0.133.0", rep, "S", 59 * time.Minute, nil}}, good[:1]...), nil, []string{"0.133.0 unconfirmed"}},
		"a change between far versions":    {append(twice("codex", "0.120.0", "T", 3*hour), good...), nil, []string{">0.120.0 <0.133.0 range"}},
		"a far interpolation":              {append(twice("codex", "0.120.0", "S", 3*hour), good...), nil, []string{">0.120.0 <0.133.0 range"}},
		"a change before an interpolation": {slices.Concat(twice("codex", "0.100.0", "T", 3*hour), twice("codex", "0.120.0", "S", 3*hour), good), nil, []string{">0.100.0 <0.120.0 range"}},
		"neighbours":                       {append(twice("codex", "0.132.0", "T", 3*hour), good...), nil, nil},
		"a program that somebody named":    {append([]run{{"codex", "0.200.0", rep, "T", 0, func(o *store.Observed) { o.Install.Source = "binary:codex" }}}, good...), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := records([]contract.Agent{agent("codex", 1)}, tt.runs...)
			if tt.change != nil {
				tt.change(r)
			}
			p, err := Build(r, Options{Now: noon, Platforms: []contract.Platform{"linux-x64"}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range p.Items {
				var codes []string
				for _, why := range it.Reasons {
					codes = append(codes, string(why.Code))
				}
				got = append(got, it.Version+" "+strings.Join(slices.Compact(codes), ","))
				if len(it.Probes) == 0 || it.Estimate.Runs == 0 || !strings.Contains(it.Command, it.Version) {
					t.Errorf("%+v", it)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTierDecides(t *testing.T) {
	r := records([]contract.Agent{agent("claude", 1), agent("codex", 0), {ID: "amr", Tier: 0, Exemption: "no package"}},
		run{"claude", "1.0.0", rep, "S", 20 * 24 * time.Hour, nil}, run{"codex", "1.0.0", rep, "T", time.Hour, nil})
	r.Agents.Agents[1].Coverage["rate-limit"] = contract.ProbeCoverage{Status: contract.CoverageCaptured}
	r.LatestSeen.Agents = []contract.LatestSeenAgent{{Agent: "claude", Version: "1.0.1"}, {Agent: "codex", Version: "1.0.1"}}
	p, err := Build(r, Options{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	if first := p.Items[0]; first.Agent != "codex" || first.Version != "1.0.1" || !slices.Equal(first.Probes, []string{rep, "rate-limit"}) {
		t.Errorf("first is %+v", first)
	}
	for _, it := range p.Items {
		if it.Agent == "amr" {
			t.Errorf("an exempt agent is planned: %+v", it)
		}
	}
}

func TestGate(t *testing.T) {
	day := 24 * time.Hour
	other := func(o *store.Observed) { o.Extensions.Profile = contract.ProfileCompatible }
	for name, tt := range map[string]struct {
		runs  []run
		said  []store.Stated
		stale bool
	}{
		"fresh":                     {[]run{{"codex", "1.0.0", rep, "S", 13 * day, nil}}, nil, false},
		"on the last day":           {[]run{{"codex", "1.0.0", rep, "S", 14 * day, nil}}, nil, false},
		"too old":                   {[]run{{"codex", "1.0.0", rep, "S", 14*day + time.Hour, nil}}, nil, true},
		"nothing captured":          {nil, nil, true},
		"only its history is fresh": {[]run{{"codex", "1.1.0", rep, "S", 20 * day, nil}, {"codex", "1.0.0", rep, "S", day, nil}}, nil, true},
		"the newest is fresh":       {[]run{{"codex", "1.0.0", rep, "S", 20 * day, nil}, {"codex", "1.1.0", rep, "S", day, nil}}, nil, false},
		"a prerelease is no matter": {[]run{{"codex", "1.1.0-alpha.1", rep, "S", 20 * day, nil}, {"codex", "1.0.0", rep, "S", day, nil}}, nil, false},
		"only another profile":      {[]run{{"codex", "1.0.0", rep, "S", day, other}}, nil, true},
		"the fresh one is withdrawn": {[]run{{"codex", "1.0.0", rep, "S", day, nil}, {"codex", "1.0.0", rep, "S", 20 * day, nil}},
			[]store.Stated{statement(run{"codex", "1.0.0", rep, "S", day, nil}, contract.EvidenceWithdrawal)}, true},
		"a Tier 1 agent is no matter": {[]run{{"codex", "1.0.0", rep, "S", day, nil}, {"pi", "1.0.0", rep, "S", 90 * day, nil}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := records([]contract.Agent{agent("codex", 0), agent("pi", 1)}, tt.runs...)
			r.Statements = tt.said
			g, err := Check(r, Options{Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Agents) != 1 || g.Passed() == tt.stale || (g.Agents[0].Reason != "") != tt.stale {
				t.Errorf("%+v", g)
			}
		})
	}
}

// The same records in any order give the same plan, and the matrix has every
// probe of it exactly once, a version in one job, on its platform's runner.
func TestMatrixHoldsThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []run
		for i := range rapid.IntRange(1, 30).Draw(t, "runs") {
			platform := contract.Platform(rapid.SampledFrom([]string{"linux-x64", "darwin-arm64"}).Draw(t, "platform"))
			runs = append(runs, run{rapid.SampledFrom([]string{"codex", "pi"}).Draw(t, "agent"), fmt.Sprintf("0.%d.0", rapid.IntRange(1, 9).Draw(t, "v")),
				rapid.SampledFrom([]string{rep, "auth-failure"}).Draw(t, "probe"), rapid.SampledFrom([]string{"S", "T"}).Draw(t, "shape"),
				time.Duration(i) * time.Hour, func(o *store.Observed) { o.Platform = platform }})
		}
		r := records([]contract.Agent{agent("codex", 0), agent("pi", 1)}, runs...)
		r.LatestSeen.Agents = []contract.LatestSeenAgent{{Agent: "codex", Version: "0.5.0"}}
		p, err := Build(r, Options{Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		rand.Shuffle(len(r.Observations), func(i, j int) { r.Observations[i], r.Observations[j] = r.Observations[j], r.Observations[i] })
		if again, err := Build(r, Options{Now: noon}); err != nil || cmp.Diff(p, again) != "" {
			t.Fatalf("another order, another plan: %v\n%s", err, cmp.Diff(p, again))
		}
		m, err := p.Matrix(rapid.IntRange(2, 9).Draw(t, "shards"), r.Agents)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]int{}, map[string]int{}
		for _, it := range p.Items {
			for _, probe := range it.Probes {
				want[fmt.Sprint(it.Agent, it.Version, it.Platform, probe)] = 1
			}
		}
		jobOf := map[string]string{}
		for _, s := range m.Include {
			var list []input
			if err := json.Unmarshal([]byte(s.Inputs), &list); err != nil || len(list) == 0 {
				t.Fatalf("%q: %v", s.Inputs, err)
			}
			for _, in := range list {
				got[fmt.Sprint(in.Agent, in.TargetVersion, in.Platform, in.Probe)]++
				version := fmt.Sprint(in.Agent, in.TargetVersion, in.Platform)
				if other, ok := jobOf[version]; in.Platform != s.Platform || s.RunsOn != runners[s.Platform] || ok && other != s.Shard {
					t.Errorf("%+v is in %s and %s", in, s.Shard, other)
				}
				jobOf[version] = s.Shard
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

func TestMatrixRefuses(t *testing.T) {
	p := &Plan{Items: []Item{{Agent: "codex", Platform: "linux-x64", Probes: []string{rep}}, {Agent: "codex", Platform: "darwin-arm64", Probes: []string{rep}}}}
	known := &contract.AgentsFile{Agents: []contract.Agent{agent("codex", 0)}}
	for n, want := range map[int]string{0: "want 1 to 256", 257: "want 1 to 256", 1: "too few for 2 platforms"} {
		if _, err := p.Matrix(n, known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d shards: %v", n, err)
		}
	}
	p.Items[0].Platform = "unknown"
	if _, err := p.Matrix(4, known); err == nil || !strings.Contains(err.Error(), "no runner") {
		t.Errorf("an unknown platform: %v", err)
	}
}

// The plan of this repository names probes and agents that exist.
func TestRepository(t *testing.T) {
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Load(reg)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Build(r, Options{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Items) == 0 {
		t.Error("nothing to capture, of a registry that grows")
	}
	for _, it := range p.Items {
		for _, probe := range it.Probes {
			if !reg.Exists("probes/" + probe + "/prompt.md") {
				t.Errorf("%s@%s: no probe %q", it.Agent, it.Version, probe)
			}
		}
	}
}
