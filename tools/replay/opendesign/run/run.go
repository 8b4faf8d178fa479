// Package run follows one run of an agent as OpenDesign v0.19.2's daemon
// does, from the child's output to its status and the input of the failure
// classifier (report on OpenDesign v0.19.2, section 4, "Order at child
// close"). Agents with a line stream and those with an ACP or Pi session are
// followed; deepseek-harness is not.
//
// Not followed: retries (a run is one attempt), the tool-loop guard (it only
// warns by default), plugin and design-system checks, OpenDesign's own look
// into opencode's and antigravity's log files.
package run

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/service"
)

const tailUnits = 2000 // of stdout and of stderr, in UTF-16 units

// KeptEvents is how many events of a run the daemon keeps, the newest ones.
const KeptEvents = 2000

// Config is what is known before the child starts.
type Config struct {
	Agent string // agent id of v0.19.2
	// ClaudeBaseURL and ClaudeConfigDir say that the child's environment has
	// ANTHROPIC_BASE_URL and CLAUDE_CONFIG_DIR. They change the words that
	// OpenDesign finds for a failed claude.
	ClaudeBaseURL, ClaudeConfigDir bool
	// Resuming says that the run continues a stored session.
	Resuming bool
	// Session is what an ACP or Pi session was started with.
	Session rpc.Options
}

// Step is one thing that happened during the run.
type Step struct {
	Kind StepKind
	Data []byte // of Stdout and Stderr: one chunk as it was read
}

// StepKind is the kind of a Step.
type StepKind int

// The kinds of steps.
const (
	Stdout StepKind = iota
	Stderr
	Cancel // the daemon was asked to cancel the run
)

// Ending is how the run ended.
type Ending struct {
	Code   *int   // exit code, nil when a signal ended the child
	Signal string // "SIGTERM" and so on, or ""
	// StalledSeconds, if not 0, says that the daemon's watchdog ended the run
	// after so many seconds without output; FirstOutput that it was the
	// deadline for the first one.
	StalledSeconds int
	FirstOutput    bool
	// CancelOrigin and TerminalTrigger are handed to the classifier.
	CancelOrigin, TerminalTrigger string
}

// Input is a whole run.
type Input struct {
	Config Config
	Steps  []Step
	End    Ending
}

// Outcome is what OpenDesign makes of a run.
type Outcome struct {
	Status      string // succeeded, failed or canceled
	ErrorCode   string // "" for a run without one
	CloseReason string // rpc_close_reason
	// Rerun says that the session to resume was gone: the daemon silently
	// starts the run again, and this attempt has no status.
	Rerun bool
	// Events are the agent and stdout events that the daemon sent.
	Events     []event.Event
	Classifier classify.Input
}

// Close follows a whole run. The error says that the agent is unknown or that
// its protocol is not followed.
func Close(in Input) (Outcome, error) {
	r, err := New(in.Config)
	if err != nil {
		return Outcome{}, err
	}
	for _, s := range in.Steps {
		switch s.Kind {
		case Stdout:
			r.Stdout(s.Data)
		case Stderr:
			r.Stderr(s.Data)
		case Cancel:
			r.Cancel()
		}
	}
	return r.Close(in.End), nil
}

// Run is a run under way.
type Run struct {
	cfg       Config
	runtime   opendesign.Runtime
	parser    opendesign.Parser // nil where session is set
	session   *session
	out, errs tail
	shown     shownStderr
	stdin     opendesign.StdinBook
	guard     *opendesign.RoleGuard
	writes    ledger
	log       []classify.Event
	sent      []event.Event

	cancelled   bool
	aborted     bool // ended by the role-marker guard
	streamError bool // the first error event was reported
	produced    bool // visible text
	tracked     bool
	buffered    []byte // antigravity's stdout
	err         string // the newest error's text and code
	code        string
	reason      string
}

// New starts to follow a run.
func New(cfg Config) (*Run, error) {
	runtime, ok := opendesign.RuntimeOf(cfg.Agent)
	if !ok {
		return nil, fmt.Errorf("following a run of agent %q: OpenDesign v%s has no such agent", cfg.Agent, opendesign.Version)
	}
	r := &Run{cfg: cfg, runtime: runtime, tracked: runtime.Tracked(), guard: opendesign.NewRoleGuard("run"),
		shown: shownStderr{filtered: cfg.Agent == "amr"}}
	if r.session = newSession(runtime.StreamFormat, cfg.Session); r.session == nil {
		if !runtime.Lines() {
			return nil, fmt.Errorf("following a run of agent %q: its protocol %s is not followed", cfg.Agent, runtime.StreamFormat)
		}
		var err error
		if r.parser, err = opendesign.ForAgent(cfg.Agent); err != nil {
			return nil, fmt.Errorf("following a run of agent %q: %w", cfg.Agent, err)
		}
	}
	r.record("start", object())
	if r.session != nil {
		r.carryOut(r.session.Start())
	}
	return r, nil
}

// Stdout takes a chunk of stdout. OpenDesign reads the tail of stdout when an
// error event comes, and by then the tail holds the rest of the chunk too.
func (r *Run) Stdout(chunk []byte) {
	if r.aborted || len(r.out.add(chunk)) == 0 {
		return
	}
	if r.cfg.Agent == "antigravity" {
		r.buffered = append(r.buffered, chunk...)
		return
	}
	if r.session != nil {
		r.messages(r.session.lines.Feed(chunk))
		return
	}
	r.events(r.parser.Feed(chunk))
}

// Stderr takes a chunk of stderr.
func (r *Run) Stderr(chunk []byte) {
	if r.aborted {
		return
	}
	if text := r.errs.add(chunk); len(text) > 0 {
		r.stderr(string(text))
	}
}

// stderr shows text of stderr. Agent amr's session reads it too.
func (r *Run) stderr(text string) {
	r.showStderr(r.shown.write(text))
	if r.session == nil {
		return
	}
	if acp, ok := r.session.Session.(*rpc.ACP); ok {
		r.carryOut(acp.Stderr(text))
	}
}

func (r *Run) showStderr(text string) {
	if text != "" {
		r.record("stderr", object(event.F("chunk", event.String(text))))
	}
}

// Cancel says that the daemon was asked to cancel the run.
func (r *Run) Cancel() {
	r.cancelled = true
	if r.session != nil {
		r.carryOut(r.session.Abort())
	}
}

func (r *Run) events(events []event.Event) {
	for _, e := range events {
		if r.aborted {
			return
		}
		switch {
		case e.Type() == "error":
			r.streamFailed(e)
		case e.Type() == "stdout":
			r.sent = append(r.sent, e)
			r.record("stdout", object(event.F("chunk", e.Get("chunk"))))
		case e.Type() == "text_delta" && r.runtime.StreamFormat != "claude-stream-json":
			r.text(e.Get("delta").Str())
		default:
			r.send(e)
			if e.Type() == "fabricated_role_marker" {
				r.abort(e.Get("marker").Str())
			} else if r.runtime.StreamFormat == "claude-stream-json" && e.Type() != "text_delta" {
				r.stdin.Observe(e)
			}
		}
	}
}

// text shows text of a stream that has no guard of its own.
func (r *Run) text(delta string) {
	if delta == "" {
		return
	}
	r.produced = true
	was := r.guard.Contaminated()
	if safe := r.guard.Feed(delta); safe != "" {
		r.send(event.New("text_delta", event.F("delta", event.String(safe))))
	}
	if warning, ok := r.guard.Warning(); ok && !was {
		r.send(warning)
		r.abort(r.guard.Marker())
	}
}

// send sends an agent event.
func (r *Run) send(e event.Event) {
	r.sent = append(r.sent, e)
	r.writes.see(e)
	r.record("agent", e.JSON())
}

// abort ends the run because the model made up a turn of the conversation.
// The child is terminated, so whatever it says later is not followed.
func (r *Run) abort(marker string) {
	if marker == "" {
		marker = "role marker"
	}
	r.fail(service.RoleMarker, "Run terminated: model emitted fabricated role marker (`"+marker+"`). No further tokens or tool calls accepted from this turn.", yes)
	r.aborted = true
}

// word is a boolean that may be missing.
type word int

const (
	unsaid word = iota
	yes
	no
)

// fail sends an error to the user; its text and code are the run's from then
// on.
func (r *Run) fail(code, message string, retryable word) {
	fields := []event.Field{event.F("code", event.String(code)), event.F("message", event.String(message))}
	if retryable != unsaid {
		fields = append(fields, event.F("retryable", event.Bool(retryable == yes)))
	}
	r.record("error", object(event.F("message", event.String(message)), event.F("error", event.Object(fields...))))
	if m := jstext.Trim(message); m != "" {
		r.err = m
	}
	r.code = code
}

// record keeps an event for the classifier, the newest KeptEvents of them.
func (r *Run) record(name string, data []byte) {
	if len(r.log) >= 2*KeptEvents {
		r.log = append(r.log[:0], r.log[len(r.log)-KeptEvents:]...)
	}
	r.log = append(r.log, classify.Event{Event: name, Data: data})
}

func object(fields ...event.Field) []byte { return event.Object(fields...).AppendJSON(nil) }

// tail decodes a stream and keeps its end.
type tail struct {
	seen    bool
	partial []byte
	kept    []byte // decoded, with more than the end in it
}

// add takes a chunk and returns what it completed, decoded: the chunk itself where
// that is the same, as nearly always.
func (t *tail) add(chunk []byte) []byte {
	if len(t.partial) > 0 {
		chunk = append(t.partial, chunk...)
	}
	n := len(chunk) - jstext.Incomplete(chunk)
	t.partial = bytes.Clone(chunk[n:])
	return t.keep(chunk[:n])
}

func (t *tail) keep(text []byte) []byte {
	if !utf8.Valid(text) {
		text = []byte(jstext.Decode(text))
	}
	if len(text) == 0 {
		return nil
	}
	t.seen = true
	if len(t.kept)+len(text) > maxKept {
		t.kept = append(t.kept[:0], t.text()...)
	}
	if len(text) <= tailUnits {
		t.kept = append(t.kept, text...)
	} else {
		end := text[max(0, len(text)-maxTail):]
		t.kept = append(t.kept, jstext.Tail(string(end), tailUnits)...)
	}
	return text
}

const (
	// maxKept is how much a tail keeps before it is cut to its end: cutting it for
	// every chunk would take longer than reading the chunk.
	maxKept = 16 << 10
	// maxTail is more than the end can take, by a whole character: where the cut
	// breaks one, nobody sees it.
	maxTail = 3*tailUnits + utf8.UTFMax
)

// text returns the end of the stream.
func (t *tail) text() string { return jstext.Tail(string(t.kept), tailUnits) }

// end decodes what is left when the stream closes.
func (t *tail) end() []byte {
	partial := t.partial
	t.partial = nil
	return t.keep(partial)
}
