package contract

import (
	"path"
	"slices"
	"strings"
)

// RecordKind names a kind of record or data file. Its schema is
// schemas/<kind>.schema.json.
type RecordKind string

// The record kinds.
const (
	KindObservation    RecordKind = "observation"
	KindSourceEvidence RecordKind = "source-evidence"
	KindShape          RecordKind = "shape"
	KindSupportMatrix  RecordKind = "support-matrix"
	KindErrorCase      RecordKind = "error-case"
	KindEvidence       RecordKind = "evidence"
	KindRequest        RecordKind = "request"
	KindAnswer         RecordKind = "answer"
	KindPolicy         RecordKind = "policy"
	KindLatestSeen     RecordKind = "latest-seen"
	KindAliases        RecordKind = "aliases"
	KindDriftIgnores   RecordKind = "drift-ignores"
	KindDriftReport    RecordKind = "drift-report"
	KindAgents         RecordKind = "agents"
	KindProbe          RecordKind = "probe" // a probe's env-policy.json
	KindScenario       RecordKind = "scenario"
	KindExpectation    RecordKind = "expectation"
	KindFamilies       RecordKind = "families"
	KindVocabulary     RecordKind = "vocabulary"
	KindReleases       RecordKind = "releases"
	KindIncidents      RecordKind = "incidents"
	KindTranscript     RecordKind = "transcript" // one line of a sanitized transcript
	// KindCompatibility is an answer, which no registry keeps.
	KindCompatibility RecordKind = "agent-cli-compatibility"
)

// RecordKinds lists every kind.
var RecordKinds = []RecordKind{
	KindObservation, KindSourceEvidence, KindShape, KindSupportMatrix, KindErrorCase, KindEvidence,
	KindRequest, KindAnswer, KindPolicy, KindLatestSeen, KindAliases, KindAgents, KindProbe,
	KindScenario, KindExpectation, KindFamilies, KindVocabulary, KindReleases, KindIncidents, KindTranscript,
	KindDriftIgnores, KindDriftReport, KindCompatibility,
}

// Valid reports whether k is one of RecordKinds.
func (k RecordKind) Valid() bool { return slices.Contains(RecordKinds, k) }

// schemaFile returns the name of the kind's schema in schemas.FS.
func (k RecordKind) schemaFile() string { return string(k) + ".schema.json" }

// fixedPlaces are the data files that a registry has once.
var fixedPlaces = map[string]RecordKind{
	"registry/agents.json":         KindAgents,
	"registry/drift-ignores.json":  KindDriftIgnores,
	"registry/families.json":       KindFamilies,
	"registry/incidents.json":      KindIncidents,
	"registry/latest-seen.json":    KindLatestSeen,
	"registry/policy.json":         KindPolicy,
	"registry/releases.json":       KindReleases,
	"registry/support-matrix.json": KindSupportMatrix,
	"registry/vocabulary.json":     KindVocabulary,
	"shapes/aliases.json":          KindAliases,
}

// endings tell the kind of a record by its file name.
var endings = []struct {
	suffix string
	kind   RecordKind
}{
	{".observation.json", KindObservation},
	{".source-evidence.json", KindSourceEvidence},
	{".shape.json", KindShape},
	{".error.json", KindErrorCase},
	{".evidence.json", KindEvidence},
	{".request.json", KindRequest},
	{".answer.json", KindAnswer},
	{".diff.json", KindDriftReport},
}

// KindOf returns the kind of the record at a place in a registry (FINE-PRINT 3),
// with forward slashes; false for a file that is not a record, such as a
// fixture, a golden or a prompt.
func KindOf(rel string) (RecordKind, bool) {
	if k, ok := fixedPlaces[rel]; ok {
		return k, true
	}
	for _, e := range endings {
		if strings.HasSuffix(rel, e.suffix) {
			return e.kind, true
		}
	}
	if parts := strings.Split(rel, "/"); len(parts) == 3 && parts[0] == "probes" {
		switch path.Base(rel) {
		case "scenario.json":
			return KindScenario, true
		case "expected-min-events.json":
			return KindExpectation, true
		case "env-policy.json":
			return KindProbe, true
		}
	}
	return "", false
}
