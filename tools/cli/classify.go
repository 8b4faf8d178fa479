package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	failure "github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
)

func (a *app) classifyCommand() *cobra.Command {
	var adapter string
	c := &cobra.Command{
		Use:   "classify",
		Short: "Say why a run failed, as the consumer does or as it is right",
		Long: `Classify reads a classifier input as JSON from stdin (result, status, errorCode,
agentId, events, cancelOrigin, terminalTrigger: what the consumer's daemon knows
of a run that has ended) and prints its classification as JSON, or null for a
run that succeeded.

The adapter open-design applies the rules of OpenDesign v0.19.2 in their order,
faults included. reference says what is right, as far as the input shows it: it
trusts the words of the CLI before the daemon's code, and the code before the
exit. It sees more in a whole transcript: agent-contracts replay.

Exit codes: 0; 2 usage, or stdin is not a classifier input.`,
		Example: `  agent-contracts classify < input.json
  agent-contracts classify --adapter reference < input.json`,
		Args: argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			rules := failure.Classify
			switch adapter {
			case "open-design", replay.AdapterOpenDesign:
			case replay.AdapterReference:
				rules = failure.Reference
			default:
				return &Exit{Code: ExitUsage, Err: fmt.Errorf("no --adapter %q here: want open-design or reference", adapter)}
			}
			return a.classify(rules)
		},
	}
	c.Flags().StringVar(&adapter, "adapter", "open-design", "whose rules: open-design or reference")
	_ = c.RegisterFlagCompletionFunc("adapter", cobra.FixedCompletions([]string{"open-design", "reference"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) classify(rules func(failure.Input) *contract.FailureClassification) error {
	b, err := io.ReadAll(a.env.Stdin)
	if err != nil {
		return err
	}
	in, err := classifierInput(b)
	if err != nil {
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("reading a classifier input from stdin: %w", err)}
	}
	return a.printJSON(rules(in))
}

func classifierInput(b []byte) (failure.Input, error) {
	var in failure.Input
	d := json.NewDecoder(bytes.NewReader(b))
	err := d.Decode(&in)
	switch {
	case errors.Is(err, io.EOF):
		return in, errors.New("it is empty")
	case err != nil:
		return in, errors.New(shapeOfError(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("there is text after the JSON value")
	}
	switch contract.RunResult(in.Result) {
	case contract.RunSuccess, contract.RunFailed, contract.RunCancelled:
		return in, nil
	}
	return in, errors.New("result is not success, failed or cancelled")
}

// shapeOfError describes a decoding error without quoting the input, which may
// hold what a CLI printed.
func shapeOfError(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Sprintf("%s has another type than %s", kind.Field, kind.Type)
	case errors.As(err, &syntax):
		return fmt.Sprintf("not JSON at byte %d", syntax.Offset)
	}
	return "the JSON is cut"
}
