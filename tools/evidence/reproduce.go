package evidence

import (
	"context"
	"fmt"
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
	s, err := load(reg, r.Observation)
	if err != nil {
		return record, false, err
	}
	e := s.about(contract.EvidenceReproduction)
	e.Reproduction = &contract.Reproduction{By: r.By, URL: r.URL, Shape: r.Shape}
	if r.Own != "" {
		own, err := load(reg, r.Own)
		if err != nil {
			return record, false, err
		}
		e.Reproduction.Observation, e.Reproduction.Shape = &own.ref, own.Shape.Signature
		if why := sameRun(s, own); why != "" {
			return record, false, &RefusedError{What: "recording a reproduction of " + s.Path, Why: why}
		}
	}
	if err := independentOf(reg, s, e.Reproduction); err != nil {
		return record, false, err
	}
	for _, old := range s.said(contract.EvidenceReproduction) {
		if old.Reproduction.By == r.By && old.Reproduction.URL == r.URL {
			return old, false, nil
		}
	}
	made, err := publish(ctx, reg, now, e)
	if err != nil {
		return record, false, err
	}
	return made[0], true, nil
}

// sameRun says why one observation is no reproduction of another, "" if it is
// one.
func sameRun(s, own *subject) string {
	switch {
	case own.Path == s.Path:
		return "it is the same observation"
	case own.Agent != s.Agent || own.CLIVersion != s.CLIVersion || own.Platform != s.Platform || own.Probe != s.Probe || own.Extensions.Profile != s.Extensions.Profile:
		return own.Path + " is about another version, platform, probe or profile"
	case own.Capture.RawClientTranscriptSHA256 == s.Capture.RawClientTranscriptSHA256:
		return own.Path + " has the same raw transcript: it is a copy"
	}
	return ""
}

// independentOf refuses a reproduction that proves nothing: of another shape,
// or by one of those who captured.
func independentOf(reg *store.Registry, s *subject, r *contract.Reproduction) error {
	what := "recording a reproduction of " + s.Path
	if r.Shape != s.Shape.Signature {
		return &RefusedError{What: what, Why: fmt.Sprintf("its shape is %s, not %s", s.Shape.Signature.Short(), r.Shape.Short()), Next: "another shape is a finding of its own: submit the observation"}
	}
	p, err := reg.Policy()
	if err != nil {
		return err
	}
	for _, m := range p.Maintainers {
		if m.Handle == r.By {
			return &RefusedError{What: what, Why: r.By + " is a maintainer: community_confirmed asks for somebody else"}
		}
	}
	return nil
}
