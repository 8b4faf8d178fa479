package cli

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Man writes a manual page for every command to DIR, for man(1) and for packages.

Exit codes: 0; 2 usage.`,
		Example: `  agent-contracts man share/man/man1`,
		Args:    argsError(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			dir := a.absolute(args[0])
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			root := c.Root()
			root.DisableAutoGenTag = true // the same version gives the same bytes
			header := &doc.GenManHeader{Section: "1", Source: "agent-contracts " + agentcontracts.Version, Date: &time.Time{}}
			return doc.GenManTree(root, header, dir)
		},
	}
}
