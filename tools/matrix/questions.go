package matrix

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The questions that the specification's classifyInstalledCli asks one by one
// (specification, "Runtime Compatibility Status"). Their errors are those of
// Find.

// SupportEntry returns the matrix entry that speaks about a version, nil for
// none. It must not be changed.
func (x *Index) SupportEntry(agent, version string, p contract.Platform) (*contract.MatrixEntry, error) {
	in, v, err := x.version(agent, version)
	if err != nil {
		return nil, err
	}
	if e, _ := in.entry(&v, p); e != nil {
		return e.MatrixEntry, nil
	}
	return nil, nil
}

// TooOld reports whether a version lies below the floor that people set. With
// platform "" it has to on every platform that the matrix names for the agent.
func (x *Index) TooOld(agent, version string, p contract.Platform) (bool, error) {
	return x.decidedAs(contract.SupportTooOld, agent, version, p)
}

// KnownBreaking reports whether people found a version to break. With platform
// "" it has to on every platform that the matrix names for the agent.
func (x *Index) KnownBreaking(agent, version string, p contract.Platform) (bool, error) {
	return x.decidedAs(contract.SupportKnownBreaking, agent, version, p)
}

// NewerThanVerified reports whether a version is newer than every verified one.
// It is not where nothing is verified.
func (x *Index) NewerThanVerified(agent, version string) (bool, error) {
	in, v, err := x.version(agent, version)
	if err != nil {
		return false, err
	}
	return in.newerThanVerified(v), nil
}

// Captured reports whether a claim of the matrix rests on captures of the agent,
// on any platform.
func (x *Index) Captured(agent string) bool {
	in := x.agents[agent]
	if in == nil {
		return false
	}
	for _, list := range in.entries {
		for _, e := range list {
			if len(e.ObservedShapes) > 0 {
				return true
			}
		}
	}
	return false
}

func (x *Index) version(agent, version string) (*indexed, agents.Version, error) {
	in := x.agents[agent]
	if in == nil {
		_, err := x.Agent(agent)
		return nil, agents.Version{}, err
	}
	v, err := parseToken(in.def, version)
	return in, v, err
}

func (x *Index) decidedAs(status contract.SupportStatus, agent, version string, p contract.Platform) (bool, error) {
	in, v, err := x.version(agent, version)
	if err != nil {
		return false, err
	}
	if p != "" {
		return in.says(status, &v, p), nil
	}
	for platform := range in.entries {
		if !in.says(status, &v, platform) {
			return false, nil
		}
	}
	return len(in.entries) > 0, nil
}

func (in *indexed) says(status contract.SupportStatus, v *agents.Version, p contract.Platform) bool {
	n := numbersOf(v)
	for _, e := range in.entries[p] {
		if e.SupportStatus == status && e.holds(v, n) {
			return true
		}
	}
	return false
}
