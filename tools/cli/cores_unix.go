//go:build unix

package cli

import "golang.org/x/sys/unix"

// noCores keeps this process and every child of it from leaving a core file: it
// would hold what passed through the pipes. A system that refuses leaves the
// limit as it was; the child is no worse off then than without us.
func noCores() { _ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
