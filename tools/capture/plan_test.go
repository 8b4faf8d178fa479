package capture

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Target
		bad  bool
	}{
		{in: "codex", want: Target{Agent: "codex"}},
		{in: "codex@0.133.0", want: Target{Agent: "codex", Version: "0.133.0"}},
		{in: "codex@>=0.40 <0.44", want: Target{Agent: "codex", Version: ">=0.40 <0.44"}},
		{in: "codex@latest", want: Target{Agent: "codex", Version: "latest"}},
		{in: "codex@a@b", want: Target{Agent: "codex", Version: "a@b"}},
		{in: "codex@", bad: true}, {in: "@1.0.0", bad: true}, {in: "@", bad: true}, {in: "", bad: true},
	} {
		got, err := ParseTarget(c.in)
		if (err != nil) != c.bad || got.Agent != c.want.Agent || got.Version != c.want.Version {
			t.Errorf("ParseTarget(%q) = %+v, %v", c.in, got, err)
		}
	}
}

func TestInputTargets(t *testing.T) {
	reg := newRegistry(t)
	good := Input{Agent: "codex", TargetVersion: "0.133.0", Platform: contract.HostPlatform(), Probe: "chat-text-success", ProtocolFamily: contract.FamilyEvents}
	with := func(change func(*Input)) string {
		in := good
		change(&in)
		b, err := json.Marshal(in)
		must(t, err)
		return string(b)
	}
	one := with(func(*Input) {})
	other := "win32-x64"
	if contract.HostPlatform() == contract.Platform(other) {
		other = "linux-x64"
	}
	for _, c := range []struct {
		name, in string
		n        int
		says     string
	}{
		{name: "one object", in: one, n: 1},
		{name: "a list", in: "[" + one + "," + one + "]", n: 2},
		{name: "white space around", in: "\n " + one + "\n", n: 1},
		{name: "empty list", in: "[]", says: "it is empty"},
		{name: "nothing", in: "", says: "in.json"},
		{name: "no JSON", in: "codex", says: "in.json"},
		{name: "two objects", in: one + one, says: "in.json"},
		{name: "text after it", in: "[" + one + "] x", says: "text after"},
		{name: "unknown member", in: strings.Replace(one, `"agent"`, `"agnet"`, 1), says: "agnet"},
		{name: "unknown agent", in: with(func(in *Input) { in.Agent = "codxe" }), says: `item 1: unknown agent "codxe"`},
		{name: "another platform", in: with(func(in *Input) { in.Platform = contract.Platform(other) }), says: "this machine"},
		{name: "another family", in: with(func(in *Input) { in.ProtocolFamily = contract.FamilyACP }), says: "protocol_family"},
		{name: "no version", in: with(func(in *Input) { in.TargetVersion = "" }), says: "target_version"},
		{name: "no probe", in: with(func(in *Input) { in.Probe = "" }), says: "probe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := InputTargets(reg, "in.json", []byte(c.in))
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want one that says %q", err, c.says)
				}
				return
			}
			want := Target{Agent: "codex", Version: "0.133.0", Probes: []string{"chat-text-success"}}
			if err != nil || len(got) != c.n || got[0].Agent != want.Agent || got[0].Version != want.Version || !slices.Equal(got[0].Probes, want.Probes) {
				t.Errorf("targets %+v, %v", got, err)
			}
		})
	}
}

func TestLikeTargets(t *testing.T) {
	reg := newRegistry(t)
	var places []string
	for i, probe := range []string{"chat-text-success", "auth-failure", "chat-text-success"} {
		o := result("0.133.0", "s", "x").Observation
		o.Probe = probe
		if i == 2 {
			o.CLIVersion = "0.44.0"
		}
		b, err := contract.Encode(o)
		must(t, err)
		places = append(places, "observations/codex/"+o.CLIVersion+"/"+probe+".observation.json")
		file := filepath.Join(reg.Dir(), places[i])
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, b, 0o644))
	}
	got, err := LikeTargets(reg, []string{places[0], "./" + places[1], filepath.Join(reg.Dir(), places[2]), places[0]})
	must(t, err)
	if len(got) != 2 || got[0].Version != "0.133.0" || !slices.Equal(got[0].Probes, []string{"chat-text-success", "auth-failure"}) ||
		got[0].Profile != contract.ProfileProduction || got[1].Version != "0.44.0" {
		t.Errorf("targets %+v", got)
	}
	for _, bad := range []string{"", ".", "/etc/passwd", "../../x", "observations/../registry/agents.json", "observations/none.observation.json", "registry/agents.json"} {
		if got, err := LikeTargets(reg, []string{bad}); err == nil || !strings.Contains(err.Error(), "repeating "+bad) {
			t.Errorf("LikeTargets(%q) = %+v, %v", bad, got, err)
		}
	}
	if _, err := LikeTargets(reg, nil); err == nil {
		t.Error("no observation gives no error")
	}
}

func TestSelectProbes(t *testing.T) {
	reg := newRegistry(t)
	basic, err := selectProbes(reg, []string{"basic"})
	must(t, err)
	if !slices.Equal(basic, contract.BasicProbes) {
		t.Errorf("basic is %v", basic)
	}
	got, err := selectProbes(reg, []string{"auth-failure", "basic", "auth-failure"})
	must(t, err)
	if len(got) != len(basic) || got[0] != "auth-failure" {
		t.Errorf("the order of the words is lost or a probe is there twice: %v", got)
	}
	for _, bad := range []string{"", ".", "..", "../x", "auth-failur", "AUTH-FAILURE", "auth-failure/", "/etc"} {
		var unknown *UnknownProbeError
		if _, err := selectProbes(reg, []string{bad}); !errors.As(err, &unknown) || unknown.ID != bad {
			t.Errorf("selectProbes(%q): %v", bad, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "../registry", "a/b"} {
		if p, err := LoadProbe(reg, bad); err == nil {
			t.Errorf("LoadProbe(%q) = %+v", bad, p)
		}
	}
}

func TestProbeRevisionIsOfEveryByte(t *testing.T) {
	reg := newRegistry(t)
	revision := func() contract.Digest {
		p, err := LoadProbe(reg, "chat-tool-success")
		must(t, err)
		return p.Revision
	}
	before := revision()
	must(t, os.WriteFile(filepath.Join(reg.Dir(), "probes/chat-tool-success/fixture-files/deep.txt"), nil, 0o644))
	if revision() == before {
		t.Error("a new workspace file leaves the revision as it was")
	}
}

func TestBrokenProbeNamesFileAndLine(t *testing.T) {
	reg := newRegistry(t)
	place := "probes/chat-text-success/env-policy.json"
	must(t, os.WriteFile(filepath.Join(reg.Dir(), place), []byte("{\n\"set\":\n[]}"), 0o644))
	var broken *store.BrokenError
	if _, err := LoadProbe(reg, "chat-text-success"); !errors.As(err, &broken) || broken.File != place || broken.Line == 0 {
		t.Errorf("error %v, want one that names %s and a line", err, place)
	}
}

func TestCells(t *testing.T) {
	reg := newRegistry(t)
	a := agent(t, reg, "codex")
	got := cells(a, "0.133.0", []string{"version-probe", "chat-text-success"}, "", 2)
	seen := map[string]bool{}
	for _, c := range got {
		if c.Group != "codex@0.133.0" || c.Profile != contract.ProfileProduction || seen[c.ID] || !filepath.IsLocal(c.ID) || strings.ContainsAny(c.ID, `/\`) {
			t.Errorf("cell %+v: its id must be unique and a file name", c)
		}
		seen[c.ID] = true
	}
	if len(got) != 4 || got[0].Probe != "version-probe" || got[1].Repeat != 2 {
		t.Errorf("cells %+v", got)
	}
	gemini := agent(t, reg, "gemini")
	if got := cells(gemini, "0.61.0", []string{"version-probe", "chat-text-success"}, "acp", 1); len(got) != 1 || got[0].Profile != "acp" || got[0].Probe != "chat-text-success" {
		t.Errorf("a given profile is not the only one: %+v", got)
	}
	if n := len(groups(append(got, cells(a, "0.44.0", []string{"version-probe"}, "", 1)...))); n != 2 {
		t.Errorf("%d groups, want one a version", n)
	}
}

func TestPlanOfAnUncapturableAgent(t *testing.T) {
	reg := newRegistry(t)
	file, err := loadAgents(reg)
	must(t, err)
	i := slices.IndexFunc(file.Agents, func(a contract.Agent) bool { return a.Install == nil })
	if i < 0 {
		t.Skip("every agent can be installed")
	}
	var cannot *CannotKnowError
	if _, err := MakePlan(t.Context(), Options{Registry: reg, Targets: []Target{{Agent: file.Agents[i].ID}}}); !errors.As(err, &cannot) {
		t.Errorf("error %v, want CannotKnowError", err)
	}
	var unknown *agents.UnknownAgentError
	if _, err := MakePlan(t.Context(), Options{Registry: reg, Targets: []Target{{Agent: "codxe"}}}); !errors.As(err, &unknown) || unknown.Suggestion != "codex" {
		t.Errorf("error %v, want a suggestion", err)
	}
}
