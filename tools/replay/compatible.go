package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
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
	out := Comparison{Status: contract.ReplayCompatible, Findings: tally(compare(ref, consumer))}
	if len(out.Findings) > 0 && out.Findings[0].Breaks {
		out.Status = contract.ReplayIncompatible
	}
	return out
}

// tally counts equal findings and sorts them.
func tally(found []located) []Finding {
	count := map[Finding]int{}
	for _, f := range found {
		count[f.Finding]++
	}
	out := []Finding{}
	for f, n := range count {
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
