package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The statuses of a reading against its golden.
const (
	GoldenSame    = "ok"
	GoldenDiffers = "differs"
	GoldenMissing = "missing"
	// GoldenWritten is one that differed or was missing, and is now as today's
	// reader says.
	GoldenWritten = "written"
)

// GoldenRow is what today's reader of one adapter makes of a fixture, held
// against the golden that its record names.
type GoldenRow struct {
	Fixture string `json:"fixture"`
	Agent   string `json:"agent"`
	Adapter string `json:"adapter"`
	// Status is ok, differs, missing, written, or not_run where the adapter has
	// no reader and there is no golden.
	Status string `json:"status"`
	Golden string `json:"golden,omitempty"`
	now    []byte // nil where the adapter has no reader
}

// HoldGoldens reads the fixture of a record with both adapters.
func HoldGoldens(reg *store.Registry, d *contract.Dialect, o *contract.Observation) ([]GoldenRow, error) {
	b, err := reg.ReadFile(o.Extensions.Fixture)
	if err != nil {
		return nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	derived, err := Derive(t, d, o.Agent)
	if err != nil {
		return nil, err
	}
	places := map[string]string{replay.AdapterOpenDesign: o.ParserReplay.Golden, replay.AdapterReference: o.Extensions.ReferenceGolden}
	var rows []GoldenRow
	for _, adapter := range replay.Adapters {
		row := GoldenRow{Fixture: o.Extensions.Fixture, Agent: o.Agent, Adapter: adapter, Golden: places[adapter], now: derived.Goldens[adapter]}
		if err := row.hold(reg); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (r *GoldenRow) hold(reg *store.Registry) error {
	switch {
	case r.Golden == "" && r.now == nil:
		r.Status = replay.StatusNotRun
		return nil
	case r.Golden == "":
		r.Status = GoldenMissing
		return nil
	}
	have, err := reg.ReadFile(r.Golden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Status = GoldenMissing
	case err != nil:
		return err
	case !bytes.Equal(have, r.now):
		r.Status = GoldenDiffers
	default:
		r.Status = GoldenSame
	}
	return nil
}

// WriteGoldens writes what today's readers say over the goldens that differ or
// are missing, all at once, and marks their rows. It touches no other record:
// where a record names no golden for a reader, or the reader of a golden is
// gone, the row stays as it is.
func WriteGoldens(ctx context.Context, reg *store.Registry, rows []GoldenRow) error {
	stale := map[string][]byte{}
	for _, r := range rows {
		if r.Golden == "" || r.now == nil || r.Status != GoldenDiffers && r.Status != GoldenMissing {
			continue
		}
		if other, ok := stale[r.Golden]; ok && !bytes.Equal(other, r.now) {
			return fmt.Errorf("%s would have to hold two readings, one of them as %s: %s", r.Golden, r.Agent, r.Fixture)
		}
		stale[r.Golden] = r.now
	}
	if len(stale) == 0 {
		return nil
	}
	tx, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	for place, b := range stale {
		if err := tx.Write(place, b); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for i := range rows {
		if _, ok := stale[rows[i].Golden]; ok {
			rows[i].Status = GoldenWritten
		}
	}
	return nil
}
