package capture

import (
	"bytes"
	"context"
	"encoding/json"
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
// and that lacks one, or whose case today's readers would make otherwise, all
// at once. Those of synthetic runs are made again too; a missing one comes from
// a new capture only. It returns the places.
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
	w := &caseWriter{reg: reg, families: families, tx: tx}
	for i := range observations {
		o := &observations[i]
		place, b, err := w.errorCaseOf(o)
		if err != nil {
			return nil, fmt.Errorf("making the error case of %s: %w", o.Path, err)
		}
		if err := w.write(place, b); err != nil {
			return nil, err
		}
	}
	if err := w.synthetic(); err != nil {
		return nil, err
	}
	if len(w.written) == 0 {
		return nil, nil
	}
	return w.written, tx.Commit()
}

type caseWriter struct {
	reg      *store.Registry
	families *contract.Families
	tx       *store.Transaction
	written  []string
}

// write writes a case that is not there as it is; none for no content.
func (w *caseWriter) write(place string, b []byte) error {
	if b == nil {
		return nil
	}
	have, err := w.tx.ReadFile(place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if bytes.Equal(have, b) {
		return nil
	}
	w.written = append(w.written, place)
	return errors.Join(ownRecord(place, b), w.tx.Write(place, b))
}

// synthetic makes the cases again that have a fixture and no observation.
func (w *caseWriter) synthetic() error {
	places, err := w.reg.Walk("errors", ".error.json")
	if err != nil {
		return err
	}
	for _, place := range places {
		var e contract.ErrorCase
		if b, err := w.tx.ReadFile(place); err != nil {
			return err
		} else if err := json.Unmarshal(b, &e); err != nil {
			return &store.BrokenError{File: place, Err: err}
		}
		if e.Extensions.Observation != "" || e.Extensions.Fixture == "" {
			continue
		}
		b, err := w.caseOf(errorcase.RunOfCase(&e), e.Extensions.Dialect)
		if err != nil {
			return fmt.Errorf("making %s again: %w", place, err)
		}
		if err := w.write(place, b); err != nil {
			return err
		}
	}
	return nil
}

// errorCaseOf makes the error case of a committed observation from its
// fixture; no content for a run that succeeded.
func (w *caseWriter) errorCaseOf(o *store.Observed) (place string, content []byte, err error) {
	content, err = w.caseOf(errorcase.RunOf(&o.Observation, o.Path), o.Extensions.Dialect)
	if err != nil || content == nil {
		return "", nil, err
	}
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil {
		return "", nil, fmt.Errorf("reading captured_at: %w", err)
	}
	return store.ErrorCasePath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe), content, nil
}

func (w *caseWriter) caseOf(run errorcase.Run, dialect string) ([]byte, error) {
	d := w.families.Dialect(dialect)
	if d == nil {
		return nil, fmt.Errorf("registry/families.json has no dialect %q", dialect)
	}
	b, err := w.reg.ReadFile(run.Fixture)
	if err != nil {
		return nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, &store.BrokenError{File: run.Fixture, Err: err}
	}
	read, err := Read(t, d, run.Agent)
	if err != nil {
		return nil, err
	}
	e := run.Case(read.ErrorCase)
	if e == nil {
		return nil, nil
	}
	return contract.Encode(e)
}
