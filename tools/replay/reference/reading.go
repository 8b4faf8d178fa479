// Package reference is our own reading of a transcript (DESIGN D8): what the
// run came to, its text, tools, usage and failure, and every frame that nobody
// knows. It is right where public reports say what is right; what OpenDesign
// makes of the same bytes is package opendesign.
//
// It reads only what survives redaction (enum words, ids as pairs, emptiness,
// equality, the vocabulary of error texts), so that the raw transcript and the
// sanitized one give the same reading.
package reference

import (
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
)

// Reading is what a transcript says.
type Reading struct {
	// Events has the daemon's vocabulary in order: status, text_delta,
	// thinking_delta, tool_use, tool_result, usage, error, and raw for a line
	// or frame that nobody knows. A text that a retry replaced is not in it.
	Events []event.Event
	// Origins has, for each event, the number of the stdout line that gave it,
	// from 0, or EndOfRun, or Untold. It is no part of a golden.
	Origins []int
	// ReportedResult is what the CLI said, verbatim: the subtype of Claude's
	// last result, the type of Codex's last turn event, or "".
	ReportedResult string
	// RunResult is our reading of the run (FINE-PRINT 12).
	RunResult contract.RunResult
	// Failure says why a run did not succeed; nil for a success.
	Failure *contract.FailureClassification
	// LastWords are what the CLI printed about a failed run outside of its
	// frames: a retry notice that nothing followed, stderr without the lines
	// that successful runs print too, stdout lines that are no frames. They are
	// no event and no part of a golden.
	LastWords string
	// Text is the main agent's text: Texts joined with line breaks.
	Text string
	// Texts has one entry for each text of the model.
	Texts []string
	// Retracted are texts that were streamed and that a retry sent again; a
	// consumer that shows them shows them twice.
	Retracted []string
	Tools     []Tool
	// Usage has the run's tokens: input_tokens, output_tokens,
	// cached_read_tokens, cached_write_tokens, thought_tokens. Nil if the CLI
	// reported none.
	Usage map[string]int64
	// Terminals counts the family's terminal frames that ended a turn.
	Terminals int
	// WeakSuccess is a success without substance: no text and no tool
	// (DESIGN D9). RunResult stays what it is.
	WeakSuccess bool
	// Usefulness counts what the CLI itself said of its work: low_utility,
	// wrong_tool_boundary (FINE-PRINT 12). Nil if it said neither.
	Usefulness map[string]int
	// DuplicateToolUses counts calls announced again under an id already used.
	DuplicateToolUses int
	// Unknown counts the frames that nobody knows, by kind: "turn.paused",
	// "item.type=future_item", "system.subtype=x". Bounded; what does not fit
	// counts as "…".
	Unknown map[string]int
	// Deviations counts the odd stdout lines by what is odd: the words of
	// package transcript and non_json_prefix, unicode_line_separator; for
	// stderr what the recorder noted, with the ending _stderr.
	Deviations map[string]int
	// Signals are sorted words about the run as a whole.
	Signals []string
}

// The origins of events that no stdout line gave.
const (
	EndOfRun = -1 // the reader gave it when the run had ended
	Untold   = -2 // an external adapter did not say which line it had read
)

// The signals of a reading. missing_terminal_event is the signal of
// FINE-PRINT 14.
const (
	SignalMissingTerminal = "missing_terminal_event"
	SignalTruncatedTail   = "truncated_tail"
	SignalOpenTool        = "open_tool"       // a call without a result was closed when its turn ended
	SignalUnknownFrames   = "unknown_frames"  // Unknown is not empty
	SignalRecoveredError  = "recovered_error" // an error frame came and the turn completed all the same
	SignalRetractedText   = "retracted_text"  // a retry replaced text that had been streamed
	SignalJoinedText      = "joined_text"     // the CLI joined what several attempts said into one text
	SignalSessionFile     = "session_file"    // what contradicts the pipes is in the CLI's session file, which no consumer reads
	SignalCutAnswer       = "cut_answer"      // the model stopped at its output limit or at a filter
)

// Tool is one call of a tool.
type Tool struct {
	ID     string
	Name   string      // in the daemon's vocabulary: Bash for a shell command
	Input  event.Value // as the CLI printed it
	Parent string      // id of the call whose sub-agent made this one, or ""
	// State is what became of it: ToolDone, ToolFailed, or ToolOpen if no
	// result came before its turn ended.
	State ToolState
}

// ToolState is what became of a call.
type ToolState string

// The states of a call.
const (
	ToolOpen   ToolState = "open"
	ToolDone   ToolState = "done"
	ToolFailed ToolState = "failed"
)

// HasSignal reports whether the reading has the signal.
func (r *Reading) HasSignal(name string) bool { return slices.Contains(r.Signals, name) }

func (r *Reading) signal(name string) {
	if !r.HasSignal(name) {
		r.Signals = append(r.Signals, name)
		slices.Sort(r.Signals)
	}
}

func (r *Reading) deviation(name string) { r.Deviations[name]++ }

const (
	maxUnknownKinds = 64 // further kinds are counted together: the names come from outside
	maxKindBytes    = 80
	overflowKind    = "…"
)

func (r *Reading) unknown(kind string) {
	if len(kind) > maxKindBytes {
		kind = strings.ToValidUTF8(kind[:maxKindBytes], "")
	}
	if _, ok := r.Unknown[kind]; !ok && len(r.Unknown) >= maxUnknownKinds {
		kind = overflowKind
	}
	r.Unknown[kind]++
	r.signal(SignalUnknownFrames)
}

// TokensSeen reports whether any token count is not zero: a sign of life.
func (r *Reading) TokensSeen() bool {
	for _, n := range r.Usage {
		if n != 0 {
			return true
		}
	}
	return false
}
