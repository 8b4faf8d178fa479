package contract

// CompatibilityResponse is the specification's AgentCliCompatibilityResponse:
// what is known about the CLI installed on one machine. Every surface gives
// this object unchanged; its schema is
// schemas/agent-cli-compatibility.schema.json.
type CompatibilityResponse struct {
	SchemaVersion int    `json:"schema_version"`
	GeneratedAt   string `json:"generated_at"` // when the answer was made: UTC, RFC 3339 with Z
	Agent         string `json:"agent"`
	// InstalledVersion is the version that the CLI names, null when there is
	// no CLI or it names none.
	InstalledVersion *string               `json:"installed_version"`
	Platform         Platform              `json:"platform"`
	Status           SupportStatus         `json:"status"`
	Policy           CompatibilityPolicy   `json:"policy"`
	Evidence         CompatibilityEvidence `json:"evidence"`
}

// CompatibilityPolicy says what to do about an installed CLI (FINE-PRINT 17).
type CompatibilityPolicy struct {
	AllowRun   AllowRun  `json:"allow_run"`
	UserAction CLIAction `json:"user_action"`
}

// CompatibilityEvidence says what an answer rests on.
type CompatibilityEvidence struct {
	VersionRange *string `json:"version_range"` // of the claim, null without one
	// ShapeSignature is that of the agent's representative probe, null when it
	// is not known or not one.
	ShapeSignature        *Digest        `json:"shape_signature"`
	ObservedAt            *string        `json:"observed_at"` // null when nothing was observed
	Source                EvidenceSource `json:"source"`
	ServerVariantPossible bool           `json:"server_variant_possible"`
}

// CLIAction is what a user can do about an installed CLI.
type CLIAction string

// EvidenceSource says where an answer about an installed CLI comes from.
type EvidenceSource string

// ActionFor returns what a user can do about a status. observed says that this
// very version was captured; it matters to a version range alone (FINE-PRINT 17).
func ActionFor(s SupportStatus, observed bool) CLIAction {
	switch s {
	case SupportLocalShapeVerified:
		return CLIActionNone
	case SupportVersionRangeVerified:
		if observed {
			return CLIActionNone
		}
	case SupportActiveShapeUnknown:
		return CLIActionReportUnknownShape
	case SupportTooOld:
		return CLIActionUpgradeCLI
	case SupportKnownBreaking, SupportKnownBreakingShape:
		return CLIActionPinSupportedVersion
	}
	return CLIActionRunLocalProbe
}

// AllowRunFor returns whether a consumer should start a CLI of a status:
// DefaultAllowRun, and allow for what was verified itself (FINE-PRINT 17).
func AllowRunFor(s SupportStatus, observed bool) AllowRun {
	if s == SupportLocalShapeVerified || s == SupportVersionRangeVerified && observed {
		return AllowRunAllow
	}
	return DefaultAllowRun(s)
}
