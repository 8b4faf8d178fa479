package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) matrixCommand() *cobra.Command {
	var check, write bool
	c := &cobra.Command{
		Use:   "matrix",
		Short: "Derive the support matrix from the records",
		Long: `Matrix derives what the registry claims from its observations, policy.json and
latest-seen.json, and prints it as JSON. The same records always give the same
bytes. Outside a registry it prints the matrix in the binary.

With --check it prints nothing and compares them with the committed
registry/support-matrix.json; with --write it writes that file, and the level of
every shape that the observations change, all at once.

Exit codes: 0; 1 the committed matrix differs; 2 usage, or a broken record.`,
		Example: `  agent-contracts matrix
  agent-contracts matrix --check
  agent-contracts matrix --write`,
		Args: argsError(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if check && write {
				return usage("give --check or --write, not both")
			}
			reg, err := a.openRecords()
			if reg == nil && !check && !write && a.registry == "" {
				return a.embeddedMatrix()
			}
			switch {
			case err != nil:
				return err
			case write:
				return a.writeMatrix(c.Context(), reg)
			}
			return a.matrix(reg, check)
		},
	}
	c.Flags().BoolVar(&check, "check", false, "exit 1 when the committed matrix differs")
	c.Flags().BoolVar(&write, "write", false, "write "+matrix.Path)
	return c
}

// embeddedMatrix prints the matrix in the binary, which has no records to derive
// it from.
func (a *app) embeddedMatrix() error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	b, err := reg.ReadFile(matrix.Path)
	if err != nil {
		return err
	}
	_, err = a.env.Stdout.Write(b)
	return err
}

func (a *app) matrix(reg *store.Registry, check bool) error {
	want, same, err := matrix.Check(reg)
	if err != nil {
		return err
	}
	if !check {
		_, err = a.env.Stdout.Write(want)
		return err
	}
	if same {
		a.talk("%s is what the records give", matrix.Path)
		return nil
	}
	what := "there is no " + matrix.Path
	if reg.Exists(matrix.Path) {
		have, err := reg.ReadFile(matrix.Path)
		if err != nil {
			return err
		}
		what = matrix.Path + " is not what the records give: " + firstDifference(have, want)
	}
	return &Exit{Code: ExitFindings, Err: fmt.Errorf("%s", what), Hint: "agent-contracts matrix --write"}
}

// firstDifference names the first line that differs.
func firstDifference(have, want []byte) string {
	a, b := bytes.Split(have, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("it ends before line %d, %q", i+1, bytes.TrimSpace(b[i]))
		case i >= len(b):
			return fmt.Sprintf("it should end before line %d, %q", i+1, bytes.TrimSpace(a[i]))
		case !bytes.Equal(a[i], b[i]):
			return fmt.Sprintf("line %d is %q, not %q", i+1, bytes.TrimSpace(a[i]), bytes.TrimSpace(b[i]))
		}
	}
	return "they are the same"
}

func (a *app) writeMatrix(ctx context.Context, reg *store.Registry) error {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	if err := matrix.Refresh(reg, tx, nil); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	a.talk("wrote %s", matrix.Path)
	return nil
}
