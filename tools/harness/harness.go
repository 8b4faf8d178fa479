// Package harness runs a real CLI as a consumer would and records what passes
// through its pipes (DESIGN.md D1, D4). It owns the child process: isolation,
// limits, signals, and the promise that nothing the child started outlives the
// run. It never interprets a byte.
//
// Every Sandbox is a process of its own, a supervisor: this program again,
// started with a hidden first argument. It lives where the child lives (on
// Linux in a network namespace that has only loopback), adopts orphaned
// descendants, and ends them all when the run ends or when this program dies,
// be it by kill -9. Programs and test binaries that use the package therefore
// call SuperviseMain first thing.
//
// Two facts about production are kept because CLIs can tell: the child leads a
// session of its own and has no terminal, and its stdin, stdout and stderr are
// sockets, which is what Node's child_process gives OpenDesign's children.
package harness

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Spec is one run of a CLI.
type Spec struct {
	// Path is the absolute path of the program. Args are its arguments without
	// the program's name; Env is the whole environment, KEY=value.
	Path string
	Args []string
	Env  []string

	// Dir is the working directory, which must exist.
	Dir string

	Stdin Stdin

	// UID and GID are what the child runs as, without supplementary groups; 0
	// changes nothing. They need root.
	UID, GID int

	Limits Limits

	// Script, when given, reads along and says what to write, when to close
	// stdin and when to send a signal.
	Script Script

	// Interrupt, when given, sends one signal to the child.
	Interrupt *Interrupt

	// Log, when given, is the file that the child keeps of its session: read
	// when nothing of the child is left, and recorded after its exit.
	Log *Log

	// Bundle receives every byte and event. The caller closes it. Without one
	// nothing is recorded.
	Bundle *transcript.BundleWriter

	// Filter, when given, changes what the bundle receives. Script, Tap and
	// the limits go by what the child really did.
	Filter Filter

	// Tap, when given, sees every recorded chunk of output in order. It must
	// not keep the bytes, and the child waits while it runs.
	Tap func(s transcript.Stream, chunk []byte)

	// Progress, when given, is called with the number of output bytes so far.
	Progress func(bytes int64)
}

// Stdin says what the child's standard input is.
type Stdin struct {
	// Mode none and prompt-file give the child an empty stdin; text-prompt
	// writes Data and closes; jsonl-open and rpc write Data and stay open until
	// the Script closes or the run ends.
	Mode contract.StdinMode
	Data []byte
}

// Limits end a run; zero means no limit. What came before is kept.
type Limits struct {
	Wall time.Duration // length of the run
	Idle time.Duration // time without a byte on stdout or stderr

	// Bytes and Lines bound stdout and stderr together. Exactly so many are
	// recorded and the rest is read and dropped.
	Bytes, Lines int64
}

// Script decides what happens on the child's pipes while it runs. Output is
// called with each recorded chunk, in order and never twice at a time; it must
// not keep the bytes and must not block.
type Script interface {
	Output(s transcript.Stream, chunk []byte) []Action
}

// Filter stands between the child and the bundle. It is called in the order of
// the run, never twice at a time, and must not keep the bytes.
type Filter interface {
	// Output returns what is recorded instead of a chunk.
	Output(s transcript.Stream, chunk []byte) []byte
	// End returns what is recorded before the end of a stream.
	End(s transcript.Stream) []byte
	// Exit returns the recorded exit code of a child that ended by itself.
	Exit(code int) int
}

// Action is one thing that a Script wants done. Actions are done in order,
// fields in the order in which they stand here.
type Action struct {
	Write      []byte // bytes for stdin
	CloseStdin bool   // close stdin when everything before is written
	Signal     string // signal for the child alone, such as "SIGINT"
	// Terminate ends the run with the ladder (SIGTERM, later SIGKILL) if the
	// child still runs TerminateAfter from now: a client whose turn is over.
	Terminate      bool
	TerminateAfter time.Duration
}

// Interrupt sends Signal to the child, once, as soon as it has printed
// AfterBytes bytes, has run for After, or On was closed and Quiet has passed
// since then without a byte of output: whichever is set and comes first.
type Interrupt struct {
	Signal     string
	AfterBytes int64
	After      time.Duration
	On         <-chan struct{}
	Quiet      time.Duration
}

// Result is what became of a run.
type Result struct {
	// ExitCode is the child's own, nil when Signal ended it.
	ExitCode *int
	Signal   string

	// Ended says what brought the end about: exit, timeout or kill, in the
	// words of transcript.Exit. Reason is set for the last two.
	Ended  string
	Reason string

	// LeftoversKilled counts the descendants that had to be killed.
	LeftoversKilled int

	// StdinEnd says how stdin ended: "closed" when the child could take all of
	// it, "unread" when it closed its end or the run ended before that, "" when
	// there was no stdin.
	StdinEnd string

	// LogProblem says why Spec.Log was not recorded, in words without a path or
	// any content; "" if it was, or none was asked for.
	LogProblem string

	Bytes    int64         // recorded output
	Duration time.Duration // from the start of the child to its exit
}

// Log is a file below Root, the one that fits Pattern (path.Match in each
// part). More than Limit bytes are not recorded, nor is a part of them.
type Log struct {
	Root, Pattern string
	Limit         int64
}

// StartError says that the program could not be started. The run is recorded
// as a spawn event with the reason that Reason returns.
type StartError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *StartError) Error() string {
	return fmt.Sprintf("starting %q: %v: check that the file exists, is executable and fits this platform", e.Path, e.Err)
}

// Reason is the reason of the spawn event.
func (e *StartError) Reason() string {
	if errors.Is(e.Err, syscall.E2BIG) {
		return transcript.ReasonArgsTooLong
	}
	return transcript.ReasonNotStarted
}

// Unwrap returns the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// ErrUnsupervised says that the program forgot to call SuperviseMain.
var ErrUnsupervised = errors.New("harness.SuperviseMain was not called at the start of the program")

// check refuses a Spec that could not mean anything.
func (s *Spec) check() error {
	switch s.Stdin.Mode {
	case contract.StdinNone, contract.StdinPromptFile:
		if len(s.Stdin.Data) > 0 {
			return fmt.Errorf("running %q: stdin mode %q takes no data", s.Path, s.Stdin.Mode)
		}
	case contract.StdinText, contract.StdinJSONLOpen, contract.StdinRPC:
	default:
		return fmt.Errorf("running %q: unknown stdin mode %q", s.Path, s.Stdin.Mode)
	}
	if !filepath.IsAbs(s.Path) || !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("running %q in %q: both paths must be absolute", s.Path, s.Dir)
	}
	if s.Interrupt != nil {
		return checkSignal(s.Interrupt.Signal)
	}
	return nil
}
