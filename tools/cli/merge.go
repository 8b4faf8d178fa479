package cli

import (
	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/merge"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) mergeStepCommand() *cobra.Command {
	var base string
	var refused []string
	c := &cobra.Command{
		Use:   "merge-step --base DIR",
		Short: "Say what a merge job does with new captures, by their verdict",
		Long: `Merge-step judges the observations that this registry has and the one in --base
lacks, and prints one action for each, and what follows for the job:

  same_shape            record: the observation is committed
  compatible_new_shape  propose: a pull request with shape, fixture and goldens
  server_variant        propose_variant: a pull request with both shapes
  parser_incompatible   publish_failing: the failing contract, and an alert
  redaction_failed      withhold: nothing public, and a private alert

A second shape of one version is a variant or a dispute, and always a pull
request. Whatever did not pass redaction, and each bundle named by --refused, is
withheld. It does nothing by itself; run validate before it, which derives
everything again.

Exit codes: 0; 2 usage, or a broken record.`,
		Example: `  agent-contracts merge-step --base ../main
  agent-contracts merge-step --base ../main --refused linux-x64-2`,
		Args: argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if base == "" {
				return usage("--base is required: name the registry as it was")
			}
			head, err := a.open()
			if err != nil {
				return err
			}
			trusted, err := store.Open(base)
			if err != nil {
				return err
			}
			outcomes, err := merge.Outcomes(trusted, head, refused)
			if err != nil {
				return err
			}
			return a.printJSON(merge.Plan(outcomes))
		},
	}
	c.Flags().StringVar(&base, "base", "", "the registry as it was, which is trusted")
	c.Flags().StringSliceVar(&refused, "refused", nil, "names of bundles that could not be derived again")
	_ = c.MarkFlagDirname("base")
	return c
}
