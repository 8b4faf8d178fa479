package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/recordings"
)

func (a *app) checkRecordingsCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "check-recordings DIR",
		Short: "Say which of your stored streams are still what CLIs print",
		Long: `Check-recordings reads the streams that your tests replay: JSONL as a CLI printed
it, JSON and YAML cassettes that hold it under stdout, output, body or lines,
terminal casts, transcripts, OpenDesign's mocks. For each it says which captured
versions emit every kind of frame, member and word in it, what earlier versions
emitted and no current one does any more, and what nobody ever captured. Nothing
is changed and nothing leaves the machine.

  current    a version that is current emits all of it
  stale      something in it is gone from current versions
  unknown    something in it nobody captured: new, or never real
  no_stream  no protocol that is known here

Exit codes: 0 all current, or no streams; 1 something is stale or unknown; 2
usage; 3 DIR cannot be read.`,
		Example: `  agent-contracts check-recordings tests/fixtures
  agent-contracts check-recordings mocks --format json`,
		Args: argsError(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			reg, err := a.openRecords()
			if err != nil {
				return err
			}
			rows, err := recordings.Check(c.Context(), reg, a.absolute(args[0]))
			if err != nil {
				return err
			}
			return a.printRecordings(f, rows)
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) printRecordings(f format, rows []recordings.Row) error {
	if f == "json" {
		if err := a.printJSON(rows); err != nil {
			return err
		}
	} else if err := table(a.env.Stdout, recordingCells(rows)); err != nil {
		return err
	}
	n := map[recordings.State]int{}
	for _, r := range rows {
		n[r.State]++
	}
	a.talk("%s: %d current, %d stale, %d unknown, %d without a stream", count(len(rows), "recording"),
		n[recordings.StateCurrent], n[recordings.StateStale], n[recordings.StateUnknown], n[recordings.StateNoStream])
	if n[recordings.StateStale]+n[recordings.StateUnknown] > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func recordingCells(rows []recordings.Row) [][]string {
	cells := [][]string{{"state", "dialect", "versions", "gone or never captured", "recording"}}
	for _, r := range rows {
		odd := append(append([]string{}, r.Gone...), r.Never...)
		what := r.Reason
		if len(odd) > 0 {
			what = odd[0]
		}
		if len(odd) > 1 {
			what += " and " + count(len(odd)-1, "more thing")
		}
		cells = append(cells, []string{string(r.State), dash(r.Dialect), dash(shortList(r.Versions)), dash(oneLine(what)), oneLine(r.File) + strings.TrimSuffix("#"+r.At, "#")})
	}
	return cells
}

// shortList shows the ends of a long list.
func shortList(list []string) string {
	if len(list) > 3 {
		return list[0] + " … " + list[len(list)-1]
	}
	return strings.Join(list, " ")
}
