package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
)

func (a *app) normalizeCommand() *cobra.Command {
	f := &dialectFlags{}
	q := &qualityFlags{}
	c := &cobra.Command{
		Use:   "normalize FILE...",
		Short: "Print the shape of a transcript: its structure without its content",
		Long: `Normalize reads a sanitized transcript, a recording of the private store, or
what a CLI printed on stdout, and prints its shape: the kinds of frames, their
members and enum values, and their order. The signature in it is the same for
every run with the same structure.

FILE may be - for stdin. One FILE gives indented JSON, several give one shape a
line. What is not named with --family or --kind is guessed from the content and
said on stderr. What a CLI printed tells nothing of its exit, so such a shape
has exit "unknown".

With --sensitivity or --stability it measures shapes instead, over the fixtures
of the registry, or those whose place starts with one of the FILEs. Sensitivity
changes one thing at a time: each change of structure must give another
signature, each change of content the same one, save in parts that the dialect
declares by chance. Stability cuts the bytes of each run anew, and counts the
signatures of what was captured repeatedly; capture --like OBSERVATION
--repeat 20, beside a load, adds to these.

Exit codes: 0; 1 not normalizable, or a measurement found what no rule explains,
as are the races of some CLIs that docs/benchmarks/stability.md names; 2 usage; 3
a FILE cannot be read.`,
		Example: `  agent-contracts normalize fixtures/json-event-stream/*.jsonl
  codex exec --json "say hello" | agent-contracts normalize - --kind codex
  agent-contracts normalize --sensitivity fixtures/acp-json-rpc/`,
		Args: argsError(func(c *cobra.Command, args []string) error {
			if q.sensitivity || q.stability {
				return nil
			}
			return cobra.MinimumNArgs(1)(c, args)
		}),
		RunE: func(c *cobra.Command, args []string) error {
			if q.sensitivity || q.stability {
				if *f != (dialectFlags{}) {
					return usage("a measurement takes the dialect of each fixture: leave --family and --kind out")
				}
				return a.shapeQuality(q, args)
			}
			if c.Flags().Changed("format") {
				return usage("--format goes with --sensitivity and --stability")
			}
			return a.normalize(*f, args)
		},
	}
	q.add(c)
	a.dialectFlags(c, f)
	return c
}

func (a *app) normalize(f dialectFlags, files []string) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	families, err := reg.Families()
	if err != nil {
		return err
	}
	for _, name := range files {
		shape, err := a.shape(families, name, f)
		if err != nil {
			return err
		}
		if len(files) == 1 {
			return a.printJSON(shape)
		}
		if err := a.printLine(shape); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) shape(families *contract.Families, name string, f dialectFlags) (*contract.Shape, error) {
	in, err := a.readTranscript(name)
	if err != nil {
		return nil, err
	}
	d, err := a.dialect(families, in, f)
	if err != nil {
		return nil, notNormalizable(err)
	}
	shape, _, err := normalize.Shape(in.transcript, d, contract.LevelRuntimeObserved)
	if err != nil {
		return nil, &Exit{Code: ExitFindings, Err: fmt.Errorf("%s: %w", name, err)}
	}
	return shape, nil
}

// notNormalizable gives an unknown dialect the exit code of this command.
func notNormalizable(err error) error {
	var unknown *dialectError
	if !errors.As(err, &unknown) {
		return err
	}
	out := &Exit{Code: ExitFindings, Err: err}
	var exit *Exit
	if errors.As(err, &exit) {
		out.Hint = exit.Hint
	}
	return out
}

// printLine writes one value as one line of JSON.
func (a *app) printLine(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.env.Stdout.Write(b.Bytes())
	return err
}
