package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The statuses of a fixture against one golden.
const (
	goldenSame    = "ok"
	goldenDiffers = "differs"
	goldenMissing = "missing"
)

// replayed is one row of replay --all.
type replayed struct {
	Fixture string `json:"fixture"`
	Agent   string `json:"agent"`
	Adapter string `json:"adapter"`
	// Status is ok, differs, missing, or not_run where the adapter has no
	// reader and there is no golden.
	Status string `json:"status"`
	Golden string `json:"golden,omitempty"`
}

func (a *app) replayAll(ctx context.Context, f *replayFlags) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	if adapters[f.adapter] == "" {
		return a.conform(ctx, f, reg)
	}
	var rows []replayed
	if err := eachFixture(reg, f.dialect, func(d *contract.Dialect, o *contract.Observation) error {
		more, err := replayFixture(reg, d, o)
		rows = append(rows, more...)
		return err
	}); err != nil {
		return err
	}
	bad := 0
	for _, r := range rows {
		if r.Status == goldenDiffers || r.Status == goldenMissing {
			bad++
		}
	}
	if err := a.printReplayed(f.format, rows); err != nil {
		return err
	}
	a.talk("%s read, %d not as the goldens say", count(len(rows), "reading"), bad)
	if bad > 0 {
		return &Exit{Code: ExitFindings}
	}
	return nil
}

func (a *app) printReplayed(f format, rows []replayed) error {
	if f == "json" {
		return a.printJSON(append([]replayed{}, rows...)) // a list, also when it is empty
	}
	cells := [][]string{{"status", "agent", "adapter", "fixture"}}
	for _, r := range rows {
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

func replayFixture(reg *store.Registry, d *contract.Dialect, o *contract.Observation) ([]replayed, error) {
	t, err := fixtureOf(reg, o)
	if err != nil {
		return nil, err
	}
	derived, err := capture.Derive(t, d, o.Agent)
	if err != nil {
		return nil, err
	}
	goldens := map[string]string{replay.AdapterOpenDesign: o.ParserReplay.Golden, replay.AdapterReference: o.Extensions.ReferenceGolden}
	var rows []replayed
	for _, adapter := range replay.Adapters {
		row := replayed{Fixture: o.Extensions.Fixture, Agent: o.Agent, Adapter: adapter, Golden: goldens[adapter]}
		if row.Status, err = againstGolden(reg, row.Golden, derived.Goldens[adapter]); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func againstGolden(reg *store.Registry, golden string, want []byte) (string, error) {
	switch {
	case golden == "" && want == nil:
		return replay.StatusNotRun, nil
	case golden == "":
		return goldenMissing, nil
	}
	have, err := reg.ReadFile(golden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return goldenMissing, nil
	case err != nil:
		return "", err
	case !bytes.Equal(have, want):
		return goldenDiffers, nil
	}
	return goldenSame, nil
}
