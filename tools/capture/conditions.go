package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
)

// interruptQuiet is how long a CLI has to be silent after the provider's reply
// before its interrupt comes: long enough to print what it got, so that two
// runs stop at the same place.
const interruptQuiet = 3 * time.Second

// conditions makes the surroundings of the child as bad as the probe wants
// them: a program that is not there, a folder that takes no file, a signal.
// replied is closed when the provider's first reply is out.
func (p *Probe) conditions(spec *harness.Spec, ws *workspace, replied <-chan struct{}) error {
	if p.EnvPolicy.Executable == contract.ExecutableMissing {
		spec.Path = filepath.Join(ws.cwd, "no-such-program")
	}
	if p.EnvPolicy.Workspace == contract.WorkspaceReadOnly {
		if err := ws.freeze(); err != nil {
			return err
		}
	}
	if i := p.Scenario.Interrupt; i != nil && i.After == contract.InterruptAfterOutput {
		spec.Interrupt = &harness.Interrupt{Signal: i.Signal, AfterBytes: 1}
	} else if i != nil {
		spec.Interrupt = &harness.Interrupt{Signal: i.Signal, On: replied, Quiet: interruptQuiet}
	}
	return nil
}

// freeze takes away the child's right to write into its working folder. The
// files in it stay readable.
func (w *workspace) freeze() error {
	if w.uid != 0 {
		if err := os.Lchown(w.cwd, 0, 0); err != nil {
			return fmt.Errorf("taking a workspace from the child's user: %w", err)
		}
	}
	if err := os.Chmod(w.cwd, 0o555); err != nil {
		return fmt.Errorf("making a workspace read-only: %w", err)
	}
	return nil
}
