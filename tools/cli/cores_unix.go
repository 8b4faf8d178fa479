//go:build unix

package cli

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// noCores keeps this process and every child of it from leaving a core file: it
// would hold what passed through the pipes. A system that refuses leaves the
// limit as it was; the child is no worse off then than without us.
func noCores() {
	var limit unix.Rlimit
	if runtime.GOOS == "linux" {
		// A file of one byte is none. Where a program gets the cores (a pipe in
		// core_pattern, core(5)) Linux heeds no limit but this one.
		limit.Cur, limit.Max = 1, 1
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
}
