//go:build unix

package capture

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
)

func TestMain(m *testing.M) {
	if harness.SuperviseMain() { // starts the programs that are asked for their versions
		return
	}
	os.Exit(m.Run())
}

// program writes a program where children of root, who run as another user, can
// reach it.
func program(t *testing.T, text string) (state, path string) {
	t.Helper()
	state = t.TempDir()
	for d := state; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
	path = filepath.Join(state, "codex")
	must(t, os.WriteFile(path, []byte(text), 0o755))
	return state, path
}

// Whoever asks a program for its version learns whether this machine failed, the
// program said nothing in time, or it is another one.
func TestVersionThatIsNotTold(t *testing.T) {
	codex := agent(t, newRegistry(t), "codex")
	hasty, probe := *codex, *codex.VersionProbe
	probe.TimeoutMS = 1
	hasty.VersionProbe = &probe
	for name, c := range map[string]struct {
		agent   *contract.Agent
		program string
		inFile  bool // where its state should be there is a file
		want    error
	}{
		"silent":         {codex, "#!/bin/sh\n", false, ErrNoAnswer},
		"no program":     {codex, "\x00", false, ErrNoAnswer},
		"slow":           {&hasty, "#!/bin/sh\nexec sleep 60\n", false, ErrNoAnswer},
		"broken":         {codex, "#!/bin/sh\necho Node.js v22.23.5 >&2\nexit 1\n", false, ErrNoAnswer},
		"another":        {codex, "#!/bin/sh\necho 1.2.3\n", false, ErrOtherVersion},
		"no place to be": {codex, "#!/bin/sh\necho codex-cli 0.133.0\n", true, ErrMachine},
	} {
		t.Run(name, func(t *testing.T) {
			state, path := program(t, c.program)
			if c.inFile {
				state = path
			}
			_, err := InstalledVersion(t.Context(), state, c.agent, path)
			var unknown *CannotKnowError
			if !errors.Is(err, c.want) || !errors.As(err, &unknown) {
				t.Errorf("got %v, want one about %q", err, c.want)
			}
		})
	}
}
