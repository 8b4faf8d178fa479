package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// The verdicts of an audit.
const (
	AuditSame       = "same"        // everything public follows from the raw bytes
	AuditDiffers    = "differs"     // something does not; Checks say what
	AuditCannotKnow = "cannot_know" // the raw bytes are out of reach; Notes say why
)

// Audit is what came of deriving an observation again from its raw bundle. It
// holds nothing raw.
type Audit struct {
	SchemaVersion int             `json:"schema_version"`
	Observation   string          `json:"observation"`
	Raw           contract.Digest `json:"raw_client_transcript_sha256"`
	Verdict       string          `json:"verdict"`
	Checks        []AuditCheck    `json:"checks"`
	Notes         []string        `json:"notes"`
}

// AuditCheck is one comparison.
type AuditCheck struct {
	What string `json:"what"`
	Same bool   `json:"same"`
	// Where says where they part, in words without content; "" if they do not.
	Where string `json:"where,omitempty"`
}

func (a *Audit) check(what string, same bool, where string, args ...any) {
	c := AuditCheck{What: what, Same: same}
	if !same {
		c.Where, a.Verdict = fmt.Sprintf(where, args...), AuditDiffers
	}
	a.Checks = append(a.Checks, c)
}

// parts names what differs.
func (a *Audit) parts() string {
	var out []string
	for _, c := range a.Checks {
		if !c.Same {
			out = append(out, c.What+": "+c.Where)
		}
	}
	return strings.Join(out, "; ")
}

// auditor audits one observation.
type auditor struct {
	*Audit
	reg    *store.Registry
	o      *contract.Observation
	pinned *contract.CaptureEvidence // what the evidence record says; nil without one
}

// AuditObservation fetches the raw bundle of an observation, decrypts it, and
// derives sanitized transcript, shape and readings from it again.
func AuditObservation(ctx context.Context, reg *store.Registry, raw *private.Store, place string) (*Audit, error) {
	if kind, ok := contract.KindOf(place); !ok || kind != contract.KindObservation || !fs.ValidPath(place) {
		return nil, fmt.Errorf("%q is not the place of an observation: %w", place, fs.ErrNotExist)
	}
	a := &auditor{Audit: &Audit{SchemaVersion: contract.SchemaVersion, Observation: place, Verdict: AuditSame, Checks: []AuditCheck{}, Notes: []string{}}, reg: reg, o: &contract.Observation{}}
	b, err := reg.ReadFile(place)
	if err != nil {
		return nil, err
	}
	if err := store.Decode(place, b, a.o); err != nil {
		return nil, err
	}
	a.Raw = a.o.Capture.RawClientTranscriptSHA256
	a.record(contract.Sum(b))
	t, background, err := a.fetch(ctx, raw)
	if err != nil || t == nil {
		return a.Audit, err
	}
	return a.Audit, a.derive(t, background)
}

// record holds the evidence record against the observation that it pins.
func (a *auditor) record(sum contract.Digest) {
	const what = "evidence record"
	e := &contract.Evidence{}
	place := store.EvidenceOf(a.Observation)
	if err := a.reg.ReadJSON(place, e); err != nil || e.Capture == nil {
		a.check(what, false, "%s cannot be read", place)
		return
	}
	a.pinned = e.Capture
	other := ""
	switch {
	case e.Kind != contract.EvidenceCapture:
		other = "kind of record"
	case e.Capture.Raw.SHA256 != a.Raw:
		other = "raw bundle"
	case e.Capture.Fixture.SHA256 != a.o.Extensions.FixtureSHA256:
		other = "fixture"
	case e.Observation.Path != a.Observation || e.Observation.SHA256 != sum, // it is another one too where one of the above is
		e.Agent != a.o.Agent || e.CLIVersion != a.o.CLIVersion || e.Platform != a.o.Platform || e.Probe != a.o.Probe:
		other = "observation"
	default:
		if at := e.Capture.Unlike(a.o); len(at) > 0 {
			other = strings.Join(at, " and ") + " than the observation"
		}
	}
	a.check(what, other == "", "%s pins another %s", place, other)
}

// fetch returns the raw transcript, or nil where it is out of reach.
func (a *auditor) fetch(ctx context.Context, raw *private.Store) (*transcript.Transcript, *capture.Background, error) {
	var background *capture.Background
	b, err := read(ctx, raw, a.Raw, &background)
	var expired *private.ExpiredError
	var locked *private.LockedError
	var damaged *private.DamagedError
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.As(err, &expired) || errors.As(err, &locked):
		return nil, nil, a.unknown(err.Error())
	case errors.As(err, &damaged):
		a.check("raw bundle", false, "%s in the private store is not what was kept", damaged.Name)
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	size := int64(len(b))
	if a.pinned != nil {
		size = a.pinned.Raw.Bytes
	}
	a.check("raw bundle", size == int64(len(b)), "it has %d bytes, and the evidence record says %d", len(b), size)
	if background == nil {
		return nil, nil, a.unknown("the raw bundle was stored without what redacting it again takes")
	}
	bundle, err := transcript.ReadBundle(bytes.NewReader(b))
	if err != nil {
		a.check("raw transcript", false, "the bundle cannot be read")
		return nil, nil, nil
	}
	t, err := transcript.Assemble(bundle)
	if err != nil {
		a.check("raw transcript", false, "the bundle cannot be read")
		return nil, nil, nil
	}
	return t, background, nil
}

// read returns a whole raw bundle in clear, with its background.
func read(ctx context.Context, raw *private.Store, d contract.Digest, background any) ([]byte, error) {
	r, err := raw.Open(ctx, d, background)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

func (a *auditor) unknown(why string) error {
	if a.Verdict == AuditSame {
		a.Verdict = AuditCannotKnow
	}
	a.Notes = append(a.Notes, why)
	return nil
}

// derive compares what the raw transcript gives with what is public.
func (a *auditor) derive(t *transcript.Transcript, background *capture.Background) error {
	for _, s := range []struct {
		what   string
		stream transcript.Stream
		pinned *contract.Digest
	}{{"raw stdout", transcript.Stdout, a.o.Capture.RawStdoutSHA256}, {"raw stderr", transcript.Stderr, a.o.Capture.RawStderrSHA256}} {
		b := t.Bytes(transcript.CLIToServer, s.stream)
		same := s.pinned == nil && len(b) == 0 || s.pinned != nil && *s.pinned == contract.Sum(b)
		a.check(s.what, same, "the observation pins other bytes")
	}
	d, why, err := capture.Again(a.reg, a.o.Agent, t, background)
	if err != nil {
		return err
	}
	if v := a.o.Redaction.ToolVersion; v != redact.Version {
		a.Notes = append(a.Notes, fmt.Sprintf("redacted by version %s then and by %s now: a difference may be the redactor's", v, redact.Version))
	}
	if d == nil {
		a.check("sanitized transcript", false, "it cannot be made again: %s", why)
		return nil
	}
	a.fixture(d.Fixture)
	a.check("fixture hash", contract.Sum(d.Fixture) == a.o.Extensions.FixtureSHA256, "the observation pins %s", a.o.Extensions.FixtureSHA256.Short())
	a.check("signature", d.Shape.Signature == a.o.Shape.Signature, "the raw bytes give %s", d.Shape.Signature.Short())
	if err := a.shape(d.Shape); err != nil {
		return err
	}
	for _, g := range []struct{ adapter, place string }{{capture.AdapterReference, a.o.Extensions.ReferenceGolden}, {capture.AdapterOpenDesign, a.o.ParserReplay.Golden}} {
		if g.place == "" && d.Goldens[g.adapter] == nil {
			continue
		}
		have, err := a.reg.ReadFile(g.place)
		where := "%s has another one"
		if err != nil {
			where = "%s cannot be read"
		}
		a.check("reading of "+g.adapter, err == nil && bytes.Equal(have, d.Goldens[g.adapter]), where, g.place)
	}
	return a.run(d)
}

// run compares what the observation and its error case say of the run.
func (a *auditor) run(d *capture.Derived) error {
	var untrue []string
	for _, u := range validate.Unlike(a.o, d) {
		untrue = append(untrue, u.Pointer)
	}
	if p, err := capture.LoadProbe(a.reg, a.o.Probe); err == nil && p.Revision == a.o.Extensions.ProbeRevision {
		violations, weak := capture.Expectations(p, d)
		if !slices.Equal(violations, a.o.Extensions.Violations) || weak != a.o.Extensions.WeakSuccess {
			untrue = append(untrue, "/extensions/violations")
		}
	}
	a.check("what the run came to", len(untrue) == 0, "the raw bytes give another %s of the observation", strings.Join(untrue, ", "))
	place := errorCaseOf(a.Observation)
	if !a.reg.Exists(place) {
		return nil // validate knows whether there must be one
	}
	have, err := a.reg.ReadFile(place)
	if err != nil {
		return err
	}
	var want []byte
	if e := errorcase.RunOf(a.o, a.Observation).Case(d.ErrorCase); e != nil {
		if want, err = contract.Encode(e); err != nil {
			return err
		}
	}
	a.check("error case", bytes.Equal(have, want), "%s is another one from line %d", place, capture.DifferingLine(want, have))
	return nil
}

// fixture compares the sanitized transcript.
func (a *auditor) fixture(derived []byte) {
	place := a.o.Extensions.Fixture
	have, err := a.reg.ReadFile(place)
	if err != nil {
		a.check("sanitized transcript", false, "%s cannot be read", place)
		return
	}
	line := capture.DifferingLine(derived, have)
	if line > 0 && a.o.Redaction.ToolVersion == redact.Version {
		a.Notes = append(a.Notes, "registry/families.json and vocabulary.json may have changed since: a difference may be theirs")
	}
	a.check("sanitized transcript", line == 0, "line %d of %s is another one", line, place)
}

// shape compares the shape's structure; its level follows from all records.
func (a *auditor) shape(derived *contract.Shape) error {
	have := &contract.Shape{}
	if err := a.reg.ReadJSON(a.o.Shape.Path, have); err != nil {
		a.check("shape", false, "%s cannot be read", a.o.Shape.Path)
		return nil
	}
	want := *derived
	want.ValidityLevel = have.ValidityLevel
	x, err1 := contract.Encode(have)
	y, err2 := contract.Encode(&want)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	a.check("shape", bytes.Equal(x, y), "%s is another one from line %d", a.o.Shape.Path, capture.DifferingLine(x, y))
	return nil
}

// Attest records that a maintainer's audit derived the fixture again. One by the
// same maintainer that is there already is returned, and isNew is false.
func Attest(ctx context.Context, reg *store.Registry, audit *Audit, by string, now time.Time) (record store.Stated, isNew bool, err error) {
	what := "attesting " + audit.Observation
	if err := vouches(reg, what, by); err != nil {
		return record, false, err
	}
	if audit.Verdict != AuditSame {
		return record, false, &RefusedError{What: what, Why: "the audit did not derive it again"}
	}
	return decide(ctx, reg, audit.Observation, now, func(s *subject) (*store.Stated, []*contract.Evidence, error) {
		for _, e := range s.said(contract.EvidenceAttestation) {
			if e.Attestation.By == by && e.Attestation.Audited == "re_derived" {
				return &e, nil, nil
			}
		}
		return nil, []*contract.Evidence{s.attestation(by, audit)}, nil
	})
}
