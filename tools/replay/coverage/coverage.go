// Package coverage measures which paths of a run's frames a consumer reads and
// which it never reads. It looks at the
// consumer from outside, so that it is as true of a program in another language
// as of the adapters that are built in: a path is read if the reading changes
// when the value is left out, becomes null or gets another value, in every
// frame of a kind at once.
package coverage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

// Reader reads one transcript as the consumer does. An error that wraps
// ErrBroken says that the consumer broke on this transcript and can read on
// with the next one; of a changed transcript that is a reading like any other.
type Reader func(replay.Input) (*replay.Reading, error)

// State is what a consumer makes of the frames of a kind.
type State string

// The states of a kind of frames.
const (
	StateRead      State = "read"      // without these frames the reading is another one
	StateRedundant State = "redundant" // without them it is the same, but another value in them changes it
	StateRaw       State = "raw"       // they come out as raw events and change nothing else
	StateIgnored   State = "ignored"   // neither they nor a value in them change it; one of an unknown type may come out raw
)

// Report says what a consumer reads of one transcript.
type Report struct {
	Adapter string `json:"adapter"`
	Dialect string `json:"dialect"`
	// Kinds are in order of first appearance.
	Kinds []Kind `json:"kinds"`
	// The numbers of paths, each counted once for each kind that has it.
	Read        int `json:"read"`
	NeverRead   int `json:"never_read"`
	NotLookedAt int `json:"not_looked_at"`
}

// Kind is one kind of frames. The paths are those of the shape, sorted.
type Kind struct {
	FrameKind string   `json:"frame_kind"` // normalize.KindName
	Frames    int      `json:"frames"`
	State     State    `json:"state,omitempty"` // "" if it was not looked at
	Read      []string `json:"read"`
	NeverRead []string `json:"never_read"`
	// NotLookedAt are the paths for which Limits left no room.
	NotLookedAt []string `json:"not_looked_at,omitempty"`
}

// Limits bound the work: readings of the transcript, and bytes of stdout that
// they read all together. What lies beyond is reported as not looked at.
type Limits struct{ Readings, Bytes int }

// DefaultLimits are about half a minute of a reader that is built in.
var DefaultLimits = Limits{Readings: 20_000, Bytes: 1 << 30}

// The reasons for which there is no coverage; ErrBroken only of the transcript as it is.
var (
	ErrNoFrames = errors.New("the transcript has no JSON frames, so there are no paths to read")
	ErrBroken   = errors.New("the adapter broke on the transcript")
	ErrUnstable = errors.New("the adapter gave two different readings of the same transcript, so that what a change does cannot be told")
)

// NotRunError says that the consumer has no reader for the dialect.
type NotRunError struct{ Reason string }

// Error implements error.
func (e *NotRunError) Error() string { return "not run: " + e.Reason }

// Of measures what a consumer reads of a transcript. The error wraps
// ErrNoFrames or ErrUnstable, is a *NotRunError, or is the reader's own.
func Of(in replay.Input, read Reader, limits Limits) (*Report, error) {
	return Some(in, read, limits, func(string, string) bool { return true })
}

// Some is Of for the places that want asks for: it is called with the name of
// a kind and "", and for each kind that is wanted with each of its paths. What
// is not wanted is left out of the report.
func Some(in replay.Input, read Reader, limits Limits, want func(kind, path string) bool) (*Report, error) {
	n, err := normalize.New(in.Dialect)
	if err != nil {
		return nil, err
	}
	if in.Dialect.Transport == contract.TransportPlain {
		return nil, fmt.Errorf("measuring coverage: %w", ErrNoFrames)
	}
	m := &measurement{want: want, in: in, reader: read, left: limits, frames: framesOf(in.Transcript, in.Dialect, n)}
	if len(m.frames.kinds) == 0 {
		return nil, fmt.Errorf("measuring coverage: %w", ErrNoFrames)
	}
	if err := m.baseline(); err != nil {
		return nil, err
	}
	out := &Report{Adapter: m.adapter, Dialect: in.Dialect.ID}
	for _, k := range m.frames.kinds {
		if !want(k.name, "") {
			continue
		}
		row, err := m.kind(k)
		if err != nil {
			return nil, err
		}
		out.Kinds = append(out.Kinds, row)
		out.Read += len(row.Read)
		out.NeverRead += len(row.NeverRead)
		out.NotLookedAt += len(row.NotLookedAt)
	}
	return out, nil
}

type measurement struct {
	want    func(kind, path string) bool
	in      replay.Input
	reader  Reader
	frames  *frames
	adapter string
	left    Limits
	// What the consumer says of the transcript as it is.
	whole, withoutRaw string
}

// baseline reads the transcript as it is, twice.
func (m *measurement) baseline() error {
	for i := range 2 {
		r, err := m.reader(m.frames.input(m.in, nil))
		if err != nil {
			return err
		}
		if r.Status != replay.StatusOK {
			return &NotRunError{r.Reason}
		}
		whole := fingerprint(r, true)
		if i > 0 && whole != m.whole {
			return fmt.Errorf("measuring coverage: %w", ErrUnstable)
		}
		m.adapter, m.whole, m.withoutRaw = r.Adapter, whole, fingerprint(r, false)
	}
	return nil
}

// room reports whether the limits allow n more readings.
func (m *measurement) room(n int) bool {
	return m.left.Readings >= n && m.left.Bytes >= n*m.frames.size
}

// read reads the transcript with a change; nil is a consumer that broke.
func (m *measurement) read(c *change) (*replay.Reading, error) {
	m.left.Readings--
	m.left.Bytes -= m.frames.size
	r, err := m.reader(m.frames.input(m.in, c))
	if errors.Is(err, ErrBroken) {
		return nil, nil
	}
	return r, err
}

func (m *measurement) kind(k *frameKind) (Kind, error) {
	row := Kind{FrameKind: k.name, Frames: k.frames, Read: []string{}, NeverRead: []string{}}
	if !m.room(1) {
		row.NotLookedAt = k.sorted()
		return row, nil
	}
	without, err := m.read(&change{kind: k})
	if err != nil {
		return row, err
	}
	switch {
	case fingerprint(without, true) == m.whole:
		row.State = StateIgnored
	case fingerprint(without, false) == m.withoutRaw:
		row.State = StateRaw
	default:
		row.State = StateRead
	}
	for _, path := range k.sorted() {
		if !m.want(k.name, path) {
			continue
		}
		if !m.room(len(mutations)) {
			row.NotLookedAt = append(row.NotLookedAt, path)
			continue
		}
		read, matters, err := m.reads(k, path)
		switch {
		case err != nil:
			return row, err
		case read:
			row.Read = append(row.Read, path)
		default:
			row.NeverRead = append(row.NeverRead, path)
		}
		if matters && row.State == StateIgnored {
			row.State = StateRedundant
		}
	}
	return row, nil
}

// reads reports whether any change of a path changes the reading, and whether
// it matters: changes more than which frames come out raw.
func (m *measurement) reads(k *frameKind, path string) (read, matters bool, err error) {
	for _, mutate := range mutations {
		r, err := m.read(&change{kind: k, path: path, mutate: mutate})
		if err != nil {
			return false, false, err
		}
		read = read || fingerprint(r, true) != m.whole
		if fingerprint(r, false) != m.withoutRaw {
			return true, true, nil
		}
	}
	return read, false, nil
}

func (k *frameKind) sorted() []string {
	out := make([]string, 0, len(k.paths))
	for p := range k.paths {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
