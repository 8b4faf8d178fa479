package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func (a *app) replayAll(ctx context.Context, f *replayFlags) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	if adapters[f.adapter] == "" {
		return a.conform(ctx, f, reg)
	}
	var rows []capture.GoldenRow
	if err := eachFixture(reg, f.dialect, func(d *contract.Dialect, o *contract.Observation) error {
		more, err := capture.HoldGoldens(reg, d, o)
		rows = append(rows, more...)
		return err
	}); err != nil {
		return err
	}
	if f.write {
		if err := capture.WriteGoldens(ctx, reg, rows); err != nil {
			return err
		}
	}
	if err := a.printGoldens(f, rows); err != nil {
		return err
	}
	bad, written := 0, 0
	for _, r := range rows {
		switch r.Status {
		case capture.GoldenDiffers, capture.GoldenMissing:
			bad++
		case capture.GoldenWritten:
			written++
		}
	}
	a.talk("%s read, %s", count(len(rows), "reading"), goldenTally(f.write, bad, written, reg.Versioned()))
	if bad > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func goldenTally(write bool, bad, written int, versioned bool) string {
	switch {
	case !write:
		return fmt.Sprintf("%d not as the goldens say", bad)
	case bad > 0:
		return fmt.Sprintf("%s written, %d not: their records name no golden, or their reader is gone", count(written, "golden"), bad)
	case written > 0 && versioned:
		return count(written, "golden") + " written. Look at them with git diff; errors --write and matrix --write follow"
	case written > 0:
		return count(written, "golden") + " written; errors --write and matrix --write follow"
	}
	return "every golden is as they say"
}

// printGoldens prints all rows, or with --write those that it changed or had to
// leave.
func (a *app) printGoldens(f *replayFlags, rows []capture.GoldenRow) error {
	shown := []capture.GoldenRow{} // a list, also when it is empty
	for _, r := range rows {
		if !f.write || r.Status != capture.GoldenSame && r.Status != replay.StatusNotRun {
			shown = append(shown, r)
		}
	}
	if f.format == "json" {
		return a.printJSON(shown)
	}
	if f.write && len(shown) == 0 {
		return nil
	}
	cells := [][]string{{"status", "agent", "adapter", "fixture"}}
	for _, r := range shown {
		cells = append(cells, []string{r.Status, r.Agent, r.Adapter, r.Fixture})
	}
	return table(a.env.Stdout, cells)
}

// eachFixture calls do once for each fixture of the dialects that the flags
// allow and each agent that it stands for.
func eachFixture(reg *store.Registry, f dialectFlags, do func(*contract.Dialect, *contract.Observation) error) error {
	families, err := reg.Families()
	if err != nil {
		return err
	}
	allowed, err := matching(families, f)
	if err != nil {
		return err
	}
	observations, err := play.Records(reg, "")
	if err != nil {
		return err
	}
	done := map[[3]string]bool{}
	for i := range observations {
		o := &observations[i].Observation
		key := [3]string{o.Extensions.Fixture, o.Agent, o.Extensions.Dialect}
		if done[key] {
			continue
		}
		done[key] = true
		d := families.Dialect(o.Extensions.Dialect)
		if d == nil {
			return &dialectError{fmt.Errorf("registry/families.json has no dialect %q", o.Extensions.Dialect)}
		}
		if allowed.Dialect(d.ID) == nil {
			continue
		}
		if err := do(d, o); err != nil {
			return fmt.Errorf("replaying %s: %w", o.Extensions.Fixture, err)
		}
	}
	return nil
}

// fixtureOf reads the fixture that an observation names.
func fixtureOf(reg *store.Registry, o *contract.Observation) (*transcript.Transcript, error) {
	b, err := reg.ReadFile(o.Extensions.Fixture)
	if err != nil {
		return nil, err
	}
	return transcript.ReadSanitized(bytes.NewReader(b))
}
