// Package expect holds a reading of a run against a probe's
// expected-min-events.json (DESIGN D9). It observes: a violation is recorded
// beside the run and never changes what the CLI said or what the run came to.
package expect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Leaks counts what the leak scan found in the bytes that would be published;
// a reading cannot see it.
type Leaks struct {
	RawSecrets     int
	LocalHomePaths int
}

// Result is what a probe's expectation makes of a run.
type Result struct {
	// Violations come in the order of the expectation; the path of each is a
	// JSON pointer into it.
	Violations []contract.ContractViolation
	// WeakSuccess is a success without substance: the CLI said success, and
	// something that the probe must see, count or find filled is missing, or
	// the run has neither text nor tool. The run stays a success.
	WeakSuccess bool
}

// Check holds the reading against the expectation, which must be valid.
func Check(e *contract.Expectation, r *reference.Reading, leaks Leaks) Result {
	c := checker{reading: r, leaks: leaks, events: group(r)}
	for i, name := range e.MustSee {
		if len(c.events[name]) == 0 {
			c.violate("must_see", pointer("must_see", i), "at least one "+string(name), "none", true)
		}
	}
	for i, thing := range e.Forbidden {
		if actual := c.forbidden(thing); actual != "" {
			c.violate("forbidden", pointer("forbidden", i), "no "+string(thing), actual, false)
		}
	}
	for i := range e.Constraints {
		c.constraint(&e.Constraints[i], pointer("constraints", i))
	}
	weak := r.RunResult == contract.RunSuccess && (r.WeakSuccess || c.thin)
	return Result{Violations: c.violations, WeakSuccess: weak}
}

type checker struct {
	reading    *reference.Reading
	leaks      Leaks
	events     map[contract.EventName][]event.Event
	violations []contract.ContractViolation
	thin       bool // something of substance is missing
}

func pointer(list string, i int) string { return "/" + list + "/" + strconv.Itoa(i) }

func (c *checker) violate(kind, path, expected, actual string, thin bool) {
	c.violations = append(c.violations, contract.ContractViolation{Kind: kind, Path: path, Expected: expected, Actual: actual})
	c.thin = c.thin || thin
}

// group sorts a reading's events under the names of FINE-PRINT 13. The deltas
// of one text are one assistant_text; done stands for the terminal frames. A
// failed run without an error event has one if the CLI said what went wrong
// outside of its frames: a format without error frames has no other place.
func group(r *reference.Reading) map[contract.EventName][]event.Event {
	out := map[contract.EventName][]event.Event{}
	names := map[string]contract.EventName{
		"status": contract.EventInitOrStatus, "tool_use": contract.EventToolUse, "tool_result": contract.EventToolResult,
		"usage": contract.EventUsage, "error": contract.EventError,
	}
	for _, e := range r.Events {
		if name, ok := names[e.Type()]; ok {
			out[name] = append(out[name], e)
		}
	}
	for _, text := range r.Texts {
		out[contract.EventAssistantText] = append(out[contract.EventAssistantText], event.New("text_delta", event.F("delta", event.String(text))))
	}
	if r.RunResult == contract.RunFailed && len(out[contract.EventError]) == 0 && r.LastWords != "" {
		out[contract.EventError] = []event.Event{event.New("error", event.F("message", event.String(r.LastWords)))}
	}
	for range r.Terminals {
		out[contract.EventDone] = append(out[contract.EventDone], event.New("done", event.F("reported_result", event.String(r.ReportedResult))))
	}
	return out
}

// forbidden returns what was found of a forbidden thing, or "".
func (c *checker) forbidden(thing contract.ForbiddenThing) string {
	switch thing {
	case contract.ForbiddenRawSecret:
		return counted(c.leaks.RawSecrets, "found")
	case contract.ForbiddenLocalHomePath:
		return counted(c.leaks.LocalHomePaths, "found")
	case contract.ForbiddenDuplicateToolUse:
		return counted(c.reading.DuplicateToolUses, "call announced again")
	}
	return c.unknownRaw()
}

func counted(n int, what string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, what)
}

// unknownRaw names the frames that nobody knows. Their names are words of the
// protocol; the lines themselves are not quoted.
func (c *checker) unknownRaw() string {
	var parts []string
	for kind, n := range c.reading.Unknown {
		parts = append(parts, fmt.Sprintf("%s ×%d", kind, n))
	}
	slices.Sort(parts)
	if n := c.reading.Deviations["not_json"]; n > 0 {
		parts = append(parts, fmt.Sprintf("lines that are no frames ×%d", n))
	}
	return strings.Join(parts, ", ")
}

func (c *checker) constraint(k *contract.Constraint, path string) {
	kind := string(k.Kind)
	events := c.events[k.Event]
	switch k.Kind {
	case contract.ConstraintMinCount:
		if len(events) < *k.Count {
			c.violate(kind, path, fmt.Sprintf("at least %d %s", *k.Count, k.Event), strconv.Itoa(len(events)), true)
		}
	case contract.ConstraintMaxCount:
		if len(events) > *k.Count {
			c.violate(kind, path, fmt.Sprintf("at most %d %s", *k.Count, k.Event), strconv.Itoa(len(events)), false)
		}
	case contract.ConstraintMinItems:
		if actual := tooFew(events, k.Field, *k.Count); actual != "" {
			c.violate(kind, path, fmt.Sprintf("%s with at least %d in %s", k.Event, *k.Count, k.Field), actual, true)
		}
	case contract.ConstraintMaxItems:
		if actual := tooMany(events, k.Field, *k.Count); actual != "" {
			c.violate(kind, path, fmt.Sprintf("%s with at most %d in %s", k.Event, *k.Count, k.Field), actual, false)
		}
	case contract.ConstraintNonEmpty:
		if actual := emptyField(events, k.Field); actual != "" {
			c.violate(kind, path, fmt.Sprintf("%s with %s filled", k.Event, k.Field), actual, true)
		}
	case contract.ConstraintRequiredFields:
		if actual := missingField(events, k.Fields); actual != "" {
			c.violate(kind, path, fmt.Sprintf("every %s with %s", k.Event, strings.Join(k.Fields, ", ")), actual, false)
		}
	case contract.ConstraintPairing:
		if actual := unpaired(c.reading.Events); actual != "" {
			c.violate(kind, path, "each tool_result after its one tool_use", actual, false)
		}
	case contract.ConstraintOneTerminal:
		if n := c.reading.Terminals; n != 1 {
			c.violate(kind, path, "one terminal frame", strconv.Itoa(n), false)
		}
	case contract.ConstraintRunResult:
		if got := c.reading.RunResult; got != k.Equals {
			c.violate(kind, path, string(k.Equals), string(got), false)
		}
	}
}

func emptyField(events []event.Event, field string) string {
	if len(events) == 0 {
		return "no such event"
	}
	for i, e := range events {
		if blank(lookup(e, field)) {
			return fmt.Sprintf("empty in event %d of %d", i+1, len(events))
		}
	}
	return ""
}

func missingField(events []event.Event, fields []string) string {
	for i, e := range events {
		for _, f := range fields {
			if !lookup(e, f).Exists() {
				return fmt.Sprintf("no %s in event %d of %d", f, i+1, len(events))
			}
		}
	}
	return ""
}

// blank reports whether a value says nothing: absent, null, white space, or
// an empty object or array.
func blank(v event.Value) bool {
	switch v.Kind() {
	case rawjson.Invalid, rawjson.Null:
		return true
	case rawjson.String:
		return strings.TrimSpace(v.Str()) == ""
	case rawjson.Object, rawjson.Array:
		return len(v.JSON()) == 2
	}
	return false
}

// unpaired says which result has no call before it, or a second one.
func unpaired(events []event.Event) string {
	results := map[string]int{} // id → results so far
	n := 0
	for _, e := range events {
		switch e.Type() {
		case "tool_use":
			results[e.Get("id").Str()] = 0
		case "tool_result":
			n++
			id := e.Get("toolUseId").Str()
			if _, called := results[id]; !called {
				return fmt.Sprintf("result %d has no call", n)
			}
			if results[id]++; results[id] > 1 {
				return fmt.Sprintf("result %d is the second one of its call", n)
			}
		}
	}
	return ""
}
