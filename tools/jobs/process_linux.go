package jobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ThisSystem is the machine that the program runs on.
func ThisSystem() *System {
	return &System{Now: time.Now, Host: sync.OnceValue(thisHost), Process: lookAt, Signal: signalGroup}
}

func thisHost() Host {
	h := Host{Boot: fileText("/proc/sys/kernel/random/boot_id")}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		h.Namespace = ns
	}
	// Images share a machine id and clusters share names; both together are
	// one machine. Without either no record of another boot is judged.
	machine, name := fileText("/etc/machine-id"), fileText("/proc/sys/kernel/hostname")
	if machine == "" {
		machine = "boot:" + h.Boot // known until the next boot only
	}
	if name != "" && h.Boot != "" {
		sum := sha256.Sum256([]byte(machine + "\x00" + name))
		h.ID = hex.EncodeToString(sum[:16])
	}
	return h
}

func fileText(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// lookAt reads /proc/PID/stat (proc_pid_stat(5)): after the name in
// parentheses, which may hold anything, come the state and, as the 20th field
// from there, the start in clock ticks.
func lookAt(pid int) (*Process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		if syscall.Kill(pid, 0) != syscall.ESRCH {
			return nil, fmt.Errorf("process %d is there and cannot be looked at", pid)
		}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return nil, fmt.Errorf("looking at process %d: its stat has %d fields", pid, len(fields))
	}
	ticks, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("looking at process %d: its start is no number", pid)
	}
	state := fields[0][0]
	return &Process{StartTicks: ticks, Dead: state == 'Z' || state == 'X'}, nil
}
