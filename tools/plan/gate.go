package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/sourcescan/issues"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Gate says whether the evidence about the Tier 0 agents is fresh enough for a
// release.
type Gate struct {
	SchemaVersion int         `json:"schema_version"`
	AsOf          string      `json:"as_of"` // UTC, RFC 3339 with Z
	Agents        []Freshness `json:"agents"`
}

// Freshness is how old the evidence about an agent's newest captured release is.
// Captures of its history say nothing about what people run today.
type Freshness struct {
	Agent         string `json:"agent"`
	FreshnessDays int    `json:"freshness_days"`
	// LastObservedAt is the newest capture of that release under the production
	// profile on any platform that was not withdrawn; null without one.
	LastObservedAt *string `json:"last_observed_at"`
	Version        string  `json:"version,omitempty"`
	AgeDays        int     `json:"age_days"` // whole days; 0 without one
	Stale          bool    `json:"stale"`
	Reason         string  `json:"reason,omitempty"`
}

// Passed reports whether a release may go out.
func (g *Gate) Passed() bool {
	return !slices.ContainsFunc(g.Agents, func(f Freshness) bool { return f.Stale })
}

// Check holds the evidence against the freshness limits, of the agents named in
// o or of all.
func Check(r *Records, o Options) (*Gate, error) {
	b, err := newBuilder(r, Options{Agents: o.Agents, Now: o.Now})
	if err != nil {
		return nil, err
	}
	g := &Gate{SchemaVersion: contract.SchemaVersion, AsOf: o.Now.UTC().Format(time.RFC3339), Agents: []Freshness{}}
	index := map[string]int{}
	for i := range r.Agents.Agents {
		if a := b.wanted(r.Agents.Agents[i].ID); a != nil && a.Tier == 0 {
			index[a.ID] = len(g.Agents)
			g.Agents = append(g.Agents, Freshness{Agent: a.ID, FreshnessDays: a.FreshnessDays, Stale: true, Reason: "nothing was captured"})
		}
	}
	for i := range b.counted {
		c := &b.counted[i]
		at, ok := index[c.Agent]
		if !ok || c.Extensions.Profile != contract.ProfileProduction {
			continue
		}
		if f := &g.Agents[at]; supersedes(b.wanted(c.Agent), c, f) {
			f.LastObservedAt, f.Version = &c.Capture.CapturedAt, c.CLIVersion
		}
	}
	for i := range g.Agents {
		if err := g.Agents[i].age(o.Now); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// supersedes reports whether a capture is of a newer release than what is known,
// or newer and of the same one. A prerelease is none.
func supersedes(a *contract.Agent, c *store.Observed, known *Freshness) bool {
	v, err := agents.ParseToken(a, c.CLIVersion)
	if err != nil || v.Prerelease != "" {
		return false
	}
	if known.LastObservedAt == nil {
		return true
	}
	n, err := agents.CompareVersions(a, c.CLIVersion, known.Version)
	return err == nil && (n > 0 || n == 0 && c.Capture.CapturedAt > *known.LastObservedAt)
}

func (f *Freshness) age(now time.Time) error {
	if f.LastObservedAt == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, *f.LastObservedAt)
	if err != nil {
		return fmt.Errorf("the age of the evidence about %s: %w", f.Agent, err)
	}
	f.AgeDays = int(now.Sub(at).Hours() / 24)
	f.Stale = at.AddDate(0, 0, f.FreshnessDays).Before(now)
	f.Reason = ""
	if f.Stale {
		f.Reason = fmt.Sprintf("%s was last captured %s, the limit is %d days", f.Version, at.UTC().Format(time.DateOnly), f.FreshnessDays)
	}
	return nil
}

// Issues returns one for each agent whose evidence is too old. It is the same
// issue until there is newer evidence.
func (g *Gate) Issues() []issues.Issue {
	var out []issues.Issue
	for _, f := range g.Agents {
		if !f.Stale {
			continue
		}
		last := "never"
		if f.LastObservedAt != nil {
			last = *f.LastObservedAt
		}
		out = append(out, issues.Issue{
			Fingerprint: "stale:" + f.Agent + ":" + strings.ToLower(last), Title: "Stale coverage: " + f.Agent, Labels: []string{"stale_coverage"},
			Body: fmt.Sprintf("The evidence about `%s` is too old for a release: %s.\n\n`agent-contracts plan %s` names the captures that are due.", f.Agent, f.Reason, f.Agent),
		})
	}
	return out
}
