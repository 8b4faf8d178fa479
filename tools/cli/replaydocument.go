package cli

import (
	"bufio"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

// replayDocument is what replay --format json says of one FILE.
type replayDocument struct {
	File    string          `json:"file"`
	Adapter string          `json:"adapter"`
	Dialect string          `json:"dialect"`
	Status  string          `json:"status"` // ok or not_run
	Reason  string          `json:"reason,omitempty"`
	Events  []replay.Event  `json:"events"`
	Reading *replay.Summary `json:"reading,omitempty"`
	// Reference and Comparison are of a consumer, not of the reference itself.
	Reference  *replay.Summary     `json:"reference,omitempty"`
	Comparison *comparisonDocument `json:"comparison,omitempty"`
}

type comparisonDocument struct {
	Status   contract.ReplayStatus  `json:"status"`
	Findings []replay.Finding       `json:"findings"`
	ByFrame  []replay.FrameFindings `json:"by_frame_kind"`
}

func summary(in *input, r *replay.Reading) *replay.Summary {
	if r.Status != replay.StatusOK {
		return nil
	}
	s := r.Summary()
	if in.stdoutOnly() { // nobody knows
		s.RunResult, s.Failure, s.WeakSuccess = "", nil, false
	}
	return &s
}

// aboutTheEnd are the differences that stdout alone cannot show.
var aboutTheEnd = []replay.FindingKind{replay.MissingFailure, replay.InventedFailure, replay.OtherResult, replay.OtherClassification}

// held is a consumer's reading held against the reference's.
type held struct {
	ref *replay.Reading
	comparisonDocument
}

func heldAgainst(in *input, ri replay.Input, consumer *replay.Reading) (*held, error) {
	ref, err := replay.Reference(ri)
	if err != nil {
		return nil, err
	}
	frames, err := replay.FindingsByFrame(ri, ref, consumer)
	if err != nil {
		return nil, err
	}
	c := replay.Compatible(ref, consumer)
	out := &held{ref, comparisonDocument{Status: c.Status, Findings: c.Findings, ByFrame: []replay.FrameFindings{}}}
	if c.Status == contract.ReplayNotRun || !in.stdoutOnly() {
		out.ByFrame = append(out.ByFrame, frames...)
		return out, nil
	}
	beyond := func(f replay.Finding) bool { return slices.Contains(aboutTheEnd, f.Kind) }
	out.Findings = slices.DeleteFunc(out.Findings, beyond)
	for _, f := range frames {
		f.Findings = slices.DeleteFunc(f.Findings, func(x replay.FrameFinding) bool { return beyond(x.Finding) })
		if len(f.Findings) > 0 {
			out.ByFrame = append(out.ByFrame, f)
		}
	}
	out.Status = contract.ReplayCompatible
	if len(out.Findings) > 0 && out.Findings[0].Breaks {
		out.Status = contract.ReplayIncompatible
	}
	return out, nil
}

// sayFindings says what breaks: of the whole run, then by kind of frame.
func (a *app) sayFindings(in *input, c *comparisonDocument) {
	if c == nil {
		return
	}
	for _, f := range c.Findings {
		if f.Breaks {
			a.warn("%s: incompatible: %s", in.name, f)
		}
	}
	for _, k := range c.ByFrame {
		var words []string
		for _, f := range k.Findings {
			if f.Breaks {
				words = append(words, f.String())
			}
		}
		if len(words) > 0 {
			a.warn("%s: of %s: %s", in.name, k.FrameKind, strings.Join(words, "; "))
		}
	}
}

// replayOutput prints what replay finds: as it comes in text, as one list in
// JSON.
type replayOutput struct {
	app       *app
	format    format
	documents []replayDocument
	// coverages take the documents' place with --coverage.
	coverages []coverageDocument
}

func (o *replayOutput) document(d replayDocument) error {
	if o.format == "json" {
		o.documents = append(o.documents, d)
		return nil
	}
	w := bufio.NewWriterSize(o.app.env.Stdout, 64<<10)
	var line []byte
	for _, e := range d.Events {
		line = append(e.AppendJSON(line[:0]), '\n')
		_, _ = w.Write(line) // Flush reports it
	}
	return w.Flush()
}

func (o *replayOutput) close() error {
	switch {
	case o.format != "json":
		return nil
	case o.coverages != nil:
		return o.app.printJSON(o.coverages)
	}
	return o.app.printJSON(o.documents)
}
