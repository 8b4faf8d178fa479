// Package opendesign reads CLI output as OpenDesign v0.19.2 does, event for
// event, faults included (DESIGN.md D8; the report on OpenDesign v0.19.2,
// section 2, describes the rules). What is right is package reference's
// business.
//
// Parsers take stdout as it comes, in chunks of any size: for every kind but
// plain the events do not depend on where the chunks are cut. Memory is
// bounded by the longest line, the text that a stream is made to hold back
// (an <artifact> block, a tool's input) and one entry for each message and
// tool id.
package opendesign

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Version is the release whose behaviour this package has.
const Version = "0.19.2"

// Commit is the commit at which the behaviour was observed; parser_replay
// records name it as open_design_commit.
const Commit = "80f2ccdd"

// Parser turns a child's stdout into daemon events.
type Parser interface {
	// Feed returns the events that the chunk completes. It keeps no reference
	// to the chunk.
	Feed(chunk []byte) []event.Event
	// Flush returns the events of what is left when the child closes stdout.
	Flush() []event.Event
}

// Options are what the host tells a parser. The zero value is the default.
type Options struct {
	// SuppressHTMLArtifacts drops every text/html artifact in the text of a
	// turn that wrote an HTML file. Only the claude parser knows it, and
	// OpenDesign sets it for the agent id claude only.
	SuppressHTMLArtifacts bool
}

// New returns the parser of a kind: claude (also amp and codebuddy), codex,
// opencode (also mimo), gemini, cursor-agent, kimi, qoder, copilot or plain.
func New(kind string, opts Options) (Parser, error) {
	switch kind {
	case "claude", "amp", "codebuddy":
		return NewStream("claude-stream-json", "", opts)
	case "mimo":
		return NewStream("json-event-stream", "opencode", opts)
	case "codex", "opencode", "gemini", "cursor-agent", "kimi":
		return NewStream("json-event-stream", kind, opts)
	case "qoder", "copilot":
		return NewStream(kind+"-stream-json", "", opts)
	case "plain":
		return NewStream("plain", "", opts)
	}
	return nil, fmt.Errorf("choosing the OpenDesign parser for kind %q: there is none; kinds are claude, codex, opencode, gemini, cursor-agent, kimi, qoder, copilot and plain", kind)
}

// NewStream returns the parser of one of OpenDesign's stream formats. The
// kind selects the dialect of json-event-stream; there an unknown kind is no
// error: every line becomes a raw event, as it does in OpenDesign.
func NewStream(format, kind string, opts Options) (Parser, error) {
	switch format {
	case "claude-stream-json":
		return newLines(newClaude(opts)), nil
	case "qoder-stream-json":
		return newLines(&qoder{}), nil
	case "copilot-stream-json":
		return newLines(copilot{}), nil
	case "plain":
		return newPlain(), nil
	case "json-event-stream":
		return newLines(newJSONEvents(kind)), nil
	}
	return nil, fmt.Errorf("choosing the OpenDesign parser for stream format %q: there is none for a line stream of that name", format)
}

// handler is one dialect: it sees every line that is JSON.
type handler interface {
	// object handles a parsed line; raw returns the trimmed line.
	object(out *sink, v rawjson.Value)
	// flush releases text that was held back.
	flush(out *sink)
}

// sink collects the events of one Feed or Flush.
type sink struct {
	line   []byte // the trimmed line being handled
	events []event.Event
}

func (s *sink) emit(typ string, fields ...event.Field) {
	s.events = append(s.events, event.New(typ, fields...))
}

// raw emits the line being handled as it was written, but trimmed.
func (s *sink) raw() { s.emit("raw", str("line", string(s.line))) }

func (s *sink) text(delta string) { s.emit("text_delta", str("delta", delta)) }

func str(key, value string) event.Field { return event.F(key, event.String(value)) }

// lines frames stdout for a handler: lines end with \n and are trimmed, empty
// ones are skipped, and what is not JSON becomes a raw event.
type lines struct {
	h       handler
	partial []byte
	doc     rawjson.Doc
	out     sink
}

func newLines(h handler) *lines { return &lines{h: h} }

// Feed implements Parser.
func (l *lines) Feed(chunk []byte) []event.Event {
	for {
		nl := bytes.IndexByte(chunk, '\n')
		if nl < 0 {
			l.partial = append(l.partial, chunk...)
			return l.take()
		}
		if len(l.partial) > 0 {
			l.partial = append(l.partial, chunk[:nl]...)
			l.handle(l.partial)
			l.reset()
		} else {
			l.handle(chunk[:nl])
		}
		chunk = chunk[nl+1:]
	}
}

// reset empties the buffer and gives a large one back.
func (l *lines) reset() {
	if cap(l.partial) > 1<<20 {
		l.partial = nil
	}
	l.partial = l.partial[:0]
}

// Flush implements Parser.
func (l *lines) Flush() []event.Event {
	l.handle(l.partial)
	l.partial = nil
	l.h.flush(&l.out)
	return l.take()
}

func (l *lines) take() []event.Event {
	events := l.out.events
	l.out.events, l.out.line = nil, nil
	return events
}

func (l *lines) handle(line []byte) {
	line = bytes.TrimFunc(line, jstext.IsSpace)
	if len(line) == 0 {
		return
	}
	if !utf8.Valid(line) {
		line = []byte(jstext.Decode(line))
	}
	l.out.line = line
	if l.doc.Parse(line) != nil {
		l.out.raw()
		return
	}
	l.h.object(&l.out, l.doc.Root())
}

// record is OpenDesign's isRecord: an object, not an array.
func record(v rawjson.Value) bool { return v.Kind() == rawjson.Object }

// isString is typeof v === 'string'.
func isString(v rawjson.Value) bool { return v.Kind() == rawjson.String }

// nullish is v == null.
func nullish(v rawjson.Value) bool { return !v.Exists() || v.Kind() == rawjson.Null }

// or is a ?? b.
func or(a, b rawjson.Value) rawjson.Value {
	if nullish(a) {
		return b
	}
	return a
}
