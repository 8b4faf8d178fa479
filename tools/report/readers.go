package report

import (
	"errors"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/coverage"
)

// limits bound the measurement of what an adapter reads of one run.
var limits = coverage.Limits{Readings: 2000, Bytes: 64 << 20}

// Adapter is a reader whose coverage tells what a change means for it.
type Adapter struct {
	Name string
	Read coverage.Reader
}

// Adapters are the readers that are built in, sorted by name.
func Adapters() []Adapter {
	return []Adapter{
		{replay.AdapterOpenDesign, replay.OpenDesign},
		{replay.AdapterReference, replay.Reference},
	}
}

// Reads is what an adapter reads of the older run; Report is nil when that
// cannot be measured.
type Reads struct {
	Adapter string
	Report  *coverage.Report
}

// Measure asks each adapter what it reads of a run at the places that changed.
// An adapter that does not read the run's dialect is left out. The error is an
// adapter's own.
func Measure(s *Side, signals []compare.Signal, adapters []Adapter) ([]Reads, error) {
	var out []Reads
	want := func(kind, path string) bool {
		return slices.ContainsFunc(signals, func(s compare.Signal) bool { return concerns(s, kind, path) })
	}
	for _, a := range adapters {
		if s.Input.Transcript == nil {
			out = append(out, Reads{Adapter: a.Name})
			continue
		}
		r, err := coverage.Some(s.Input, a.Read, limits, want)
		var notRun *coverage.NotRunError
		switch {
		case errors.As(err, &notRun):
			continue
		case errors.Is(err, coverage.ErrNoFrames), errors.Is(err, coverage.ErrUnstable), errors.Is(err, coverage.ErrBroken):
			r = nil
		case err != nil:
			return nil, err
		}
		out = append(out, Reads{a.Name, r})
	}
	return out, nil
}

// Signals turns changes into records that say what each means for the adapters.
func Signals(signals []compare.Signal, reads []Reads) []contract.DriftSignal {
	out := make([]contract.DriftSignal, 0, len(signals))
	for _, s := range signals {
		d := contract.DriftSignal{
			ID: s.ID, Severity: string(s.Severity), EventType: s.EventType, Kinds: s.Kinds, Path: s.Path,
			From: s.From, To: s.To, Renamed: s.Renamed, Fingerprint: s.Fingerprint, Readers: []contract.DriftReader{},
		}
		for _, r := range reads {
			d.Readers = append(d.Readers, reader(s, r))
		}
		out = append(out, d)
	}
	return out
}

// wholeKind are the signals about a kind of frames rather than a member.
var wholeKind = []string{
	compare.EventRemoved, compare.MissingTerminalEvent, compare.OptionalKindGone,
	compare.TerminalMoved, compare.OrderChanged, compare.CardinalityChanged,
}

// concerns reports whether a signal is about a kind, or about a path of it.
func concerns(s compare.Signal, kind, path string) bool {
	event, words, _ := strings.Cut(kind, " ")
	if event != s.EventType || s.ID == compare.EventAdded {
		return false
	}
	if path == "" {
		return true
	}
	if slices.Contains(wholeKind, s.ID) {
		return len(s.Kinds) == 0 || slices.ContainsFunc(s.Kinds, func(label string) bool { return hasWords(words, label) })
	}
	return s.Path != "" && within(path, oldPath(s))
}

// oldPath is where the older run has what a signal is about.
func oldPath(s compare.Signal) string {
	if s.ID == compare.FieldRenamed {
		return s.From
	}
	return s.Path
}

func reader(s compare.Signal, r Reads) contract.DriftReader {
	out := contract.DriftReader{Adapter: r.Adapter, Effect: contract.EffectNotMeasured}
	if r.Report == nil || s.EventType == "" {
		return out
	}
	rows := rowsOf(s, r.Report.Kinds)
	switch {
	case s.ID == compare.EventAdded:
		out.Effect = contract.EffectNew
	case len(rows) == 0:
	case slices.Contains(wholeKind, s.ID):
		out.Effect, out.Paths = ofKinds(rows)
	case s.Path == "":
	default:
		out.Effect, out.Paths = ofPath(rows, oldPath(s))
		if out.Effect != contract.EffectReads && (s.ID == compare.FieldAdded || s.ID == compare.EnumAdded) {
			out.Effect = contract.EffectNew
		}
	}
	return out
}

// rowsOf returns the kinds that a signal is about. The label of a kind lists
// the words that tell it apart, as do the names of the coverage report.
func rowsOf(s compare.Signal, kinds []coverage.Kind) []coverage.Kind {
	var sameType, out []coverage.Kind
	for _, k := range kinds {
		name, words, _ := strings.Cut(k.FrameKind, " ")
		if name != s.EventType {
			continue
		}
		sameType = append(sameType, k)
		if len(s.Kinds) == 0 || slices.ContainsFunc(s.Kinds, func(label string) bool { return hasWords(words, label) }) {
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return sameType // of a discriminator that changed the older word is not in the label
	}
	return out
}

func hasWords(name, label string) bool {
	have := strings.Fields(name)
	for _, w := range strings.Fields(strings.ReplaceAll(label, ",", " ")) {
		if !slices.ContainsFunc(have, func(h string) bool {
			_, value, ok := strings.Cut(h, "=")
			return h == w || ok && slices.Contains(strings.Split(value, "+"), w)
		}) {
			return false
		}
	}
	return true
}

// ofKinds says whether an adapter reads any frame of the kinds.
func ofKinds(rows []coverage.Kind) (contract.DriftEffect, []string) {
	effect := contract.EffectNeverReads
	var paths []string
	for _, k := range rows {
		switch k.State {
		case coverage.StateRead, coverage.StateRedundant:
			paths = append(paths, k.Read...)
			effect = contract.EffectReads
		case "":
			if effect != contract.EffectReads {
				effect = contract.EffectNotMeasured
			}
		}
	}
	return effect, unique(paths)
}

// ofPath says whether an adapter reads a member or something in it.
func ofPath(rows []coverage.Kind, path string) (contract.DriftEffect, []string) {
	var paths []string
	missing := false
	for _, k := range rows {
		for _, p := range k.Read {
			if within(p, path) {
				paths = append(paths, p)
			}
		}
		missing = missing || slices.ContainsFunc(k.NotLookedAt, func(p string) bool { return within(p, path) })
	}
	switch {
	case len(paths) > 0:
		return contract.EffectReads, unique(paths)
	case missing:
		return contract.EffectNotMeasured, nil
	}
	return contract.EffectNeverReads, nil
}

// within reports whether a place is a member or lies in it.
func within(place, member string) bool {
	rest, ok := strings.CutPrefix(place, member)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// spelling is a signal as compare spells it.
func spelling(d contract.DriftSignal) compare.Signal {
	return compare.Signal{
		ID: d.ID, Severity: compare.Severity(d.Severity), EventType: d.EventType, Kinds: d.Kinds, Path: d.Path,
		From: d.From, To: d.To, Renamed: d.Renamed, Fingerprint: d.Fingerprint,
	}
}
