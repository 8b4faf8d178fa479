//go:build unix

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// callTime bounds one call of the executable under judgement.
const callTime = 3 * time.Minute

// executable is a Target that is really run.
type executable struct {
	profile *Profile
	path    string
	dir     string
}

// Executables makes a target for each requirement: the executable at an absolute
// path, with a folder and state of its own.
func Executables(p *Profile, path string) func(Requirement) (Target, func(), error) {
	return func(Requirement) (Target, func(), error) {
		dir, err := os.MkdirTemp("", "conformance-")
		if err != nil {
			return nil, nil, err
		}
		x := &executable{p, path, dir}
		done := func() { _ = os.RemoveAll(dir) }
		if err := x.prepare(); err != nil {
			done()
			return nil, nil, err
		}
		return x, done, nil
	}
}

func (x *executable) prepare() error {
	if err := os.Chmod(x.dir, 0o755); err != nil { // an unprivileged child may have to enter
		return err
	}
	for name, content := range x.profile.Files {
		if err := os.WriteFile(filepath.Join(x.dir, filepath.Base(name)), []byte(content), 0o755); err != nil {
			return err
		}
	}
	return x.setTraps()
}

// Dir implements Target.
func (x *executable) Dir() string { return x.dir }

func (x *executable) env() []string {
	env := os.Environ()
	for k, v := range x.profile.Env {
		env = append(env, k+"="+strings.ReplaceAll(v, "{dir}", x.dir))
	}
	return append(env, x.trapEnv()...)
}

// Run implements Target.
func (x *executable) Run(ctx context.Context, c Call) Answer {
	if c.Terminal {
		return x.onTerminal(ctx, c)
	}
	return x.run(ctx, x.path, c, nil)
}

// run runs a program; started is called when it runs, before its stdin is
// written.
func (x *executable) run(ctx context.Context, path string, c Call, started func() error) Answer {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	args := append([]string{path}, c.Args...)
	if c.Elsewhere {
		unshare := []string{"unshare", "--pid", "--fork", "--mount-proc"}
		if os.Geteuid() != 0 {
			unshare = append(unshare, "--user", "--map-root-user")
		}
		args = append(unshare, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var stdout bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = x.dir, x.env(), &stdout, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return Answer{Code: -1, Err: err}
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return Answer{Code: -1, Err: err}
	}
	if started != nil {
		err = started()
	}
	_, _ = stdin.Write(c.Stdin)
	_ = stdin.Close()
	if c.Interrupt != "" {
		time.Sleep(time.Second) // it has begun to wait; nothing tells from outside
		_ = syscall.Kill(-cmd.Process.Pid, map[string]syscall.Signal{"INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[c.Interrupt])
	}
	var exit *exec.ExitError
	if ended := cmd.Wait(); ended != nil && !errors.As(ended, &exit) && !errors.Is(ended, exec.ErrWaitDelay) {
		err = errors.Join(err, ended)
	}
	a := Answer{Stdout: stdout.Bytes(), Code: cmd.ProcessState.ExitCode(), Took: time.Since(begun), Err: err}
	if c.Elsewhere && len(a.Stdout) == 0 {
		a.Err = errors.New("unshare made no other process namespace")
	}
	return a
}

// Damaged implements Target.
func (x *executable) Damaged(ctx context.Context, c Call) (Answer, error) {
	b, err := os.ReadFile(x.path)
	if err != nil {
		return Answer{}, &BlockedError{"the executable could not be read"}
	}
	find, replace := []byte(x.profile.DamageFind), []byte(x.profile.DamageReplace)
	if len(find) != len(replace) || bytes.Count(b, find) != 1 {
		return Answer{}, &BlockedError{fmt.Sprintf("the part to damage is in the executable %d times", bytes.Count(b, find))}
	}
	copied := filepath.Join(x.dir, "damaged")
	if err := os.WriteFile(copied, bytes.Replace(b, find, replace, 1), 0o755); err != nil {
		return Answer{}, &BlockedError{"the executable could not be copied"}
	}
	return x.run(ctx, copied, c, nil), nil
}

// SpawnRefused implements Target: a copy of the executable starts, reads stdin,
// and cannot be executed any more when it wants to start its child.
func (x *executable) SpawnRefused(ctx context.Context, c Call) (Answer, error) {
	b, err := os.ReadFile(x.path)
	if err != nil {
		return Answer{}, &BlockedError{"the executable could not be read"}
	}
	copied := filepath.Join(x.dir, "unstartable")
	if err := os.WriteFile(copied, b, 0o755); err != nil {
		return Answer{}, &BlockedError{"the executable could not be copied"}
	}
	return x.run(ctx, copied, c, func() error { return os.Chmod(copied, 0o644) }), nil
}
