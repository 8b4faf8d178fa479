package evidence

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Withdrawal is what Withdraw is asked for.
type Withdrawal struct {
	// Record is the place of an observation, or of an attestation, reproduction
	// or promotion.
	Record string
	Reason string
	By     string
	// SupersededBy is the place of the observation that takes the place of a
	// withdrawn one, "" for none.
	SupersededBy string
}

// Withdraw records that an observation, or a statement about one, counts no
// more. Both stay where they are. isNew is false when that was recorded
// before; then the record of that time is returned.
func Withdraw(ctx context.Context, reg *store.Registry, w Withdrawal, now time.Time) (record store.Stated, isNew bool, err error) {
	what := "withdrawing " + w.Record
	if err := decides(reg, what, w.By); err != nil {
		return record, false, err
	}
	out := &contract.Withdrawal{By: w.By, Reason: w.Reason}
	place := w.Record
	if kind, _ := contract.KindOf(place); kind == contract.KindEvidence {
		e, ref, err := statement(reg, place)
		if err != nil {
			return record, false, err
		}
		if !e.Kind.Withdrawable() {
			return record, false, &RefusedError{What: what, Why: fmt.Sprintf("a record of kind %s is not taken back", e.Kind), Next: "withdraw its observation, " + e.Observation.Path}
		}
		place, out.Record = e.Observation.Path, &ref
	}
	return decide(ctx, reg, place, now, func(s *subject) (*store.Stated, []*contract.Evidence, error) {
		for _, e := range s.said(contract.EvidenceWithdrawal) {
			if same := e.Withdrawal.Record; (same == nil) == (out.Record == nil) && (same == nil || same.Path == out.Record.Path) {
				return &e, nil, nil
			}
		}
		if w.SupersededBy != "" {
			if out.SupersededBy, err = s.successor(reg, what, w.SupersededBy); err != nil {
				return nil, nil, err
			}
		}
		e := s.about(contract.EvidenceWithdrawal)
		e.Withdrawal = out
		return nil, []*contract.Evidence{e}, nil
	})
}

// statement reads an evidence record.
func statement(reg *store.Registry, place string) (*contract.Evidence, contract.FileRef, error) {
	ref := contract.FileRef{Path: place}
	if !fs.ValidPath(place) {
		return nil, ref, fmt.Errorf("%q is not a place in a registry: %w", place, fs.ErrNotExist)
	}
	b, err := reg.ReadFile(place)
	if err != nil {
		return nil, ref, err
	}
	ref.SHA256 = contract.Sum(b)
	e := &contract.Evidence{}
	return e, ref, store.Decode(place, b, e)
}

// successor returns the observation that takes the place of a withdrawn one.
func (s *subject) successor(reg *store.Registry, what, place string) (*contract.FileRef, error) {
	other, err := load(reg, place)
	if err != nil {
		return nil, err
	}
	if other.Path == s.Path || other.Agent != s.Agent || other.CLIVersion != s.CLIVersion || other.Probe != s.Probe {
		return nil, &RefusedError{What: what, Why: place + " is no other observation of the same version and probe"}
	}
	if reason, gone := s.standing.Withdrawn(place); gone {
		return nil, &RefusedError{What: what, Why: place + " was withdrawn itself: " + reason, Next: "name an observation that counts"}
	}
	return &other.ref, nil
}
