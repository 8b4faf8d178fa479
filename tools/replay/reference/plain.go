package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// plain reads a CLI that prints its answer as text: the joined stdout is the
// one text, and the end of the process is the terminal event.
type plain struct {
	// before is the stage of a run that failed before it said anything, "" for
	// the usual one. A version probe runs before any session.
	before contract.FailureStage
}

func (p *plain) frame(rawjson.Value, []byte) {}

func (p *plain) outcome() outcome {
	return outcome{plain: true, before: p.before, printsRetries: plainRetry}
}

// plainRetry knows the notice of a retry of qwen 0.24, which only stderr has.
func plainRetry(norm string) bool {
	return strings.HasPrefix(norm, "retrying in ") && strings.Contains(norm, " (attempt ")
}
