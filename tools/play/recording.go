// Package play is the inverse of a capture: this process becomes the child
// that a transcript recorded (DESIGN D8). It prints what the child printed,
// waits for what the child was told, and ends as the child ended. A fixture
// gives the child's lines; a raw bundle of the private store also its chunk
// borders and times (FINE-PRINT 8).
package play

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Recording is a run that can be played.
type Recording struct {
	// Stdin says how the child took its input.
	Stdin contract.StdinMode
	steps []step
	// turnOver is the index of the step with which the host has all that it
	// waits for, so that it may close a stdin that it kept open; -1 if the run
	// never came so far.
	turnOver int
	// waits says that the child goes on living then until stdin ends.
	waits bool
}

// step is one thing that happens in a recording: the child writes, reads, or
// something befalls it.
type step struct {
	at     time.Duration
	stream transcript.Stream // of data; Stdin means that the child reads
	data   []byte            // a line, or a chunk; nil for a whole prompt
	event  *transcript.ProcessEvent
}

// ErrNotPlayable says that a recording has no end that could be played.
var ErrNotPlayable = errors.New("this recording cannot be played")

// FromTranscript makes a recording of a transcript, line by line. The stdin
// mode is told from the transcript where mode is "".
func FromTranscript(t *transcript.Transcript, mode contract.StdinMode) (*Recording, error) {
	r := &Recording{Stdin: mode}
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Stream == transcript.Session {
			continue
		}
		s := step{at: rec.At, stream: rec.Stream, data: rec.Line()}
		if rec.Dir == transcript.Process {
			s.event = &transcript.ProcessEvent{Event: rec.Event, ExitCode: rec.ExitCode, Signal: rec.Signal, Reason: rec.Reason}
		}
		r.steps = append(r.steps, s)
	}
	return r, r.complete()
}

// FromBundle makes a recording of a raw bundle, chunk by chunk, with its times.
func FromBundle(b *transcript.BundleReader, mode contract.StdinMode) (*Recording, error) {
	r := &Recording{Stdin: mode}
	var line []byte // of stdin
	for {
		e, err := b.Next()
		if errors.Is(err, io.EOF) {
			return r, r.complete()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case e.Event != nil:
			r.steps = append(r.steps, step{at: e.At, event: e.Event})
		case e.Stream != transcript.Stdin:
			if e.End == "" && e.Stream != transcript.Session {
				r.steps = append(r.steps, step{at: e.At, stream: e.Stream, data: bytes.Clone(e.Data)})
			}
		case e.End != "":
			if len(line) > 0 {
				r.steps = append(r.steps, step{at: e.At, stream: e.Stream, data: line})
			}
			line = nil
		default:
			line = append(line, e.Data...)
			for end := bytes.IndexByte(line, '\n') + 1; end > 0; end = bytes.IndexByte(line, '\n') + 1 {
				r.steps = append(r.steps, step{at: e.At, stream: e.Stream, data: line[:end:end]})
				line = line[end:]
			}
		}
	}
}

// complete checks that the recording has an end and finds out the rest.
func (r *Recording) complete() error {
	ends := func(s step) bool { return s.event != nil && s.event.Event == transcript.EventExit }
	if !slices.ContainsFunc(r.steps, ends) {
		return ErrNotPlayable
	}
	if r.Stdin == "" {
		r.Stdin = r.mode()
	}
	if r.Stdin == contract.StdinText {
		r.joinPrompt()
	}
	r.turnOver = -1
	switch r.Stdin {
	case contract.StdinJSONLOpen:
		r.turnOver = r.turnEnd()
		r.waits = r.turnOver >= 0
	case contract.StdinRPC:
		r.turnOver, r.waits = r.sessionEnd()
	}
	return nil
}

// mode tells the stdin mode from what was written there.
func (r *Recording) mode() contract.StdinMode {
	mode := contract.StdinNone
	for _, s := range r.steps {
		if s.stream != transcript.Stdin {
			continue
		}
		v, err := rawjson.Parse(s.data)
		switch {
		case err == nil && (v.Get("jsonrpc").Exists() || v.Get("type").IsStr("prompt") || v.Get("type").IsStr("new_session")):
			return contract.StdinRPC
		case err == nil && v.Get("type").IsStr("user"):
			mode = contract.StdinJSONLOpen
		case mode == contract.StdinNone:
			mode = contract.StdinText
		}
	}
	return mode
}

// joinPrompt leaves one step for a text that is read to its end.
func (r *Recording) joinPrompt() {
	seen := false
	r.steps = slices.DeleteFunc(r.steps, func(s step) bool {
		again := s.stream == transcript.Stdin && seen
		seen = seen || s.stream == transcript.Stdin
		return again
	})
	for i := range r.steps {
		if r.steps[i].stream == transcript.Stdin {
			r.steps[i].data = nil
		}
	}
}

// Waits reports whether the child lives on after its turn until stdin ends.
func (r *Recording) Waits() bool { return r.waits }

// turnEnd finds the step with which a host that keeps the consumer's books
// closes the stdin of a stream-json child.
func (r *Recording) turnEnd() int {
	parser, err := opendesign.New("claude", opendesign.Options{})
	if err != nil {
		panic("play: the claude parser is built in: " + err.Error())
	}
	var book opendesign.StdinBook
	for i, s := range r.steps {
		if s.stream != transcript.Stdout {
			continue
		}
		for _, e := range parser.Feed(s.data) {
			if book.Observe(e) {
				return i
			}
		}
	}
	return -1
}

// sessionEnd finds the step after which the client of a two-way protocol may
// hang up: the answer to its prompt, its own wish to stop, or an error that
// ends the session, after which it waits for nothing.
func (r *Recording) sessionEnd() (step int, waits bool) {
	asked := map[string]string{} // id of a request → what it asked for
	said := 0                    // the last step in which the child printed something
	var open []byte              // of stdout, up to the end of its line
	for i, s := range r.steps {
		data := s.data
		if s.stream == transcript.Stdout {
			said = i
			open = append(open, data...)
			end := bytes.LastIndexByte(open, '\n') + 1
			data, open = open[:end], slices.Clone(open[end:])
		}
		for line := range bytes.Lines(data) {
			f := parseFrame(line)
			switch {
			case s.stream == transcript.Stdin && f.cancels():
				return said, true // what made it cancel: it may hang up in the same breath
			case s.stream == transcript.Stdin:
				asked[f.id] = f.kind
			case s.stream != transcript.Stdout:
			case f.kind == "agent_end" || f.kind == "answer" && asked[f.id] == "request session/prompt":
				return i, true
			case f.kind == "error answer" && fatal[asked[f.id]]:
				return i, false
			}
		}
	}
	return -1, false
}

// fatal are the requests without which there is no session.
var fatal = map[string]bool{
	"request initialize": true, "request session/new": true, "request session/load": true, "request session/prompt": true,
}
