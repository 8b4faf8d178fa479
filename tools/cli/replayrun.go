package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/play/gate"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// runSilence is how long a child that stalls in its recording is given. It is
// long for a machine under load and short for a person.
const runSilence = 5 * time.Second

// checkReplayRun refuses a gate that cannot begin, without writing anything: of
// the uses of replay it alone can be a job.
func (a *app) checkReplayRun(f *replayFlags, names []string) error {
	if !f.run {
		return usage("of replay only --run can be a job")
	}
	if err := f.check(names); err != nil {
		return err
	}
	reg, err := a.open()
	if err != nil {
		return err
	}
	families, err := reg.Families()
	if err != nil {
		return err
	}
	if _, err := matching(families, f.dialect); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Stat(a.absolute(name)); err != nil && !reg.Exists(filepath.ToSlash(name)) {
			return usage("reading %s: %v", name, err)
		}
	}
	return nil
}

// replayRun is the run-harness gate.
func (a *app) replayRun(ctx context.Context, f *replayFlags, names []string) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	records, err := a.runRecords(reg, f, names)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "replay-run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	report, err := gate.Run(ctx, gate.Options{
		Registry: reg, Program: []string{program, "play", "--no-delay", "--registry", reg.Dir()}, Dir: dir,
		Silence: runSilence, Parallel: 2 * runtime.GOMAXPROCS(0),
		Progress: func(done, of int) {
			if a.tell != nil {
				a.tell(done, of, "fixtures played")
			}
			if a.env.Terminal && !a.quiet {
				fmt.Fprintf(a.env.Stderr, "\r%d of %d", done, of)
			}
		},
	}, records)
	if a.env.Terminal && !a.quiet {
		fmt.Fprint(a.env.Stderr, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if err := a.printRuns(f.format, report); err != nil {
		return err
	}
	none := report.Count(gate.StatusNotPlayed)
	said := fmt.Sprintf("%s played, %d not as recorded", count(len(report.Rows)-none, "fixture"), report.Count(gate.StatusDiffers))
	if none > 0 {
		said += fmt.Sprintf(", %d without a child to play", none)
	}
	a.talk("%s", said)
	if len(report.Missing) > 0 && f.all && f.dialect == (dialectFlags{}) {
		words := make([]string, len(report.Missing))
		for i, m := range report.Missing {
			words[i] = string(m)
		}
		a.talk("without a fixture: %s", strings.Join(words, ", "))
	}
	if report.Count(gate.StatusDiffers) > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

// runRecords returns the records of the fixtures that are to be played.
func (a *app) runRecords(reg *store.Registry, f *replayFlags, names []string) ([]store.Observed, error) {
	all, err := play.Records(reg, "")
	if err != nil {
		return nil, err
	}
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	allowed, err := matching(families, f.dialect)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(o store.Observed) bool { return allowed.Dialect(o.Extensions.Dialect) == nil })
	if f.all {
		return all, nil
	}
	var out []store.Observed
	for _, name := range names {
		place := filepath.ToSlash(name)
		if rel, err := filepath.Rel(reg.Dir(), a.absolute(name)); err == nil && filepath.IsLocal(rel) && !reg.Exists(place) {
			place = filepath.ToSlash(rel)
		}
		n := len(out)
		for _, o := range all {
			if o.Extensions.Fixture == place {
				out = append(out, o)
			}
		}
		if len(out) == n {
			return nil, &Exit{Code: ExitUsage, Err: fmt.Errorf("%s is no fixture of a record in the registry", name), Hint: "see agent-contracts replay --run --all --format json for their names"}
		}
	}
	return out, nil
}

// absolute is a file name of the user's, from the folder that they are in.
func (a *app) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.env.Dir, name)
}

// dash is a cell of a table that has nothing in it.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (a *app) printRuns(f format, report *gate.Report) error {
	if f == "json" {
		if report.Rows == nil {
			report.Rows = []gate.Row{}
		}
		return a.printJSON(report)
	}
	cells := [][]string{{"status", "agent", "stdin closed", "exit", "daemon", "fixture"}}
	for _, r := range report.Rows {
		cells = append(cells, []string{r.Status, r.Agent, dash(r.Stdin), dash(r.Exit), dash(r.Daemon), r.Fixture})
	}
	if err := table(a.env.Stdout, cells); err != nil {
		return err
	}
	for _, r := range report.Rows {
		for _, what := range r.Findings {
			a.warn("%s (%s): %s", r.Fixture, r.Agent, what)
		}
	}
	return nil
}
