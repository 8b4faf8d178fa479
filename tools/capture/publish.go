package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// publish puts the results of one agent version into the registry, all at once
// (docs/decisions/0002). Results whose redaction did not pass are left out.
// after, if not nil, adds what follows from the new records.
func publish(ctx context.Context, reg *store.Registry, results []*CellResult, retained map[contract.Digest]store.RawMeta, after func(*store.Transaction, []store.Observed) error) error {
	tx, err := reg.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Discard()
	var added []store.Observed
	for _, r := range results {
		if r.Observation == nil {
			continue
		}
		o, err := stage(tx, r, retained)
		if err != nil {
			return fmt.Errorf("publishing %s: %w", r.Cell.ID, err)
		}
		added = append(added, o)
	}
	if len(added) == 0 {
		return nil
	}
	if after != nil {
		if err := after(tx, added); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// stage stages the records of one result. The result keeps the places it got,
// so that staging it again after a crash gives the same records.
func stage(tx *store.Transaction, r *CellResult, retained map[contract.Digest]store.RawMeta) (store.Observed, error) {
	o := *r.Observation
	fam, sig, content := o.ProtocolFamily, r.Shape.Signature, o.Extensions.FixtureSHA256
	fixture, first, err := fixturePlace(tx, fam, sig, content)
	if err != nil {
		return store.Observed{}, err
	}
	files := map[string][]byte{fixture: []byte(r.Fixture)}
	o.Extensions.Fixture = fixture
	if g := r.Goldens[AdapterOpenDesign]; g != "" {
		o.ParserReplay.Golden = store.GoldenPath(AdapterOpenDesign, fam, sig, content, first)
		files[o.ParserReplay.Golden] = []byte(g)
	}
	if g := r.Goldens[AdapterReference]; g != "" {
		o.Extensions.ReferenceGolden = store.GoldenPath(AdapterReference, fam, sig, content, first)
		files[o.Extensions.ReferenceGolden] = []byte(g)
	}
	if !tx.Has(r.Shape.Path()) {
		b, err := contract.Encode(r.Shape)
		if err != nil {
			return store.Observed{}, err
		}
		files[r.Shape.Path()] = b
	}
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil {
		return store.Observed{}, fmt.Errorf("reading captured_at: %w", err)
	}
	place := store.ObservationPath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe)
	if tx.Has(place) {
		return store.Observed{}, fmt.Errorf("the registry has %s already", place)
	}
	body, err := contract.Encode(&o)
	if err != nil {
		return store.Observed{}, err
	}
	files[place] = body
	evidence, err := evidenceFor(&o, place, contract.Sum(body), retained)
	if err != nil {
		return store.Observed{}, err
	}
	files[store.EvidencePath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe)] = evidence
	for rel, b := range files {
		if err := tx.Write(rel, b); err != nil {
			return store.Observed{}, err
		}
	}
	return store.Observed{Path: place, Observation: o}, nil
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
func evidenceFor(o *contract.Observation, place string, sum contract.Digest, retained map[contract.Digest]store.RawMeta) ([]byte, error) {
	raw := retained[o.Capture.RawClientTranscriptSHA256]
	until := raw.RetainUntil.UTC().Format(time.RFC3339)
	return contract.Encode(&contract.Evidence{
		SchemaVersion: contract.SchemaVersion,
		Kind:          contract.EvidenceCapture,
		Agent:         o.Agent, CLIVersion: o.CLIVersion, Platform: o.Platform, Probe: o.Probe,
		Observation: contract.FileRef{Path: place, SHA256: sum},
		RecordedAt:  o.Capture.CapturedAt,
		RecordedBy:  "agent-contracts " + contract.ToolVersion,
		Capture: &contract.CaptureEvidence{
			Fixture:        contract.FileRef{Path: o.Extensions.Fixture, SHA256: o.Extensions.FixtureSHA256},
			Raw:            contract.RawArtifact{SHA256: raw.SHA256, Visibility: o.Capture.RawArtifactVisibility, Bytes: raw.Bytes, RetainedUntil: &until},
			WorkflowRunURL: o.Capture.WorkflowRunURL,
			Runner:         o.Capture.Runner,
			BinarySHA256:   o.Install.BinarySHA256,
			ToolVersion:    contract.ToolVersion,
		},
	})
}
