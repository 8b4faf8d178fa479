package expect

import "github.com/nexu-io/open-design-agent-contracts/tools/contract"

// Rule says what a kind of violation means.
type Rule struct {
	Kind    string // of contract.ContractViolation
	Meaning string // what holds when there is none
	// Thin says that a success that breaks it is a weak one.
	Thin bool
}

// Rules lists every kind of violation, in the order of docs/EXPECTATIONS.md.
func Rules() []Rule {
	of := func(k contract.ConstraintKind) string { return string(k) }
	return []Rule{
		{"must_see", "The run has at least one event of each name that its probe must see.", true},
		{"forbidden", "The run has none of what its probe forbids: a secret, a home folder, a tool call twice, a frame that nobody knows.", false},
		{of(contract.ConstraintMinCount), "There are at least as many events of a name as the probe says.", true},
		{of(contract.ConstraintMaxCount), "There are at most as many events of a name as the probe says.", false},
		{of(contract.ConstraintMinItems), "There is such an event, and each has at a field a list of at least so many entries.", true},
		{of(contract.ConstraintMaxItems), "No event has at a field a list of more entries, or something that is no list.", false},
		{of(contract.ConstraintNonEmpty), "There is such an event, and none has a field that is absent, null, blank, {} or [].", true},
		{of(contract.ConstraintRequiredFields), "Every such event has all the fields, null allowed.", false},
		{of(contract.ConstraintPairing), "Each tool result has its one call, before it.", false},
		{of(contract.ConstraintOneTerminal), "The run has exactly one terminal frame.", false},
		{of(contract.ConstraintRunResult), "Our reading of the run comes to what the probe says.", false},
	}
}
