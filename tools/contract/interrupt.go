package contract

import (
	"slices"
	"strings"
)

// ScenarioInterrupt is a signal for the CLI's process alone, sent once.
type ScenarioInterrupt struct {
	Signal string         `json:"signal"` // one of InterruptSignals
	After  InterruptPoint `json:"after"`
}

// InterruptPoint says when an interrupt is due.
type InterruptPoint string

// The points of a run at which an interrupt may be due.
const (
	InterruptAfterOutput  InterruptPoint = "output"  // the CLI's first byte
	InterruptAfterRequest InterruptPoint = "request" // the provider's first reply is out and the CLI is silent again
)

// InterruptSignals lists the signals that a scenario may send. SIGINT is what
// a person's Ctrl-C sends; the others come from the system.
var InterruptSignals = []string{"SIGINT", "SIGTERM", "SIGKILL"}

func (i *ScenarioInterrupt) check(turns int, bad func(format string, args ...any)) {
	if !slices.Contains(InterruptSignals, i.Signal) {
		bad("interrupt.signal: unknown signal %q, known are %s", i.Signal, strings.Join(InterruptSignals, ", "))
	}
	switch i.After {
	case InterruptAfterOutput:
	case InterruptAfterRequest:
		if turns == 0 {
			bad("interrupt.after: the scenario expects no request, so none can be waited for; use output")
		}
	default:
		bad("interrupt.after: want output or request, not %q", i.After)
	}
}
