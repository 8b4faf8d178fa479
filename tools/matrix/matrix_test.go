package matrix

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

const rep = "chat-text-success"

func agentsFile() *contract.AgentsFile {
	return &contract.AgentsFile{SchemaVersion: 1, Agents: []contract.Agent{{
		ID: "a", Tier: 0, RepresentativeProbe: rep, ProtocolFamilies: []contract.ProtocolFamily{contract.FamilyEvents, contract.FamilyPlain},
		VersionProbe: &contract.VersionProbe{Scheme: contract.SchemePrerelease},
	}}}
}

// seen makes an observation; minute orders them in time.
type seen struct {
	version, probe, shape string
	status                contract.ReplayStatus
	live, bin, violated   bool
	profile               string
	family                contract.ProtocolFamily // events unless said otherwise
	minute                int
	runner                string
	raw                   string // of the run, "" for one of its own
}

func (s seen) observed() store.Observed {
	at := time.Date(2026, 1, 1, 0, s.minute, 0, 0, time.UTC)
	if s.raw == "" {
		s.raw = fmt.Sprint(s)
	}
	o := contract.Observation{
		SchemaVersion: 1, Agent: "a", CLIVersion: s.version, Platform: "linux-x64", Probe: s.probe, ProtocolFamily: contract.FamilyEvents,
		ValidityLevel: contract.LevelRuntimeObserved,
		Capture:       contract.ObservationCapture{CapturedAt: at.Format(time.RFC3339), Runner: "r" + s.runner, RawClientTranscriptSHA256: contract.Sum([]byte(s.raw))},
		Shape:         contract.ShapeRef{Signature: contract.Sum([]byte(s.shape))},
		ParserReplay:  contract.ParserReplay{Status: s.status},
	}
	if o.ParserReplay.Status == "" {
		o.ParserReplay.Status = contract.ReplayCompatible
	}
	o.Extensions.Provider, o.Extensions.Profile = contract.ProviderEmulated, contract.ProfileProduction
	if s.live {
		o.Extensions.Provider = contract.ProviderLive
	}
	o.Install.Source = "npm:a@" + s.version
	if s.bin {
		o.Install.Source = "binary:a"
	}
	if s.violated {
		o.Extensions.Violations = []contract.ContractViolation{{Kind: "run_result"}}
	}
	if s.profile != "" {
		o.Extensions.Profile = s.profile
	}
	if s.family != "" {
		o.ProtocolFamily = s.family
	}
	return store.Observed{Path: fmt.Sprintf("observations/a/%s/linux-x64/%d.%s.observation.json", s.version, s.minute, s.probe), Observation: o}
}

func records(list ...seen) *Records {
	r := &Records{Agents: agentsFile()}
	for _, s := range list {
		r.Observations = append(r.Observations, s.observed())
	}
	return r
}

// claims renders what a matrix says about linux-x64 and events as
// "ranges: status" lines.
func claims(t *testing.T, r *Records) string {
	t.Helper()
	m, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range m.Agents {
		if e.Platforms[0] != "linux-x64" || e.ProtocolFamilies[0] != contract.FamilyEvents {
			continue
		}
		lines = append(lines, strings.Join(e.VersionRanges, " || ")+": "+string(e.SupportStatus))
	}
	return strings.Join(lines, "\n")
}

// five has four captures that agree.
func five() []seen {
	var out []seen
	for i := range 4 {
		out = append(out, seen{version: "1.0.0", probe: rep, shape: "A", minute: i})
	}
	return out
}

func TestClaims(t *testing.T) {
	policy := contract.Policy{SchemaVersion: 1, Agents: []contract.AgentPolicy{{
		Agent:         "a",
		TooOld:        []contract.TooOld{{Below: "1.1.0", Reason: "no JSON"}},
		KnownBreaking: []contract.KnownBreaking{{VersionRanges: []string{"=1.2.0"}, Reason: "hangs", Evidence: []string{"https://example.org/1"}}},
	}}}
	for _, c := range []struct {
		name   string
		seen   []seen
		policy contract.Policy
		want   string
	}{
		{"nothing observed, nothing claimed", nil, contract.Policy{}, ""},
		{"one version", []seen{{version: "1.0.0", probe: rep, shape: "A"}}, contract.Policy{}, "1.0.0: version_range_verified"},
		{"equal neighbours join", []seen{{version: "1.10.0", probe: rep, shape: "A"}, {version: "1.9.0", probe: rep, shape: "A"}}, contract.Policy{}, ">=1.9.0 <=1.10.0: version_range_verified"},
		{"nothing is claimed across a change", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.2.0", probe: rep, shape: "B"}, {version: "1.3.0", probe: rep, shape: "A"}},
			contract.Policy{}, "1.0.0: version_range_verified\n1.2.0: version_range_verified\n1.3.0: version_range_verified"},
		{"a change in another probe ends a range too", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.1.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: "p", shape: "X"}, {version: "1.1.0", probe: "p", shape: "Y"}},
			contract.Policy{}, "1.0.0: version_range_verified\n1.1.0: version_range_verified"},
		{"the representative probe decides", []seen{{version: "1.0.0", probe: "p", shape: "A"}}, contract.Policy{}, "1.0.0: unknown"},
		{"a consumer that loses something", []seen{{version: "1.0.0", probe: rep, shape: "A", status: contract.ReplayIncompatible}}, contract.Policy{}, "1.0.0: unknown"},
		{"no parser is no support", []seen{{version: "1.0.0", probe: rep, shape: "A", status: contract.ReplayNotRun}}, contract.Policy{}, "1.0.0: unknown"},
		{"a run that breaks its expectation", []seen{{version: "1.0.0", probe: rep, shape: "A", violated: true}}, contract.Policy{}, "1.0.0: unknown"},
		{"a program that somebody named is no release", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "B", minute: 1, bin: true}, {version: "9.0.0", probe: rep, shape: "A", bin: true}},
			contract.Policy{}, "1.0.0: version_range_verified"},
		{"two emulated shapes are a dispute", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "B", minute: 1}}, contract.Policy{}, "1.0.0: unknown"},
		{"a third capture decides", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "B", minute: 1}, {version: "1.0.0", probe: rep, shape: "A", minute: 2}}, contract.Policy{}, "1.0.0: version_range_verified"},
		{"live variants", []seen{{version: "1.0.0", probe: rep, shape: "A", live: true}, {version: "1.0.0", probe: rep, shape: "B", live: true, minute: 1}}, contract.Policy{}, "1.0.0: server_variant_possible"},
		{"one live shape beside emulated ones has one vote", append(five(), seen{version: "1.0.0", probe: rep, shape: "Z", live: true, minute: 9}), contract.Policy{}, "1.0.0: version_range_verified"},
		{"one live and one emulated shape are a dispute", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: rep, shape: "B", live: true, minute: 1}}, contract.Policy{}, "1.0.0: unknown"},
		{"other profiles and the version probe claim nothing", []seen{{version: "1.0.0", probe: rep, shape: "A", profile: "compatible"}, {version: "1.0.0", probe: contract.VersionProbeID, shape: "V"}}, contract.Policy{}, ""},
		{"people decide", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.1.0", probe: rep, shape: "A"}, {version: "1.2.0", probe: rep, shape: "A"}}, policy,
			"1.0.0: too_old\n1.1.0: version_range_verified\n1.2.0: known_breaking\n<1.1.0: too_old\n=1.2.0: known_breaking"},
		{"a decision about a version that nobody captured ends a range", []seen{{version: "1.1.0", probe: rep, shape: "A"}, {version: "1.3.0", probe: rep, shape: "A"}}, policy,
			"1.1.0: version_range_verified\n1.3.0: version_range_verified\n<1.1.0: too_old\n=1.2.0: known_breaking"},
		{"a probe that changed somewhere in two gaps ends both ranges", []seen{{version: "1.0.0", probe: rep, shape: "A"}, {version: "1.1.0", probe: rep, shape: "A"}, {version: "1.2.0", probe: rep, shape: "A"}, {version: "1.0.0", probe: "p", shape: "X"}, {version: "1.2.0", probe: "p", shape: "Y"}},
			contract.Policy{}, "1.0.0: version_range_verified\n1.1.0: version_range_verified\n1.2.0: version_range_verified"},
		{"one capture of five that the consumer does not understand", append(five(), seen{version: "1.0.0", probe: rep, shape: "A", minute: 9, status: contract.ReplayIncompatible}), contract.Policy{}, "1.0.0: version_range_verified"},
		{"one capture of five with another shape", append(five(), seen{version: "1.0.0", probe: rep, shape: "Z", minute: 9}), contract.Policy{}, "1.0.0: version_range_verified"},
		{"one capture of five that breaks the expectation", append(five(), seen{version: "1.0.0", probe: rep, shape: "A", minute: 9, violated: true}), contract.Policy{}, "1.0.0: version_range_verified"},
		{"one capture of two that the consumer does not understand", []seen{{version: "1.0.0", probe: rep, shape: "A", status: contract.ReplayIncompatible}, {version: "1.0.0", probe: rep, shape: "A", minute: 1}}, contract.Policy{}, "1.0.0: unknown"},
		{"a prerelease comes before its release", []seen{{version: "1.0.0", probe: rep, shape: "B"}, {version: "1.0.0-alpha.2", probe: rep, shape: "A"}}, contract.Policy{},
			"1.0.0-alpha.2: version_range_verified\n1.0.0: version_range_verified"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := records(c.seen...)
			r.Policy = c.policy
			if got := claims(t, r); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestEntryIsValidAndSaysWhere(t *testing.T) {
	r := records(seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.1.0", probe: rep, shape: "A", minute: 5})
	r.LatestSeen = contract.LatestSeen{Agents: []contract.LatestSeenAgent{{Agent: "a", Version: "2.0.0"}}}
	m, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if problems := contract.Validate(contract.KindSupportMatrix, Path, b); contract.HasErrors(problems) {
		t.Fatalf("the matrix does not validate: %v", problems)
	}
	e := m.Agents[0]
	if m.GeneratedAt != "2026-01-01T00:05:00Z" || *e.LastObservedAt != m.GeneratedAt || *e.LatestSeen != "2.0.0" || *e.LatestVerified != "1.1.0" {
		t.Errorf("times and versions: %s %s %s %s", m.GeneratedAt, *e.LastObservedAt, *e.LatestSeen, *e.LatestVerified)
	}
	if got := e.ObservedShapes[0].Extensions.Versions; !slices.Equal(got, []string{"1.0.0", "1.1.0"}) {
		t.Errorf("observed versions: %v", got)
	}
	if e.Policy.AllowRun != contract.AllowRunWarn {
		t.Errorf("a range with unobserved versions says %s", e.Policy.AllowRun)
	}
}

// One shape of two probes that the consumer reads differently: the worse one
// counts, whatever order a map has.
func TestVariantOfTwoProbes(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A", live: true}, seen{version: "1.0.0", probe: rep, shape: "B", live: true, minute: 1},
		seen{version: "1.0.0", probe: "p", shape: "A", live: true, status: contract.ReplayIncompatible}, seen{version: "1.0.0", probe: "p", shape: "B", live: true, minute: 1, status: contract.ReplayNotRun})
	want := map[contract.Digest]string{contract.Sum([]byte("A")): "breaking", contract.Sum([]byte("B")): "compatible_pending_fixture"}
	for range 20 {
		m, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		got := map[contract.Digest]string{}
		for _, v := range m.Agents[0].ServerVariants {
			got[v.Shape] = v.Status
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestDisputed(t *testing.T) {
	for _, c := range []struct {
		name string
		seen []seen
		want bool
	}{
		{"one capture", []seen{{shape: "A"}}, false},
		{"two that agree", []seen{{shape: "A"}, {shape: "A", minute: 1}}, false},
		{"two that do not", []seen{{shape: "A"}, {shape: "B", minute: 1}}, true},
		{"a third decided", []seen{{shape: "A"}, {shape: "B", minute: 1}, {shape: "B", minute: 2}}, false},
		{"a server's variants", []seen{{shape: "A", live: true}, {shape: "B", live: true, minute: 1}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			obs := records(c.seen...).Observations
			var list []*store.Observed
			for i := range obs {
				list = append(list, &obs[i])
			}
			if got := Disputed(list); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		name string
		seen []seen
		want contract.ValidityLevel
	}{
		{"once", []seen{{shape: "A"}}, contract.LevelRuntimeObserved},
		{"twice within the hour", []seen{{shape: "A"}, {shape: "A", minute: 59}}, contract.LevelRuntimeObserved},
		{"twice, an hour apart", []seen{{shape: "A"}, {shape: "A", minute: 60}}, contract.LevelConfirmed},
		{"on two runners", []seen{{shape: "A"}, {shape: "A", runner: "x"}}, contract.LevelConfirmed},
		{"one run told twice", []seen{{shape: "A", raw: "1"}, {shape: "A", raw: "1", minute: 90, runner: "x"}}, contract.LevelRuntimeObserved},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Levels(records(c.seen...).Observations, Standing{})[contract.Sum([]byte("A"))]; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func anySeen(t *rapid.T) []seen {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) seen {
		return seen{
			version: rapid.SampledFrom([]string{"1.0.0", "1.1.0", "1.2.0", "1.10.0"}).Draw(t, "version"),
			probe:   rapid.SampledFrom([]string{rep, "p", contract.VersionProbeID}).Draw(t, "probe"),
			shape:   rapid.SampledFrom([]string{"A", "B"}).Draw(t, "shape"),
			status:  rapid.SampledFrom([]contract.ReplayStatus{contract.ReplayCompatible, contract.ReplayIncompatible}).Draw(t, "status"),
			live:    rapid.Bool().Draw(t, "live"),
			minute:  rapid.IntRange(0, 300).Draw(t, "minute"),
		}
	}), 0, 12).Draw(t, "seen")
}

// fewSeen are captures so close to each other that they agree or contradict in
// most draws, which those of anySeen seldom do.
func fewSeen(t *rapid.T) []seen {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) seen {
		return seen{
			version: rapid.SampledFrom([]string{"1.0.0", "1.1.0"}).Draw(t, "version"),
			probe:   rep,
			shape:   rapid.SampledFrom([]string{"A", "A", "B"}).Draw(t, "shape"),
			status:  contract.ReplayCompatible,
			minute:  rapid.IntRange(0, 300).Draw(t, "minute"),
		}
	}), 1, 6).Draw(t, "seen")
}

// The same records in any order give the same bytes.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := anySeen(t)
		// Two records of one place are one record.
		slices.SortFunc(list, func(a, b seen) int { return strings.Compare(a.observed().Path, b.observed().Path) })
		list = slices.CompactFunc(list, func(a, b seen) bool { return a.observed().Path == b.observed().Path })
		a := encode(t, records(list...))
		b := encode(t, records(rapid.Permutation(list).Draw(t, "order")...))
		if !bytes.Equal(a, b) {
			t.Fatal("another order gives another matrix")
		}
	})
}

// What a version is verified for never comes from another version: without any
// observation of its own a version is in no exact claim.
func TestOnlyObservedVersionsBoundARange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := anySeen(t)
		m, err := Build(records(list...))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range m.Agents {
			for _, v := range strings.Fields(strings.NewReplacer(">=", "", "<=", "").Replace(e.VersionRanges[0])) {
				if !slices.ContainsFunc(list, func(s seen) bool { return s.version == v && s.probe != contract.VersionProbeID }) {
					t.Fatalf("the bound %s of a range was never observed", v)
				}
			}
		}
	})
}

func encode(t *rapid.T, r *Records) []byte {
	m, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
