// Package evidence owns what is said about observations after they were
// captured (FINE-PRINT 1): whether a fixture really came from the retained raw
// bytes, attestations, reproductions, promotions, withdrawals, and what
// contributors submit. Observations are never edited: each statement is a
// record of its own, and levels and the matrix follow from all of them.
package evidence

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// RefusedError says that a rule speaks against a decision. Nothing was changed.
type RefusedError struct {
	What string // what was asked for
	Why  string
	Next string // what would help, "" for nothing
}

// Error implements error.
func (e *RefusedError) Error() string { return e.What + ": " + e.Why }

// subject is an observation with what else a decision about it needs.
type subject struct {
	store.Observed
	ref      contract.FileRef
	records  *matrix.Records
	standing matrix.Standing
	level    contract.ValidityLevel // of its shape
}

// load reads an observation and everything that was said about any.
func load(reg *store.Registry, place string) (*subject, error) {
	if kind, ok := contract.KindOf(place); !ok || kind != contract.KindObservation || !fs.ValidPath(place) {
		return nil, fmt.Errorf("%q is not the place of an observation: %w", place, fs.ErrNotExist)
	}
	b, err := reg.ReadFile(place)
	if err != nil {
		return nil, err
	}
	s := &subject{Observed: store.Observed{Path: place}, ref: contract.FileRef{Path: place, SHA256: contract.Sum(b)}}
	if err := store.Decode(place, b, &s.Observation); err != nil {
		return nil, err
	}
	if s.records, err = matrix.Load(reg); err != nil {
		return nil, err
	}
	s.standing = matrix.NewStanding(s.records.Statements)
	s.level = matrix.Levels(s.records.Observations, s.standing)[s.Shape.Signature]
	return s, nil
}

// about returns an empty statement about the observation.
func (s *subject) about(kind contract.EvidenceKind) *contract.Evidence {
	return &contract.Evidence{
		SchemaVersion: contract.SchemaVersion, Kind: kind, Agent: s.Agent, CLIVersion: s.CLIVersion, Platform: s.Platform, Probe: s.Probe,
		Observation: s.ref, RecordedBy: "agent-contracts " + contract.ToolVersion,
	}
}

// said returns the statements about the observation of one kind, in the order
// of their places; those that were taken back are left out.
func (s *subject) said(kind contract.EvidenceKind) []store.Stated {
	gone := map[string]bool{}
	for i := range s.records.Statements {
		if w := s.records.Statements[i].Withdrawal; w != nil && w.Record != nil {
			gone[w.Record.Path] = true
		}
	}
	var out []store.Stated
	for _, e := range s.records.Statements {
		if e.Observation.Path == s.Path && e.Kind == kind && !gone[e.Path] {
			out = append(out, e)
		}
	}
	return out
}

// decision says what is to be recorded about an observation, or which record of
// it is there already.
type decision func(*subject) (old *store.Stated, made []*contract.Evidence, err error)

// decide records a decision with everything that follows from it, all at once. It
// is made while the registry is locked: of two who decide at the same time the
// second one sees what the first one did. It returns the last record.
func decide(ctx context.Context, reg *store.Registry, place string, now time.Time, d decision) (record store.Stated, isNew bool, err error) {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return record, false, err
	}
	defer tx.Discard()
	s, err := load(reg, place)
	if err != nil {
		return record, false, err
	}
	old, statements, err := d(s)
	if err != nil {
		return record, false, err
	}
	if old != nil {
		return *old, false, nil
	}
	var made []store.Stated
	for _, e := range statements {
		place, err := stage(tx, e, now)
		if err != nil {
			return record, false, err
		}
		record = store.Stated{Path: place, Evidence: *e}
		made = append(made, record)
	}
	if err := matrix.RefreshAll(reg, tx, nil, made); err != nil {
		return record, false, err
	}
	return record, true, tx.Commit()
}

// stage stages a statement, unless its text holds what the leak scan takes out
// of records.
func stage(tx *store.Transaction, e *contract.Evidence, now time.Time) (string, error) {
	place, b, err := tx.AddStatement(e, now)
	if err != nil {
		return "", err
	}
	return place, health.Leaks(b)
}
