package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// WriteErrorCases writes the error case of every observation whose run failed
// and that has none, or one that today's readers would not make, all in one
// transaction. It returns the places written; none when all are there.
func WriteErrorCases(ctx context.Context, reg *store.Registry) ([]string, error) {
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	observations, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	tx, err := reg.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Discard()
	var written []string
	for i := range observations {
		place, b, err := errorCaseOf(reg, families, &observations[i])
		if err != nil {
			return nil, fmt.Errorf("making the error case of %s: %w", observations[i].Path, err)
		}
		if b == nil {
			continue
		}
		have, err := tx.ReadFile(place)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if bytes.Equal(have, b) {
			continue
		}
		if err := errors.Join(ownRecord(place, b), tx.Write(place, b)); err != nil {
			return nil, err
		}
		written = append(written, place)
	}
	if len(written) == 0 {
		return nil, nil
	}
	return written, tx.Commit()
}

// errorCaseOf makes the error case of a committed observation from its
// fixture; no content for a run that succeeded.
func errorCaseOf(reg *store.Registry, families *contract.Families, o *store.Observed) (place string, content []byte, err error) {
	d := families.Dialect(o.Extensions.Dialect)
	if d == nil {
		return "", nil, fmt.Errorf("registry/families.json has no dialect %q", o.Extensions.Dialect)
	}
	b, err := reg.ReadFile(o.Extensions.Fixture)
	if err != nil {
		return "", nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return "", nil, &store.BrokenError{File: o.Extensions.Fixture, Err: err}
	}
	read, err := Read(t, d, o.Agent)
	if err != nil {
		return "", nil, err
	}
	e := errorcase.RunOf(&o.Observation, o.Path).Case(read.ErrorCase)
	if e == nil {
		return "", nil, nil
	}
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil {
		return "", nil, fmt.Errorf("reading captured_at: %w", err)
	}
	content, err = contract.Encode(e)
	return store.ErrorCasePath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe), content, err
}
