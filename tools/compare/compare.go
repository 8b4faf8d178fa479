// Package compare says how two shapes differ and what that means for a reader
// of the stream (DESIGN D7; specification, "Compare"). Drift is named change by
// change; a silent removal outranks an addition.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Signal is one change from an older shape to a newer one.
type Signal struct {
	ID       string   `json:"id"` // one of Rules
	Severity Severity `json:"severity"`
	// EventType is the type of the frames concerned, Kinds what else tells
	// their kinds apart ("agent_message"); both are empty for the whole run.
	EventType string   `json:"event_type,omitempty"`
	Kinds     []string `json:"kinds,omitempty"`
	// Path is the member concerned, under its new name if it was renamed.
	Path string `json:"path,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Renamed is, of a kind that is gone, the new one with its structure, and
	// the reverse; "" if there is none.
	Renamed string `json:"renamed,omitempty"`
	// Fingerprint is the same for the same change in every run and version:
	// the hash of family, id, event type, path, from and to.
	Fingerprint contract.Digest `json:"fingerprint"`
}

// String spells a signal in a line: event_removed:thinking,
// field_renamed:item.type<->item.item_type, enum_added:item.type=future_item.
func (s Signal) String() string {
	switch s.ID {
	case EventAdded, EventRemoved, OptionalKindGone, TerminalMoved, MissingTerminalEvent, OrderChanged, CardinalityChanged:
		return join(s.ID, s.EventType)
	case FieldAdded, FieldRemoved, RequirednessChanged, ErrorTextChanged:
		return join(s.ID, s.Path)
	case FlagAdded, FlagDeprecated, FlagRequired:
		return join(s.ID, s.To)
	case FlagRemoved:
		return join(s.ID, s.From)
	case FieldRenamed, EnumChanged:
		return fmt.Sprintf("%s:%s<->%s", s.ID, s.From, s.To)
	case EnumAdded:
		return fmt.Sprintf("%s:%s=%s", s.ID, s.Path, s.To)
	case TypeChanged:
		return fmt.Sprintf("%s:%s:%s->%s", s.ID, s.Path, s.From, s.To)
	}
	return fmt.Sprintf("%s:%s->%s", s.ID, s.From, s.To)
}

func join(id, what string) string {
	if what == "" {
		return id
	}
	return id + ":" + what
}

// Result is how two runs differ.
type Result struct {
	// Verdict is what the shapes alone tell: same_shape, or
	// parser_incompatible if a signal is breaking, or compatible_new_shape.
	// Judge refines it with what is known beside the shapes.
	Verdict contract.Verdict `json:"verdict"`
	// Signals are sorted: the most severe first, losses before additions.
	Signals []Signal `json:"signals"`
	// otherReader says that what reads the older run cannot read the newer
	// one: it belongs to another family, or to another parser's dialect.
	otherReader bool
}

// Breaking reports whether a signal is breaking.
func (r Result) Breaking() bool {
	return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Severity == Breaking })
}

// Evidence is what is known of the newer run beside its shape.
type Evidence struct {
	// Redaction is the outcome of redaction, "" for passed.
	Redaction contract.RedactionStatus
	// Replay says whether the consumer's parser understands the newer run, ""
	// for not run.
	Replay contract.ReplayStatus
	// Lost says that the consumer's reading lacks what that of the older run had
	// (replay.Lost): that it understands what is left does not make up for it.
	Lost bool
	// SameTarget says that the older shape was observed for the same agent,
	// version, platform, probe and profile.
	SameTarget bool
}

// Judge gives the verdict of the specification. What the consumer's parser
// made of the run decides whether a new shape is compatible; if it was not
// run, or shows less than it did of the older one, the severity of the signals
// does.
func (r Result) Judge(e Evidence) contract.Verdict {
	switch {
	case e.Redaction != "" && e.Redaction != contract.RedactionPassed:
		return contract.VerdictRedactionFailed
	case r.Verdict == contract.VerdictSameShape:
		return contract.VerdictSameShape
	case r.otherReader: // that its own reader understands it does not help
		return contract.VerdictParserIncompatible
	case e.Replay == contract.ReplayIncompatible:
		return contract.VerdictParserIncompatible
	case e.SameTarget: // one version, two shapes: no release did it
		return contract.VerdictServerVariant
	case (e.Replay != contract.ReplayCompatible || e.Lost) && r.Breaking():
		return contract.VerdictParserIncompatible
	}
	return contract.VerdictCompatibleNewShape
}

// Side is one of two runs.
type Side struct {
	Shape *contract.Shape
	// Dialect is the shape's; nil if not known. Two dialects are wrapped in
	// different ways, and may belong to different parsers.
	Dialect *contract.Dialect
	// ShapeOnly says that what came by chance or after the end is not known.
	ShapeOnly bool
	// Optional are the kinds of frames that came by chance.
	Optional []contract.FrameShape
	// AfterTerminal are the kinds that followed the last terminal frame.
	AfterTerminal []contract.FrameShape
	// ExitCode is the child's, nil if there is none or it is not known.
	ExitCode *int
	// Texts are the error texts of the sanitized transcript; nil if not known.
	Texts []ErrorText
	// Payloads are the kinds of things in opaque payloads; nil if not known.
	Payloads []PayloadKind
}

// Shapes compares an older shape with a newer one of the dialect.
func Shapes(a, b *contract.Shape, d *contract.Dialect) Result {
	return Runs(Side{Shape: a}, Side{Shape: b}, d)
}

// Runs compares an older run with a newer one of the dialect. d may be nil;
// frames are then told apart by their event types alone.
func Runs(a, b Side, d *contract.Dialect) Result {
	if d == nil {
		d = &contract.Dialect{}
	}
	c := &comparison{dialect: d, family: b.Shape.ProtocolFamily, signals: map[contract.Digest]*Signal{}}
	if a.Shape.Signature != b.Shape.Signature {
		c.lateA, c.lateB = c.list(a.AfterTerminal), c.list(b.AfterTerminal)
		c.shapes(a, b)
	}
	if !b.ShapeOnly {
		c.optional(a.Optional, b.Optional)
		c.late(a, b)
	}
	if a.ExitCode != nil && b.ExitCode != nil && *a.ExitCode != *b.ExitCode {
		c.add(Signal{ID: ExitCodeChanged, From: fmt.Sprint(*a.ExitCode), To: fmt.Sprint(*b.ExitCode)})
	}
	if a.Payloads != nil && b.Payloads != nil {
		c.payloads(a.Payloads, b.Payloads)
	}
	if a.Texts != nil && b.Texts != nil {
		c.texts(a.Texts, b.Texts)
	}
	r := Result{Verdict: contract.VerdictSameShape, Signals: c.sorted(), otherReader: otherReader(a, b)}
	if a.Shape.Signature != b.Shape.Signature {
		r.Verdict = contract.VerdictCompatibleNewShape
		if r.Breaking() {
			r.Verdict = contract.VerdictParserIncompatible
		}
	}
	return r
}

// comparison collects signals.
type comparison struct {
	dialect *contract.Dialect
	family  contract.ProtocolFamily
	signals map[contract.Digest]*Signal
	lateA   []*frame // what followed the terminal frame
	lateB   []*frame
}

// add records a signal. One change in several kinds of an event type is one
// signal; the strongest severity counts.
func (c *comparison) add(s Signal) {
	if s.Severity == "" {
		s.Severity = rules[ruleRank(s.ID)].Severity
	}
	s.Fingerprint = contract.Sum([]byte(strings.Join([]string{
		string(c.family), s.ID, s.EventType, s.Path, s.From, s.To,
	}, "\x00")))
	known := c.signals[s.Fingerprint]
	if known == nil {
		c.signals[s.Fingerprint] = &s
		return
	}
	if s.Severity.rank() > known.Severity.rank() {
		known.Severity = s.Severity
	}
	for _, k := range s.Kinds {
		if !slices.Contains(known.Kinds, k) {
			known.Kinds = append(known.Kinds, k)
		}
	}
}

func (c *comparison) sorted() []Signal {
	out := make([]Signal, 0, len(c.signals))
	for _, s := range c.signals {
		slices.Sort(s.Kinds)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Signal) int {
		if n := b.Severity.rank() - a.Severity.rank(); n != 0 {
			return n
		}
		if n := ruleRank(a.ID) - ruleRank(b.ID); n != 0 {
			return n
		}
		return strings.Compare(strings.Join([]string{a.EventType, a.Path, a.From, a.To}, "\x00"),
			strings.Join([]string{b.EventType, b.Path, b.From, b.To}, "\x00"))
	})
	return out
}

// shapes compares two shapes that differ.
func (c *comparison) shapes(x, y Side) {
	a, b := x.Shape, y.Shape
	if a.Exit != b.Exit {
		c.add(Signal{ID: ExitChanged, From: string(a.Exit), To: string(b.Exit)})
	}
	if a.StderrClass != b.StderrClass {
		c.add(Signal{ID: StderrClassChanged, From: string(a.StderrClass), To: string(b.StderrClass)})
	}
	fa, fb := c.list(a.FrameShapes), c.list(b.FrameShapes)
	if c.envelope(x, y, fa, fb) {
		return // the frames have nothing in common that could be compared
	}
	pairs := c.pair(fa, fb)
	for _, p := range pairs {
		c.fields(p.a, p.b)
	}
	c.unpaired(fa, fb, pairs)
	c.order(fa, fb, pairs, a.Extensions.Sequence, b.Extensions.Sequence)
}
