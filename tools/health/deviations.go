package health

import (
	"cmp"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Deviation is one way in which the runs of a version deviate from the Agent
// Client Protocol, over all its probes and profiles.
type Deviation struct {
	Agent      string `json:"agent"`
	CLIVersion string `json:"cli_version"`
	By         string `json:"by"` // agent or client: who sent the frames
	Frame      string `json:"frame,omitempty"`
	Kind       string `json:"kind"`
	Pointer    string `json:"pointer,omitempty"`
	Runs       int    `json:"runs"` // those in which it occurs
}

// deviations counts what the observations list, sorted as the cells are and
// within a version as an observation is.
func deviations(cells []*cell) []Deviation {
	type key struct {
		agent, version string
		deviation      contract.ACPDeviation
	}
	order := map[[2]string]int{}
	counts := map[key]int{}
	for _, c := range cells {
		place := [2]string{c.agent, c.version}
		if _, ok := order[place]; !ok {
			order[place] = len(order)
		}
		for _, r := range c.since {
			for _, d := range r.Extensions.ACPDeviations {
				d.Count = 0
				counts[key{c.agent, c.version, d}]++
			}
		}
	}
	var out []Deviation
	for k, n := range counts {
		out = append(out, Deviation{k.agent, k.version, k.deviation.By, k.deviation.Frame, k.deviation.Kind, k.deviation.Pointer, n})
	}
	slices.SortFunc(out, func(a, b Deviation) int {
		return cmp.Or(cmp.Compare(order[[2]string{a.Agent, a.CLIVersion}], order[[2]string{b.Agent, b.CLIVersion}]),
			cmp.Compare(a.By, b.By), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Pointer, b.Pointer))
	})
	return out
}
