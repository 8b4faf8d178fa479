//go:build unix

package record

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// used returns the processor time and the most memory of a process that ended.
func used(p *os.ProcessState) (seconds float64, bytes int64) {
	most := p.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" {
		most <<= 10
	}
	return (p.UserTime() + p.SystemTime()).Seconds(), most
}

// seconds runs a command and returns how long it took.
func seconds(b *testing.B, cmd *exec.Cmd) float64 {
	b.Helper()
	start := time.Now()
	drain(b, cmd)
	return time.Since(start).Seconds()
}
