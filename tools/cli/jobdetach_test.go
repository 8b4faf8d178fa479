package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
)

// Bad input of a job is refused while the request has no trace (D5), whichever
// command it is for.
func TestDetachRefusesBeforeAnythingIsWritten(t *testing.T) {
	for _, args := range []string{
		"capture", "capture codx", "capture codex --probe none", "capture codex --profile none", "capture codex --bin /none",
		"capture codex --bin /", "capture codex --bin=", "capture codex --ask sometimes", "capture codex --ask inline",
		"capture codex --dry-run", "capture codex --repeat 0", "capture --input /none", "capture --like none",
		"bisect", "bisect codx", "bisect codex --every 0", "bisect codex --jobs 0", "bisect codex --probe none",
		"bisect codex --profile none", "bisect codex --from none", "bisect codex --from 2.0.0 --to 1.0.0",
		"bisect codex --format none", "bisect codex --write", "bisect codex --dry-run", "bisect --history",
		"discover codx", "discover --format none", "campaign codx", "campaign --format none",
		"replay", "replay --all", "replay --run", "replay --run none.jsonl", "replay --run --all x", "replay --run --all --kind none",
		"replay --run --all --family none", "replay --run --all --adapter open-design", "replay --run --all --registry /none",
	} {
		env := testEnv(t, "", append(strings.Fields(args), "--detach", "--machine")...)
		e := envelopeOf(t, env)
		if e.OK || e.Error.Kind != machine.InvalidInput && e.Error.Kind != machine.NotFound {
			t.Errorf("%s: %s %+v", args, e.Data, e.Error)
		}
		if _, err := os.Stat(filepath.Join(env.Getenv("XDG_STATE_HOME"), "agent-contracts")); err == nil {
			t.Errorf("%s: a refused submission left a trace", args)
		}
	}
}
