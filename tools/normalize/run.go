package normalize

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// run is one transcript on its way to a shape.
type run struct {
	rules    *rules
	doc      rawjson.Doc
	walker   walker
	kinds    *kinds // of the shape
	optional *kinds // outside it, as are those of after
	after    *kinds
	order    *order
	rpc      *exchange // of a JSON-RPC transport, else nil
	array    bool      // the JSON document is an array of frames
	terminal bool
	tail     []frame // what came after the last terminal frame so far
	notJSON  int
	forms    rawjson.Forms[*form]
	looked   []paths.Place // where the rules look at values
}

// frame is one frame's text and where it was seen.
type frame struct {
	dir    transcript.Dir
	stream transcript.Stream
	text   []byte
}

func newRun(r *rules) *run {
	out := &run{rules: r, kinds: newKinds(r), optional: newKinds(r), after: newKinds(r), order: newOrder(), looked: r.places()}
	if r.dialect.Transport == contract.TransportJSONRPC {
		out.rpc = newExchange()
	}
	return out
}

func (r *run) read(t *transcript.Transcript) error {
	switch r.rules.dialect.Transport {
	case contract.TransportPlain:
		r.plain(t)
		return nil
	case contract.TransportJSON:
		return r.document(t)
	case contract.TransportJSONL, contract.TransportJSONRPC, contract.TransportPiRPC:
		return r.lines(t)
	}
	return fmt.Errorf("normalizing with dialect %q: unknown transport %q", r.rules.dialect.ID, r.rules.dialect.Transport)
}

// plain makes one frame of the whole stdout, none of an empty one.
func (r *run) plain(t *transcript.Transcript) {
	for range t.Lines(transcript.CLIToServer, transcript.Stdout) {
		k := r.kinds.text(transcript.CLIToServer, transcript.Stdout, EventText)
		r.walker.addText(k)
		r.order.add(step{kind: k})
		return
	}
}

// document reads stdout as one JSON document: a frame, or an array of frames.
func (r *run) document(t *transcript.Transcript) error {
	src := bytes.TrimSpace(t.Bytes(transcript.CLIToServer, transcript.Stdout))
	if len(src) == 0 {
		return nil
	}
	f := frame{transcript.CLIToServer, transcript.Stdout, src}
	if err := r.doc.Parse(src); err != nil || r.doc.Root().Kind() != rawjson.Array {
		return r.text(f)
	}
	r.array = true
	var texts [][]byte
	for v := range r.doc.Root().Children() {
		texts = append(texts, v.Raw())
	}
	for _, x := range texts {
		f.text = x
		if err := r.text(f); err != nil {
			return err
		}
	}
	return nil
}

// lines reads each line as a frame: stdout, and stdin where it is a protocol.
func (r *run) lines(t *transcript.Transcript) error {
	d := r.rules.dialect
	stdin := d.StdinFrames || d.Transport == contract.TransportJSONRPC || d.Transport == contract.TransportPiRPC
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Stream != transcript.Stdout && !(stdin && rec.Stream == transcript.Stdin) {
			continue
		}
		line := rec.Frame
		if line == nil {
			line = bytes.TrimSpace(rec.Data)
		}
		if len(line) == 0 {
			continue
		}
		if slices.Contains(rec.Deviations, transcript.DeviationTruncatedTail) && !r.isObject(line) {
			continue // where our limit cut the stream is not the CLI's doing
		}
		if err := r.text(frame{rec.Dir, rec.Stream, line}); err != nil {
			return fmt.Errorf("normalizing record %d of the transcript: %w", i+1, err)
		}
	}
	return nil
}

// text reads one frame's text.
func (r *run) text(f frame) error {
	ours := f.dir == transcript.ServerToCLI
	if r.known(f) {
		return nil
	}
	v, ok, err := r.parse(f.text)
	if err != nil {
		return err
	}
	if !ok {
		r.notJSON++
		if r.terminal {
			r.tail = append(r.tail, f)
			return nil
		}
		k := r.kinds.text(f.dir, f.stream, EventNonJSON)
		r.walker.addText(k)
		r.place(step{kind: k}, ours)
		return nil
	}
	var p part
	if r.rpc != nil {
		p = r.rpc.part(f.dir, v)
	}
	k := r.kinds.of(f.dir, f.stream, v, p)
	switch {
	case k.optional:
		r.walker.add(r.optional.of(f.dir, f.stream, v, p), v, f.text)
		return nil
	case k.floating:
		r.walker.add(k, v, f.text)
		return nil
	case k.terminal:
		// What came after an earlier terminal frame was in the middle of the
		// run after all.
		tail := r.tail
		r.tail, r.terminal = nil, false
		for _, x := range tail {
			if err := r.text(x); err != nil {
				return err
			}
		}
		r.terminal = true
		if v, _, err = r.parse(f.text); err != nil {
			return err
		}
	case r.terminal:
		r.tail = append(r.tail, f)
		return nil
	}
	s := step{kind: k, call: r.callOf(k, v)}
	r.learn(f, s, p, v)
	if r.rpc != nil {
		r.placeRPC(s, p, ours)
		return nil
	}
	r.place(s, ours)
	return nil
}

func (r *run) place(s step, ours bool) {
	if ours {
		r.order.addOurs(s)
		return
	}
	r.order.add(s)
}

// parse reads a frame. It is not ok if the text is not a JSON object.
func (r *run) parse(text []byte) (v rawjson.Value, ok bool, err error) {
	if err := r.doc.Parse(text); err != nil {
		if errors.Is(err, rawjson.ErrDepth) {
			return v, false, err
		}
		return v, false, nil
	}
	v = r.doc.Root()
	return v, v.Kind() == rawjson.Object, nil
}

func (r *run) isObject(text []byte) bool {
	_, ok, _ := r.parse(text)
	return ok
}

// callOf returns the number of the tool call or request that a frame belongs
// to, or 0.
func (r *run) callOf(k *kind, v rawjson.Value) int {
	for _, c := range k.calls {
		if !c.byKind && !c.when.Match(v) {
			continue
		}
		id := c.place.First(v)
		if t := id.Kind(); t != rawjson.String && t != rawjson.Number {
			continue
		}
		raw := id.Raw()
		if bytes.IndexByte(raw, '\\') >= 0 {
			raw = id.AppendStringify(nil)
		}
		return r.order.call(raw)
	}
	return 0
}

// shape puts the parts together.
func (r *run) shape() (*contract.Shape, error) {
	s := &contract.Shape{EventTypes: []string{}, FrameShapes: []contract.FrameShape{}}
	ks := fold(r.order.flat())
	var ordered int
	for _, k := range ks {
		if k != nil && k.index < 0 {
			k.index = ordered
			ordered++
			s.FrameShapes = append(s.FrameShapes, k.shape())
		}
	}
	floating, err := r.floating()
	if err != nil {
		return nil, err
	}
	s.FrameShapes = append(s.FrameShapes, floating...)
	s.FrameCount = len(s.FrameShapes)
	for i := range s.FrameShapes {
		s.EventTypes = append(s.EventTypes, s.FrameShapes[i].EventType)
	}
	slices.Sort(s.EventTypes)
	s.EventTypes = slices.Compact(s.EventTypes)
	s.Extensions.Sequence = sequence(ks, ordered, r.array)
	return s, nil
}

// sequence spells the order of the run.
func sequence(ks []*kind, ordered int, array bool) []contract.SeqItem {
	symbols := make([]int, len(ks))
	for i, k := range ks {
		symbols[i] = -1
		if k != nil {
			symbols[i] = k.index
		}
	}
	seq, n := nest(symbols, ordered)
	items := n.items(seq)
	if array {
		items = slices.Insert(items, 0, contract.SeqItem{Mark: MarkArray})
	}
	return items
}

// floating returns the kinds whose position is by chance, sorted by their
// canonical form.
func (r *run) floating() ([]contract.FrameShape, error) {
	byKey := map[string]contract.FrameShape{}
	for _, k := range r.kinds.list {
		if !k.floating {
			continue
		}
		f := k.shape()
		key, err := f.Canonical()
		if err != nil {
			return nil, err
		}
		byKey[string(key)] = f
	}
	var out []contract.FrameShape
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		out = append(out, byKey[key])
	}
	return out, nil
}

// notes reports what lies outside the identity.
func (r *run) notes() Notes {
	for _, f := range r.tail {
		v, ok, _ := r.parse(f.text) // it was parsed before: no new error
		if !ok {
			r.walker.addText(r.after.text(f.dir, f.stream, EventNonJSON))
			continue
		}
		var p part
		if r.rpc != nil {
			p = r.rpc.part(f.dir, v)
		}
		r.walker.add(r.after.of(f.dir, f.stream, v, p), v, f.text)
	}
	return Notes{
		Terminal: r.terminal, Frames: r.walker.frame, NotJSON: r.notJSON, Duplicates: r.walker.duplicates,
		OptionalKinds: r.optional.shapes(), AfterTerminal: r.after.shapes(),
	}
}

func (ks *kinds) shapes() []contract.FrameShape {
	var out []contract.FrameShape
	for _, k := range ks.list {
		out = append(out, k.shape())
	}
	return out
}
