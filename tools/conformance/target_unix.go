//go:build unix && !linux

package conformance

import "context"

// Only Linux lets a judge stop a program at this moment, and have terminals
// without a library.
var errLinux = &BlockedError{"this situation can be made on Linux only"}

func (x *executable) onTerminal(context.Context, Call) Answer { return Answer{Code: -1, Err: errLinux} }

// Prepared implements Target.
func (x *executable) Prepared(context.Context, Call, func() bool) (bool, error) {
	return false, errLinux
}

// Held implements Target.
func (x *executable) Held(context.Context, Call, func()) (Answer, error) { return Answer{}, errLinux }
