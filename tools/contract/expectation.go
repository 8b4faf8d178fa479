package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Expectation is a probe's expected-min-events.json: what a reading of the run
// must hold at least (DESIGN D9, FINE-PRINT 13). It says nothing about what
// the CLI reported and never changes it.
type Expectation struct {
	SchemaVersion int              `json:"schema_version"`
	MustSee       []EventName      `json:"must_see"`
	Optional      []EventName      `json:"optional"` // for readers only: nothing is checked
	Forbidden     []ForbiddenThing `json:"forbidden"`
	// Constraints is never empty: prose is not enforced, so a probe without a
	// constraint that a program can check expects nothing.
	Constraints []Constraint   `json:"constraints"`
	Extensions  map[string]any `json:"extensions,omitempty"`
}

// EventName names a kind of event in a reading, whatever the CLI calls it.
type EventName string

// The event names of FINE-PRINT 13.
const (
	EventInitOrStatus  EventName = "init_or_status"
	EventAssistantText EventName = "assistant_text" // one for each text of the model, joined from its deltas
	EventToolUse       EventName = "tool_use"
	EventToolResult    EventName = "tool_result"
	EventUsage         EventName = "usage"
	EventError         EventName = "error"
	EventDone          EventName = "done" // the family's terminal frame
)

// EventNames lists every event name.
var EventNames = []EventName{EventInitOrStatus, EventAssistantText, EventToolUse, EventToolResult, EventUsage, EventError, EventDone}

// ForbiddenThing names something that a run must not hold.
type ForbiddenThing string

// The forbidden things of FINE-PRINT 13.
const (
	ForbiddenRawSecret        ForbiddenThing = "raw_secret"
	ForbiddenLocalHomePath    ForbiddenThing = "local_home_path"
	ForbiddenDuplicateToolUse ForbiddenThing = "duplicate_tool_use"
	ForbiddenUnknownRaw       ForbiddenThing = "unknown_raw" // a frame that no reader knows, or a line that is no frame
)

// ForbiddenThings lists every forbidden thing.
var ForbiddenThings = []ForbiddenThing{ForbiddenRawSecret, ForbiddenLocalHomePath, ForbiddenDuplicateToolUse, ForbiddenUnknownRaw}

// ConstraintKind says what a constraint asks for.
type ConstraintKind string

// The constraint kinds of DESIGN D9.
const (
	ConstraintMinCount       ConstraintKind = "min_count"       // at least Count events
	ConstraintMaxCount       ConstraintKind = "max_count"       // at most Count events
	ConstraintMinItems       ConstraintKind = "min_items"       // there is one, and the list at Field never has fewer than Count entries
	ConstraintMaxItems       ConstraintKind = "max_items"       // no list at Field has more than Count entries
	ConstraintNonEmpty       ConstraintKind = "non_empty"       // there is one, and Field is never blank, null or empty
	ConstraintRequiredFields ConstraintKind = "required_fields" // every event has each of Fields, which may be null
	ConstraintPairing        ConstraintKind = "pairing"         // every tool result has its call, before it, and no second one
	ConstraintOneTerminal    ConstraintKind = "one_terminal"    // exactly one terminal frame
	ConstraintRunResult      ConstraintKind = "run_result"      // our reading of the run is Equals
)

// ConstraintKinds lists every constraint kind.
var ConstraintKinds = []ConstraintKind{ConstraintMinCount, ConstraintMaxCount, ConstraintMinItems, ConstraintMaxItems, ConstraintNonEmpty, ConstraintRequiredFields, ConstraintPairing, ConstraintOneTerminal, ConstraintRunResult}

// RunResult is our reading of what a run came to; what the CLI said is kept
// beside it (FINE-PRINT 12).
type RunResult string

// Constraint is one checkable statement. Which members it has depends on Kind.
type Constraint struct {
	Kind  ConstraintKind `json:"kind"`
	Event EventName      `json:"event,omitempty"`
	Count *int           `json:"count,omitempty"`
	// Field and Fields are members of the event in the daemon's vocabulary,
	// with dots for members of members: name, input.command, usage.input_tokens.
	// A string that holds a JSON object or array counts as what it holds:
	// content.files reaches into what a tool printed.
	Field  string    `json:"field,omitempty"`
	Fields []string  `json:"fields,omitempty"`
	Equals RunResult `json:"equals,omitempty"`
}

// UnmarshalJSON refuses members that the format does not have.
func (e *Expectation) UnmarshalJSON(b []byte) error {
	type plain Expectation
	var p plain
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("reading expectation: %w", err)
	}
	*e = Expectation(p)
	return nil
}

// Validate reports every rule that the expectation breaks, joined; the JSON
// Schema says the same about single members.
func (e *Expectation) Validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf(format, a...)) }
	if e.SchemaVersion != SchemaVersion {
		bad("schema_version is %d, this program reads %d", e.SchemaVersion, SchemaVersion)
	}
	checkNames(bad, "must_see", e.MustSee, EventNames)
	checkNames(bad, "optional", e.Optional, EventNames)
	checkNames(bad, "forbidden", e.Forbidden, ForbiddenThings)
	for _, n := range e.Optional {
		if slices.Contains(e.MustSee, n) {
			bad("%q is in must_see and in optional", n)
		}
	}
	if len(e.Constraints) == 0 {
		bad("constraints is empty: a probe without a machine-checkable constraint does not validate; add one, such as {\"kind\": \"run_result\", \"equals\": \"success\"}")
	}
	for i := range e.Constraints {
		if err := e.Constraints[i].validate(); err != nil {
			bad("constraints[%d]: %w", i, err)
		}
	}
	return errors.Join(errs...)
}

func checkNames[T ~string](bad func(string, ...any), list string, names, known []T) {
	seen := map[T]bool{}
	for i, n := range names {
		switch {
		case !slices.Contains(known, n):
			bad("%s[%d]: unknown name %q", list, i, n)
		case seen[n]:
			bad("%s[%d]: %q stands twice", list, i, n)
		}
		seen[n] = true
	}
}

// validate checks that the constraint has the members of its kind and no
// others: a member that nothing reads would be prose.
func (c *Constraint) validate() error {
	var want []string
	switch c.Kind {
	case ConstraintMinCount, ConstraintMaxCount:
		want = []string{"event", "count"}
	case ConstraintMinItems, ConstraintMaxItems:
		want = []string{"event", "count", "field"}
	case ConstraintNonEmpty:
		want = []string{"event", "field"}
	case ConstraintRequiredFields:
		want = []string{"event", "fields"}
	case ConstraintRunResult:
		want = []string{"equals"}
	case ConstraintPairing, ConstraintOneTerminal:
	default:
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	var have []string
	for _, m := range []struct {
		name string
		set  bool
	}{{"event", c.Event != ""}, {"count", c.Count != nil}, {"field", c.Field != ""}, {"fields", c.Fields != nil}, {"equals", c.Equals != ""}} {
		if m.set {
			have = append(have, m.name)
		}
	}
	if !slices.Equal(have, want) {
		return fmt.Errorf("kind %q needs the members [%s], has [%s]", c.Kind, strings.Join(want, " "), strings.Join(have, " "))
	}
	return c.validateValues()
}

func (c *Constraint) validateValues() error {
	switch {
	case c.Event != "" && !slices.Contains(EventNames, c.Event):
		return fmt.Errorf("unknown event %q", c.Event)
	case c.Equals != "" && !slices.Contains(RunResults, c.Equals):
		return fmt.Errorf("unknown run result %q", c.Equals)
	case (c.Kind == ConstraintMinCount || c.Kind == ConstraintMinItems) && *c.Count < 1:
		return fmt.Errorf("%s below 1 asks for nothing", c.Kind)
	case c.Count != nil && *c.Count < 0:
		return errors.New("count is negative")
	case c.Kind == ConstraintRequiredFields && (len(c.Fields) == 0 || slices.Contains(c.Fields, "")):
		return errors.New("fields is empty or names an empty field")
	}
	return nil
}
