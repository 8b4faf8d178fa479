package contract

// SupportMatrix is what the registry claims, derived from its records alone
// (spec support-matrix.schema.json, DESIGN D10).
type SupportMatrix struct {
	SchemaVersion int `json:"schema_version"`
	// GeneratedAt is the newest record's time; age is the reader's to compute
	// (FINE-PRINT 16).
	GeneratedAt string `json:"generated_at"`
	// OpenDesignMinCommit is the lowest OpenDesign commit that consumed this matrix.
	OpenDesignMinCommit *string `json:"open_design_min_commit"`
	// Agents has one entry for each agent, family, platform and maximal range
	// of versions with one status.
	Agents     []MatrixEntry  `json:"agents"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// MatrixEntry is one claim.
type MatrixEntry struct {
	Agent            string           `json:"agent"`
	VersionRanges    []string         `json:"version_ranges"` // semver ranges or exact versions
	Platforms        []Platform       `json:"platforms"`
	ProtocolFamilies []ProtocolFamily `json:"protocol_families"`
	SupportStatus    SupportStatus    `json:"support_status"`
	ObservedShapes   []ObservedShape  `json:"observed_shapes"`
	// LastObservedAt is the newest observed_at, null without observed shapes.
	LastObservedAt *string `json:"last_observed_at"`
	// LatestVerified is the newest version with a promoted claim, LatestSeen
	// the newest that discovery or a capture saw; null if there is none.
	LatestVerified      *string              `json:"latest_verified"`
	LatestSeen          *string              `json:"latest_seen"`
	ServerVariants      []ServerVariant      `json:"server_variants"`
	KnownBreakingShapes []KnownBreakingShape `json:"known_breaking_shapes"`
	Policy              MatrixPolicy         `json:"policy"`
	Notes               []string             `json:"notes"`
	Extensions          MatrixExtensions     `json:"extensions,omitzero"`
}

// ObservedShape is one shape behind a claim.
type ObservedShape struct {
	Shape         Digest                  `json:"shape"`
	ValidityLevel ValidityLevel           `json:"validity_level"`
	ObservedAt    string                  `json:"observed_at"`
	Extensions    ObservedShapeExtensions `json:"extensions,omitzero"`
}

// ObservedShapeExtensions says where a shape was observed (FINE-PRINT 16).
type ObservedShapeExtensions struct {
	Probe    string       `json:"probe,omitempty"`
	Provider ProviderKind `json:"provider,omitempty"`
	Profile  string       `json:"profile,omitempty"`
	// Versions has the versions it was observed at, Interpolated those
	// between them that nobody captured (DESIGN D10).
	Versions     []string `json:"versions,omitempty"`
	Interpolated []string `json:"interpolated,omitempty"`
	// Outvoted says that more captures of these versions have another shape,
	// which is the one that counts.
	Outvoted bool `json:"outvoted,omitempty"`
}

// ServerVariant is one of several shapes of one version.
type ServerVariant struct {
	Shape  Digest `json:"shape"`
	Status string `json:"status"` // one of ServerVariantStatuses
}

// ServerVariantStatuses lists what a server variant can be to the consumer.
var ServerVariantStatuses = []string{"compatible", "compatible_pending_fixture", "breaking"}

// KnownBreakingShape is a shape that the consumer does not survive.
type KnownBreakingShape struct {
	Shape    Digest `json:"shape"`
	Reason   string `json:"reason"`
	Evidence string `json:"evidence"` // place of a record, or an HTTPS URL
}

// AllowRun says what a consumer should do with an installed CLI.
type AllowRun string

// The values of policy.allow_run.
const (
	AllowRunAllow AllowRun = "allow"
	AllowRunWarn  AllowRun = "warn"
	AllowRunBlock AllowRun = "block"
)

// AllowRuns lists every value of policy.allow_run.
var AllowRuns = []AllowRun{AllowRunAllow, AllowRunWarn, AllowRunBlock}

// DefaultAllowRun returns the specification's default for a status: warn,
// and block for what is known not to work.
func DefaultAllowRun(s SupportStatus) AllowRun {
	switch s {
	case SupportTooOld, SupportKnownBreaking, SupportKnownBreakingShape:
		return AllowRunBlock
	}
	return AllowRunWarn
}

// MatrixPolicy says what a consumer should do.
type MatrixPolicy struct {
	AllowRun AllowRun `json:"allow_run"`
}

// MatrixExtensions holds what the specification's fields cannot say.
type MatrixExtensions struct {
	// Reason and Evidence explain a status that people decided (too_old,
	// known_breaking) and that has no shape of its own.
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // places of records, or HTTPS URLs
	Profile  string   `json:"profile,omitempty"`
}
