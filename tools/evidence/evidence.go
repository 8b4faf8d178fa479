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

// publish adds statements to a registry, with everything that follows from
// them, all at once. It returns them with their places.
func publish(ctx context.Context, reg *store.Registry, now time.Time, statements ...*contract.Evidence) ([]store.Stated, error) {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Discard()
	var out []store.Stated
	for _, e := range statements {
		place, err := stage(tx, e, now)
		if err != nil {
			return nil, err
		}
		out = append(out, store.Stated{Path: place, Evidence: *e})
	}
	if err := matrix.RefreshAll(reg, tx, nil, out); err != nil {
		return nil, err
	}
	return out, tx.Commit()
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
