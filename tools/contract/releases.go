package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Releases is registry/releases.json, written by bisect: what each agent
// published, as far as the package registry here has it, and what of it could
// not be captured.
type Releases struct {
	SchemaVersion int `json:"schema_version"`
	// Agents has at most one entry an agent and platform, sorted by both.
	Agents     []AgentReleases `json:"agents"`
	Extensions map[string]any  `json:"extensions,omitempty"`
}

// AgentReleases is what one agent published.
type AgentReleases struct {
	Agent    string   `json:"agent"`
	Platform Platform `json:"platform"`
	// LookedAt is when the package registry was asked: UTC, RFC 3339 with Z.
	LookedAt string `json:"looked_at"`
	// Releases are the stable releases in ascending order.
	Releases []string `json:"releases"`
	// Prereleases counts those that are no stable releases.
	Prereleases int `json:"prereleases"`
	// NotCaptured are attempts that gave no observation, sorted.
	NotCaptured []NotCaptured `json:"not_captured,omitempty"`
}

// NotCaptured is a release, or one probe of it, that gave no observation.
type NotCaptured struct {
	Version string `json:"version"`
	// Probe and Profile are empty for the release as a whole.
	Probe   string `json:"probe,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Reason is a word of tools/bisect.
	Reason string `json:"reason"`
}

// Validate reports what the schema cannot say: order, and each entry once.
func (r *Releases) Validate() error {
	key := func(a AgentReleases) string { return a.Agent + " " + string(a.Platform) }
	var errs []error
	for i, a := range r.Agents {
		if i > 0 && key(r.Agents[i-1]) >= key(a) {
			errs = append(errs, fmt.Errorf("agents[%d]: %s comes after %s: sort the entries, each once", i, key(a), key(r.Agents[i-1])))
		}
		seen := map[string]bool{}
		for _, v := range a.Releases {
			if seen[v] {
				errs = append(errs, fmt.Errorf("agents[%d]: release %s is there twice", i, v))
			}
			seen[v] = true
		}
		if !slices.IsSortedFunc(a.NotCaptured, NotCaptured.Compare) {
			errs = append(errs, fmt.Errorf("agents[%d]: not_captured is not sorted by version, probe and profile", i))
		}
	}
	return errors.Join(errs...)
}

// Compare orders by version as text, probe and profile.
func (n NotCaptured) Compare(o NotCaptured) int {
	return strings.Compare(n.Version+"\x00"+n.Probe+"\x00"+n.Profile, o.Version+"\x00"+o.Probe+"\x00"+o.Profile)
}

// Incidents is registry/incidents.json: changes between releases that broke
// somebody in public, and what the records must say about them.
type Incidents struct {
	SchemaVersion int        `json:"schema_version"`
	Incidents     []Incident `json:"incidents"`
}

// Incident is one change that broke somebody.
type Incident struct {
	ID     string   `json:"id"`
	What   string   `json:"what"`   // what changed, in a sentence
	Broke  string   `json:"broke"`  // whom
	Source []string `json:"source"` // public reports
	// Agent, Probe, Profile, From and To name two captures; they are empty where
	// no capture can show the incident, and Reason says why.
	Agent   string `json:"agent,omitempty"`
	Probe   string `json:"probe,omitempty"`
	Profile string `json:"profile,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	// Verdict is the right one for a reader written for From.
	Verdict Verdict `json:"verdict,omitempty"`
	// Signals are those that compare must give, as it spells them.
	Signals []string `json:"signals,omitempty"`
	// Note says what the captures have to do with the incident, where that is
	// not plain.
	Note   string `json:"note,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Validate reports what the schema cannot say.
func (f *Incidents) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for i, x := range f.Incidents {
		if seen[x.ID] {
			errs = append(errs, fmt.Errorf("incidents[%d]: id %s is there twice", i, x.ID))
		}
		seen[x.ID] = true
		shown := []string{x.Agent, x.Probe, x.Profile, x.From, x.To, string(x.Verdict)}
		given := len(slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return s == "" }))
		if x.Reason == "" && given != len(shown) || x.Reason != "" && given != 0 {
			errs = append(errs, fmt.Errorf("incidents[%d]: want agent, probe, profile, from, to and verdict, or a reason why no capture shows it", i))
		}
	}
	return errors.Join(errs...)
}
