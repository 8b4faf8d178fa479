package harness

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// executable returns this program's file, which on Linux is right even after
// it was replaced or deleted.
func executable() (string, error) { return "/proc/self/exe", nil }

// supervisorAttr says how a supervisor is started: in a session of its own, so
// that no Ctrl-C reaches it, and isolated in a new network namespace. Without
// root that takes a user namespace, in which every id keeps its value.
func supervisorAttr(isolate bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !isolate {
		return attr
	}
	attr.Cloneflags = unix.CLONE_NEWNET
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // for loopback
	}
	return attr
}

// adopt makes this process the parent of every orphaned descendant, and keeps
// what it was started with from its children.
func adopt() error {
	// Whoever started the program may have left descriptors open for it. Old
	// kernels cannot do this, and then the child has what Node's would have.
	_ = unix.CloseRange(4, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a subreaper: %w", err)
	}
	return nil
}

// loopback brings the loopback interface of a new network namespace up, and
// gives up the capability that this took.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}

// lingering reports whether something of a run lives that is no child of ours.
// There is no such thing where orphans are adopted.
func lingering(int) bool { return false }

// killTree kills every living descendant of this process, adds what is not the
// child itself to killed, and returns how many it found. The child is spared
// the group signal once it is gone, when its number may mean another group.
func killTree(child int, exited bool, killed map[int]bool) (found int) {
	if !exited {
		unix.Kill(-child, unix.SIGKILL)
	}
	for _, pid := range descendants(os.Getpid()) {
		found++
		if unix.Kill(pid, unix.SIGKILL) == nil && pid != child {
			killed[pid] = true
		}
	}
	return found
}

// descendants lists the living processes below root.
func descendants(root int) []int {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	dead := map[int]bool{}
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		if ppid, state, ok := parent(pid); ok {
			children[ppid] = append(children[ppid], pid)
			dead[pid] = state == 'Z' || state == 'X'
		}
	}
	var list []int
	todo := children[root]
	for len(todo) > 0 {
		pid := todo[0]
		todo = append(todo[1:], children[pid]...)
		if !dead[pid] {
			list = append(list, pid)
		}
	}
	return list
}

// parent reads a process's parent and state. The name before them may hold
// anything, parentheses too.
func parent(pid int) (ppid int, state byte, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 2 || len(fields[0]) != 1 {
		return 0, 0, false
	}
	ppid, err = strconv.Atoi(string(fields[1]))
	return ppid, fields[0][0], err == nil
}
