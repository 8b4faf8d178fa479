package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// places are where the files of one fixture lie; a reading that there is none
// of has no place.
type places struct{ fixture, openDesign, reference string }

// derivedFiles returns the fixture of a result with everything that follows
// from it, by place. content is the fixture's hash.
func derivedFiles(tx *store.Transaction, r *CellResult, fam contract.ProtocolFamily, content contract.Digest) (map[string][]byte, places, error) {
	var p places
	sig := r.Shape.Signature
	fixture, first, err := fixturePlace(tx, fam, sig, content)
	if err != nil {
		return nil, p, err
	}
	p.fixture = fixture
	files := map[string][]byte{fixture: []byte(r.Fixture)}
	for adapter, place := range map[string]*string{AdapterOpenDesign: &p.openDesign, AdapterReference: &p.reference} {
		g := r.Goldens[adapter]
		if g == "" {
			continue
		}
		*place, err = goldenPlace(tx, []byte(g), func(kind string) string {
			return store.GoldenPath(adapter, fam, sig, content, first, kind)
		})
		if err != nil {
			return nil, p, err
		}
		files[*place] = []byte(g)
	}
	wanted, err := shapeWanted(tx, r)
	if err != nil || !wanted {
		return files, p, err
	}
	files[r.Shape.Path()], err = contract.Encode(r.Shape)
	return files, p, err
}

// goldenPlace returns the place of a golden: the general one of its fixture,
// unless that holds another agent's reading.
func goldenPlace(tx *store.Transaction, golden []byte, place func(kind string) string) (string, error) {
	general := place("")
	there, err := tx.ReadFile(general)
	if errors.Is(err, fs.ErrNotExist) {
		return general, nil
	}
	if err != nil {
		return "", err
	}
	var theirs, ours struct {
		Agent string `json:"agent"`
	}
	if err := json.Unmarshal(there, &theirs); err != nil {
		return "", fmt.Errorf("reading %s: %w", general, err)
	}
	if err := json.Unmarshal(golden, &ours); err != nil {
		return "", fmt.Errorf("reading a new golden: %w", err)
	}
	if theirs.Agent == ours.Agent {
		return general, nil
	}
	return place(ours.Agent), nil
}

// shapeWanted reports whether the result's shape is to be written: there is
// none, or only source evidence had it so far. The signature is the same; what
// the file says beside it follows the strongest record (FINE-PRINT 1).
func shapeWanted(tx *store.Transaction, r *CellResult) (bool, error) {
	b, err := tx.ReadFile(r.Shape.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var there contract.Shape
	if err := json.Unmarshal(b, &there); err != nil {
		return false, fmt.Errorf("reading %s: %w", r.Shape.Path(), err)
	}
	ofSource := slices.Contains(contract.SourceLevels, there.ValidityLevel)
	return ofSource && r.Observation != nil, nil
}

// stageSource stages the source-evidence record of a result with its files.
// isNew is false when the registry has the record already.
func stageSource(tx *store.Transaction, r *CellResult) (isNew bool, err error) {
	s := *r.Source
	files, p, err := derivedFiles(tx, r, s.ProtocolFamily, s.Extensions.FixtureSHA256)
	if err != nil {
		return false, err
	}
	replay := *s.Extensions.ParserReplay
	replay.Golden = p.openDesign
	s.Extensions.ParserReplay, s.Extensions.Fixture, s.Extensions.ReferenceGolden = &replay, p.fixture, p.reference
	at, err := time.Parse(time.RFC3339, s.DiscoveredAt)
	if err != nil {
		return false, fmt.Errorf("reading discovered_at: %w", err)
	}
	platform := s.Extensions.Platform
	if platform == "" {
		platform = "unknown"
	}
	place, body, free, err := freePlace(tx, &s, &at, func() string {
		s.DiscoveredAt = at.UTC().Format(capturedAtLayout)
		return store.SourceEvidencePath(s.Agent, s.CLIVersion, platform, at, s.Extensions.Probe)
	})
	if err != nil {
		return false, err
	}
	r.Source = &s // the report says what the registry says
	if !free {
		return false, nil
	}
	files[place] = body
	if r.ErrorCase != nil {
		e := errorcase.Run{
			Agent: s.Agent, CLIVersion: s.CLIVersion, Platform: platform, Probe: s.Extensions.Probe, Level: s.ValidityLevel, RecordedAt: s.DiscoveredAt,
			Fixture: p.fixture, FixtureSHA256: s.Extensions.FixtureSHA256, RawTranscript: r.ErrorCase.RawShape, Source: s.SourceRefs[0],
		}.Case(r.ErrorCase)
		if files[store.ErrorCasePath(s.Agent, s.CLIVersion, platform, at, s.Extensions.Probe)], err = contract.Encode(e); err != nil {
			return false, err
		}
	}
	return true, writeAll(tx, files)
}
