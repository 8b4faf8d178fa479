package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
)

// OpenAPI describes every route of the server; the static files are those of
// it that take no query.
//
//go:embed openapi.json
var OpenAPI []byte

// AgentDocument is what api/v1/<agent>.json holds.
type AgentDocument struct {
	SchemaVersion       int                       `json:"schema_version"`
	GeneratedAt         string                    `json:"generated_at"` // the matrix's: the newest record's time
	Agent               string                    `json:"agent"`
	Name                string                    `json:"name"`
	Tier                int                       `json:"tier"`
	ProtocolFamilies    []contract.ProtocolFamily `json:"protocol_families"`
	RepresentativeProbe string                    `json:"representative_probe,omitempty"`
	Exemption           string                    `json:"exemption,omitempty"`
	LatestVerified      *string                   `json:"latest_verified"`
	// LastObservedAt is the newest capture's time, FreshUntil when it is stale;
	// null where there is none.
	LastObservedAt *string           `json:"last_observed_at"`
	FreshUntil     *string           `json:"fresh_until"`
	Versions       []VersionDocument `json:"versions"` // newest first
	// LeftOut is how many older ones are not listed: each has its page.
	LeftOut int `json:"left_out"`
}

// mostVersions is how many versions of an agent, platform by platform, its
// document lists, so that it stays below 100 kB.
const mostVersions = 200

// ClaimDocument is an entry of the support matrix without its shapes.
type ClaimDocument struct {
	VersionRanges    []string                  `json:"version_ranges"`
	Platforms        []contract.Platform       `json:"platforms"`
	ProtocolFamilies []contract.ProtocolFamily `json:"protocol_families"`
	SupportStatus    contract.SupportStatus    `json:"support_status"`
	AllowRun         contract.AllowRun         `json:"allow_run"`
	LastObservedAt   *string                   `json:"last_observed_at"`
	Shapes           int                       `json:"observed_shapes"` // how many
}

// VersionDocument is what is claimed about a captured version.
type VersionDocument struct {
	Version  string                         `json:"version"`
	Platform contract.Platform              `json:"platform"`
	Status   contract.SupportStatus         `json:"status"`
	Policy   contract.CompatibilityPolicy   `json:"policy"`
	Evidence contract.CompatibilityEvidence `json:"evidence"`
	Page     string                         `json:"page"` // its address below the site's root
}

// document returns a JSON document.
func (s *Site) document(at string) (*File, error) {
	missing := &NotFoundError{at, "there is no such document"}
	name, ok := strings.CutSuffix(strings.TrimPrefix(at, "api/v1/"), ".json")
	if !ok || !strings.HasPrefix(at, "api/v1/") {
		return nil, missing
	}
	folder, id, nested := strings.Cut(name, "/")
	if !nested {
		switch name {
		case "agents":
			return encode(s.agentsDocument())
		case "matrix":
			return encode(s.Matrix)
		case "openapi":
			return &File{Type: TypeJSON, Body: OpenAPI}, nil
		}
		if a := s.Records.Agents.Agent(name); a != nil {
			return encode(s.agentDocument(a, mostVersions))
		}
		return nil, missing
	}
	switch folder {
	case "shapes":
		shape, err := s.Shape(id)
		if err != nil {
			return nil, &NotFoundError{at, "this registry has no such shape"}
		}
		return encode(shape)
	case "errors", "health", "claims":
		if s.Records.Agents.Agent(id) == nil {
			return nil, missing
		}
		switch folder {
		case "errors":
			return encode(s.errorsDocument(id))
		case "claims":
			return encode(s.claimsDocument(id))
		}
		return s.healthDocument(id)
	}
	return nil, missing
}

func encode(v any) (*File, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing a document: %w", err)
	}
	return &File{Type: TypeJSON, Body: append(b, '\n')}, nil
}

// agentsDocument is api/v1/agents.json: every agent, with its newest version.
func (s *Site) agentsDocument() any {
	list := []AgentDocument{}
	captured, others := s.withRecords()
	for _, a := range append(captured, others...) {
		d := s.agentDocument(a, 1)
		d.Exemption = firstSentence(d.Exemption)
		list = append(list, d)
	}
	return map[string]any{"schema_version": contract.SchemaVersion, "generated_at": s.Matrix.GeneratedAt, "agents": list}
}

func (s *Site) agentDocument(a *contract.Agent, most int) AgentDocument {
	d := AgentDocument{SchemaVersion: contract.SchemaVersion, GeneratedAt: s.Matrix.GeneratedAt, Agent: a.ID, Name: a.Name, Tier: a.Tier, ProtocolFamilies: a.ProtocolFamilies,
		RepresentativeProbe: a.RepresentativeProbe, Exemption: a.Exemption, Versions: []VersionDocument{}}
	line := s.agentLine(a)
	if line.Verified != "" {
		d.LatestVerified = &line.Verified
	}
	if line.Fresh.At != "" {
		d.LastObservedAt = &line.Fresh.At
	}
	if line.Fresh.Until != "" {
		d.FreshUntil = &line.Fresh.Until
	}
	for _, f := range s.gather(a) {
		for i := len(f.versions) - 1; i >= 0; i-- {
			c, err := s.Index.Find(a.ID, f.versions[i], f.platform)
			if err != nil {
				continue // a version that its own scheme does not read has no claim
			}
			d.Versions = append(d.Versions, VersionDocument{f.versions[i], f.platform, c.Status, c.Policy, c.Evidence, versionPath(a.ID, f.versions[i], f.platform)})
		}
	}
	all := len(d.Versions)
	d.Versions = d.Versions[:min(all, most)]
	d.LeftOut = all - len(d.Versions)
	return d
}

// claimsDocument lists an agent's entries of the support matrix, without the
// shapes behind them.
func (s *Site) claimsDocument(agent string) any {
	list := []ClaimDocument{}
	for _, e := range s.Matrix.Agents {
		if e.Agent == agent {
			list = append(list, ClaimDocument{e.VersionRanges, e.Platforms, e.ProtocolFamilies, e.SupportStatus, e.Policy.AllowRun, e.LastObservedAt, len(e.ObservedShapes)})
		}
	}
	return map[string]any{"schema_version": contract.SchemaVersion, "generated_at": s.Matrix.GeneratedAt, "agent": agent, "claims": list}
}

// ErrorDocument is one failing run in a list.
type ErrorDocument struct {
	Place    string                          `json:"place"`
	Agent    string                          `json:"agent"`
	Version  string                          `json:"cli_version,omitempty"`
	Probe    string                          `json:"probe"`
	Level    contract.ValidityLevel          `json:"validity_level,omitempty"`
	Expected *contract.FailureClassification `json:"expected_failure_classification"`
	Consumer *contract.FailureClassification `json:"consumer"` // null where it gives none
	// Differs names the members in which the consumer is wrong; null where the
	// record does not say what it makes of the run.
	Differs  []string `json:"differs"`
	recorded string
}

// mostErrors is how many error cases a document lists.
const mostErrors = 130

// errorsDocument lists the error cases of an agent, those of its newest
// captures first.
func (s *Site) errorsDocument(agent string) any {
	list := []ErrorDocument{}
	for i := range s.errorCases[agent] {
		e := &s.errorCases[agent][i]
		d := ErrorDocument{Place: e.Path, Agent: e.Agent, Version: e.Extensions.CLIVersion, Probe: e.Probe, Level: e.Extensions.ValidityLevel, Expected: e.Expected, Consumer: e.Extensions.Consumers[contract.ConsumerOpenDesign], recorded: e.Extensions.RecordedAt}
		if differs, known := e.Differences(contract.ConsumerOpenDesign); known {
			d.Differs = append([]string{}, differs...)
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b ErrorDocument) int { return strings.Compare(b.recorded, a.recorded) })
	all := len(list)
	list = list[:min(all, mostErrors)]
	return map[string]any{"schema_version": contract.SchemaVersion, "agent": agent, "consumer": contract.ConsumerOpenDesign, "error_cases": list, "left_out": all - len(list)}
}

// Made is the time of the newest record, which everything here is as of.
func (s *Site) Made() time.Time {
	t, err := time.Parse(time.RFC3339, s.Matrix.GeneratedAt)
	if err != nil {
		return time.Unix(0, 0).UTC()
	}
	return t
}

// healthDocument sums up how the runs of an agent fare, a line a version.
func (s *Site) healthDocument(agent string) (*File, error) {
	p, err := s.healthPage(agent)
	if err != nil {
		return nil, err
	}
	return encode(map[string]any{"schema_version": contract.SchemaVersion, "as_of": s.Matrix.GeneratedAt, "agent": agent, "versions": p.Lines, "suggestions": p.Suggestions})
}

// Health is health's report, without the runs one by one. Agent and probe may
// be "" for all of them.
func (s *Site) Health(agent, probe string, now time.Time) (*health.Report, error) {
	r, err := health.Build(s.health, health.Options{Agent: agent, Probe: probe, Now: now})
	if err != nil {
		return nil, err
	}
	for i := range r.Rows {
		r.Rows[i].History = nil
	}
	return r, nil
}
