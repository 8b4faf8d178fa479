// Package quality measures how good shapes are (DESIGN D6): that every change
// of a protocol's structure gives another signature, that nothing else does,
// and that a run has one signature however its bytes are cut.
package quality

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Fixture is a real run to change.
type Fixture struct {
	Name       string
	Dialect    *contract.Dialect
	Transcript *transcript.Transcript
}

// run is a fixture with its frames found.
type run struct {
	Fixture
	n      *normalize.Normalizer
	base   contract.Digest
	frames []frame // what the CLI printed as JSON objects
	last   int     // the last terminal frame, -1 for none
}

// frame is a frame and its record.
type frame struct {
	record int
	text   []byte
	kind   string
	normalize.Traits
	after bool // behind the last terminal frame: outside the identity
}

func newRun(f Fixture) (*run, error) {
	n, err := normalize.New(f.Dialect)
	if err != nil {
		return nil, err
	}
	r := &run{Fixture: f, n: n, last: -1}
	if r.base, err = r.sign(f.Transcript); err != nil {
		return nil, err
	}
	turns := map[string]bool{} // ids of the requests whose answer ends a turn
	for i, rec := range f.Transcript.Records {
		if rec.Dir == transcript.ServerToCLI && f.Dialect.Turn != "" {
			if v, err := rawjson.Parse(rec.Line()); err == nil && v.Get("method").IsStr(f.Dialect.Turn) {
				turns[string(v.Get("id").Raw())] = true
			}
		}
		if rec.Dir != transcript.CLIToServer || rec.Stream != transcript.Stdout {
			continue
		}
		text := rec.Frame
		if text == nil {
			text = rec.Data
		}
		v, err := rawjson.Parse(text)
		if err != nil || v.Kind() != rawjson.Object {
			continue
		}
		x := frame{record: i, text: text, kind: n.KindName(v), Traits: n.Traits(v)}
		if id := v.Get("id"); id.Exists() && !v.Get("method").Exists() && turns[string(id.Raw())] {
			x.Terminal = true
		}
		if x.Terminal {
			r.last = len(r.frames)
		}
		r.frames = append(r.frames, x)
	}
	for i := range r.frames {
		r.frames[i].after = r.last >= 0 && i > r.last
	}
	return r, nil
}

func (r *run) sign(t *transcript.Transcript) (contract.Digest, error) {
	s, _, err := r.n.Shape(t, contract.LevelRuntimeObserved)
	if err != nil {
		return "", err
	}
	return s.Signature, nil
}

// with returns the run's transcript with other frames in the place of some.
func (r *run) with(texts map[int][]byte) *transcript.Transcript {
	out := &transcript.Transcript{Records: slices.Clone(r.Transcript.Records)}
	for i, text := range texts {
		rec := &out.Records[r.frames[i].record]
		if rec.Frame != nil {
			rec.Frame = text
		} else {
			rec.Data = text
		}
	}
	return out
}

// reordered returns the run's transcript with other frames in the place of each:
// slots has, for each frame, those that now stand where it stood, by number.
func (r *run) reordered(slots [][]int) *transcript.Transcript {
	out := &transcript.Transcript{}
	at := map[int]int{}
	for i, f := range r.frames {
		at[f.record] = i
	}
	for i, rec := range r.Transcript.Records {
		n, isFrame := at[i]
		if !isFrame {
			out.Records = append(out.Records, rec)
			continue
		}
		for _, k := range slots[n] {
			out.Records = append(out.Records, r.Transcript.Records[r.frames[k].record])
		}
	}
	return out
}

// slots are those of the run as it is.
func (r *run) slots() [][]int {
	out := make([][]int, len(r.frames))
	for i := range out {
		out[i] = []int{i}
	}
	return out
}
