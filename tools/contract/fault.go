package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Fault changes what a CLI printed, or how it ended, on the way to the
// recorder: for failures that no real CLI can be made to show. A run with a
// fault is a parser fixture and never an observation (FINE-PRINT 9).
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Line says which line of stdout is meant: the Line-th, from 1, of those
	// that begin with "{". It belongs to malformed_json (that line) and
	// unknown_event (behind that line).
	Line int `json:"line,omitempty"`
	// Frames has, by dialect, the frame that unknown_event inserts.
	Frames map[string]json.RawMessage `json:"frames,omitempty"`
	// ExitCode replaces the exit code of a CLI that ended by itself.
	ExitCode *int `json:"exit_code,omitempty"`
}

// FaultKind names a fault.
type FaultKind string

// The fault kinds.
const (
	FaultMalformedJSON FaultKind = "malformed_json" // a line loses its second half, and nothing else
	FaultPartialLine   FaultKind = "partial_line"   // the last line is cut in the middle, where stdout ends
	FaultUnknownEvent  FaultKind = "unknown_event"  // a well-formed frame that no release has comes in between
	FaultNoOutput      FaultKind = "no_output"      // nothing arrives on stdout and stderr
	FaultExitCode      FaultKind = "exit_code"      // only the exit code is another one
)

// FaultKinds lists every fault kind.
var FaultKinds = []FaultKind{FaultMalformedJSON, FaultPartialLine, FaultUnknownEvent, FaultNoOutput, FaultExitCode}

// validate reports members that do not go with the kind.
func (f *Fault) validate() error {
	if !slices.Contains(FaultKinds, f.Kind) {
		return fmt.Errorf("unknown fault kind %q: want one of %v", f.Kind, FaultKinds)
	}
	if named := f.Kind == FaultMalformedJSON || f.Kind == FaultUnknownEvent; named != (f.Line > 0) {
		return errors.New("line, from 1, belongs to malformed_json and unknown_event and to no other kind")
	}
	if (f.Kind == FaultUnknownEvent) != (len(f.Frames) > 0) {
		return errors.New("frames belong to unknown_event and to no other kind")
	}
	for d, frame := range f.Frames {
		if frame = bytes.TrimSpace(frame); len(frame) == 0 || frame[0] != '{' {
			return fmt.Errorf("frames: the one of %s is no JSON object", d)
		}
	}
	switch {
	case f.ExitCode == nil && (f.Kind == FaultNoOutput || f.Kind == FaultExitCode):
		return fmt.Errorf("%s needs exit_code", f.Kind)
	case f.ExitCode != nil && (*f.ExitCode < 0 || *f.ExitCode > 255):
		return errors.New("exit_code is not from 0 to 255")
	}
	return nil
}
