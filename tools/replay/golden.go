package replay

import (
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// Golden is the document of goldens/<adapter>/<family>/sha256-….events.json:
// what one adapter makes of one fixture.
type Golden struct {
	SchemaVersion int           `json:"schema_version"`
	Adapter       string        `json:"adapter"`
	Agent         string        `json:"agent,omitempty"`
	Dialect       string        `json:"dialect"`
	Status        string        `json:"status"`
	Events        []event.Event `json:"events"`
	Reading       Summary       `json:"reading"`
}

// Summary is what a reading says of the run as a whole, beside its events. What the
// CLI reported and what we make of the run stand side by side.
type Summary struct {
	ReportedResult    string                          `json:"reported_result,omitempty"`
	RunResult         contract.RunResult              `json:"run_result,omitempty"`
	WeakSuccess       bool                            `json:"weak_success,omitempty"`
	Failure           *contract.FailureClassification `json:"failure,omitempty"`
	Texts             []string                        `json:"texts,omitempty"`
	Usage             map[string]int64                `json:"usage,omitempty"`
	Terminals         int                             `json:"terminals,omitempty"`
	DuplicateToolUses int                             `json:"duplicate_tool_uses,omitempty"`
	Usefulness        map[string]int                  `json:"usefulness,omitempty"`
	Unknown           map[string]int                  `json:"unknown,omitempty"`
	Deviations        map[string]int                  `json:"deviations,omitempty"`
	Signals           []string                        `json:"signals,omitempty"`
}

// Summary returns what the reading says of the run as a whole.
func (r *Reading) Summary() Summary {
	return Summary{
		ReportedResult: r.ReportedResult, RunResult: r.RunResult, WeakSuccess: r.WeakSuccess, Failure: r.Failure,
		Texts: r.Texts, Usage: r.Usage, Terminals: r.Terminals, DuplicateToolUses: r.DuplicateToolUses,
		Usefulness: r.Usefulness, Unknown: r.Unknown, Deviations: r.Deviations, Signals: r.Signals,
	}
}

// Golden returns the document of the reading.
func (r *Reading) Golden() *Golden {
	g := &Golden{
		SchemaVersion: contract.SchemaVersion, Adapter: r.Adapter, Agent: r.Agent, Dialect: r.Dialect, Status: r.Status,
		Events:  r.Events,
		Reading: r.Summary(),
	}
	if g.Events == nil {
		g.Events = []event.Event{}
	}
	return g
}

// GoldenBytes returns the golden of a reading of a sanitized transcript. The
// same reading always gives the same bytes.
func GoldenBytes(r *Reading) ([]byte, error) {
	b, err := contract.Encode(r.Golden())
	if err != nil {
		return nil, fmt.Errorf("encoding a golden of adapter %q: %w", r.Adapter, err)
	}
	return b, nil
}
