// Package transcript holds what passed between a child process and the program
// that ran it: the raw bundle, byte for byte, as the harness streams it to disk
// (private, DESIGN.md D4), and the sanitized transcript as the specification's
// transcript.schema.json has it (public).
//
// The package splits bytes into lines and no more: it never interprets, repairs
// or reorders what a CLI printed, and it never puts those bytes into an error.
package transcript

import (
	"bytes"
	"iter"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Dir says who wrote a record.
type Dir string

// The directions of the specification, and CLIToFile, which is ours. Process
// marks an event of the child process itself.
const (
	ServerToCLI Dir = "server->cli"
	CLIToServer Dir = "cli->server"
	Process     Dir = "process"
	CLIToFile   Dir = "cli->file"
)

// Stream names the pipe that a record passed through; it is empty for a
// process event.
type Stream string

// The streams of the specification, and Session, which is no pipe: the file
// that a CLI keeps of its session in HOME, read when the child was gone
// (decision 0024). It says CLIToFile, and no consumer sees it.
const (
	Stdin   Stream = "stdin"
	Stdout  Stream = "stdout"
	Stderr  Stream = "stderr"
	Session Stream = "session"
)

// The process events of the specification.
const (
	EventSpawn   = "spawn"
	EventExit    = "exit"
	EventTimeout = "timeout"
	EventKill    = "kill"
)

// The reasons that the harness gives for a process event. They are written to
// extensions.reason.
const (
	ReasonWallTimeout = "wall_timeout"    // timeout: the run took longer than its limit
	ReasonIdleTimeout = "idle_timeout"    // timeout: no byte on stdout or stderr for that long
	ReasonOutputLimit = "output_limit"    // kill: too many bytes or lines
	ReasonCancelled   = "cancelled"       // kill: the caller gave up (Ctrl-C)
	ReasonInterrupt   = "interrupt"       // kill: the probe's script sent this signal
	ReasonTerminated  = "terminated"      // kill: the client's turn was over, or failed, and the CLI did not exit
	ReasonLeftover    = "leftover_killed" // kill, after exit: descendants outlived the CLI
	ReasonNotStarted  = "not_started"     // spawn: the program could not be started, no exit follows
	ReasonArgsTooLong = "args_too_long"   // spawn: the same, since the system takes no such long argument
)

// The deviations of a line that its bytes alone show; Assemble sets them. The
// words for what a parser finds (not_json, duplicate_key, batch, no_jsonrpc)
// are set by whoever parses.
const (
	DeviationInvalidUTF8   = "invalid_utf8"
	DeviationNUL           = "nul"
	DeviationCRLF          = "crlf"
	DeviationANSI          = "ansi"
	DeviationTruncatedTail = "truncated_tail" // the stream was cut before the line or the stream ended
	DeviationNotJSON       = "not_json"
	DeviationDuplicateKey  = "duplicate_key"
	DeviationBatch         = "batch"
	DeviationNoJSONRPC     = "no_jsonrpc"
)

// Record is one line-oriented record of a transcript, raw or sanitized. A
// stream record has exactly one of Data, DataRef and Frame; a process event
// has none of them and no Stream.
type Record struct {
	Dir    Dir
	Stream Stream

	// At is the monotonic offset from the start of the child. The canonical
	// form has ordinals instead, one millisecond a record (FINE-PRINT 7).
	At time.Duration

	// Data is one line with its "\n" if it had one. In a raw transcript these
	// are the exact bytes, UTF-8 or not.
	Data []byte

	// DataRef names a file of the probe that stands for the bytes: "prompt".
	DataRef string

	// Frame is one JSON object of an RPC family as it was printed, without
	// white space around it and without a raw line break in it.
	Frame []byte

	Event    string // process: spawn, exit, timeout or kill
	ExitCode *int   // exit: nil when a signal ended the child
	Signal   string // exit: what ended the child; timeout, kill: what we sent. "SIGTERM"
	Reason   string // extensions.reason of a process event

	// Deviations is extensions.deviations: what is odd about the line. The
	// canonical form has them sorted and without repeats.
	Deviations []string
}

// Line returns the bytes of a stream record as one line: Data as it is, or
// Frame with the line break that ended it. It is nil for a DataRef and for a
// process event. The caller must not change the bytes.
func (r *Record) Line() []byte {
	switch {
	case r.Frame == nil:
		return r.Data
	case slices.Contains(r.Deviations, DeviationTruncatedTail):
		return r.Frame
	case slices.Contains(r.Deviations, DeviationCRLF):
		return append(slices.Clip(r.Frame), '\r', '\n')
	}
	if n := len(r.Frame); n < cap(r.Frame) && r.Frame[:n+1][n] == '\n' {
		return r.Frame[: n+1 : n+1] // ReadSanitized leaves the line break behind it
	}
	return append(slices.Clip(r.Frame), '\n')
}

// Transcript is the whole conversation in the order in which lines were
// completed.
type Transcript struct{ Records []Record }

// Lines yields the lines of one stream as Record.Line gives them. Records that
// refer to a file of the probe have no bytes here and are left out.
func (t *Transcript) Lines(dir Dir, s Stream) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range t.Records {
			r := &t.Records[i]
			if r.Dir != dir || r.Stream != s || r.Data == nil && r.Frame == nil {
				continue
			}
			if !yield(r.Line()) {
				return
			}
		}
	}
}

// Prints reports whether there is a byte of a stream.
func (t *Transcript) Prints(dir Dir, s Stream) bool {
	for line := range t.Lines(dir, s) {
		if len(line) > 0 {
			return true
		}
	}
	return false
}

// Bytes returns the lines of one stream joined.
func (t *Transcript) Bytes(dir Dir, s Stream) []byte {
	var b bytes.Buffer
	for line := range t.Lines(dir, s) {
		b.Write(line)
	}
	return b.Bytes()
}

// Piped reports whether the record passed through a pipe, so that the other
// side saw it.
func (r *Record) Piped() bool { return r.Dir == ServerToCLI || r.Dir == CLIToServer }

// Cancels reports whether the record is the wish of a caller, or of a person
// at the keyboard (SIGINT), that the run should stop. Another signal of a
// probe's script stands for the system's: such a run was killed.
func (r *Record) Cancels() bool {
	return r.Dir == Process && r.Event == EventKill &&
		(r.Reason == ReasonCancelled || r.Reason == ReasonInterrupt && (r.Signal == "SIGINT" || r.Signal == ""))
}

// Exit says how the child ended: its exit code or the signal that ended it
// (both empty if no exit was recorded), and what brought the end about:
// "exit" by itself, "timeout" or "kill" by us, "" if the record stops before.
// A script's interrupt is part of the probe, so such a child ends by itself;
// so does a child whose descendants had to be killed afterwards.
func (t *Transcript) Exit() (code *int, signal string, ended string) {
	cause := EventExit
	for i := range t.Records {
		r := &t.Records[i]
		if r.Dir != Process {
			continue
		}
		switch {
		case r.Event == EventExit:
			return r.ExitCode, r.Signal, cause
		case r.Event == EventTimeout:
			cause = EventTimeout
		case r.Event == EventKill && r.Reason != ReasonInterrupt && r.Reason != ReasonLeftover:
			cause = EventKill
		}
	}
	if cause == EventExit {
		cause = ""
	}
	return nil, "", cause
}

// ExitClass returns what the process did, in the words of
// shape.schema.json. A timeout of ours outranks the signal that it sent.
func (t *Transcript) ExitClass() contract.ExitClass {
	code, signal, ended := t.Exit()
	switch {
	case ended == EventTimeout:
		return contract.ExitTimeout
	case signal != "":
		return contract.ExitSignal
	case code == nil:
		return contract.ExitUnknown
	case *code == 0:
		return contract.ExitSuccess
	}
	return contract.ExitNonzero
}
