package external

import (
	"bufio"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Protocol is the version of docs/ADAPTERS.md that this package speaks.
const Protocol = 1

type startMessage struct {
	Kind     string `json:"kind"` // start
	Protocol int    `json:"protocol"`
	Agent    string `json:"agent,omitempty"`
	Dialect  string `json:"dialect"`
	Family   string `json:"family"`
	Version  string `json:"version,omitempty"`
}

type exitMessage struct {
	Kind   string  `json:"kind"` // exit
	Code   *int    `json:"code"`
	Signal *string `json:"signal"`
	// Cause is who ended the process: exit (itself), timeout or kill (the
	// harness), cancelled (whoever started the run).
	Cause string `json:"cause"`
}

// send writes one run as messages: start, a chunk for each line of stdout and
// stderr and of stdin where it was recorded, exit if the process is part of
// the transcript, end.
func send(w io.Writer, in replay.Input) error {
	out := bufio.NewWriterSize(w, 64<<10)
	message(out, startMessage{"start", Protocol, in.Agent, in.Dialect.ID, string(in.Dialect.ProtocolFamily), in.Version})
	var b []byte
	n := 0
	for i := range in.Transcript.Records {
		rec := &in.Transcript.Records[i]
		if !rec.Piped() || rec.Data == nil && rec.Frame == nil {
			continue
		}
		b = appendChunk(b[:0], n, rec)
		n++
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	if exit, ok := exitOf(in.Transcript); ok {
		message(out, exit)
	}
	message(out, struct {
		Kind string `json:"kind"`
	}{"end"})
	return out.Flush()
}

// message writes one line; Flush reports what went wrong.
func message(out *bufio.Writer, v any) {
	b, _ := json.Marshal(v) // plain structs
	_, _ = out.Write(append(b, '\n'))
}

func appendChunk(b []byte, n int, rec *transcript.Record) []byte {
	b = append(b, `{"kind":"chunk","n":`...)
	b = rawjson.AppendNumber(b, float64(n))
	b = append(b, `,"stream":"`...)
	b = append(append(b, rec.Stream...), '"')
	line := rec.Line()
	if utf8.Valid(line) {
		b = rawjson.AppendQuote(append(b, `,"data":`...), string(line))
	} else {
		coded, _ := json.Marshal(line) // bytes become base64
		b = append(append(b, `,"base64":`...), coded...)
	}
	return append(b, '}', '\n')
}

func exitOf(t *transcript.Transcript) (exitMessage, bool) {
	e := reference.EndingOf(t)
	m := exitMessage{Kind: "exit", Code: e.ExitCode, Cause: "exit"}
	if e.Signal != "" {
		m.Signal = &e.Signal
	}
	switch {
	case e.Cancelled:
		m.Cause = "cancelled"
	case e.TimedOut:
		m.Cause = "timeout"
	case e.Killed:
		m.Cause = "kill"
	case e.ExitCode == nil && e.Signal == "":
		return m, false
	}
	return m, true
}

// stdoutLines maps the number of a chunk to the number of its stdout line.
func stdoutLines(t *transcript.Transcript) []int {
	var out []int
	line := 0
	for i := range t.Records {
		rec := &t.Records[i]
		if !rec.Piped() || rec.Data == nil && rec.Frame == nil {
			continue
		}
		if rec.Stream == transcript.Stdout {
			out = append(out, line)
			line++
			continue
		}
		out = append(out, reference.Untold) // it came of no stdout line
	}
	return out
}
