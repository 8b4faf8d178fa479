package contract

import "path"

// DriftIgnores is registry/drift-ignores.json: changes that a person looked at
// and wants no more to hear of until a date.
type DriftIgnores struct {
	SchemaVersion int `json:"schema_version"`
	// Ignored is sorted by fingerprint, then agent.
	Ignored    []DriftIgnore  `json:"ignored"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// DriftIgnore is one entry.
type DriftIgnore struct {
	Fingerprint Digest `json:"fingerprint"`
	Agent       string `json:"agent,omitempty"` // "" for every agent
	Reason      string `json:"reason"`
	ExpiresAt   string `json:"expires_at"` // UTC, RFC 3339 with Z
}

// DriftReport is reports/diffs/<agent>/<version>-<new>-vs-<old>.diff.json: what
// changed between two neighbouring versions of an agent (specification,
// "Compare"). It is derived; beside it lies the same as Markdown.
type DriftReport struct {
	SchemaVersion  int            `json:"schema_version"`
	Agent          string         `json:"agent"`
	CLIVersion     string         `json:"cli_version"` // the first with the newer shape
	ProtocolFamily ProtocolFamily `json:"protocol_family"`
	Older          DriftSide      `json:"older"`
	Newer          DriftSide      `json:"newer"`
	// Cells is where the change was seen, sorted by platform, probe and profile.
	Cells   []DriftCell   `json:"cells"`
	Verdict Verdict       `json:"verdict"`
	Signals []DriftSignal `json:"signals"`

	Extensions map[string]any `json:"extensions,omitempty"`
}

// DriftSide is one of the two shapes.
type DriftSide struct {
	Signature Digest `json:"signature"`
	Dialect   string `json:"dialect"`
}

// DriftCell is one place where a change was seen.
type DriftCell struct {
	Platform         Platform `json:"platform"`
	Probe            string   `json:"probe"`
	Profile          string   `json:"profile"`
	OlderVersion     string   `json:"older_version"`
	OlderObservation string   `json:"older_observation"`
	NewerObservation string   `json:"newer_observation"`
}

// DriftSignal is one change and what it means for the adapters.
type DriftSignal struct {
	ID          string        `json:"id"`
	Severity    string        `json:"severity"` // info, warning or breaking
	EventType   string        `json:"event_type,omitempty"`
	Kinds       []string      `json:"kinds,omitempty"`
	Path        string        `json:"path,omitempty"`
	From        string        `json:"from,omitempty"`
	To          string        `json:"to,omitempty"`
	Renamed     string        `json:"renamed,omitempty"`
	Fingerprint Digest        `json:"fingerprint"`
	Readers     []DriftReader `json:"readers"`
	Ignored     string        `json:"ignored,omitempty"` // the reason
}

// DriftReader is what a change means for one adapter.
type DriftReader struct {
	Adapter string      `json:"adapter"`
	Effect  DriftEffect `json:"effect"`
	Paths   []string    `json:"paths,omitempty"` // what it reads there
}

// DriftEffect says whether an adapter reads what changed.
type DriftEffect string

// The effects.
const (
	EffectReads       DriftEffect = "reads"
	EffectNeverReads  DriftEffect = "never_reads"
	EffectNew         DriftEffect = "new_to_it" // the older run has nothing of the kind
	EffectNotMeasured DriftEffect = "not_measured"
)

// Path returns the report's place in a registry (specification, "Repository
// Layout"). The same as Markdown has the ending .md instead of .diff.json.
func (d *DriftReport) Path() string {
	return path.Join("reports", "diffs", d.Agent, d.CLIVersion+"-"+d.Newer.Signature.FileName()+"-vs-"+d.Older.Signature.FileName()+".diff.json")
}

// driftReport checks the places of a report and what it says of observations.
func (c *crossChecker) driftReport(d *DriftReport) {
	c.agent("/agent", d.Agent)
	if want := d.Path(); c.place != want {
		c.report("FILE-PLACE", "", "the report belongs at %s", want)
	}
	for i, cell := range d.Cells {
		at := pointerTo("/cells", itoa(i))
		c.driftObservation(at+"/older_observation", d.Agent, cell, cell.OlderObservation, cell.OlderVersion, d.Older.Signature)
		c.driftObservation(at+"/newer_observation", d.Agent, cell, cell.NewerObservation, "", d.Newer.Signature)
	}
}

func (c *crossChecker) driftObservation(pointer, agent string, cell DriftCell, place, version string, sig Digest) {
	o, err := c.r.Observation(place)
	if err != nil {
		c.missing("REF-FILE", pointer, place, err)
		return
	}
	if o.Agent != agent || o.Platform != cell.Platform || o.Probe != cell.Probe || version != "" && o.CLIVersion != version ||
		c.r.ResolveAlias(o.Shape.Signature) != c.r.ResolveAlias(sig) {
		c.report("DRIFT-CELL", pointer, "the observation is of %s %s on %s, probe %s, with shape %s", o.Agent, o.CLIVersion, o.Platform, o.Probe, o.Shape.Signature.Short())
	}
}
