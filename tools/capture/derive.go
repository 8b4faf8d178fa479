package capture

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/acpschema"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The adapters' folders under goldens/ (FINE-PRINT 3).
const (
	AdapterOpenDesign = replay.AdapterOpenDesign
	AdapterReference  = replay.AdapterReference
)

// Derived is everything that follows from a sanitized transcript: whoever has
// the fixture can make all of it again.
type Derived struct {
	Dialect    *contract.Dialect
	Shape      *contract.Shape
	Notes      normalize.Notes
	Reference  *replay.Reading
	Consumer   *replay.Reading
	Comparison replay.Comparison
	// ExitCode and Signal say how the child ended.
	ExitCode *int
	Signal   string
	// ACPSchema names the check of an ACP run, ACPDeviations what it found.
	ACPSchema     string
	ACPDeviations []contract.ACPDeviation
	// ErrorCase is what the transcript gives of a failed run's error case; nil
	// for a success. errorcase.Run adds the rest.
	ErrorCase *contract.ErrorCase
	// Goldens has the file content of each adapter that has a reading.
	Goldens map[string][]byte
	// Fixture is the transcript in canonical form.
	Fixture []byte
}

// Derive normalizes and reads a sanitized transcript of an agent.
func Derive(t *transcript.Transcript, d *contract.Dialect, agent string) (*Derived, error) {
	out, err := Reread(t, d, agent)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.WriteSanitized(&b); err != nil {
		return nil, fmt.Errorf("writing the fixture: %w", err)
	}
	out.Fixture = b.Bytes()
	return out, nil
}

// Reread is Derive for whoever has the fixture: it is not written again.
func Reread(t *transcript.Transcript, d *contract.Dialect, agent string) (*Derived, error) {
	r, err := NewReader(d)
	if err != nil {
		return nil, err
	}
	return r.Reread(t, agent)
}

// Reader reads transcripts of one dialect, whose rules it has compiled. It is safe
// for concurrent use.
type Reader struct {
	dialect *contract.Dialect
	shapes  *normalize.Normalizer
}

// NewReader compiles the rules of a dialect.
func NewReader(d *contract.Dialect) (*Reader, error) {
	n, err := normalize.New(d)
	if err != nil {
		return nil, err
	}
	return &Reader{dialect: d, shapes: n}, nil
}

// Reread is the function Reread.
func (r *Reader) Reread(t *transcript.Transcript, agent string) (*Derived, error) {
	out, err := r.read(t, agent)
	if err != nil {
		return nil, err
	}
	for adapter, r := range map[string]*replay.Reading{AdapterReference: out.Reference, AdapterOpenDesign: out.Consumer} {
		if r.Status != replay.StatusOK {
			continue
		}
		if out.Goldens[adapter], err = replay.GoldenBytes(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Read is Derive without the files. A raw transcript can be read too, even one
// that is not UTF-8 and could be no fixture.
func Read(t *transcript.Transcript, d *contract.Dialect, agent string) (*Derived, error) {
	r, err := NewReader(d)
	if err != nil {
		return nil, err
	}
	return r.read(t, agent)
}

func (r *Reader) read(t *transcript.Transcript, agent string) (*Derived, error) {
	d := r.dialect
	out := &Derived{Dialect: d, Goldens: map[string][]byte{}}
	var err error
	if out.Shape, out.Notes, err = r.shapes.Shape(t, contract.LevelRuntimeObserved); err != nil {
		return nil, err
	}
	in := replay.Input{Transcript: t, Agent: agent, Dialect: d}
	if out.Reference, err = replay.Reference(in); err != nil {
		return nil, fmt.Errorf("reading the transcript: %w", err)
	}
	if out.Consumer, err = replay.OpenDesign(in); err != nil {
		return nil, fmt.Errorf("reading the transcript as the consumer: %w", err)
	}
	out.ExitCode, out.Signal, _ = t.Exit()
	out.Comparison = replay.Compatible(out.Reference, out.Consumer)
	if d.ProtocolFamily == contract.FamilyACP {
		out.ACPSchema, out.ACPDeviations = acpschema.Version, acpschema.Check(t)
	}
	out.ErrorCase = errorcase.Read(t, out.Reference, out.Consumer)
	return out, nil
}

// dialect returns the dialect of a run: what its frames look like, or, when
// they tell nothing, what its launch expects. Nil when the data names none.
func dialectOf(f *contract.Families, launch string, raw *transcript.Transcript) *contract.Dialect {
	var expected *contract.Dialect
	for i := range f.Dialects {
		if f.Dialects[i].ID == launch {
			expected = &f.Dialects[i]
		}
	}
	if expected == nil || expected.Transport == contract.TransportPlain {
		return expected
	}
	seen, err := normalize.DetectDialect(f, raw)
	if err != nil || seen.ProtocolFamily != expected.ProtocolFamily {
		return expected
	}
	return seen
}

// readAlike reports where the two readings of a raw and of its sanitized
// transcript part, in words without any content; "" if they do not.
func readAlike(raw, clean *Derived) string {
	if raw.Shape.Signature != clean.Shape.Signature {
		return "the sanitized transcript has another shape than the raw one"
	}
	if !slices.Equal(raw.ACPDeviations, clean.ACPDeviations) {
		return "the sanitized transcript deviates from the protocol in other ways than the raw one"
	}
	for _, pair := range []struct {
		adapter    string
		raw, clean *replay.Reading
	}{{AdapterReference, raw.Reference, clean.Reference}, {AdapterOpenDesign, raw.Consumer, clean.Consumer}} {
		a, b := pair.raw, pair.clean
		if err := eventsAlike(a, b); err != nil {
			return fmt.Sprintf("the %s adapter reads the sanitized transcript differently: %v", pair.adapter, err)
		}
		if a.RunResult != b.RunResult || a.ReportedResult != b.ReportedResult {
			return fmt.Sprintf("the %s adapter gives the sanitized run another result", pair.adapter)
		}
		if !maps.Equal(a.Usefulness, b.Usefulness) {
			return fmt.Sprintf("the %s adapter finds other words about the usefulness of its work in the sanitized run", pair.adapter)
		}
		if !sameFailure(a.Failure, b.Failure) {
			return fmt.Sprintf("the %s adapter classifies the sanitized failure differently", pair.adapter)
		}
	}
	return ""
}

func sameFailure(a, b *contract.FailureClassification) bool {
	x, err1 := contract.Canonical(a)
	y, err2 := contract.Canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// join lists words for a person, a few of them.
func join(words []string) string {
	const most = 12
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}
