package harness

import (
	"os"
	"sync/atomic"
)

// superviseArg is the hidden first argument that makes this program a
// supervisor.
const superviseArg = "__supervise"

// armed is set once SuperviseMain ran: without it a supervisor would be
// another run of the whole program, and a test binary would start itself for
// ever.
var armed atomic.Bool

// SuperviseMain must be called first thing in main, and in TestMain of every
// test that makes a Sandbox. In a supervisor process it does the whole job and
// returns true: the caller then returns or exits at once. Otherwise it returns
// false and does nothing.
func SuperviseMain() (handled bool) {
	armed.Store(true)
	if len(os.Args) < 2 || os.Args[1] != superviseArg {
		return false
	}
	if code := Supervise(os.Args[2:]); code != 0 {
		os.Exit(code)
	}
	return true
}
