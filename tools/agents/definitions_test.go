package agents

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Every agent that can be captured gets its prompt, talks to the loopback
// provider and sees a made-up key only, in each profile and release range. One
// that works with its vendor's account alone may have no other address.
func TestDefinitionsAreHermetic(t *testing.T) {
	const base, prompt = "http://127.0.0.1:9", "Say hello."
	for _, a := range registryAgents(t).Agents {
		for _, version := range []string{"0.12.0", "0.50.0", "1.14.41", "2.1.100"} {
			for _, profile := range []string{contract.ProfileProduction, contract.ProfileCompatible} {
				if len(a.Launches) == 0 {
					continue
				}
				v, err := ParseToken(&a, version)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := HelpArgs(&a, v, "chat-text-success", profile); err != nil {
					continue // this release has no such launch
				}
				l, err := NewLaunch(&a, v, "chat-text-success", profile, Vars{
					Cwd: "/w", Home: "/h", Tmp: "/t", Prompt: prompt, PromptFile: "/t/p", BaseURL: base, Model: "probe-model-1", MaxRetries: 1,
					UUID: NewUUID(), APIKey: NewAPIKey(), Help: []byte{},
					LookupEnv: func(k string) (string, bool) { return "host-" + k, k != "PATH" },
				})
				if err != nil {
					t.Errorf("%s %s: %v", a.ID, version, err)
					continue
				}
				checkHermetic(t, a.ID+" "+version+" "+profile, l, base, prompt, a.Coverage["chat-text-success"].Status == contract.CoverageImpossible)
			}
		}
	}
}

func checkHermetic(t *testing.T, name string, l *Launch, base, prompt string, accountOnly bool) {
	t.Helper()
	all := strings.Join(l.Env, "\n")
	for _, f := range l.HomeFiles {
		all += "\n" + f.Text
		if path.Ext(f.Path) == ".json" && !json.Valid([]byte(f.Text)) {
			t.Errorf("%s: %s is not JSON", name, f.Path)
		}
	}
	if !accountOnly && !strings.Contains(all, base) {
		t.Errorf("%s: nothing names the provider's address", name)
	}
	if strings.Contains(all, "host-") {
		t.Errorf("%s: the child sees a variable of the host", name)
	}
	if !accountOnly && !strings.Contains(all+strings.Join(l.Argv, " "), "probe-model-1") {
		t.Errorf("%s: nothing names the model", name)
	}
	inArgv := slices.Contains(l.Argv, prompt)
	if inArgv == (l.StdinMode != contract.StdinNone) {
		t.Errorf("%s: stdin mode %s, prompt in the argv %v", name, l.StdinMode, inArgv)
	}
	if inArgv && slices.Contains(l.ArgvTemplate, prompt) {
		t.Errorf("%s: the recorded argv holds the prompt", name)
	}
}
