package contract

import (
	"runtime"
	"slices"
	"strings"
)

// ProtocolFamily names a wire protocol (spec "All records share these rules").
type ProtocolFamily string

// The protocol families of the specification.
const (
	FamilyPlain   ProtocolFamily = "plain/v1"
	FamilyClaude  ProtocolFamily = "claude-stream-json/v1"
	FamilyEvents  ProtocolFamily = "json-event-stream/v1"
	FamilyQoder   ProtocolFamily = "qoder-stream-json/v1"
	FamilyCopilot ProtocolFamily = "copilot-stream-json/v1"
	FamilyACP     ProtocolFamily = "acp-json-rpc/v1"
	FamilyPi      ProtocolFamily = "pi-rpc/v1"
)

// ProtocolFamilies lists every family in the specification's order.
var ProtocolFamilies = []ProtocolFamily{FamilyPlain, FamilyClaude, FamilyEvents, FamilyQoder, FamilyCopilot, FamilyACP, FamilyPi}

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

// The levels, weakest first (FINE-PRINT 1, level order).
const (
	LevelSyntheticMock      ValidityLevel = "synthetic_mock"
	LevelVendorDocumented   ValidityLevel = "vendor_documented"
	LevelSourceDerived      ValidityLevel = "source_derived"
	LevelServerVariant      ValidityLevel = "server_variant"
	LevelRuntimeObserved    ValidityLevel = "runtime_observed"
	LevelConfirmed          ValidityLevel = "confirmed"
	LevelCommunityConfirmed ValidityLevel = "community_confirmed"
)

// ValidityLevels lists the levels, weakest first.
var ValidityLevels = []ValidityLevel{LevelSyntheticMock, LevelVendorDocumented, LevelSourceDerived, LevelServerVariant, LevelRuntimeObserved, LevelConfirmed, LevelCommunityConfirmed}

// Rank returns the level's place in the level order, or -1 for an unknown one.
func (l ValidityLevel) Rank() int { return slices.Index(ValidityLevels, l) }

// SupportsClaim reports whether a shape of this level may back a normal
// supported-version claim (spec "Validity Levels").
func (l ValidityLevel) SupportsClaim() bool {
	return l == LevelRuntimeObserved || l == LevelConfirmed || l == LevelCommunityConfirmed
}

// Platform is an operating system and processor, or "unknown".
type Platform string

// Platforms lists the platforms of the specification.
var Platforms = []Platform{"darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "win32-x64", "unknown"}

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

// The transports of the specification.
const (
	TransportPlain   Transport = "plain"
	TransportJSONL   Transport = "jsonl"
	TransportJSON    Transport = "json"
	TransportJSONRPC Transport = "json-rpc"
	TransportPiRPC   Transport = "pi-rpc"
)

// Transports lists every transport.
var Transports = []Transport{TransportPlain, TransportJSONL, TransportJSON, TransportJSONRPC, TransportPiRPC}

// StderrClass says what a CLI's stderr was about.
type StderrClass string

// StderrClasses lists the classes of the specification. In a shape's identity
// diagnostic and debug count as none (DESIGN D6).
var StderrClasses = []StderrClass{"none", "diagnostic", "auth", "quota", "upstream", "protocol", "debug", "unknown"}

// ExitClass is the normalized end of a child process.
type ExitClass string

// The exit classes of the specification.
const (
	ExitSuccess ExitClass = "success"
	ExitNonzero ExitClass = "nonzero"
	ExitSignal  ExitClass = "signal"
	ExitTimeout ExitClass = "timeout"
	ExitUnknown ExitClass = "unknown"
)

// ExitClasses lists every exit class.
var ExitClasses = []ExitClass{ExitSuccess, ExitNonzero, ExitSignal, ExitTimeout, ExitUnknown}

// StdinMode says how a CLI gets its prompt.
type StdinMode string

// The stdin modes of the specification. jsonl-open is a stream-json line on a
// stdin that stays open.
const (
	StdinNone       StdinMode = "none"
	StdinText       StdinMode = "text-prompt"
	StdinJSONLOpen  StdinMode = "jsonl-open"
	StdinPromptFile StdinMode = "prompt-file"
	StdinRPC        StdinMode = "rpc"
)

// StdinModes lists every stdin mode.
var StdinModes = []StdinMode{StdinNone, StdinText, StdinJSONLOpen, StdinPromptFile, StdinRPC}

// RedactionStatus is the outcome of redaction.
type RedactionStatus string

// The redaction statuses of the specification.
const (
	RedactionPassed RedactionStatus = "passed"
	RedactionFailed RedactionStatus = "failed"
	RedactionReview RedactionStatus = "manual_review_required"
)

// ReplayStatus says whether a consumer understands a shape.
type ReplayStatus string

// The replay statuses of the specification.
const (
	ReplayCompatible   ReplayStatus = "compatible"
	ReplayIncompatible ReplayStatus = "incompatible"
	ReplayNotRun       ReplayStatus = "not_run"
)

// SupportStatus is what the matrix claims for a range of versions.
type SupportStatus string

// The support statuses of the specification.
const (
	SupportLocalShapeVerified    SupportStatus = "local_shape_verified"
	SupportVersionRangeVerified  SupportStatus = "version_range_verified"
	SupportServerVariantPossible SupportStatus = "server_variant_possible"
	SupportNewerThanVerified     SupportStatus = "newer_than_verified"
	SupportTooOld                SupportStatus = "too_old"
	SupportKnownBreaking         SupportStatus = "known_breaking"
	SupportKnownBreakingShape    SupportStatus = "known_breaking_shape"
	SupportActiveShapeUnknown    SupportStatus = "active_shape_unknown"
	SupportUnknown               SupportStatus = "unknown"
)

// SupportStatuses lists every support status.
var SupportStatuses = []SupportStatus{SupportLocalShapeVerified, SupportVersionRangeVerified, SupportServerVariantPossible, SupportNewerThanVerified, SupportTooOld, SupportKnownBreaking, SupportKnownBreakingShape, SupportActiveShapeUnknown, SupportUnknown}

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

// ProviderKind says who played the model provider in a capture.
type ProviderKind string

// The provider kinds of DESIGN D1.
const (
	ProviderEmulated ProviderKind = "emulated"
	ProviderLive     ProviderKind = "live"
)
