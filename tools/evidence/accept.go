package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Acceptor takes bundles from anybody. A maintainer decides through a Request.
type Acceptor struct {
	Registry *store.Registry
	Requests *requests.Store
	// Unasked publishes what passes without a maintainer's answer: into a registry
	// that they see before it counts, such as the branch of a pull request.
	Unasked bool
	// Inline asks at once; nil suspends until there is an answer (DESIGN D11).
	Inline requests.Prompter
	By     string // signs what Inline leaves out
	// Note is told what a bundle says in free words, before anybody is asked; nil
	// tells nobody.
	Note func(texts []string)
	Now  func() time.Time
}

// Contributor says whose bundle it is, for the record of a reproduction; the
// zero value leaves that out.
type Contributor struct {
	Handle string
	URL    string // where the contributor published it, HTTPS
}

// Accepted is what came of a bundle.
type Accepted struct {
	// Observation is its place now; the one in the bundle may have been taken.
	Observation string `json:"observation"`
	IsNew       bool   `json:"new"`
	// Reproduction is the record that says whose result it repeats, "" for none.
	Reproduction string `json:"reproduction,omitempty"`
}

// Accept checks a bundle, asks a maintainer, and publishes the observation.
// Nothing of it is in the registry before the answer. Errors: *BundleError,
// *RefusedError, and *requests.SuspendedError while nobody has answered.
func (a *Acceptor) Accept(ctx context.Context, b *Bundle, who Contributor) (*Accepted, error) {
	if who.Handle != "" {
		if err := contributes(a.Registry, "accepting "+b.Manifest.Observation, who.Handle); err != nil {
			return nil, err
		}
	}
	s, err := check(a.Registry, b)
	if err != nil {
		return nil, err
	}
	if s.known != "" {
		out := &Accepted{Observation: s.known}
		return out, a.reproduces(ctx, out, who)
	}
	if a.Note != nil {
		a.Note(s.texts())
	}
	if !a.Unasked {
		if err := a.ask(ctx, s); err != nil {
			return nil, err
		}
	}
	res := &capture.CellResult{
		Observation: s.observation, Shape: s.derived.Shape, Fixture: string(s.derived.Fixture), Goldens: map[string]string{},
		ErrorCase: s.derived.ErrorCase, Evidence: s.evidence,
	}
	for adapter, g := range s.derived.Goldens {
		res.Goldens[adapter] = string(g)
	}
	out := &Accepted{}
	err = capture.Publish(ctx, a.Registry, []*capture.CellResult{res}, func(tx *store.Transaction, added []store.Observed) error {
		if err := s.distinct(a.Registry); err != nil { // the registry is locked now
			return err
		}
		out.IsNew = true
		return matrix.Refresh(a.Registry, tx, added)
	})
	if err != nil {
		return nil, err
	}
	if out.Observation, err = placeIn(res.Observation); err != nil {
		return out, err
	}
	return out, a.reproduces(ctx, out, who)
}

func placeIn(o *contract.Observation) (string, error) {
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	return store.ObservationPath(o.Agent, o.CLIVersion, o.Platform, at, o.Probe), err
}

// ask lets a maintainer decide about a bundle.
func (a *Acceptor) ask(ctx context.Context, s *submission) error {
	sum, err := s.bundle.tar()
	if err != nil {
		return err
	}
	policy, err := a.Registry.Policy()
	if err != nil {
		return err
	}
	id := contract.Sum(sum)
	runner := &requests.Runner{Store: a.Requests, Run: "accept-" + id.Hex()[:12], Inline: a.Inline, By: a.By}
	return runner.Do(ctx, "publish", func(_ context.Context, q *requests.Asker) error {
		o := s.observation
		prompt := fmt.Sprintf("May a contributor's observation of %s %s on %s, probe %s, be published? Its shape is %s; its provider, it says, was %s. "+
			"Everything public in it was derived again; its raw bundle %s is with the contributor. The bundle's content is %s.",
			o.Agent, o.CLIVersion, o.Platform, o.Probe, o.Shape.Signature.Short(), o.Extensions.Provider, o.Capture.RawClientTranscriptSHA256.Short(), id.Short())
		answer, _, err := approval(q, a.Requests, prompt, o.Agent, s.bundle.Manifest.Observation, policy.Decides)
		if err == nil && !answer.Approved {
			err = s.refuse("a maintainer refused it: %s", answer.Comment)
		}
		return err
	})
}

// reproduces records that the contributor's observation repeats one of ours, if
// there is one. Without a contributor it records nothing.
func (a *Acceptor) reproduces(ctx context.Context, out *Accepted, who Contributor) error {
	if who.Handle == "" {
		return nil
	}
	own, err := load(a.Registry, out.Observation)
	if err != nil {
		return err
	}
	for i := range own.records.Observations {
		o := *own
		o.Observed = own.records.Observations[i]
		_, gone := own.standing.Withdrawn(o.Path)
		if gone || o.Shape.Signature != own.Shape.Signature || sameRun(&o, own) != "" || o.madeBy(who.Handle) {
			continue
		}
		e, _, err := Reproduce(ctx, a.Registry, Reproduced{Observation: o.Path, By: who.Handle, URL: who.URL, Own: own.Path}, a.Now())
		out.Reproduction = e.Path
		return err
	}
	return nil
}
