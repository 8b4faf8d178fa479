package capture

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
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

// maxWritten bounds the files that AskInstalled reads.
const maxWritten = 64 << 20

// AskInstalled runs a short command of an installed program, as InstalledVersion
// does, and returns what it printed and the files that it wrote into the folder
// {out}, by name below it.
func AskInstalled(ctx context.Context, stateDir string, in *install.Installed, args []string, timeout time.Duration) (stdout, stderr []byte, files map[string][]byte, err error) {
	c := &capturer{opts: Options{StateDir: stateDir, Now: time.Now}}
	files = map[string][]byte{}
	said, err := c.smallThen(ctx, in, args, "", timeout, func(cwd string) error {
		root, err := os.OpenRoot(cwd) // a link that the program left leads nowhere
		if err != nil {
			return err
		}
		defer root.Close()
		left := int64(maxWritten)
		return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
			name, below := strings.CutPrefix(p, "out/")
			if err != nil || !d.Type().IsRegular() || !below {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if left -= info.Size(); left < 0 {
				return fmt.Errorf("the program wrote more than %d MB", maxWritten>>20)
			}
			files[name], err = fs.ReadFile(root.FS(), p)
			return err
		})
	})
	return said.stdout, said.stderr, files, err
}
