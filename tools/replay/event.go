// Package replay reads a transcript the way a consumer does (DESIGN.md D8).
package replay

import "github.com/nexu-io/open-design-agent-contracts/tools/replay/event"

// Event is one daemon event: an ordered JSON object (key order is part of the
// contract; absent and null differ). Its constructors are in package event.
type Event = event.Event
