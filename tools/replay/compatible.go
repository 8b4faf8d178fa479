package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Finding is one difference between what a run says and what a consumer makes
// of it.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Subject is the tool's name, the frame's kind or the token count that it
	// is about, or "". It never holds text of the run.
	Subject string `json:"subject,omitempty"`
	Count   int    `json:"count"`
	// Breaks says that the consumer loses or doubles something, so that it is
	// not compatible. Other findings are for people.
	Breaks bool `json:"breaks"`
}

// FindingKind names a difference.
type FindingKind string

// The kinds of findings (DESIGN D8).
const (
	MissingText         FindingKind = "missing_text"
	DoubledText         FindingKind = "doubled_text"
	InventedText        FindingKind = "invented_text" // such as an error that the CLI wrote in the model's place
	MissingToolUse      FindingKind = "missing_tool_use"
	DoubledToolUse      FindingKind = "doubled_tool_use"
	InventedToolUse     FindingKind = "invented_tool_use"
	MissingToolResult   FindingKind = "missing_tool_result"
	WrongToolResult     FindingKind = "wrong_tool_result" // a failed call shown as done, or the other way round
	MissingUsage        FindingKind = "missing_usage"
	WrongUsage          FindingKind = "wrong_usage"
	MissingFailure      FindingKind = "missing_failure"
	InventedFailure     FindingKind = "invented_failure"
	OtherResult         FindingKind = "other_result" // a cancelled run taken for another one, or the other way round
	OtherClassification FindingKind = "other_classification"
	UnexpectedRaw       FindingKind = "unexpected_raw" // a frame that the reference knows comes out raw
	UnknownRaw          FindingKind = "unknown_raw"    // a frame or line that the reference does not know either
)

// notes are the kinds that lose and double nothing.
var notes = []FindingKind{InventedText, InventedToolUse, OtherClassification, UnknownRaw}

// String says the finding in a few words.
func (f Finding) String() string {
	s := strings.ReplaceAll(string(f.Kind), "_", " ")
	if f.Subject != "" {
		s += " (" + f.Subject + ")"
	}
	if f.Count > 1 {
		s += fmt.Sprintf(" ×%d", f.Count)
	}
	return s
}

// Comparison says whether a consumer understands a run.
type Comparison struct {
	Status contract.ReplayStatus `json:"status"`
	Reason string                `json:"reason,omitempty"` // of not_run
	// Findings come with those that break first, then by kind and subject.
	Findings []Finding `json:"findings"`
}

// Breaking returns the findings that make the status incompatible.
func (c Comparison) Breaking() []Finding {
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return !f.Breaks })
}

// Compatible holds a consumer's reading against the reference's reading of the
// same transcript. A reading that was not run gives not_run, never compatible.
func Compatible(ref, consumer *Reading) Comparison {
	for _, r := range []*Reading{consumer, ref} {
		if r.Status != StatusOK {
			return Comparison{Status: contract.ReplayNotRun, Reason: r.Reason, Findings: []Finding{}}
		}
	}
	c := &comparison{ref: ref, got: consumer, count: map[Finding]int{}}
	c.texts()
	c.tools()
	c.usage()
	c.result()
	c.raws()
	out := Comparison{Status: contract.ReplayCompatible, Findings: c.findings()}
	if len(out.Findings) > 0 && out.Findings[0].Breaks {
		out.Status = contract.ReplayIncompatible
	}
	return out
}

type comparison struct {
	ref, got *Reading
	count    map[Finding]int
}

func (c *comparison) find(kind FindingKind, subject string) {
	c.add(kind, subject, !slices.Contains(notes, kind))
}

func (c *comparison) add(kind FindingKind, subject string, breaks bool) {
	c.count[Finding{Kind: kind, Subject: subject, Breaks: breaks}]++
}

func (c *comparison) findings() []Finding {
	out := []Finding{}
	for f, n := range c.count {
		f.Count = n
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int {
		if a.Breaks != b.Breaks {
			if a.Breaks {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subject, b.Subject))
	})
	return out
}

// texts looks for each text of the reference, in order, in what the consumer
// shows. What is left over is doubled if it repeats a text or was taken back by
// a retry, else invented.
func (c *comparison) texts() {
	rest, left := c.got.Text, ""
	for _, t := range c.ref.Texts {
		i := strings.Index(rest, t)
		if i < 0 {
			c.find(MissingText, "")
			continue
		}
		left += rest[:i] + "\x00"
		rest = rest[i+len(t):]
	}
	left += rest
	for _, t := range c.ref.Texts {
		if strings.TrimSpace(t) != "" && strings.Contains(left, t) {
			left = strings.Replace(left, t, "\x00", 1)
			c.find(DoubledText, "")
		}
	}
	for _, t := range c.ref.Retracted {
		if strings.TrimSpace(t) != "" && strings.Contains(left, t) {
			left = strings.Replace(left, t, "\x00", 1)
			c.find(DoubledText, "")
		}
	}
	if strings.Trim(left, "\x00 \t\r\n") != "" {
		c.find(InventedText, "")
	}
}

// taskSuffix marks the to-do list that OpenDesign makes of a task tool's call.
const taskSuffix = ":todo-task"

func (c *comparison) tools() {
	calls := map[string][]reference.Tool{}
	for _, t := range c.got.Tools {
		id := strings.TrimSuffix(t.ID, taskSuffix)
		calls[id] = append(calls[id], t)
	}
	for _, want := range c.ref.Tools {
		got := calls[want.ID]
		delete(calls, want.ID)
		if len(got) == 0 {
			c.find(MissingToolUse, want.Name)
			continue
		}
		list := got[0].Name == "TodoWrite" // sent again whole with every change
		for range got[1:] {
			if !list {
				c.find(DoubledToolUse, want.Name)
			}
		}
		if list || want.State == reference.ToolOpen {
			continue
		}
		switch state := lastState(got); {
		case state == reference.ToolOpen:
			c.find(MissingToolResult, want.Name)
		case state != want.State:
			c.find(WrongToolResult, want.Name)
		}
	}
	for _, extra := range calls {
		c.find(InventedToolUse, extra[0].Name)
	}
}

// lastState is the state of a call that was announced more than once: the
// result closes the last announcement.
func lastState(calls []reference.Tool) reference.ToolState {
	for _, t := range calls {
		if t.State != reference.ToolOpen {
			return t.State
		}
	}
	return reference.ToolOpen
}

// usage compares the two counts that every consumer shows.
func (c *comparison) usage() {
	if c.ref.Usage == nil {
		return
	}
	if c.got.Usage == nil {
		c.find(MissingUsage, "")
		return
	}
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if want, ok := c.ref.Usage[name]; ok && c.got.Usage[name] != want {
			c.find(WrongUsage, name)
		}
	}
}

func (c *comparison) result() {
	want, got := c.ref.RunResult, c.got.RunResult
	switch {
	case want == got:
		if w, g := c.ref.Failure, c.got.Failure; w != nil && g != nil && (w.Category != g.Category || w.Detail != g.Detail) {
			c.find(OtherClassification, fmt.Sprintf("%s/%s for %s/%s", g.Category, g.Detail, w.Category, w.Detail))
		}
	case want == contract.RunFailed && got == contract.RunSuccess:
		c.find(MissingFailure, string(c.ref.Failure.Category))
	case want == contract.RunSuccess && got == contract.RunFailed:
		// To call a success without substance a failure loses nothing.
		c.add(InventedFailure, "", !c.ref.WeakSuccess)
	default:
		c.find(OtherResult, fmt.Sprintf("%s for %s", got, want))
	}
}

// raws asks of each raw event whether the reference knows the frame.
func (c *comparison) raws() {
	d := &contract.Dialect{ID: c.ref.Dialect}
	for _, e := range c.got.Events {
		if e.Type() != "raw" {
			continue
		}
		line := e.Get("line").Str()
		v, err := rawjson.Parse([]byte(line))
		switch {
		case err != nil || v.Kind() != rawjson.Object:
			c.find(UnknownRaw, "not a frame")
		case knows(d, c.ref.Agent, line):
			c.find(UnexpectedRaw, frameKind(v))
		default:
			c.find(UnknownRaw, frameKind(v))
		}
	}
}

func knows(d *contract.Dialect, agent, line string) bool {
	r, err := reference.NewReader(d, agent)
	if err != nil {
		return false
	}
	r.Stdout([]byte(line))
	return len(r.Close(reference.Ending{}).Unknown) == 0
}

// frameKind names a frame's kind for people: its type and what tells frames of
// that type apart.
func frameKind(v rawjson.Value) string {
	parts := []string{v.Get("type").Str()}
	for _, path := range [][]string{{"subtype"}, {"item", "type"}, {"item", "item_type"}, {"event", "type"}, {"msg", "type"}} {
		if word := v.At(path...).Str(); word != "" {
			parts = append(parts, word)
		}
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	switch {
	case len(parts) > 0:
	case v.Get("prompt").Exists(): // the two lines before Codex's envelopes
		return "prompt"
	case v.Get("model").Exists():
		return "config"
	default:
		return "no type"
	}
	return strings.Join(parts, " ")
}
