package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// chain renders what an explanation says of a probe: its state, shape and the
// observations that count, then those that do not.
func chain(e *Explanation, probe string) string {
	for _, p := range e.Probes {
		if p.Probe != probe {
			continue
		}
		var counts, not []string
		for _, o := range p.Observations {
			if o.Why == "" {
				counts = append(counts, o.Version)
			} else {
				not = append(not, o.Version)
			}
		}
		return fmt.Sprintf("%s %s between %v by %v not by %v", p.State, p.Shape.Short(), p.Between, counts, not)
	}
	return "nothing"
}

func TestExplain(t *testing.T) {
	a, x := shape("A").Short(), shape("X").Short()
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.1.0", probe: rep, shape: "A"}, seen{version: "1.2.0", probe: rep, shape: "A"},
		seen{version: "1.0.0", probe: "p", shape: "X"}, seen{version: "1.2.0", probe: "p", shape: "X"},
		seen{version: "1.0.0", probe: "q", shape: "X"}, seen{version: "1.1.0", probe: "q", shape: "X"}, seen{version: "1.2.0", probe: "q", shape: "X"},
		seen{version: "1.0.0", probe: rep, shape: "A", minute: 1}, seen{version: "1.0.0", probe: rep, shape: "B", minute: 2},
		seen{version: "1.0.0", probe: rep, shape: "B", minute: 3, profile: "compatible"}, seen{version: "1.0.0", probe: contract.VersionProbeID, shape: "V"},
		seen{version: "1.3.0", probe: rep, shape: "C"}, seen{version: "1.3.0", probe: rep, shape: "D", minute: 1})
	for _, c := range []struct{ version, probe, want string }{
		{"1.0.0", rep, "observed " + a + " between [] by [1.0.0 1.0.0] not by [1.0.0]"},
		{"v1.0.0", rep, "observed " + a + " between [] by [1.0.0 1.0.0] not by [1.0.0]"},
		{"1.1.0", "p", "interpolated " + x + " between [1.0.0 1.2.0] by [1.0.0 1.2.0] not by []"},
		{"1.0.7", rep, "interpolated " + a + " between [1.0.0 1.1.0] by [1.0.0 1.1.0] not by []"},
		{"1.2.5", rep, "not_captured  between [1.2.0 1.3.0] by [] not by []"},
		{"1.3.0", rep, "disputed  between [] by [1.3.0 1.3.0] not by []"},
		{"2.0.0", "q", "not_captured  between [1.2.0] by [] not by []"},
		{"1.0.0", "no-such-probe", "nothing"},
	} {
		e, err := Explain(r, "a", c.version, "linux-x64", "", "linux-x64")
		if err != nil {
			t.Fatal(err)
		}
		if got := chain(e, c.probe); got != c.want {
			t.Errorf("%s %s: got\n%s\nwant\n%s", c.version, c.probe, got, c.want)
		}
	}
	e, err := Explain(r, "a", "1.0.0", "linux-x64", "", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if e.Claim == nil || !strings.HasPrefix(*e.Claim, Path+"#/agents/") || e.Answer != AnswerYes || len(e.SetAside) != 2 {
		t.Errorf("claim %v, answer %s, %d set aside", e.Claim, e.Answer, len(e.SetAside))
	}
	if e, err = Explain(r, "a", "1.0.0", "linux-x64", "p", "linux-x64"); err != nil || len(e.Probes) != 1 || e.Probes[0].Probe != "p" {
		t.Errorf("one probe: %v, %v", e, err)
	}
	if e, err = Explain(r, "a", "1.0.0", "darwin-arm64", "", "linux-x64"); err != nil || e.Claim != nil || len(e.Probes) != 0 {
		t.Errorf("another platform: %v, %v", e, err)
	}
}

// Of one probe the same is said as among all: what another probe saw ends a
// claim, and the gap names it.
func TestExplainOneProbe(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.2.0", probe: rep, shape: "A"}, seen{version: "1.4.0", probe: rep, shape: "A", violated: true},
		seen{version: "1.0.0", probe: "p", shape: "X"}, seen{version: "1.2.0", probe: "p", shape: "Y"})
	for version, gap := range map[string]string{
		"1.1.0": "nothing is claimed between 1.0.0 and 1.2.0: around them the shape of p changed",
		"1.3.0": "nothing is claimed between 1.2.0 and 1.4.0: what is said of the two differs",
	} {
		e, err := Explain(r, "a", version, "linux-x64", rep, "linux-x64")
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Probes) != 1 || e.Probes[0].State != ProbeNotCaptured {
			t.Errorf("%s: %+v", version, e.Probes)
		}
		if !slices.Contains(e.Why, gap) {
			t.Errorf("%s: %q does not say %q", version, e.Why, gap)
		}
	}
	if e, err := Explain(r, "a", "1.2.0", "linux-x64", "", "linux-x64"); err != nil || strings.Contains(strings.Join(e.Why, "\n"), "nothing is claimed") {
		t.Errorf("a captured version lies in a gap: %v, %q", err, e.Why)
	}
}

// A probe that was left out at a version inside a range is marked in the matrix.
func TestInterpolatedIsMarked(t *testing.T) {
	m, err := Build(records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.1.0", probe: rep, shape: "A"}, seen{version: "1.2.0", probe: rep, shape: "A"},
		seen{version: "1.0.0", probe: "p", shape: "X"}, seen{version: "1.2.0", probe: "p", shape: "X"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Agents[0].ObservedShapes {
		want := []string(nil)
		if s.Extensions.Probe == "p" {
			want = []string{"1.1.0"}
		}
		if !slices.Equal(s.Extensions.Interpolated, want) {
			t.Errorf("%s: interpolated %v, want %v", s.Extensions.Probe, s.Extensions.Interpolated, want)
		}
	}
}

func TestQuality(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.0.0", probe: rep, shape: "A", minute: 1},
		seen{version: "1.1.0", probe: rep, shape: "A"}, seen{version: "1.2.0", probe: rep, shape: "A"},
		seen{version: "1.0.0", probe: "p", shape: "X"}, seen{version: "1.2.0", probe: "p", shape: "X", minute: 30},
		seen{version: "1.2.0", probe: "p", shape: "Y", minute: 31}, seen{version: "1.2.0", probe: "p", shape: "X", minute: 32})
	r.Agents.Agents[0].FreshnessDays = 14
	r.LatestSeen = contract.LatestSeen{Agents: []contract.LatestSeenAgent{{Agent: "a", Version: "2.0.0"}}}
	list, err := Qualities(r)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	q := list[0]
	// Four versions times two probes: five captured, one between equal ones, two
	// of the version that was only seen.
	if q.Versions != 4 || q.Probes != 2 || q.Observed != 5 || q.Interpolated != 1 || q.Unknown != 2 || q.UnknownShare != 0.25 {
		t.Errorf("cells: %+v", q)
	}
	if q.Repeated != 2 || q.Stable != 1 || q.Stability == nil || *q.Stability != 0.5 {
		t.Errorf("stability: %+v", q)
	}
	at := time.Date(2026, 1, 15, 0, 31, 0, 0, time.UTC)
	if q.AgeDays(at) != 13 || q.Stale(at) || !q.Stale(at.AddDate(0, 0, 1)) {
		t.Errorf("freshness: %d days, stale %v", q.AgeDays(at), q.Stale(at))
	}
}

func TestNextIsTheCheapestStep(t *testing.T) {
	r := records(
		seen{version: "1.0.0", probe: rep, shape: "A"}, seen{version: "1.2.0", probe: rep, shape: "A"},
		seen{version: "1.3.0", probe: rep, shape: "L", status: contract.ReplayIncompatible},
		seen{version: "1.6.0", probe: rep, shape: "D"}, seen{version: "1.6.0", probe: rep, shape: "E", minute: 1})
	a := &r.Agents.Agents[0]
	a.Install = &contract.AgentInstall{NPM: contract.NPMInstall{Package: "@x/a", Bin: "a"}}
	a.Launches = []contract.AgentLaunch{{}}
	r.Policy = contract.Policy{Agents: []contract.AgentPolicy{{Agent: "a", TooOld: []contract.TooOld{{Below: "0.5.0", Reason: "no JSON"}}}}}
	x := index(t, r)
	for _, c := range []struct{ version, platform, want string }{
		{"1.0.0", "linux-x64", ""},
		{"1.1.0", "linux-x64", "capture this version once: agent-contracts capture a@1.1.0 --probe " + rep},
		{"1.1.0", "darwin-arm64", "capture this version once, on darwin-arm64: agent-contracts capture a@1.1.0 --probe " + rep},
		{"1.6.0", "linux-x64", "capture this version once more: two captures disagree, and a third one decides: agent-contracts capture a@1.6.0 --probe " + rep},
		{"1.3.0", "linux-x64", "use version 1.2.0, which is verified: npm install --global @x/a@1.2.0"},
		{"0.1.0", "linux-x64", "use version 1.2.0, which is verified: npm install --global @x/a@1.2.0"},
	} {
		claim, err := x.Find("a", c.version, contract.Platform(c.platform))
		if err != nil {
			t.Fatal(err)
		}
		if got := claim.Next("linux-x64").String(); got != c.want {
			t.Errorf("%s on %s: got %q, want %q", c.version, c.platform, got, c.want)
		}
	}
}

// parseToken reads the usual form as package agents does.
func TestParseTokenIsTheSame(t *testing.T) {
	a := &agentsFile().Agents[0]
	for _, s := range []string{"1.2.3", "0.0.0", "01.2.3", "1.2", "1.2.3-alpha.1", "1..3", "1.2.3.4", "", "x", "999999999999999.1.1"} {
		got, err1 := parseToken(a, s)
		want, err2 := agents.ParseToken(a, s)
		if (err1 == nil) != (err2 == nil) || got.Token != want.Token || !slices.Equal(got.Parts, want.Parts) || got.Prerelease != want.Prerelease || got.Scheme != want.Scheme {
			t.Errorf("%q: %+v, %v; want %+v, %v", s, got, err1, want, err2)
		}
	}
}
