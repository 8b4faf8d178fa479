package evidence

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Reproduced is what Reproduce is asked for.
type Reproduced struct {
	Observation string // the place of what was reproduced
	By          string // the contributor's handle
	URL         string // where the contributor published it, HTTPS
	// Shape is the signature that the contributor got.
	Shape contract.Digest
	// Own is the place of the contributor's own observation, "" if it was not
	// submitted. Its shape then counts.
	Own string
}

// Reproduce records that a contributor got the same shape independently. The
// record alone changes no level: a maintainer promotes.
func Reproduce(ctx context.Context, reg *store.Registry, r Reproduced, now time.Time) (record store.Stated, isNew bool, err error) {
	if err := contributes(reg, "recording a reproduction of "+r.Observation, r.By); err != nil {
		return record, false, err
	}
	return decide(ctx, reg, r.Observation, now, func(s *subject) (*store.Stated, []*contract.Evidence, error) {
		e := s.about(contract.EvidenceReproduction)
		e.Reproduction = &contract.Reproduction{By: r.By, URL: r.URL, Shape: r.Shape}
		if r.Own != "" {
			own, err := load(reg, r.Own)
			if err != nil {
				return nil, nil, err
			}
			e.Reproduction.Observation, e.Reproduction.Shape = &own.ref, own.Shape.Signature
			if why := sameRun(s, own); why != "" {
				return nil, nil, &RefusedError{What: "recording a reproduction of " + s.Path, Why: why}
			}
		}
		if err := s.reproducedBy(e.Reproduction); err != nil {
			return nil, nil, err
		}
		for _, old := range s.said(contract.EvidenceReproduction) {
			if contract.SameHandle(old.Reproduction.By, r.By) && old.Reproduction.URL == r.URL {
				return &old, nil, nil
			}
		}
		return nil, []*contract.Evidence{e}, nil
	})
}

// sameRun says why one observation is no reproduction of another, "" if it is
// one.
func sameRun(s, own *subject) string {
	if own.Path == s.Path {
		return "it is the same observation"
	}
	if why := own.NotAgain(&s.Observation); why != "" {
		return own.Path + ": " + why
	}
	return ""
}

// reproducedBy refuses a reproduction that proves nothing: of another shape, or
// by whoever made the observation.
func (s *subject) reproducedBy(r *contract.Reproduction) error {
	what := "recording a reproduction of " + s.Path
	if r.Shape != s.Shape.Signature {
		return &RefusedError{What: what, Why: fmt.Sprintf("its shape is %s, not %s", s.Shape.Signature.Short(), r.Shape.Short()), Next: "another shape is a finding of its own: submit the observation"}
	}
	if s.madeBy(r.By) {
		return &RefusedError{What: what, Why: "it is an observation of " + r.By + " already: community_confirmed asks for somebody else"}
	}
	return nil
}

// madeBy reports whether the observation is on record as a contributor's own.
func (s *subject) madeBy(handle string) bool {
	return slices.ContainsFunc(s.records.Statements, func(e store.Stated) bool {
		r := e.Reproduction
		return r != nil && r.Observation != nil && r.Observation.Path == s.Path && contract.SameHandle(r.By, handle)
	})
}
