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
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
)

// Publish puts results of other machines into the registry, all at once: each
// with the evidence record that its own machine wrote. after adds what follows
// from the new records.
func Publish(ctx context.Context, reg *store.Registry, results []*CellResult, after func(*store.Transaction, []store.Observed) error) error {
	return publish(ctx, reg, results, nil, after)
}

// publish puts the results of one agent version into the registry, all at once
// (docs/decisions/0002). Results whose redaction did not pass are left out.
// after, if not nil, adds what follows from the new records.
func publish(ctx context.Context, reg *store.Registry, results []*CellResult, retained map[contract.Digest]private.Meta, after func(*store.Transaction, []store.Observed) error) error {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	var added []store.Observed
	changed := false
	for _, r := range results {
		if r.Source != nil {
			isNew, err := stageSource(tx, r)
			if err != nil {
				return fmt.Errorf("publishing %s: %w", r.Cell.ID, err)
			}
			changed = changed || isNew
		}
		if r.Observation == nil {
			continue
		}
		o, isNew, err := stage(tx, r, retained)
		if err != nil {
			return fmt.Errorf("publishing %s: %w", r.Cell.ID, err)
		}
		if isNew {
			added = append(added, o)
		}
	}
	if len(added) == 0 && !changed {
		return nil
	}
	if after != nil && len(added) > 0 {
		if err := after(tx, added); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// stage stages the records of one result. Staging it again after a crash gives
// the same records; isNew is false when they are in the registry already.
func stage(tx *store.Transaction, r *CellResult, retained map[contract.Digest]private.Meta) (added store.Observed, isNew bool, err error) {
	o := *r.Observation
	fam, content := o.ProtocolFamily, o.Extensions.FixtureSHA256
	files, places, err := derivedFiles(tx, r, fam, content)
	if err != nil {
		return added, false, err
	}
	o.Extensions.Fixture, o.ParserReplay.Golden, o.Extensions.ReferenceGolden = places.fixture, places.openDesign, places.reference
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil {
		return added, false, fmt.Errorf("reading captured_at: %w", err)
	}
	place, body, free, err := observationPlace(tx, &o, &at)
	if err != nil {
		return added, false, err
	}
	r.Observation = &o // the report says what the registry says
	if !free {
		return added, false, nil
	}
	files[place] = body
	evidence, err := contract.Encode(evidenceFor(r, &o, place, contract.Sum(body), retained))
	if err != nil {
		return added, false, err
	}
	files[store.EvidencePath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe)] = evidence
	if e := errorcase.RunOf(&o, place).Case(r.ErrorCase); e != nil {
		if files[store.ErrorCasePath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe)], err = contract.Encode(e); err != nil {
			return added, false, err
		}
	}
	return store.Observed{Path: place, Observation: o}, true, writeAll(tx, files)
}

func writeAll(tx *store.Transaction, files map[string][]byte) error {
	for rel, b := range files {
		if err := ownRecord(rel, b); err != nil {
			return err
		}
		if err := tx.Write(rel, b); err != nil {
			return err
		}
	}
	return nil
}

// observationPlace finds the place of an observation and its content. Two
// captures may have run the same cell in the same millisecond: the second one
// to be published counts as later. free is false when this very observation is
// there already.
func observationPlace(tx *store.Transaction, o *contract.Observation, at *time.Time) (place string, body []byte, free bool, err error) {
	return freePlace(tx, o, at, func() string {
		o.Capture.CapturedAt = at.UTC().Format(capturedAtLayout)
		return store.ObservationPath(o.Agent, o.CLIVersion, o.Platform, *at, o.Probe)
	})
}

// freePlace finds the first millisecond from at whose place has no record, or
// this very one. placeAt sets the record's time to at and returns its place.
func freePlace(tx *store.Transaction, record any, at *time.Time, placeAt func() string) (place string, body []byte, free bool, err error) {
	for {
		place = placeAt()
		if body, err = contract.Encode(record); err != nil {
			return "", nil, false, err
		}
		there, err := tx.ReadFile(place)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return place, body, true, nil
		case err != nil:
			return "", nil, false, err
		case bytes.Equal(there, body):
			return place, body, false, nil
		}
		*at = at.Add(time.Millisecond)
	}
}

// ownRecord refuses a record of ours that would not validate: it is our fault,
// and the registry must not suffer for it.
func ownRecord(rel string, b []byte) error {
	kind, ok := contract.KindOf(rel)
	if !ok {
		return nil
	}
	if problems := contract.Validate(kind, rel, b); contract.HasErrors(problems) {
		return fmt.Errorf("this program made an invalid record: %s", problems[0])
	}
	return nil
}

// fixturePlace finds the name of a fixture: the shape's own for the first one,
// with the content's hash for every other content of the same shape.
func fixturePlace(tx *store.Transaction, f contract.ProtocolFamily, sig, content contract.Digest) (place string, first bool, err error) {
	place = store.FixturePath(f, sig, content, true)
	b, err := tx.ReadFile(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place, true, nil
	case err != nil:
		return "", false, err
	case contract.Sum(b) == content:
		return place, true, nil
	}
	return store.FixturePath(f, sig, content, false), false, nil
}

// evidenceFor links an observation to its fixture and to the retained raw
// bundle (spec "Validity Levels").
func evidenceFor(r *CellResult, o *contract.Observation, place string, sum contract.Digest, retained map[contract.Digest]private.Meta) *contract.Evidence {
	ref := contract.FileRef{Path: place, SHA256: sum}
	fixture := contract.FileRef{Path: o.Extensions.Fixture, SHA256: o.Extensions.FixtureSHA256}
	if r.Evidence != nil {
		e, c := *r.Evidence, *r.Evidence.Capture
		c.Fixture = fixture
		e.Observation, e.Capture = ref, &c
		return &e
	}
	raw := retained[o.Capture.RawClientTranscriptSHA256]
	until := raw.RetainUntil.UTC().Format(time.RFC3339)
	return &contract.Evidence{
		SchemaVersion: contract.SchemaVersion,
		Kind:          contract.EvidenceCapture,
		Agent:         o.Agent, CLIVersion: o.CLIVersion, Platform: o.Platform, Probe: o.Probe,
		Observation: ref,
		RecordedAt:  o.Capture.CapturedAt,
		RecordedBy:  "agent-contracts " + contract.ToolVersion,
		Capture: &contract.CaptureEvidence{
			Fixture:        fixture,
			Raw:            contract.RawArtifact{SHA256: raw.SHA256, Visibility: o.Capture.RawArtifactVisibility, Bytes: raw.Bytes, RetainedUntil: &until},
			WorkflowRunURL: o.Capture.WorkflowRunURL,
			Runner:         o.Capture.Runner,
			BinarySHA256:   o.Install.BinarySHA256,
			ToolVersion:    contract.ToolVersion,
		},
	}
}
