package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// The reasons why an installation fails. Every error of this package that has
// one of these reasons matches it with errors.Is and names the next step.
var (
	ErrNoSuchVersion = errors.New("no such version")
	ErrNPMMissing    = errors.New("npm is not installed")
	ErrNetwork       = errors.New("the npm registry cannot be reached")
	ErrDiskFull      = errors.New("no space left on the disk")
	ErrIntegrity     = errors.New("the installed package is not what the registry published")
	ErrNoBinary      = errors.New("no program to run")
	ErrCache         = errors.New("the cache folder cannot be used")
	ErrNPM           = errors.New("npm failed")
)

// NoSuchVersionError says that a version or range matches no release. It
// matches ErrNoSuchVersion.
type NoSuchVersionError struct {
	Package, Spec string
	// Nearest has up to three existing versions, closest first.
	Nearest []string
}

// Error names the nearest versions.
func (e *NoSuchVersionError) Error() string {
	hint := "see `npm view " + e.Package + " versions`"
	if len(e.Nearest) > 0 {
		hint = "the nearest are " + strings.Join(e.Nearest, ", ")
	}
	return fmt.Sprintf("%s has no version %s; %s", e.Package, e.Spec, hint)
}

// Is makes the error match ErrNoSuchVersion.
func (e *NoSuchVersionError) Is(target error) bool { return target == ErrNoSuchVersion }

// npmError is a failed npm call: npm's own error code, never its output, which
// may hold paths and registry credentials.
type npmError struct {
	what   string // what npm was asked to do
	code   string // npm's code, or ""
	reason error
	advice string
	cause  error
}

func (e *npmError) Error() string {
	code := ""
	if e.code != "" {
		code = " (npm code " + e.code + ")"
	}
	return fmt.Sprintf("%s: %s%s; %s", e.what, e.reason, code, e.advice)
}

func (e *npmError) Unwrap() []error { return []error{e.reason, e.cause} }

const (
	adviceNetwork   = "check the connection or the proxy, or use a cached version (agent-contracts cache list)"
	adviceDisk      = "free some space (agent-contracts cache prune) and try again"
	adviceIntegrity = "try again; if it happens twice, do not use this registry or mirror"
	adviceCache     = "check who owns the cache folder, or set XDG_CACHE_HOME to one that you can write"
)

// classifyNPM finds the reason of a failed npm call in what npm printed.
func classifyNPM(what, output string, cause error) error {
	e := &npmError{what: what, code: npmCode(output), reason: ErrNPM, cause: cause}
	e.advice = "run the same npm command by hand to see its messages"
	switch e.code {
	case "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH",
		"ENETDOWN", "EPIPE", "ERR_SOCKET_TIMEOUT", "FETCH_ERROR", "E500", "E502", "E503", "E504", "ENOTCACHED":
		e.reason, e.advice = ErrNetwork, adviceNetwork
	case "ENOSPC", "EDQUOT":
		e.reason, e.advice = ErrDiskFull, adviceDisk
	case "EINTEGRITY":
		e.reason, e.advice = ErrIntegrity, adviceIntegrity
	case "EACCES", "EPERM", "EROFS":
		e.reason, e.advice = ErrCache, adviceCache
	case "E404", "ETARGET":
		e.reason, e.advice = ErrNoSuchVersion, "check the name and the version"
	case "E401", "E403":
		e.advice = "the registry asks for credentials: set npm_config_registry to one that does not"
	}
	return e
}

// npmCode returns the code of npm's error report, whose lines start with
// "npm error code" (npm 10 and later) or "npm ERR! code".
func npmCode(output string) string {
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) >= 4 && f[0] == "npm" && (f[1] == "error" || f[1] == "ERR!") && f[2] == "code" {
			return f[3]
		}
	}
	return ""
}

// fileError gives a failed file operation its reason.
func fileError(what string, err error) error {
	if err == nil {
		return nil
	}
	e := &npmError{what: what, reason: ErrCache, advice: adviceCache, cause: err}
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		e.reason, e.advice = ErrDiskFull, adviceDisk
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", what, err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
	return e
}
