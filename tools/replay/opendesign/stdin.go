package opendesign

import "github.com/nexu-io/open-design-agent-contracts/tools/replay/event"

// StdinBook keeps the books on the stdin of a child that takes stream-json:
// it stays open until the turn is over. The zero value is ready: open, and
// not completed.
type StdinBook struct {
	closed bool
	// TurnCompletedCleanly says that a turn ended without an error. It stays
	// true when an error follows (OpenDesign's fault).
	TurnCompletedCleanly bool
}

// Open reports whether stdin is still open.
func (b *StdinBook) Open() bool { return !b.closed }

// Observe takes the next daemon event and reports whether stdin is to be
// closed now. A missing or null stop reason ends the turn as well;
// "tool_use" does not.
func (b *StdinBook) Observe(e event.Event) (closeNow bool) {
	usage := e.Type() == "usage"
	if e.Type() != "turn_end" && !usage || e.Get("stopReason").IsStr("tool_use") {
		return false
	}
	if !usage || !e.Get("isError").True() {
		b.TurnCompletedCleanly = true
	}
	closeNow = !b.closed
	b.closed = true
	return closeNow
}
