package contract

//go:generate go run generate.go

// The values of the enumerations are generated from the schemas: enums_gen.go.

import (
	"runtime"
	"slices"
	"strings"
)

// ProtocolFamily names a wire protocol (spec "All records share these rules").
type ProtocolFamily string

// Valid reports whether f is one of ProtocolFamilies.
func (f ProtocolFamily) Valid() bool { return slices.Contains(ProtocolFamilies, f) }

// Dir returns the family's folder name under shapes/, fixtures/ and goldens/:
// the name without its version.
func (f ProtocolFamily) Dir() string {
	name, _, _ := strings.Cut(string(f), "/")
	return name
}

// IsRPC reports whether both sides speak frames, so that a sanitized
// transcript holds `frame` records (FINE-PRINT 8).
func (f ProtocolFamily) IsRPC() bool { return f == FamilyACP || f == FamilyPi }

// ValidityLevel says how strong the evidence for a shape is.
type ValidityLevel string

// Rank returns the level's place in the level order, or -1 for an unknown one.
func (l ValidityLevel) Rank() int { return slices.Index(ValidityLevels, l) }

// SupportsClaim reports whether a shape of this level may back a normal
// supported-version claim (spec "Validity Levels").
func (l ValidityLevel) SupportsClaim() bool {
	return l == LevelRuntimeObserved || l == LevelConfirmed || l == LevelCommunityConfirmed
}

// Platform is an operating system and processor, or "unknown".
type Platform string

// Valid reports whether p is one of Platforms.
func (p Platform) Valid() bool { return slices.Contains(Platforms, p) }

// HostPlatform returns the platform this program runs on, or "unknown".
func HostPlatform() Platform {
	os := map[string]string{"windows": "win32"}[runtime.GOOS]
	if os == "" {
		os = runtime.GOOS
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	if p := Platform(os + "-" + arch); p.Valid() {
		return p
	}
	return "unknown"
}

// Transport is how frames travel (spec shape.schema.json).
type Transport string

// StderrClass says what a CLI's stderr was about.
type StderrClass string

// ExitClass is the normalized end of a child process.
type ExitClass string

// StdinMode says how a CLI gets its prompt.
type StdinMode string

// RedactionStatus is the outcome of redaction.
type RedactionStatus string

// ReplayStatus says whether a consumer understands a shape.
type ReplayStatus string

// SupportStatus is what the matrix claims for a range of versions.
type SupportStatus string

// Verdict is what compare says of a new observation (spec "Compare").
type Verdict string

// The five verdicts of the specification.
const (
	VerdictSameShape          Verdict = "same_shape"
	VerdictCompatibleNewShape Verdict = "compatible_new_shape"
	VerdictServerVariant      Verdict = "server_variant"
	VerdictParserIncompatible Verdict = "parser_incompatible"
	VerdictRedactionFailed    Verdict = "redaction_failed"
)

// Verdicts lists every verdict.
var Verdicts = []Verdict{VerdictSameShape, VerdictCompatibleNewShape, VerdictServerVariant, VerdictParserIncompatible, VerdictRedactionFailed}

// ProviderKind says who played the model provider in a capture.
type ProviderKind string
