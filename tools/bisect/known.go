package bisect

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// cell is one track of one release.
type cell struct {
	version string
	track   Track
}

// known is what is known of each release.
type known struct {
	observations map[cell][]*store.Observed // oldest first
	observed     map[string]bool            // releases with an observation
	// unavailable says why a release cannot be captured, missing why one track
	// of it cannot.
	unavailable map[string]Reason
	missing     map[cell]Reason
	aliases     map[contract.Digest]contract.Digest
}

// load reads what the registry and former attempts know. Captures against a
// real provider, of a program that somebody named, and of other platforms say
// nothing about a release here.
func load(o Options) (*known, error) {
	k := &known{
		observations: map[cell][]*store.Observed{}, observed: map[string]bool{},
		unavailable: map[string]Reason{}, missing: map[cell]Reason{},
	}
	all, err := counting(o.Registry, o.Agent.ID)
	if err != nil {
		return nil, err
	}
	if k.aliases, err = renamed(o.Registry); err != nil {
		return nil, err
	}
	for i := range all {
		if tells(&all[i], o.Platform) {
			k.add(&all[i])
		}
	}
	if o.Failures != nil {
		o.Failures.tell(k)
	}
	return k, nil
}

// counting returns the observations of an agent that nobody has withdrawn.
func counting(reg *store.Registry, agent string) ([]store.Observed, error) {
	obs, err := reg.Observations(agent)
	if err != nil {
		return nil, err
	}
	statements, err := reg.Statements(agent)
	if err != nil {
		return nil, err
	}
	withdrawn := map[string]bool{}
	for i := range statements {
		if statements[i].Withdraws() {
			withdrawn[statements[i].Observation.Path] = true
		}
	}
	return slices.DeleteFunc(obs, func(o store.Observed) bool { return withdrawn[o.Path] }), nil
}

// tells reports whether an observation says what a release does when an
// emulated provider answers it.
func tells(o *store.Observed, p contract.Platform) bool {
	return o.Platform == p && o.Extensions.Provider == contract.ProviderEmulated && !strings.HasPrefix(o.Install.Source, "binary:")
}

// renamed reads shapes/aliases.json: each old signature with its new one.
func renamed(reg *store.Registry) (map[contract.Digest]contract.Digest, error) {
	const place = "shapes/aliases.json"
	out := map[contract.Digest]contract.Digest{}
	if !reg.Exists(place) {
		return out, nil
	}
	var file contract.Aliases
	if err := reg.ReadJSON(place, &file); err != nil {
		return nil, err
	}
	for _, a := range file.Aliases {
		out[a.From] = a.To
	}
	return out, nil
}

func (k *known) add(o *store.Observed) {
	c := cell{o.CLIVersion, Track{o.Probe, o.Extensions.Profile}}
	k.observations[c] = append(k.observations[c], o)
	k.observed[o.CLIVersion] = true
	slices.SortStableFunc(k.observations[c], func(x, y *store.Observed) int {
		return strings.Compare(x.Capture.CapturedAt, y.Capture.CapturedAt)
	})
}

// answer returns the signatures that most captures of the release showed.
func (k *known) answer(version string, t Track) answer {
	count := map[contract.Digest]int{}
	most := 0
	for _, o := range k.observations[cell{version, t}] {
		sig := k.current(o.Shape.Signature)
		count[sig]++
		most = max(most, count[sig])
	}
	var out answer
	for sig, n := range count {
		if n == most {
			out = append(out, sig)
		}
	}
	slices.Sort(out)
	return out
}

// current follows a signature's new names.
func (k *known) current(sig contract.Digest) contract.Digest {
	for range len(k.aliases) {
		next, ok := k.aliases[sig]
		if !ok {
			break
		}
		sig = next
	}
	return sig
}

// newest returns the newest observation with the signatures that the release
// answers with, or nil.
func (k *known) newest(version string, t Track) *store.Observed {
	want := k.answer(version, t)
	for _, o := range slices.Backward(k.observations[cell{version, t}]) {
		if slices.Contains(want, k.current(o.Shape.Signature)) {
			return o
		}
	}
	return nil
}

// cannot says why a track of a release cannot be captured, "" if nothing
// speaks against it.
func (k *known) cannot(version string, t Track) Reason {
	if r := k.unavailable[version]; r != "" {
		return r
	}
	return k.missing[cell{version, t}]
}

// open returns the tracks of a release that are neither known nor impossible.
func (k *known) open(version string, tracks []Track) []Track {
	var out []Track
	for _, t := range tracks {
		if len(k.observations[cell{version, t}]) == 0 && k.cannot(version, t) == "" {
			out = append(out, t)
		}
	}
	return out
}

// tried takes in what former attempts did not give: such a release was looked
// at, although nothing is known of it.
func (k *known) tried(list []contract.NotCaptured) {
	for _, n := range list {
		if n.Probe == "" {
			k.unavailable[n.Version] = Reason(n.Reason)
			continue
		}
		k.missing[cell{n.Version, Track{n.Probe, n.Profile}}] = Reason(n.Reason)
	}
}

func (k *known) learn(version string, got *Captured) {
	for i := range got.Observed {
		k.add(&got.Observed[i])
	}
	if got.Unavailable != "" {
		k.unavailable[version] = got.Unavailable
	}
	for t, why := range got.Missing {
		k.missing[cell{version, t}] = why
	}
}
