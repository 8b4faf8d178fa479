package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/bisect"
)

// bisectHistory derives docs/HISTORY.md and prints, writes or checks it.
func (a *app) bisectHistory(c *cobra.Command, f *bisectFlags, args []string) error {
	for _, name := range []string{"dry-run", "every", "format", "from", "jobs", "probe", "profile", "to"} {
		if c.Flags().Changed(name) {
			return usage("--history is about all that was captured, and is Markdown: leave --%s out", name)
		}
	}
	switch {
	case len(args) > 0:
		return usage("--history is about all agents: leave %s out", args[0])
	case f.write && f.check:
		return usage("give --check or --write, not both")
	}
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	want, err := bisect.WriteHistory(reg)
	if err != nil {
		return err
	}
	switch {
	case f.write:
		tx, err := reg.Begin(c.Context())
		if err != nil {
			return err
		}
		defer tx.Discard()
		if err := tx.Write(bisect.HistoryPath, want); err != nil {
			return err
		}
		return tx.Commit()
	case !f.check:
		_, err := a.env.Stdout.Write(want)
		return err
	}
	var have []byte
	if reg.Exists(bisect.HistoryPath) {
		if have, err = reg.ReadFile(bisect.HistoryPath); err != nil {
			return err
		}
	}
	if bytes.Equal(have, want) {
		a.talk("%s is what the records give", bisect.HistoryPath)
		return nil
	}
	return &Exit{Code: ExitFindings, Err: fmt.Errorf("%s is not what the records give: %s", bisect.HistoryPath, firstDifference(have, want)), Hint: "agent-contracts bisect --history --write"}
}
