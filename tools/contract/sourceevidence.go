package contract

import (
	"fmt"
	"slices"
)

// SourceEvidence is what was learned about a protocol without running the CLI
// (spec source-evidence.schema.json). It guides captures and never supports a
// claim.
type SourceEvidence struct {
	SchemaVersion  int            `json:"schema_version"`
	Agent          string         `json:"agent"`
	ProtocolFamily ProtocolFamily `json:"protocol_family"`
	// ValidityLevel is one of SourceLevels.
	ValidityLevel ValidityLevel `json:"validity_level"`
	// SourceRefs are repository tags, commits, file paths, documentation URLs
	// or places of local fixtures. Never empty.
	SourceRefs   []string `json:"source_refs"`
	DerivedShape ShapeRef `json:"derived_shape"`
	DiscoveredAt string   `json:"discovered_at"` // UTC, RFC 3339 with Z
	// CLIVersion is the exact version or tag, UnknownVersion when not known.
	CLIVersion string                   `json:"cli_version"`
	Extensions SourceEvidenceExtensions `json:"extensions,omitzero"`
}

// SourceEvidenceExtensions holds what the specification's fields cannot say.
type SourceEvidenceExtensions struct {
	// Fixture and FixtureSHA256 name the sanitized transcript of a
	// synthetic_mock record (FINE-PRINT 9).
	Fixture       string `json:"fixture,omitempty"`
	FixtureSHA256 Digest `json:"fixture_sha256,omitempty"`
	Dialect       string `json:"dialect,omitempty"`
	Probe         string `json:"probe,omitempty"`
	// ProbeRevision, Fault, Platform and Provider tell of a real run that a
	// fault injector changed; a transcript written by hand has none. Profile is
	// the argv profile that the run had or stands for.
	ProbeRevision Digest       `json:"probe_revision,omitempty"`
	Fault         FaultKind    `json:"fault,omitempty"`
	Platform      Platform     `json:"platform,omitempty"`
	Profile       string       `json:"profile,omitempty"`
	Provider      ProviderKind `json:"provider,omitempty"`
	// What follows from the fixture, as in an observation.
	Normalizer      string        `json:"normalizer,omitempty"`
	Readers         string        `json:"readers,omitempty"`
	ParserReplay    *ParserReplay `json:"parser_replay,omitempty"`
	ReferenceGolden string        `json:"reference_golden,omitempty"`
	ReportedResult  string        `json:"reported_result,omitempty"`
	RunResult       string        `json:"run_result,omitempty"`
	Note            string        `json:"note,omitempty"`
}

// Origin says in words where a synthetic record's transcript comes from.
func (x *SourceEvidenceExtensions) Origin() string {
	if x.Fault == "" {
		return "the run was written by hand"
	}
	return fmt.Sprintf("a fault (%s) changed the run", x.Fault)
}

// UnknownVersion stands for a version that nobody knows. Source evidence may
// have it, an observation never (DESIGN D3).
const UnknownVersion = "unknown"

// SourceLevels are the levels of source evidence.
var SourceLevels = []ValidityLevel{LevelSourceDerived, LevelVendorDocumented, LevelSyntheticMock}

func checkSourceEvidence(c *checker, s *SourceEvidence) {
	checkShapeRef(c, "SRC-SHAPE-PATH", "/derived_shape", s.DerivedShape, s.ProtocolFamily)
	synthetic := s.ValidityLevel == LevelSyntheticMock
	if synthetic && s.Extensions.FixtureSHA256 == "" {
		c.report("SRC-FIXTURE", "/extensions/fixture_sha256", "a synthetic_mock record needs the fixture it was built from")
	}
	if slices.Contains(SourceLevels, s.ValidityLevel) && !synthetic && s.Extensions.Fixture != "" {
		c.report("SRC-FIXTURE", "/extensions/fixture", "only a synthetic_mock record has a fixture")
	}
}

// checkShapeRef reports a shape reference whose path does not follow from its
// signature and family.
func checkShapeRef(c *checker, code, pointer string, ref ShapeRef, family ProtocolFamily) {
	if _, err := ParseDigest(string(ref.Signature)); err != nil || !family.Valid() {
		return
	}
	if want := ShapePath(family, ref.Signature); ref.Path != want {
		c.report(code, pointer+"/path", "the shape %s of %s is at %s", ref.Signature.Short(), family, want)
	}
}
