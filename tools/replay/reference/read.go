package reference

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// dialect reads the frames of one format.
type dialect interface {
	// frame reads one JSON object. text is its bytes, valid as long as v.
	frame(v rawjson.Value, text []byte)
	// outcome says, after the last frame, what the frames came to.
	outcome() outcome
}

// clientReader is a dialect whose reading needs the client's side too.
type clientReader interface{ client(v rawjson.Value) }

// The dialects that this package reads, by contract.Dialect.ID.
const (
	DialectCodex      = "codex"
	DialectCodexMsg   = "codex-msg"
	DialectClaude     = "claude"
	DialectClaudeJSON = "claude-json" // --output-format json: one object, or an array of all frames
	DialectPlain      = "plain"
	DialectVersion    = "version"
	DialectModels     = "models"
	DialectGemini     = "gemini"
	DialectOpenCode   = "opencode" // kilo and mimo too
	DialectKimi       = "kimi"     // kimi-cli and kimi-code
	DialectCursor     = "cursor-agent"
	DialectCopilot    = "copilot"
	DialectDroid      = "droid"
	DialectPiJSON     = "pi-json"
	DialectQwen       = "qwen"
	DialectQoder      = "qoder"
	DialectAmp        = "amp"
	DialectACP        = "acp"
	DialectPiRPC      = "pi-rpc"
)

// ErrNoReader says that the reference has no reader for a dialect; a reading
// of it is not_run, never a success.
var ErrNoReader = errors.New("the reference has no reader for this dialect")

// Supports reports whether the reference reads the dialect.
func Supports(d *contract.Dialect) bool { return d != nil && newDialect(d.ID, "", newRun()) != nil }

// claudeLike are the agents that print Claude's frames in a way of their own;
// their captures may be kept under either dialect.
var claudeLike = map[string]string{"qwen": DialectQwen, "qoder": DialectQoder, "amp": DialectAmp}

func newDialect(id, agent string, r *run) dialect {
	if own := claudeLike[agent]; own != "" && id == DialectClaude {
		id = own
	}
	switch id {
	case DialectCodex, DialectCodexMsg:
		return newCodex(r)
	case DialectClaude, DialectClaudeJSON:
		return newClaude(r)
	case DialectPlain:
		return &plain{}
	case DialectVersion, DialectModels:
		return &plain{before: contract.StagePreflight}
	case DialectGemini:
		return &gemini{r: r}
	case DialectOpenCode:
		return newOpenCode(r)
	case DialectKimi:
		return &kimi{r: r}
	case DialectCursor:
		return &cursor{r: r}
	case DialectCopilot:
		return newCopilot(r)
	case DialectDroid:
		return &droid{r: r}
	case DialectPiJSON, DialectPiRPC:
		return newPi(r)
	case DialectACP:
		return newACP(r, agent)
	case DialectQwen:
		return &qwen{claude: newClaude(r)}
	case DialectQoder:
		return qoder{newClaude(r)}
	case DialectAmp:
		return &amp{claude: newClaude(r)}
	}
	return nil
}

const (
	maxPlainBytes  = 64 << 10 // of stdout lines that are no frames, from the start
	maxStderrBytes = 64 << 10 // of stderr, from the end
)

// Reader reads a run while it happens: stdout and stderr in any chunks, then
// Close. Memory grows with what the run says, not with noise.
type Reader struct {
	agent  string
	run    *run
	format dialect
	framer framer
	rest   []byte // an unfinished stdout line
	plain  []byte
	stderr []byte
	frames int
	log    sessionLog            // of the CLI's session file; nil if its reader knows none
	before contract.FailureStage // of a run that said nothing; set by judge
}

// NewReader returns a reader for a dialect, or an error that wraps
// ErrNoReader. agent is an agent's id; it decides which texts mean what, and
// for the agents of claudeLike how Claude's frames are read.
func NewReader(d *contract.Dialect, agent string) (*Reader, error) {
	if d == nil {
		return nil, errors.New("reading a transcript: no dialect given")
	}
	r := newRun()
	format := newDialect(d.ID, agent, r)
	if format == nil {
		return nil, fmt.Errorf("reading a transcript of dialect %q: %w", d.ID, ErrNoReader)
	}
	return &Reader{agent: agent, run: r, format: format, log: newSessionLog(agent)}, nil
}

// Stdout takes a chunk of the CLI's stdout.
func (r *Reader) Stdout(chunk []byte) {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			r.rest = append(r.rest, chunk...)
			return
		}
		if len(r.rest) == 0 {
			r.line(chunk[:i+1], transcript.ByteDeviations(chunk[:i+1]))
		} else {
			r.rest = append(r.rest, chunk[:i+1]...)
			r.line(r.rest, transcript.ByteDeviations(r.rest))
			r.rest = r.rest[:0]
		}
		chunk = chunk[i+1:]
	}
}

// Stderr takes a chunk of the CLI's stderr. It is weak evidence: only its end
// is kept, and it is read only when nothing better says why a run failed.
func (r *Reader) Stderr(chunk []byte) {
	r.stderr = append(r.stderr, chunk...)
	if len(r.stderr) > 2*maxStderrBytes {
		r.stderr = append(r.stderr[:0], r.stderr[len(r.stderr)-maxStderrBytes:]...)
	}
}

// Stdin takes whole lines that the client wrote. Only two-way protocols look
// at them.
func (r *Reader) Stdin(lines []byte) {
	format, ok := r.format.(clientReader)
	if !ok {
		return
	}
	for raw := range bytes.Lines(lines) {
		if l := r.framer.read(raw, nil); l.isFrame && l.frame.Kind() == rawjson.Object {
			format.client(l.frame)
		}
	}
}

// line reads one stdout line. known are the recorder's deviations.
func (r *Reader) line(raw []byte, known []string) {
	r.run.line++
	if _, ok := r.format.(*plain); ok {
		if room := cap(r.plain) - len(r.plain); room < len(raw) {
			r.plain = slices.Grow(r.plain, len(r.plain)+len(raw)) // append alone would copy it more often
		}
		r.plain = append(r.plain, raw...)
		for _, d := range known {
			r.run.out.deviation(d)
		}
		return
	}
	l := r.framer.read(raw, known)
	for _, d := range l.deviations {
		r.run.out.deviation(d)
		if d == transcript.DeviationTruncatedTail && !l.isFrame {
			r.run.out.signal(SignalTruncatedTail)
		}
	}
	switch {
	case len(l.text) == 0:
	case !l.isFrame:
		r.run.raw(l.text)
		r.keepPlain(raw)
	case l.frame.Kind() == rawjson.Array:
		for v := range l.frame.Children() {
			r.object(v)
		}
	default:
		r.object(l.frame)
	}
}

func (r *Reader) object(v rawjson.Value) {
	r.frames++
	if v.Kind() != rawjson.Object {
		r.run.out.unknown("not an object")
		r.run.raw(v.Raw())
		return
	}
	r.format.frame(v, v.Raw())
}

func (r *Reader) keepPlain(raw []byte) {
	if room := maxPlainBytes - len(r.plain); room > 0 {
		r.plain = append(r.plain, raw[:min(room, len(raw))]...)
	}
}

// Close ends the reading. The Reader must not be used afterwards.
func (r *Reader) Close(e Ending) *Reading {
	if len(r.rest) > 0 {
		r.line(r.rest, transcript.ByteDeviations(r.rest))
	}
	if len(r.stderr) > maxStderrBytes {
		r.stderr = r.stderr[len(r.stderr)-maxStderrBytes:]
	}
	r.run.line = EndOfRun
	r.judge(e)
	return r.run.out
}

// Read reads a transcript, raw or sanitized. The error wraps ErrNoReader when
// the dialect has no reader here.
func Read(t *transcript.Transcript, d *contract.Dialect, agent string) (*Reading, error) {
	r, err := NewReader(d, agent)
	if err != nil {
		return nil, err
	}
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Dir == transcript.ServerToCLI && rec.Stream == transcript.Stdin {
			r.Stdin(rec.Line())
		}
		switch rec.Stream {
		case transcript.Session:
			r.Session(rec.Line())
		case transcript.Stdout:
			r.line(rec.Line(), rec.Deviations)
		case transcript.Stderr:
			for _, d := range rec.Deviations {
				r.run.out.deviation(d + "_stderr")
			}
			r.Stderr(rec.Line())
		}
	}
	return r.Close(EndingOf(t)), nil
}
