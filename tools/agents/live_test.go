package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// A live child gets the host's credentials and nothing that would send it to
// the loopback provider; a hermetic one never sees the host's credentials.
func TestLiveAndHermeticEnvironments(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "registry", "agents.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := agents.Read(f, "agents.json")
	if err != nil {
		t.Fatal(err)
	}
	const real = "host-credential"
	for _, id := range []string{"codex", "claude"} {
		t.Run(id, func(t *testing.T) {
			a := file.Agent(id)
			v, err := agents.ParseToken(a, "2.1.200")
			if err != nil {
				t.Fatal(err)
			}
			host := map[string]string{"PATH": "/bin", a.Env.Live[0]: real}
			launch := func(live bool, state contract.CredentialState, host map[string]string) (*agents.Launch, error) {
				return agents.NewLaunch(a, v, "chat-text-success", contract.ProfileProduction, agents.Vars{
					Cwd: "/w", Home: "/h", Tmp: "/t", PromptFile: "/t/p", BaseURL: "http://127.0.0.1:9", Model: "m", UUID: "u", APIKey: "k",
					Policy: &contract.EnvPolicy{Credentials: state}, Help: []byte{}, Live: live,
					LookupEnv: func(k string) (string, bool) { v, ok := host[k]; return v, ok },
				})
			}
			l, err := launch(true, contract.CredentialsDummy, host)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(l.Secrets, real) || len(l.HomeFiles) > 0 || strings.Contains(strings.Join(l.Env, "\n"), "127.0.0.1") {
				t.Errorf("live launch: secrets known %v, %d HOME files, env names %d", slices.Contains(l.Secrets, real), len(l.HomeFiles), len(l.Env))
			}
			if _, err := launch(true, contract.CredentialsDummy, map[string]string{}); !errors.Is(err, agents.ErrNoLiveCredentials) {
				t.Errorf("live launch without credentials: %v", err)
			}
			for _, state := range contract.CredentialStates {
				l, err := launch(false, state, host)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(strings.Join(l.Env, "\n"), real) {
					t.Errorf("a hermetic child with %s credentials sees the host's", state)
				}
			}
			if l, err := launch(true, contract.CredentialsInvalid, host); err != nil || strings.Contains(strings.Join(l.Env, "\n"), real) {
				t.Errorf("a live auth failure gets the real credential: %v", err)
			}
		})
	}
}
