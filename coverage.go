package agentcontracts

import (
	"maps"
	"slices"
	"strings"
)

// Coverage says which of the agents that a consumer starts have a contract.
// The lists are in the order of the question; Unneeded is sorted.
type Coverage struct {
	OK      bool     // nothing is missing
	Covered []string // agents with an entry in the matrix
	// Exempt are agents without one that somebody gave a reason for.
	Exempt  []Exemption
	Missing []MissingAgent
	// Unneeded are the consumer's exemptions of agents that are covered, or
	// that it does not start.
	Unneeded []string
}

// Exemption is the reason why an agent has no contract.
type Exemption struct {
	Agent, Reason string
	By            string // consumer or registry
}

// MissingAgent is an agent without a contract and without a reason.
type MissingAgent struct{ Agent, Why string }

// CheckCoverage is the consumer's consistency test (specification, "Validation
// Plan"): has every agent that it starts a contract, or a reason for none?
// exemptions gives its own reasons by agent.
func (s *Support) CheckCoverage(agents []string, exemptions map[string]string) Coverage {
	var c Coverage
	seen := map[string]bool{}
	for _, id := range agents {
		if seen[id] {
			continue
		}
		seen[id] = true
		reason, given := exemptions[id]
		reason = strings.TrimSpace(reason)
		a, err := s.index.Agent(id)
		switch {
		case s.index.Captured(id):
			c.Covered = append(c.Covered, id)
		case reason != "":
			c.Exempt = append(c.Exempt, Exemption{id, reason, "consumer"})
		case err == nil && a.Exemption != "":
			c.Exempt = append(c.Exempt, Exemption{id, a.Exemption, "registry"})
		case given:
			c.Missing = append(c.Missing, MissingAgent{id, "its exemption has no reason"})
		case err == nil:
			c.Missing = append(c.Missing, MissingAgent{id, "the registry has no claim about it"})
		default:
			c.Missing = append(c.Missing, MissingAgent{id, "the registry does not know it"})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(exemptions)) {
		if !seen[id] || s.index.Captured(id) {
			c.Unneeded = append(c.Unneeded, id)
		}
	}
	c.OK = len(c.Missing) == 0
	return c
}
