package capture

import (
	"context"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

// InstalledVersion asks an installed program who it is, as a capture does: in
// an empty HOME, without a network where the system allows that, within the
// time of the agent's version probe. stateDir is the private state folder.
func InstalledVersion(ctx context.Context, stateDir string, a *contract.Agent, path string) (agents.Version, error) {
	c := &capturer{opts: Options{StateDir: stateDir, Now: time.Now}}
	return c.askVersion(ctx, a, &install.Installed{Agent: a.ID, Path: path, Launcher: install.LauncherNative, Source: path})
}
