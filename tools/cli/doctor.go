package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) doctorCommand() *cobra.Command {
	var form format
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything on this machine that matters",
		Long: `Doctor looks at the registry and its age, Node.js and npm, the cache, the private
state folders and their rights, whether a CLI can be kept from the network, and
every agent CLI on PATH with its version and status. It changes nothing and uses
no network. Each line that is not ok says what to do.

Exit codes: 0 nothing to repair; 1 something to repair, or a CLI that must not be
run; 2 usage; 3 something could not be looked at.`,
		Example: `  agent-contracts doctor
  agent-contracts doctor --format json`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := form.check("text", "json"); err != nil {
				return err
			}
			k, err := a.checker(false)
			if err != nil {
				return err
			}
			places := compat.Places{Cache: install.DefaultCache(), FromBinary: k.Registry.ReadOnly()}
			if dir, err := store.UserDir(a.env.Getenv); err == nil {
				places.UserRegistry = dir
			}
			found, err := k.Diagnose(c.Context(), places)
			if err != nil {
				return err
			}
			return a.diagnosis(found, form)
		},
	}
	a.formatFlag(c, &form, "text", "json")
	return c
}

func (a *app) diagnosis(found []compat.Finding, form format) error {
	code := ExitOK
	rows := make([][]string, 0, len(found))
	for _, f := range found {
		rows = append(rows, []string{string(f.State), f.Check, oneLine(f.Detail)})
		if f.Next.Text != "" {
			rows = append(rows, []string{"", "", "next: " + oneLine(f.Next.String())})
		}
		switch {
		case f.State == compat.StateRepair:
			code = ExitFindings
		case f.State == compat.StateUnknown && code == ExitOK:
			code = ExitCannotKnow
		}
	}
	var err error
	if form == "json" {
		err = a.printJSON(struct {
			SchemaVersion int              `json:"schema_version"`
			Findings      []compat.Finding `json:"findings"`
		}{contract.SchemaVersion, found})
	} else {
		err = table(a.env.Stdout, rows)
	}
	if err != nil {
		return fmt.Errorf("printing the findings: %w", err)
	}
	if code != ExitOK {
		return &Exit{Code: code}
	}
	return nil
}
