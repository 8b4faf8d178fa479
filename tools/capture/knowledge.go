package capture

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// knowledge is what the registry knew before a capture, plus what the capture
// has learned, so that a repeat of a new shape is not new again.
type knowledge struct {
	seen map[knownScope]map[contract.Digest]map[string]bool // signature → versions
	obs  map[knownScope][]*store.Observed
}

// knownScope is where a shape can be known: shapes of other probes, profiles or
// platforms say nothing.
type knownScope struct {
	agent, probe, profile string
	platform              contract.Platform
}

func scopeOf(c Cell) knownScope {
	return knownScope{c.Agent, c.Probe, c.Profile, contract.HostPlatform()}
}

func loadKnowledge(reg *store.Registry) (*knowledge, error) {
	k := &knowledge{seen: map[knownScope]map[contract.Digest]map[string]bool{}, obs: map[knownScope][]*store.Observed{}}
	all, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	for i := range all {
		o := &all[i]
		s := knownScope{o.Agent, o.Probe, o.Extensions.Profile, o.Platform}
		k.obs[s] = append(k.obs[s], o)
		k.learn(s, o.CLIVersion, o.Shape.Signature)
	}
	sources, err := reg.SourceEvidence("")
	if err != nil {
		return nil, err
	}
	for i := range sources {
		x := &sources[i].Extensions
		k.learn(knownScope{sources[i].Agent, x.Probe, x.Profile, x.Platform}, sources[i].CLIVersion, sources[i].DerivedShape.Signature)
	}
	return k, nil
}

func (k *knowledge) learn(s knownScope, version string, sig contract.Digest) {
	if k.seen[s] == nil {
		k.seen[s] = map[contract.Digest]map[string]bool{}
	}
	if k.seen[s][sig] == nil {
		k.seen[s][sig] = map[string]bool{}
	}
	k.seen[s][sig][version] = true
}

func (k *knowledge) has(s knownScope, sig contract.Digest) bool { return len(k.seen[s][sig]) > 0 }

// otherShape reports whether the same version showed another shape.
func (k *knowledge) otherShape(s knownScope, version string, sig contract.Digest) bool {
	for other, versions := range k.seen[s] {
		if other != sig && versions[version] {
			return true
		}
	}
	return false
}

// baseline returns the observation to compare a new shape with: the newest of
// the nearest version that is not newer, else the oldest version's.
func (k *knowledge) baseline(s knownScope, a *contract.Agent, version string) *store.Observed {
	var below, above *store.Observed
	for _, o := range k.obs[s] {
		n, err := agents.CompareVersions(a, o.CLIVersion, version)
		if err != nil {
			continue // another product of the same name
		}
		if n <= 0 && (below == nil || !less(a, o, below)) {
			below = o
		}
		if n > 0 && (above == nil || less(a, o, above)) {
			above = o
		}
	}
	if below != nil {
		return below
	}
	return above
}

// less orders by version, then by time.
func less(a *contract.Agent, x, y *store.Observed) bool {
	n, _ := agents.CompareVersions(a, x.CLIVersion, y.CLIVersion)
	return n < 0 || n == 0 && x.Capture.CapturedAt < y.Capture.CapturedAt
}
