package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// Client calls a program that speaks the contract and meets the consumer's
// obligations for its user. It keeps no state of any run.
type Client struct {
	path     string
	timeout  time.Duration
	degraded atomic.Pointer[VersionError]
}

const (
	// maxStdout bounds what one call may answer.
	maxStdout = 256 << 20
	// patience is what a program gets to end when it is told to, before it is
	// killed: a probe has children and folders to clear away.
	patience = 5 * time.Second
)

// InstallationError says that the program's own installation is damaged (exit
// status 78): nothing was executed, and no work failed.
type InstallationError struct{ Path string }

// Error implements error.
func (e *InstallationError) Error() string {
	return fmt.Sprintf("the installation of %s is damaged: install it again", e.Path)
}

// TransportError says that a call brought no envelope: the program could not be
// started, was killed, took too long, or wrote something else. It says nothing
// about the work.
type TransportError struct {
	Path string
	Args []string
	Err  error
}

// Error implements error.
func (e *TransportError) Error() string {
	return fmt.Sprintf("calling %s: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *TransportError) Unwrap() error { return e.Err }

// Connect makes the handshake. path must be absolute: a name that is looked up
// may be another program tomorrow (D1). timeout bounds every call; 0 leaves it
// to the caller's context. A *VersionError means that nothing may be offered to
// anybody.
func Connect(ctx context.Context, path string, timeout time.Duration) (*Client, *Handshake, error) {
	if !filepath.IsAbs(path) {
		return nil, nil, fmt.Errorf("calling %q: a consumer names the program by its absolute path", path)
	}
	c := &Client{path: path, timeout: timeout}
	h := &Handshake{}
	if err := c.Call(ctx, h, "handshake"); err != nil {
		return nil, nil, err
	}
	if h.MinSupportedVersion > ContractVersion || h.ContractVersion < ContractVersion {
		return nil, nil, &VersionError{h.ContractVersion}
	}
	return c, h, nil
}

// Call runs one command with --machine and decodes its data, members that data
// does not have left out. Its errors are *Error, the program's refusal;
// *VersionError, after which every further call fails alike until somebody
// connects again; *MalformedError and *TransportError, faults of the channel;
// *InstallationError; and ctx's.
func (c *Client) Call(ctx context.Context, data any, args ...string) error {
	if was := c.degraded.Load(); was != nil {
		return was
	}
	e, err := c.envelope(ctx, args)
	var version *VersionError
	if errors.As(err, &version) {
		c.degraded.Store(version)
	}
	if err != nil {
		return err
	}
	if !e.OK {
		return e.Error
	}
	if err := json.Unmarshal(e.Data, data); err != nil {
		return &MalformedError{"data is not what this command answers with"}
	}
	return nil
}

// Degraded reports whether the program was replaced by one that speaks another
// version, and which.
func (c *Client) Degraded() (version int, degraded bool) {
	if e := c.degraded.Load(); e != nil {
		return e.Got, true
	}
	return 0, false
}

func (c *Client) envelope(ctx context.Context, args []string) (*Envelope, error) {
	call := ctx
	if c.timeout > 0 {
		var cancel context.CancelFunc
		call, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	// Before "--" and before anything that a command may take for its own.
	at := slices.Index(args, "--")
	if at < 0 {
		at = len(args)
	}
	all := slices.Insert(slices.Clone(args), at, "--machine")
	cmd := exec.CommandContext(call, c.path, all...)
	stdout := &bounded{most: maxStdout}
	cmd.Stdout, cmd.WaitDelay = stdout, patience
	ended := false // by us
	cmd.Cancel = func() error {
		ended = true
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // not on every system
			return cmd.Process.Kill()
		}
		return nil
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == ExitInstallation {
		return nil, &InstallationError{c.path} // whatever it wrote is not looked at
	}
	switch {
	case stdout.over:
		return nil, &TransportError{c.path, args, fmt.Errorf("it wrote more than %d bytes", maxStdout)}
	case ended: // what it says when it is told to end is no answer
		return nil, &TransportError{c.path, args, fmt.Errorf("it took longer than %v", c.timeout)}
	}
	e, parseErr := ParseEnvelope(stdout.Bytes())
	var version *VersionError
	switch {
	case parseErr == nil, errors.As(parseErr, &version):
		return e, parseErr // a valid envelope wins over the exit status
	case err != nil:
		return nil, &TransportError{c.path, args, err}
	}
	return nil, parseErr
}

// bounded is a buffer that stops taking.
type bounded struct {
	bytes.Buffer
	most int
	over bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.Len()+len(p) > b.most; !b.over {
		b.Buffer.Write(p)
	}
	return len(p), nil
}
