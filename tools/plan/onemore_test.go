package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// What lies between two captures is taken from what was looked up: a range that
// holds nothing is not asked for again and again, and a release that was tried in
// vain does not stand in the way of the others.
func TestWhatLiesBetween(t *testing.T) {
	seen := func(releases string, failed ...contract.NotCaptured) contract.AgentReleases {
		return contract.AgentReleases{Agent: "codex", Platform: "linux-x64", LookedAt: "2026-11-29T00:00:00Z", Releases: strings.Fields(releases), NotCaptured: failed}
	}
	on := func(p contract.Platform, e contract.AgentReleases) contract.AgentReleases { e.Platform = p; return e }
	whole := func(v, why string) contract.NotCaptured { return contract.NotCaptured{Version: v, Reason: why} }
	probe := func(v, probe, why string) contract.NotCaptured {
		return contract.NotCaptured{Version: v, Probe: probe, Profile: contract.ProfileProduction, Reason: why}
	}
	for name, tt := range map[string]struct {
		captured string // oldest first, each of another shape
		known    []contract.AgentReleases
		ask      string
		skipped  string // "" for none, else a part of the reason
	}{
		"nobody looked":                          {"1.0.0 1.0.9", nil, ">1.0.0 <1.0.9", ""},
		"another agent":                          {"1.0.0 1.0.9", []contract.AgentReleases{{Agent: "pi", Platform: "linux-x64", Releases: []string{"1.0.9"}}}, ">1.0.0 <1.0.9", ""},
		"none was published":                     {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.9")}, "", "no release in it is on record"},
		"looked up elsewhere":                    {"1.0.0 1.0.9", []contract.AgentReleases{on("darwin-arm64", seen("1.0.0 1.0.9"))}, "", "no release in it is on record"},
		"looked up before the newer":             {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0")}, ">1.0.0 <1.0.9", ""},
		"the newer was withdrawn":                {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.1.0")}, "", "no release in it is on record"},
		"the middle":                             {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.4 1.0.8 1.0.9")}, "1.0.4", ""},
		"none could be installed":                {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.8 1.0.9", whole("1.0.2", "no_program"), whole("1.0.8", "not_published"))}, "", "2 of its releases tried"},
		"the probe gave nothing":                 {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.9", probe("1.0.2", rep, "no_observation"))}, "", "1 of its releases tried"},
		"another probe gave nothing":             {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.9", probe("1.0.2", "auth-failure", "no_observation"))}, "1.0.2", ""},
		"the newest of them cannot":              {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.8 1.0.9", whole("1.0.8", "no_program"))}, "1.0.2", ""},
		"it failed elsewhere":                    {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.9"), on("win32-x64", seen("1.0.2", whole("1.0.2", "no_program")))}, "1.0.2", ""},
		"a person has to answer":                 {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.9", probe("1.0.2", rep, "awaiting_answer"))}, "1.0.2", ""},
		"a redaction was refused":                {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.9", probe("1.0.2", rep, "redaction_refused"))}, "1.0.2", ""},
		"the next range is taken":                {"1.0.0 1.0.4 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.2 1.0.4 1.0.9")}, "1.0.2", "no release in it is on record"},
		"neighbours by their numbers":            {"1.0.0 1.1.0", []contract.AgentReleases{seen("1.0.0 1.0.1 1.1.0")}, "1.0.1", ""},
		"neighbours, and nothing between":        {"1.0.0 1.0.1", []contract.AgentReleases{seen("1.0.0 1.0.1")}, "", ""},
		"order and words that are none":          {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.9 stable 1.0.8 1.0.2 1.0.2 1.0.4 1.0.0")}, "1.0.4", ""},
		"an entry without releases":              {"1.0.0 1.0.9", []contract.AgentReleases{seen("")}, ">1.0.0 <1.0.9", ""},
		"a failure of what nobody has on a list": {"1.0.0 1.0.9", []contract.AgentReleases{seen("1.0.0 1.0.9", whole("1.0.5", "no_program"))}, "", "no release in it is on record"},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []run
			for i, v := range strings.Fields(tt.captured) {
				runs = append(runs, twice("codex", v, v, time.Duration(9-i)*3*time.Hour)...)
			}
			r := records([]contract.Agent{agent("codex", 1)}, runs...)
			r.Releases.Agents = tt.known
			p, err := Build(r, Options{Now: noon, Platforms: []contract.Platform{"linux-x64"}})
			if err != nil {
				t.Fatal(err)
			}
			var ask string
			for _, it := range p.Items {
				if slices.ContainsFunc(it.Reasons, func(w Reason) bool { return w.Code == OneMore }) {
					ask += it.Version
				}
			}
			if d := cmp.Diff(tt.ask, ask); d != "" {
				t.Error(d)
			}
			if got := p.Skipped; tt.skipped == "" && len(got) != 0 || tt.skipped != "" && (len(got) != 1 || !strings.Contains(got[0].Text, tt.skipped) || !strings.HasSuffix(got[0].Version, "<1.0.9")) {
				t.Errorf("skipped: %+v", got)
			}
		})
	}
}
