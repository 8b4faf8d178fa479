// Package discover finds the newest release of each agent: from npm, GitHub
// releases, Homebrew, the vendor's own endpoint, and the program installed here.
// Every source can fail alone and then says so: it is unavailable with a reason,
// never empty. It writes registry/latest-seen.json (FINE-PRINT 2).
package discover

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/install"
)

// Report is what the sources say, by agent.
type Report struct {
	SchemaVersion int     `json:"schema_version"`
	AsOf          string  `json:"as_of"` // UTC, RFC 3339 with Z
	Agents        []Agent `json:"agents"`
}

// Agent is what the sources say about one agent.
type Agent struct {
	Agent string `json:"agent"`
	// LatestSeen is the newest release that a remote source offers, null when
	// none of them answered; Source says which, the first of equals.
	LatestSeen  *string `json:"latest_seen"`
	Source      string  `json:"source,omitempty"`
	PublishedAt *string `json:"published_at"`
	// LatestVerified is the newest version with a promoted claim, as the
	// committed matrix has it; null without one.
	LatestVerified *string `json:"latest_verified"`
	// Behind says that LatestSeen is newer than LatestVerified, for an agent that
	// can be captured.
	Behind  bool     `json:"behind"`
	Sources []Source `json:"sources"`
}

// Looked says whether a remote source answered.
func (a *Agent) Looked() bool { return a.LatestSeen != nil }

// Source is the answer of one source.
type Source struct {
	Source    string `json:"source"` // npm:<package>, github:<owner>/<repository>, local:<program> …
	Available bool   `json:"available"`
	// Reason says why it is not available; "" when it is.
	Reason  string  `json:"reason,omitempty"`
	Version *string `json:"version"`
	// PublishedAt is when the version was released, where the source says so.
	PublishedAt *string `json:"published_at"`
	// Tags are the package's dist-tags, or the other words that the source has
	// for versions.
	Tags map[string]string `json:"tags,omitempty"`
}

// local says whether the source is this machine: what is installed here need
// not be a release.
func (s *Source) local() bool { return len(s.Source) > 6 && s.Source[:6] == "local:" }

// Options are what a look needs from its surroundings.
type Options struct {
	Agents []*contract.Agent
	Now    func() time.Time
	// Transport makes the requests; nil: the default one, with the proxy of the
	// environment. CacheDir keeps answers by their ETag, "" keeps none.
	Transport http.RoundTripper
	CacheDir  string
	// GitHubAPI and HomebrewAPI are other addresses of these services, "" for
	// their own. GitHubToken raises GitHub's limit.
	GitHubAPI, HomebrewAPI, GitHubToken string
	// Releases asks npm.
	Releases func(context.Context, *contract.Agent) (*install.Releases, error)
	// Local asks the program on this machine; it returns its name too.
	Local func(context.Context, *contract.Agent) (program string, v agents.Version, err error)
	// Verified returns the newest verified version of an agent, "" for none.
	Verified func(agent string) string
	// Progress is told which source of which agent is asked; nil tells nobody. It may be called
	// from several goroutines at once.
	Progress func(agent, source string)
}

// parallel is how many agents are looked at at once: their sources are asked
// one after the other, which keeps the load on each service low.
const parallel = 4

// sourceTimeout bounds one source.
const sourceTimeout = 45 * time.Second

// Run asks every source of every agent. What a source cannot answer is in the
// report; the error is that of a broken definition, or ctx's.
func Run(ctx context.Context, o Options) (*Report, error) {
	l := newLooker(o)
	report := &Report{SchemaVersion: contract.SchemaVersion, AsOf: o.Now().UTC().Format(time.RFC3339), Agents: make([]Agent, len(o.Agents))}
	errs := make([]error, len(o.Agents))
	slots := make(chan struct{}, parallel)
	var wg sync.WaitGroup
	for i, a := range o.Agents {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			report.Agents[i], errs[i] = l.look(ctx, a)
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return report, nil
}

// look asks the sources of one agent.
func (l *looker) look(ctx context.Context, a *contract.Agent) (Agent, error) {
	out := Agent{Agent: a.ID, Sources: []Source{}}
	for _, s := range l.sources(a) {
		if ctx.Err() != nil {
			return out, nil
		}
		if l.o.Progress != nil {
			l.o.Progress(a.ID, s.name)
		}
		out.Sources = append(out.Sources, s.ask(ctx, a))
	}
	if err := out.settle(a); err != nil {
		return out, err
	}
	if v := l.o.Verified(a.ID); v != "" {
		out.LatestVerified = &v
	}
	out.Behind = out.LatestSeen != nil && a.Exemption == "" && a.Install != nil
	if out.Behind && out.LatestVerified != nil {
		n, err := agents.CompareVersions(a, *out.LatestSeen, *out.LatestVerified)
		out.Behind = err != nil || n > 0 // a version without an order is none that was verified
	}
	return out, nil
}

// settle finds the newest release among the remote sources.
func (r *Agent) settle(a *contract.Agent) error {
	for i := range r.Sources {
		s := &r.Sources[i]
		if !s.Available || s.local() {
			continue
		}
		if r.LatestSeen != nil {
			n, err := agents.CompareVersions(a, *s.Version, *r.LatestSeen)
			if err != nil {
				return err
			}
			if n < 0 || n == 0 && (r.PublishedAt != nil || s.PublishedAt == nil) {
				continue
			}
		}
		r.LatestSeen, r.Source, r.PublishedAt = s.Version, s.Source, s.PublishedAt
	}
	return nil
}

// asked is one source of an agent.
type asked struct {
	name string
	find func(context.Context, *contract.Agent) (found, error)
}

// found is an answer before it is checked.
type found struct {
	version   string
	published time.Time
	tags      map[string]string
}

// ask turns whatever comes of it into an answer.
func (s asked) ask(ctx context.Context, a *contract.Agent) Source {
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	ctx, used := withUses(ctx)
	out := Source{Source: s.name}
	f, err := s.find(ctx, a)
	if err == nil {
		_, err = agents.ParseToken(a, f.version)
	}
	if err != nil {
		used.forget()
		out.Reason = reason(err)
		return out
	}
	out.Available, out.Version, out.Tags = true, &f.version, f.tags
	if !f.published.IsZero() {
		at := f.published.UTC().Format(time.RFC3339)
		out.PublishedAt = &at
	}
	return out
}
