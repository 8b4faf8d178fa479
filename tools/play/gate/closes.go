package gate

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// StdinCloses returns the number of lines of stdout after which the consumer
// closes the stdin of a recorded child: 0 for at once, nil where there is no
// stdin or the child's end closes it. t is the record's fixture.
func StdinCloses(reg *store.Registry, o *store.Observed, t *transcript.Transcript, mode contract.StdinMode, d *contract.Dialect) *int {
	f := &fixture{opts: Options{Registry: reg}, record: o, dialect: d, want: t, mode: mode}
	line := 0
	switch mode {
	case contract.StdinNone, contract.StdinPromptFile:
		return nil
	case contract.StdinText:
	default:
		if line = f.closes(); line < 0 {
			return nil
		}
	}
	return &line
}
