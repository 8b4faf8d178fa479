package contract

import (
	"strings"
	"testing"
)

func TestReleasesValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Releases
		want string // part of the error; "" for none
	}{
		{"in order", Releases{Agents: []AgentReleases{{Agent: "a", Releases: []string{"1.0.0", "1.1.0"}}, {Agent: "b"}}}, ""},
		{"agents out of order", Releases{Agents: []AgentReleases{{Agent: "b"}, {Agent: "a"}}}, "agents[1]: a"},
		{"an agent twice", Releases{Agents: []AgentReleases{{Agent: "a"}, {Agent: "a"}}}, "each once"},
		{"a release twice", Releases{Agents: []AgentReleases{{Agent: "a", Releases: []string{"1.0.0", "1.0.0"}}}}, "1.0.0 is there twice"},
		{"failures out of order", Releases{Agents: []AgentReleases{{Agent: "a", NotCaptured: []NotCaptured{{Version: "2"}, {Version: "1"}}}}}, "not sorted"},
	} {
		err := c.in.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestIncidentsValidate(t *testing.T) {
	shown := Incident{ID: "x", Agent: "codex", Probe: "p", Profile: "production", From: "1", To: "2", Verdict: VerdictSameShape}
	half := shown
	half.Verdict = ""
	both := shown
	both.Reason = "no"
	for _, c := range []struct {
		name string
		in   []Incident
		ok   bool
	}{
		{"shown", []Incident{shown}, true},
		{"not shown", []Incident{{ID: "x", Reason: "a screen, not a stream"}}, true},
		{"twice", []Incident{shown, shown}, false},
		{"half", []Incident{half}, false},
		{"both", []Incident{both}, false},
		{"neither", []Incident{{ID: "x"}}, false},
	} {
		if err := (&Incidents{Incidents: c.in}).Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
