package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Refresh stages what follows from what a transaction adds, observations or
// what discovery saw: the matrix, and every shape whose level changes.
func Refresh(reg *store.Registry, tx *store.Transaction, added []store.Observed) error {
	return RefreshAll(reg, tx, added, nil)
}

// RefreshAll is Refresh for a transaction that also adds statements.
func RefreshAll(reg *store.Registry, tx *store.Transaction, added []store.Observed, stated []store.Stated) error {
	r, err := Load(reg)
	if err != nil {
		return err
	}
	r.Observations, r.Statements = append(r.Observations, added...), append(r.Statements, stated...)
	if b, err := tx.ReadFile(LatestSeenPath); err == nil { // the transaction may bring a new one
		r.LatestSeen = contract.LatestSeen{}
		if err := store.Decode(LatestSeenPath, b, &r.LatestSeen); err != nil {
			return err
		}
	}
	m, err := Build(r)
	if err != nil {
		return err
	}
	b, err := Encode(m)
	if err != nil {
		return err
	}
	if err := tx.Write(Path, b); err != nil {
		return err
	}
	return stageLevels(tx, r)
}

func stageLevels(tx *store.Transaction, r *Records) error {
	obs, levels := r.Observations, Levels(r.Observations, NewStanding(r.Statements))
	done := map[contract.Digest]bool{}
	for i := range obs {
		sig := obs[i].Shape.Signature
		if done[sig] {
			continue
		}
		done[sig] = true
		old, err := tx.ReadFile(obs[i].Shape.Path)
		if err != nil {
			return err
		}
		s := &contract.Shape{}
		if err := json.Unmarshal(old, s); err != nil {
			return fmt.Errorf("reading %s: %w", obs[i].Shape.Path, err)
		}
		if s.ValidityLevel == levels[sig] {
			continue
		}
		s.ValidityLevel = levels[sig]
		b, err := contract.Encode(s)
		if err != nil {
			return err
		}
		if err := tx.Write(obs[i].Shape.Path, b); err != nil {
			return err
		}
	}
	return nil
}

// Check reports whether the committed matrix is what the records give. It
// returns the bytes that it should have.
func Check(reg *store.Registry) (want []byte, same bool, err error) {
	r, err := Load(reg)
	if err != nil {
		return nil, false, err
	}
	return r.Check(reg)
}

// Check is the package's Check for records that were read already.
func (r *Records) Check(reg *store.Registry) (want []byte, same bool, err error) {
	m, err := Build(r)
	if err != nil {
		return nil, false, err
	}
	if want, err = Encode(m); err != nil {
		return nil, false, err
	}
	if !reg.Exists(Path) {
		return want, false, nil
	}
	have, err := reg.ReadFile(Path)
	return want, bytes.Equal(have, want), err
}
