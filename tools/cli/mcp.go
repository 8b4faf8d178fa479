package cli

import (
	"time"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/mcp"
)

// mcpTimeout bounds one tool call; the longest is a wait.
const mcpTimeout = 2 * time.Hour

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Offer the registry and the jobs to agents as MCP tools",
		Long: `Mcp is a server of the Model Context Protocol on stdin and stdout. Its tools are
the commands that read (can-i-use, compatibility, compare, explain, health, …)
and those about jobs; each answers with the data of the command's --machine
envelope.

Exit codes: 0 when stdin ends; 2 usage.`,
		Example: `  claude mcp add agent-contracts -- agent-contracts mcp
  codex mcp add agent-contracts -- agent-contracts mcp`,
		Annotations: map[string]string{noMachine: "its stdout is a protocol of its own"},
		Args:        argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			client, _, err := machine.Connect(c.Context(), thisProgram(), mcpTimeout)
			if err != nil {
				return err
			}
			var global []string
			if a.registry != "" {
				global = append(global, "--registry="+a.registry)
			}
			return mcp.Serve(c.Context(), mcp.Server(agentcontracts.Version, client, global...))
		},
	}
}
