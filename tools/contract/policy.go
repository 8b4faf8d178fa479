package contract

import (
	"slices"
	"strings"
)

// Policy is registry/policy.json: what people decided and nothing can derive
// (FINE-PRINT 2). The matrix is made from it and from the records.
type Policy struct {
	SchemaVersion int `json:"schema_version"`
	// Maintainers is sorted by Handle. Without any nobody attests or promotes, and
	// of a withdrawal the commit that adds it tells who is behind it.
	Maintainers []Maintainer `json:"maintainers,omitempty"`
	// Agents has at most one entry an agent, sorted by agent.
	Agents     []AgentPolicy  `json:"agents"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// inheritedMarks is the extension that names agents whose coverage marks speak of
// another registry.
const inheritedMarks = "inherited_marks"

// InheritMarks says that the coverage marks of these agents are those of the
// registry that this one was made from: they name what to capture, and not what
// has been.
func (p *Policy) InheritMarks(agents []string) {
	list := make([]any, len(agents))
	for i, id := range agents {
		list[i] = id
	}
	if p.Extensions == nil {
		p.Extensions = map[string]any{}
	}
	p.Extensions[inheritedMarks] = list
}

// InheritsMarks reports whether the coverage marks of an agent speak of another
// registry.
func (p *Policy) InheritsMarks(agent string) bool {
	list, _ := p.Extensions[inheritedMarks].([]any)
	return slices.Contains(list, any(agent))
}

// Maintainer is somebody who may attest, promote and withdraw.
type Maintainer struct {
	Handle string `json:"handle"`
	// AgeRecipients are the public keys that raw bundles are encrypted to.
	AgeRecipients []string `json:"age_recipients,omitempty"`
}

// Recipients returns the public keys of all maintainers.
func (p *Policy) Recipients() []string {
	var out []string
	for _, m := range p.Maintainers {
		out = append(out, m.AgeRecipients...)
	}
	return out
}

// SameHandle reports whether two handles are one person's: where they come from
// upper and lower case are not told apart.
func SameHandle(a, b string) bool { return strings.EqualFold(a, b) }

// Maintains reports whether a handle is a maintainer's, who may attest and
// promote.
func (p *Policy) Maintains(handle string) bool {
	return slices.ContainsFunc(p.Maintainers, func(m Maintainer) bool { return m.Handle == handle })
}

// Decides reports whether a handle may withdraw, and say what is published: a
// maintainer's, or anybody's where none is named. Neither vouches for more than
// what was derived.
func (p *Policy) Decides(handle string) bool { return len(p.Maintainers) == 0 || p.Maintains(handle) }

// AgentPolicy holds the decisions about one agent.
type AgentPolicy struct {
	Agent               string               `json:"agent"`
	TooOld              []TooOld             `json:"too_old,omitempty"`
	KnownBreaking       []KnownBreaking      `json:"known_breaking,omitempty"`
	KnownBreakingShapes []KnownBreakingShape `json:"known_breaking_shapes,omitempty"`
	Notes               []PolicyNote         `json:"notes,omitempty"`
	Overrides           []PolicyOverride     `json:"overrides,omitempty"`
}

// Scope limits a decision; what is empty is not limited.
type Scope struct {
	Platforms        []Platform       `json:"platforms,omitempty"`
	ProtocolFamilies []ProtocolFamily `json:"protocol_families,omitempty"`
}

// TooOld sets a floor: versions below Below are too old.
type TooOld struct {
	Below    string   `json:"below"`
	Reason   string   `json:"reason"`
	Evidence []string `json:"evidence,omitempty"` // places of records, or HTTPS URLs
	Scope    Scope    `json:"scope,omitzero"`
}

// KnownBreaking says that versions do not work.
type KnownBreaking struct {
	VersionRanges []string `json:"version_ranges"`
	Reason        string   `json:"reason"`
	Evidence      []string `json:"evidence"` // at least one place of a record, or HTTPS URL
	Scope         Scope    `json:"scope,omitzero"`
}

// PolicyNote is shown with the entries that its ranges touch; without ranges
// with all of the agent's.
type PolicyNote struct {
	VersionRanges []string `json:"version_ranges,omitempty"`
	Text          string   `json:"text"`
	Scope         Scope    `json:"scope,omitzero"`
}

// PolicyOverride replaces what a consumer is told to do (FINE-PRINT 17). It
// never changes the status.
type PolicyOverride struct {
	VersionRanges []string      `json:"version_ranges,omitempty"`
	SupportStatus SupportStatus `json:"support_status,omitempty"` // only entries with this status
	AllowRun      AllowRun      `json:"allow_run"`
	Reason        string        `json:"reason"`
	Scope         Scope         `json:"scope,omitzero"`
}

// LatestSeen is registry/latest-seen.json, written by discover: the newest
// version of each agent that a registry of packages offers.
type LatestSeen struct {
	SchemaVersion int `json:"schema_version"`
	// Agents has at most one entry an agent, sorted by agent.
	Agents     []LatestSeenAgent `json:"agents"`
	Extensions map[string]any    `json:"extensions,omitempty"`
}

// LatestSeenAgent is the newest version of one agent.
type LatestSeenAgent struct {
	Agent   string `json:"agent"`
	Version string `json:"version"`
	Source  string `json:"source"`  // npm:<package>, github:<owner>/<repository> …
	SeenAt  string `json:"seen_at"` // UTC, RFC 3339 with Z: when this version was seen first
	// PublishedAt is when it was released, where the source says so.
	PublishedAt *string `json:"published_at"`
}

// Aliases is shapes/aliases.json: the new signature of each shape that a
// change of the normalizer renamed. Loaders resolve through it (FINE-PRINT 1).
type Aliases struct {
	SchemaVersion int `json:"schema_version"`
	// Aliases is sorted by From and free of cycles.
	Aliases    []Alias        `json:"aliases"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// Alias is one renamed shape.
type Alias struct {
	From       Digest `json:"from"`
	To         Digest `json:"to"`
	Normalizer string `json:"normalizer"` // version of the normalizer that gave To
	RenamedAt  string `json:"renamed_at"` // UTC, RFC 3339 with Z
}

// Resolve follows the aliases from a signature to the one in force, which is
// the signature itself where there is no alias.
func (a *Aliases) Resolve(sig Digest) Digest {
	next := make(map[Digest]Digest, len(a.Aliases))
	for _, alias := range a.Aliases {
		next[alias.From] = alias.To
	}
	for range a.Aliases { // a cycle, which does not validate, ends here too
		to, ok := next[sig]
		if !ok {
			break
		}
		sig = to
	}
	return sig
}
