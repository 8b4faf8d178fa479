package agents

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func TestFindSuggests(t *testing.T) {
	f := registryAgents(t)
	for id, want := range map[string]string{
		"codexx": "codex", "cladue": "claude", "claude-code": "claude", "@openai/codex": "codex", "Codex CLI": "codex",
		"emacs-agent": "", "": "", "kimmi": "kimi", "github-copilot": "copilot",
	} {
		_, err := Find(f, id)
		var unknown *UnknownAgentError
		if !errors.As(err, &unknown) {
			t.Fatalf("%q: %v is not an UnknownAgentError", id, err)
		}
		if unknown.Suggestion != want {
			t.Errorf("%q: suggestion %q, want %q", id, unknown.Suggestion, want)
		}
		if !strings.Contains(err.Error(), "codex") && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error %q helps nobody", id, err)
		}
	}
	if a, err := Find(f, "codex"); err != nil || a.ID != "codex" {
		t.Errorf("codex: %v", err)
	}
}

// Each change breaks one rule that the JSON Schema cannot say.
func TestBrokenDefinitionsAreRefused(t *testing.T) {
	tests := map[string]struct {
		change func(f *contract.AgentsFile)
		want   string
	}{
		"version":    {func(f *contract.AgentsFile) { f.SchemaVersion = 2 }, "schema_version is 2"},
		"twice":      {func(f *contract.AgentsFile) { f.Agents = append(f.Agents, f.Agents[0]) }, "used twice"},
		"range":      {func(f *contract.AgentsFile) { f.Agents[0].Launches[1].Versions = "new" }, `launches[1].versions: "new"`},
		"variable":   {func(f *contract.AgentsFile) { f.Agents[0].Launches[1].Argv[0] = "{cdw}" }, "unknown variable {cdw}"},
		"home":       {func(f *contract.AgentsFile) { f.Agents[0].HomeFiles[0].Path = "../x" }, "does not stay inside HOME"},
		"text":       {func(f *contract.AgentsFile) { f.Agents[0].HomeFiles[0].Text = "{cwd}{secret}" }, "unknown variable {secret}"},
		"env":        {func(f *contract.AgentsFile) { f.Agents[0].Env.Set["A"] = "{b}" }, "env.set.A: unknown variable {b}"},
		"state":      {func(f *contract.AgentsFile) { delete(f.Agents[0].Env.Credentials, "none") }, `the state "none" is missing`},
		"pattern":    {func(f *contract.AgentsFile) { f.Agents[0].VersionProbe.Products[0].Pattern = "(" }, "not a regular expression"},
		"production": {func(f *contract.AgentsFile) { f.Agents[0].Launches = f.Agents[0].Launches[:0] }, "launches is missing"},
		"native":     {func(f *contract.AgentsFile) { f.Agents[0].Install.NPM.Native[0].Path = "/bin/sh" }, "does not stay inside node_modules"},
		"unmarked":   {func(f *contract.AgentsFile) { delete(f.Agents[0].Coverage, "auth-failure") }, `"auth-failure" is not marked`},
		"reason": {func(f *contract.AgentsFile) {
			f.Agents[0].Coverage["auth-failure"] = contract.ProbeCoverage{Status: contract.CoverageMissing}
		}, "needs a reason"},
		"representative": {func(f *contract.AgentsFile) { f.Agents[0].RepresentativeProbe = "x" }, `"x" is not in coverage`},
		"family":         {func(f *contract.AgentsFile) { f.Agents[0].ProtocolFamilies[0] = "x/v1" }, `unknown family "x/v1"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := registryAgents(t)
			tt.change(f)
			b, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Read(strings.NewReader(string(b)), "agents.json")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v does not say %q", err, tt.want)
			}
		})
	}
}

func TestReadSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "agents.json",
		"{\n\n \"schema_version\": x}":  "agents.json:3",
		"{\"schema_version\": \"1\"}":   "agents.json:1",
		`{"schema_version": 1} {}`:      "text after",
		`{"schema_version": 1, "x": 1}`: `unknown field "x"`,
	} {
		if _, err := Read(strings.NewReader(text), "agents.json"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v does not say %q", text, err, want)
		}
	}
}

// The files are valid under their schemas, and the schemas are as strict as
// the decoder.
func TestFilesAreValid(t *testing.T) {
	b, err := os.ReadFile("../../registry/agents.json")
	if err != nil {
		t.Fatal(err)
	}
	if p := contract.Validate(contract.KindAgents, "registry/agents.json", b); len(p) > 0 {
		t.Errorf("registry/agents.json: %v", p)
	}
	for _, bad := range []string{`"native": [{"versions": "*"}]`, `"allow_scripts": "yes"`, `"shell": true`} {
		changed := strings.Replace(string(b), `"package": "@openai/codex",`, `"package": "@openai/codex", `+bad+`,`, 1)
		if p := contract.Validate(contract.KindAgents, "registry/agents.json", []byte(changed)); len(p) == 0 {
			t.Errorf("an npm definition with %s validates", bad)
		}
	}
	policies, err := filepath.Glob("../../probes/*/env-policy.json")
	if err != nil || len(policies) == 0 {
		t.Fatalf("%d policies, %v", len(policies), err)
	}
	for _, file := range policies {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p := contract.Validate(contract.KindProbe, file, b); len(p) > 0 {
			t.Errorf("%s: %v", file, p)
		}
	}
	if p := contract.Validate(contract.KindProbe, "p", []byte(`{"schema_version": 1, "credentials": "real"}`)); len(p) == 0 {
		t.Error("a probe asks for real credentials and validates")
	}
}

// All agents of OpenDesign v0.19.2 are here, each with its version probe, and
// with a definition or an exemption (FINE-PRINT 5).
func TestAllAgentsOfTheConsumerAreListed(t *testing.T) {
	want := strings.Fields(`amr claude codex devin opencode byok-opencode hermes trae-cli grok-build kimi cursor-agent qwen qoder
		copilot amp pi kiro kilo vibe deepseek deepseek-harness aider antigravity reasonix codebuddy mimo atomcode`)
	f := registryAgents(t)
	for _, id := range want {
		a := f.Agent(id)
		switch {
		case a == nil:
			t.Errorf("%s is missing", id)
		case a.VersionProbe == nil || len(a.VersionProbe.Args) == 0:
			t.Errorf("%s has no version probe", id)
		case a.Exemption == "" && len(a.Coverage) == 0:
			t.Errorf("%s has neither coverage nor an exemption", id)
		}
	}
	if len(want) != 27 {
		t.Errorf("the list has %d ids", len(want))
	}
}

// Dialects and probes that agents.json names exist.
func TestDefinitionsFitTheRegistry(t *testing.T) {
	b, err := os.ReadFile("../../registry/families.json")
	if err != nil {
		t.Fatal(err)
	}
	var families contract.Families
	if err := json.Unmarshal(b, &families); err != nil {
		t.Fatal(err)
	}
	family := map[string]contract.ProtocolFamily{}
	for _, d := range families.Dialects {
		family[d.ID] = d.ProtocolFamily
	}
	for _, a := range registryAgents(t).Agents {
		declared := map[contract.ProtocolFamily]bool{}
		for _, f := range a.ProtocolFamilies {
			declared[f] = true
		}
		for _, l := range a.Launches {
			if !declared[family[l.Dialect]] {
				t.Errorf("%s: dialect %q belongs to %q, which the agent does not declare", a.ID, l.Dialect, family[l.Dialect])
			}
		}
		for id := range a.Coverage {
			if _, err := os.Stat("../../probes/" + id + "/env-policy.json"); err != nil {
				t.Errorf("%s: coverage names the probe %q: %v", a.ID, id, err)
			}
		}
	}
}
