//go:build !linux

package jobs

import (
	"errors"
	"time"
)

// ThisSystem is the machine that the program runs on. Outside Linux it cannot
// tell one life of a pid from another, so no run is ever judged or signalled: it
// cannot be shown to go on, and is in stopped_without_end until it records its
// end. That is better than a guess.
func ThisSystem() *System {
	return &System{
		Now:     time.Now,
		Host:    func() Host { return Host{} },
		Process: func(int) (*Process, error) { return nil, errors.New("this system has no process identity") },
		Signal:  signalGroup,
	}
}
