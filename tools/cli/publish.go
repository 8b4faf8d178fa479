package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/publish"
)

type publishFlags struct {
	data string
}

func (a *app) publishCommand() *cobra.Command {
	f := &publishFlags{}
	c := &cobra.Command{
		Use:   "publish",
		Short: "Make the npm package",
		Long: `Publish --data DIR writes the records of the npm package: those of the registry
as they lie in it, and beside them the contracts of a consumer's tests and what
is claimed about each version. The package's build calls it.

Exit codes: 0; 2 usage, or a broken record.`,
		Example: `  agent-contracts publish --data npm/data`,
		Args:    argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			reg, err := a.openRecords()
			if err != nil {
				return err
			}
			if f.data == "" {
				return usage("say where to with --data DIR")
			}
			return publish.Data(c.Context(), reg, f.data)
		},
	}
	c.Flags().StringVar(&f.data, "data", "", "write the package's records to this folder, and nothing else")
	_ = c.MarkFlagDirname("data")
	return c
}
