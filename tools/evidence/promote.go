package evidence

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Promoter promotes observations. A maintainer attests through a Request.
type Promoter struct {
	Registry *store.Registry
	Requests *requests.Store
	// Inline asks at once; nil suspends until there is an answer (DESIGN D11).
	Inline requests.Prompter
	By     string // signs what Inline leaves out
	// Audit derives the fixture again from the raw bytes; nil where nobody can.
	// The attestation says which of the two it was.
	Audit func(context.Context, string) (*Audit, error)
	Now   func() time.Time
}

// Promotion is what Promote is asked for.
type Promotion struct {
	Observation string // its place
	To          contract.ValidityLevel
	Reason      string // "" for what the rules say
}

// Promote gives an observation, and with it its shape, another level when the
// rules allow it and a maintainer attests the redaction. Promoting again is no
// second promotion: isNew is false. Errors: *RefusedError, and
// *requests.SuspendedError while nobody has answered.
func (p *Promoter) Promote(ctx context.Context, ask Promotion) (record store.Stated, isNew bool, err error) {
	s, err := load(p.Registry, ask.Observation)
	if err != nil {
		return record, false, err
	}
	if e := s.promoted(ask.To); e != nil {
		return *e, false, nil
	}
	basis, _, err := s.allows(ask.To)
	if err != nil {
		return record, false, err
	}
	approver, audit, err := p.attested(ctx, s, ask.To, basis)
	if err != nil {
		return record, false, err
	}
	return decide(ctx, p.Registry, ask.Observation, p.Now(), func(s *subject) (*store.Stated, []*contract.Evidence, error) {
		if e := s.promoted(ask.To); e != nil {
			return e, nil, nil
		}
		now, why, err := s.allows(ask.To)
		if err == nil && placeOf(now) != placeOf(basis) {
			err = &RefusedError{What: fmt.Sprintf("promoting %s to %s", s.Path, ask.To), Why: "what it rests on changed while it was asked for", Next: "run the same command again"}
		}
		if err != nil {
			return nil, nil, err
		}
		e := s.about(contract.EvidencePromotion)
		e.Promotion = &contract.Promotion{By: approver, From: s.from(ask.To), To: ask.To, Reason: cmp.Or(ask.Reason, why)}
		if basis != nil {
			ref, err := refOf(p.Registry, basis.Path)
			if err != nil {
				return nil, nil, err
			}
			e.Promotion.Reproduction = &ref
		}
		return nil, []*contract.Evidence{s.attestation(approver, audit), e}, nil
	})
}

// promoted returns the promotion that gives the observation a level, nil without
// one.
func (s *subject) promoted(to contract.ValidityLevel) *store.Stated {
	for _, e := range s.said(contract.EvidencePromotion) {
		if e.Promotion.To == to && s.standing.Level(&s.Observed) == to {
			return &e
		}
	}
	return nil
}

// from is the level before a promotion: that of the shape, or, where another
// observation has brought the shape to it, that of the observation.
func (s *subject) from(to contract.ValidityLevel) contract.ValidityLevel {
	if s.level == to {
		return s.standing.Level(&s.Observed)
	}
	return s.level
}

func refOf(reg *store.Registry, place string) (contract.FileRef, error) {
	b, err := reg.ReadFile(place)
	return contract.FileRef{Path: place, SHA256: contract.Sum(b)}, err
}

// allows applies the rules of the levels (specification, Validity Levels). It
// returns the reproduction that a promotion rests on, and why it is allowed.
func (s *subject) allows(to contract.ValidityLevel) (basis *store.Stated, why string, err error) {
	refuse := func(why, next string) error {
		return &RefusedError{What: fmt.Sprintf("promoting %s to %s", s.Path, to), Why: why, Next: next}
	}
	if reason, gone := s.standing.Withdrawn(s.Path); gone {
		return nil, "", refuse("the observation was withdrawn: "+reason, "promote another one")
	}
	switch to {
	case contract.LevelCommunityConfirmed:
		all := s.said(contract.EvidenceReproduction)
		for i := range all {
			if r := all[i].Reproduction; r.Shape == s.Shape.Signature && !s.standing.Spent(r) {
				return &all[i], "an independent contributor got the same shape", nil
			}
		}
		return nil, "", refuse("no reproduction of it is on record", "agent-contracts accept files a contributor's observation; evidence reproduction records a published one")
	case contract.LevelServerVariant:
		if s.level == contract.LevelCommunityConfirmed {
			return nil, "", refuse("its shape is community_confirmed", "withdraw that promotion first")
		}
		if !s.hasVariant() {
			return nil, "", refuse("the live provider showed no other shape to this version, platform, probe and profile", "agent-contracts capture --live may find one")
		}
		return nil, "the live provider shows this version several shapes", nil
	case contract.LevelConfirmed:
		if s.level == contract.LevelConfirmed || s.level == contract.LevelCommunityConfirmed {
			return nil, "", refuse("nothing to do: the shape is "+string(s.level)+" by its observations", "")
		}
		return nil, "", refuse("confirmed is not given but derived: two observations of the shape, from different runners or at least an hour apart",
			"agent-contracts capture --like "+s.Path+" makes another one")
	}
	return nil, "", refuse("there is no promotion to this level", "levels to promote to: community_confirmed, server_variant")
}

// hasVariant reports whether the live provider showed the same run another
// shape.
func (s *subject) hasVariant() bool {
	if s.Extensions.Provider != contract.ProviderLive {
		return false
	}
	for i := range s.records.Observations {
		o := &s.records.Observations[i]
		_, gone := s.standing.Withdrawn(o.Path)
		if !gone && o.Agent == s.Agent && o.CLIVersion == s.CLIVersion && o.Platform == s.Platform && o.Probe == s.Probe &&
			o.Extensions.Profile == s.Extensions.Profile && o.Extensions.Provider == contract.ProviderLive && o.Shape.Signature != s.Shape.Signature {
			return true
		}
	}
	return false
}

// attestation is what a maintainer attests.
func (s *subject) attestation(by string, audit *Audit) *contract.Evidence {
	e := s.about(contract.EvidenceAttestation)
	e.Attestation = &contract.Attestation{By: by, Audited: "read", RawSHA256: s.Capture.RawClientTranscriptSHA256,
		Statement: "The raw artifact was redaction-checked before publication: I read both."}
	if audit != nil && audit.Verdict == AuditSame {
		e.Attestation.Audited = "re_derived"
		e.Attestation.Statement = "The raw artifact was redaction-checked before publication: agent-contracts " + contract.ToolVersion + " derived the fixture from it again."
	}
	return e
}

// attested asks until a maintainer has answered, and returns who it was.
func (p *Promoter) attested(ctx context.Context, s *subject, to contract.ValidityLevel, basis *store.Stated) (by string, audit *Audit, err error) {
	what := fmt.Sprintf("promoting %s to %s", s.Path, to)
	policy, err := named(p.Registry, what)
	if err != nil {
		return "", nil, err
	}
	if p.Audit != nil {
		if audit, err = p.Audit(ctx, s.Path); err != nil {
			return "", nil, err
		}
		if audit.Verdict == AuditDiffers {
			return "", nil, &RefusedError{What: what, Why: "its fixture does not follow from the raw bytes: " + audit.parts(), Next: "agent-contracts evidence audit " + s.Path}
		}
	}
	run := "promote-" + contract.Sum([]byte(string(s.ref.SHA256+contract.Digest(to)+placeOf(basis)) + s.before(to))).Hex()[:12]
	runner := &requests.Runner{Store: p.Requests, Run: run, Inline: p.Inline, By: p.By}
	err = runner.Do(ctx, "attest", func(_ context.Context, q *requests.Asker) error {
		answer, who, err := approval(q, p.Requests, prompt(s, to, basis), s.Agent, s.Path, policy.Maintains)
		if err == nil && !answer.Approved {
			err = &RefusedError{What: what, Why: who + " refused to attest: " + answer.Comment}
		}
		by = who
		return err
	})
	return by, audit, err
}

// before names the promotions to a level that do not hold any more: a yes to one
// of them is none to another.
func (s *subject) before(to contract.ValidityLevel) (out string) {
	for i := range s.records.Statements {
		if e := &s.records.Statements[i]; e.Observation.Path == s.Path && e.Promotion != nil && e.Promotion.To == to {
			out += e.Path
		}
	}
	return out
}

func placeOf(e *store.Stated) contract.Digest {
	if e == nil {
		return ""
	}
	return contract.Digest(e.Path)
}

// prompt is the question to a maintainer.
func prompt(s *subject, to contract.ValidityLevel, basis *store.Stated) string {
	text := fmt.Sprintf("Do you attest that the raw artifact %s of %s was redaction-checked before publication, and may its shape %s become %s?",
		s.Capture.RawClientTranscriptSHA256.Short(), s.Path, s.Shape.Signature.Short(), to)
	if basis != nil {
		text += fmt.Sprintf(" It was reproduced by %s: %s.", basis.Reproduction.By, basis.Reproduction.URL)
	}
	return text
}
