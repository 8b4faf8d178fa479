package matrix

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Quality says how good the evidence about an agent on a platform is. Its cells
// are the known versions times the probes of the agent's production profile.
type Quality struct {
	Agent    string            `json:"agent"`
	Platform contract.Platform `json:"platform"`
	Versions int               `json:"versions"` // known: captured, or seen by discovery
	Probes   int               `json:"probes"`
	// Observed cells were captured and agree; Interpolated ones lie between two
	// captures with one shape and no change; of Unknown ones nothing is known.
	Observed     int `json:"observed"`
	Interpolated int `json:"interpolated"`
	Unknown      int `json:"unknown"`
	// Shares of the cells, from 0 to 1.
	ObservedShare     float64 `json:"observed_share"`
	InterpolatedShare float64 `json:"interpolated_share"`
	UnknownShare      float64 `json:"unknown_share"`
	// Repeated counts the cells that were captured more than once, Stable those
	// of them whose captures all gave one shape. Stability is their ratio, null
	// where nothing was repeated.
	Repeated  int      `json:"repeated"`
	Stable    int      `json:"stable"`
	Stability *float64 `json:"stability"`
	// LastObservedAt is the newest capture's time and FreshnessDays its limit;
	// how old that is today is for the reader to say: AgeDays and Stale.
	LastObservedAt string `json:"last_observed_at"`
	FreshnessDays  int    `json:"freshness_days,omitempty"`
}

// AgeDays returns the age of the newest capture in whole days.
func (q *Quality) AgeDays(now time.Time) int {
	at, err := time.Parse(time.RFC3339, q.LastObservedAt)
	if err != nil {
		return 0
	}
	return int(now.Sub(at).Hours() / 24)
}

// Stale reports whether the newest capture is older than the agent's limit.
func (q *Quality) Stale(now time.Time) bool {
	at, err := time.Parse(time.RFC3339, q.LastObservedAt)
	return err == nil && q.FreshnessDays > 0 && at.AddDate(0, 0, q.FreshnessDays).Before(now)
}

// Qualities measures every agent and platform with records, sorted.
func Qualities(r *Records) ([]Quality, error) {
	type key struct {
		agent    string
		platform contract.Platform
	}
	groups := map[key]map[contract.ProtocolFamily][]*store.Observed{}
	known := map[key]map[string]bool{}
	standing := NewStanding(r.Statements)
	for i := range r.Observations {
		o := &r.Observations[i]
		k := key{o.Agent, o.Platform}
		why := setAside(o)
		if why != "" && o.Probe != contract.VersionProbeID {
			continue
		}
		if known[k] == nil {
			known[k] = map[string]bool{}
		}
		known[k][o.CLIVersion] = true // also of a version that was only asked for its version
		if why != "" {
			continue
		}
		if groups[k] == nil {
			groups[k] = map[contract.ProtocolFamily][]*store.Observed{}
		}
		groups[k][o.ProtocolFamily] = append(groups[k][o.ProtocolFamily], o)
	}
	out := []Quality{}
	for k, families := range groups {
		for _, s := range r.LatestSeen.Agents {
			if s.Agent == k.agent {
				known[k][s.Version] = true
			}
		}
		agent, err := agents.Find(r.Agents, k.agent)
		if err != nil {
			return nil, err
		}
		q := Quality{Agent: k.agent, Platform: k.platform, Versions: len(known[k]), FreshnessDays: agent.FreshnessDays}
		for f, obs := range families {
			b := &builder{records: r, agent: agent, group: group{k.agent, f, k.platform}, standing: standing}
			if err := b.measure(&q, obs, sortedKeys(known[k])); err != nil {
				return nil, err
			}
		}
		q.shares()
		out = append(out, q)
	}
	slices.SortFunc(out, func(x, y Quality) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Platform, y.Platform))
	})
	return out, nil
}

// measure counts the cells of one family.
func (b *builder) measure(q *Quality, obs []*store.Observed, versions []string) error {
	probes := map[string]bool{}
	for _, o := range obs {
		probes[o.Probe] = true
		if _, withdrawn := b.standing.Withdrawn(o.Path); !withdrawn {
			q.LastObservedAt = max(q.LastObservedAt, o.Capture.CapturedAt)
		}
	}
	q.Probes += len(probes)
	claims, whole, err := b.judged(obs)
	if err != nil {
		return err
	}
	for _, v := range versions {
		cells, _, err := b.explain(claims, whole, v)
		if err != nil {
			return err
		}
		for _, c := range cells {
			switch c.State {
			case ProbeObserved, ProbeVariants:
				q.Observed++
			case ProbeInterpolated:
				q.Interpolated++
			default:
				q.Unknown++
			}
			count := slices.DeleteFunc(c.Observations, func(o ExplainedObservation) bool { return o.Withdrawn })
			if c.State == ProbeInterpolated || len(count) < 2 {
				continue
			}
			q.Repeated++
			if !slices.ContainsFunc(count, func(o ExplainedObservation) bool { return o.Signature != count[0].Signature }) {
				q.Stable++
			}
		}
	}
	return nil
}

func (q *Quality) shares() {
	if all := float64(q.Observed + q.Interpolated + q.Unknown); all > 0 {
		q.ObservedShare, q.InterpolatedShare, q.UnknownShare = float64(q.Observed)/all, float64(q.Interpolated)/all, float64(q.Unknown)/all
	}
	if q.Repeated > 0 {
		s := float64(q.Stable) / float64(q.Repeated)
		q.Stability = &s
	}
}
