//go:build unix

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process implements Target.
func (x *executable) Process(pid int) (*Process, error) {
	if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		if _, rest, _ := strings.Cut(string(b), ") "); strings.HasPrefix(rest, "Z") {
			return nil, nil
		}
	}
	session, err := unix.Getsid(pid)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	group, err2 := unix.Getpgid(pid)
	if err := errors.Join(err, err2); err != nil {
		return nil, &BlockedError{"the process cannot be looked at"}
	}
	return &Process{session, group}, nil
}

// Kill implements Target.
func (x *executable) Kill(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// Obstruct implements Target.
func (x *executable) Obstruct(path string) error {
	if !filepath.IsAbs(path) {
		return errors.New("no absolute path")
	}
	return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
}

// Wait implements Target.
func (x *executable) Wait(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// There implements Target.
func (x *executable) There(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Write implements Target.
func (x *executable) Write(name, content string) error {
	return os.WriteFile(filepath.Join(x.dir, filepath.Base(name)), []byte(content), 0o644)
}

// Group implements Target.
func (x *executable) Group(leader int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return nil, &BlockedError{"the processes of this system cannot be listed"}
	}
	var out []int
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // state, parent, group
		if len(f) > 2 && f[0] != "Z" && f[0] != "X" && f[2] == strconv.Itoa(leader) {
			n, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			out = append(out, n)
		}
	}
	return out, nil
}

// Age implements Target: in every file below the folder of this requirement the
// stamp is replaced by the same moment of an hour earlier, in as many bytes.
func (x *executable) Age(stamp string) error {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || len(stamp) < len("2006-01-02T15") {
		return nil // no time that could be written in another way
	}
	earlier := []byte(t.Add(-time.Hour).Format("2006-01-02T15") + stamp[len("2006-01-02T15"):])
	return filepath.WalkDir(x.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(b, []byte(stamp)) {
			return nil
		}
		return os.WriteFile(name, bytes.ReplaceAll(b, []byte(stamp), earlier), 0o600)
	})
}

// trapped are the programs that conforming executables do not need.
var trapped = append(slices.Clone(pagers), "setsid")

// setTraps puts programs before the real ones that say that they were run.
func (x *executable) setTraps() error {
	dir := filepath.Join(x.dir, "traps")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	for _, name := range trapped {
		script := fmt.Sprintf("#!/bin/sh\n: >'%s/ran-%s'\nPATH=${PATH#*:} exec %s \"$@\"\n", dir, name, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (x *executable) trapEnv() []string {
	path := x.profile.Env["PATH"]
	if path == "" {
		path = os.Getenv("PATH")
	}
	return []string{"PATH=" + filepath.Join(x.dir, "traps") + ":" + path, "PAGER=pager", "MANPAGER=pager", "GIT_PAGER=pager"}
}

// Trapped implements Target.
func (x *executable) Trapped(name string) bool {
	return x.There(filepath.Join(x.dir, "traps", "ran-"+name))
}
