package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type matrixFlags struct {
	check, write, explain, quality bool
	platform, probe                string
	format                         format
}

func (a *app) matrixCommand() *cobra.Command {
	f := &matrixFlags{}
	c := &cobra.Command{
		Use:   "matrix",
		Short: "Derive the support matrix from the records, and explain it",
		Long: `Matrix derives what the registry claims from its observations, policy.json and
latest-seen.json, and prints it as JSON, or as a table with --format text. The
same records always give the same bytes. Outside a registry it prints the matrix
in the binary.

With --check it prints nothing and compares them with the committed
registry/support-matrix.json; with --write it writes that file, and the level of
every shape that the observations change, all at once.

With --explain AGENT VERSION it follows the claim about one version down to its
evidence: status, range, observed or interpolated, observations, shapes,
fixtures, hashes of the raw transcripts, why it is not verified, and the cheapest
next step. With --quality it says how good the evidence is, by agent: shares of
observed, interpolated and unknown cells (versions times probes), stability of
repeated captures, and age.

Exit codes: 0; 1 the committed matrix differs; 2 usage, or a broken record.`,
		Example: `  agent-contracts matrix --format text
  agent-contracts matrix --check
  agent-contracts matrix --write
  agent-contracts matrix --explain codex 0.133.0 --probe chat-tool-success
  agent-contracts matrix --quality`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.matrixCommanded(c, f, args) },
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if !f.explain {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeVersions(c, args, word)
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.check, "check", false, "exit 1 when the committed matrix differs")
	fl.BoolVar(&f.write, "write", false, "write "+matrix.Path)
	fl.BoolVar(&f.explain, "explain", false, "follow the claim about AGENT VERSION down to its evidence")
	fl.BoolVar(&f.quality, "quality", false, "say how good the evidence is, by agent")
	a.platformFlag(c, &f.platform)
	fl.StringVar(&f.probe, "probe", "", "with --explain: this probe only")
	_ = c.RegisterFlagCompletionFunc("probe", a.completeProbes)
	fl.StringVar((*string)(&f.format), "format", "", "output: json or text (default: json; with --explain and --quality text)")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"json", "text"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// settle fills in what was not given and refuses what does not go together.
func (f *matrixFlags) settle(c *cobra.Command, args []string) error {
	given := 0
	for _, set := range []bool{f.check, f.write, f.explain, f.quality} {
		if set {
			given++
		}
	}
	switch {
	case f.check && f.write:
		return usage("give --check or --write, not both")
	case given > 1:
		return usage("give one of --check, --write, --explain and --quality")
	case f.explain && len(args) != 2:
		return usage("--explain wants AGENT VERSION, as in: matrix --explain codex 0.133.0")
	case !f.explain && len(args) > 0:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("unexpected argument %q", args[0]), Hint: "see agent-contracts matrix --help"}
	case !f.explain && (f.probe != "" || c.Flags().Changed("platform")):
		return usage("--platform and --probe go with --explain")
	case f.format != "" && (f.check || f.write):
		return usage("--format has nothing to do with --check and --write")
	case f.format == "" && (f.explain || f.quality):
		f.format = "text"
	case f.format == "":
		f.format = "json"
	}
	return f.format.check("json", "text")
}

func (a *app) matrixCommanded(c *cobra.Command, f *matrixFlags, args []string) error {
	if err := f.settle(c, args); err != nil {
		return err
	}
	reg, err := a.openRecords()
	if reg == nil && a.registry == "" && !f.check && !f.write && !f.explain && !f.quality {
		return a.embeddedMatrix(f)
	}
	switch {
	case err != nil:
		return err
	case f.write:
		return a.writeMatrix(c.Context(), reg)
	case f.explain:
		return a.explainClaim(f, reg, args[0], args[1])
	case f.quality:
		return a.quality(f, reg)
	case f.format == "text":
		r, err := matrix.Load(reg)
		if err != nil {
			return err
		}
		m, err := matrix.Build(r)
		if err != nil {
			return err
		}
		return a.matrixTable(m)
	}
	return a.matrix(reg, f.check)
}

// embeddedMatrix prints the matrix in the binary, which has no records to derive
// it from.
func (a *app) embeddedMatrix(f *matrixFlags) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	if f.format == "text" {
		m := &contract.SupportMatrix{}
		if err := reg.ReadJSON(matrix.Path, m); err != nil {
			return err
		}
		return a.matrixTable(m)
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
