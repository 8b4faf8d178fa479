package coverage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// frames are the JSON objects that a transcript has on stdout.
type frames struct {
	records []transcript.Record
	parsed  []rawjson.Value // by record; the zero Value for what is no frame
	names   *normalize.Normalizer
	kinds   []*frameKind
	size    int // bytes of stdout
}

type frameKind struct {
	name   string
	frames int
	paths  map[string]bool
}

func framesOf(t *transcript.Transcript, d *contract.Dialect, n *normalize.Normalizer) *frames {
	f := &frames{records: t.Records, names: n}
	if d.Transport == contract.TransportJSON {
		f.records = oneDocument(t)
	}
	f.parsed = make([]rawjson.Value, len(f.records))
	byName := map[string]*frameKind{}
	for i := range f.records {
		rec := &f.records[i]
		if rec.Dir != transcript.CLIToServer || rec.Stream != transcript.Stdout {
			continue
		}
		f.size += len(rec.Line())
		v, err := rawjson.Parse(rec.Line())
		if err != nil {
			continue
		}
		f.parsed[i] = v
		for x := range objects(v) {
			name := n.KindName(x)
			k := byName[name]
			if k == nil {
				k = &frameKind{name: name, paths: map[string]bool{}}
				byName[name] = k
				f.kinds = append(f.kinds, k)
			}
			k.frames++
			n.Places(x, func(path string, _ rawjson.Value) { k.paths[path] = true })
		}
	}
	return f
}

// objects yields the frame of a line, or the frames of an array of them.
func objects(v rawjson.Value) func(yield func(rawjson.Value) bool) {
	return func(yield func(rawjson.Value) bool) {
		if v.Kind() == rawjson.Object {
			yield(v)
			return
		}
		for x := range v.Children() {
			if x.Kind() == rawjson.Object && !yield(x) {
				return
			}
		}
	}
}

// oneDocument joins the lines of stdout, which are one JSON text.
func oneDocument(t *transcript.Transcript) []transcript.Record {
	var out []transcript.Record
	joined := -1
	for _, rec := range t.Records {
		if rec.Dir != transcript.CLIToServer || rec.Stream != transcript.Stdout {
			out = append(out, rec)
			continue
		}
		if joined < 0 {
			joined = len(out)
			rec.Data, rec.Frame = t.Bytes(transcript.CLIToServer, transcript.Stdout), nil
			out = append(out, rec)
		}
	}
	return out
}

// change is one change of every frame of a kind: without a path the frames are
// left out, else mutate says what becomes of each value at the path.
type change struct {
	kind   *frameKind
	path   string
	mutate mutation
}

// mutation returns the text that replaces a value, nil to leave it out.
type mutation func(v rawjson.Value) []byte

// mutations are the changes that are tried, the most telling one first.
var mutations = []mutation{
	func(rawjson.Value) []byte { return nil },
	func(v rawjson.Value) []byte {
		if v.Kind() == rawjson.Null {
			return []byte(`"~"`)
		}
		return []byte("null")
	},
	another,
}

// another returns a different value of the same type where there is one.
func another(v rawjson.Value) []byte {
	switch v.Kind() {
	case rawjson.String:
		return rawjson.AppendQuote(nil, v.Str()+"~")
	case rawjson.Number:
		if f := v.Float(); f+1 != f {
			return rawjson.AppendNumber(nil, f+1)
		}
		return []byte("1")
	case rawjson.Boolean:
		return strconv.AppendBool(nil, !v.Bool())
	case rawjson.Object:
		return []byte("{}")
	case rawjson.Array:
		return []byte("[]")
	}
	return []byte("1")
}

// input returns the transcript with the change; nil is no change.
func (f *frames) input(in replay.Input, c *change) replay.Input {
	t := &transcript.Transcript{Records: f.records}
	if c != nil {
		t.Records = make([]transcript.Record, 0, len(f.records))
		for i := range f.records {
			if rec, keep := f.changed(i, c); keep {
				t.Records = append(t.Records, rec)
			}
		}
	}
	in.Transcript = t
	return in
}

// changed returns a record after the change, or says that it is gone.
func (f *frames) changed(i int, c *change) (rec transcript.Record, keep bool) {
	rec = f.records[i]
	v := f.parsed[i]
	edits := map[int][]byte{}
	for x := range objects(v) {
		if f.names.KindName(x) != c.kind.name {
			continue
		}
		if c.path == "" {
			edits[start(x)] = nil
			continue
		}
		f.names.Places(x, func(path string, v rawjson.Value) {
			if path == c.path {
				edits[start(v)] = c.mutate(v)
			}
		})
	}
	if len(edits) == 0 {
		return rec, true
	}
	if text, whole := edits[start(v)]; whole && text == nil {
		return rec, false
	}
	line := rec.Line()
	text := appendEdited(nil, line, v, edits)
	if rec.Frame != nil {
		rec.Frame = text
		return rec, true
	}
	_, end := v.Range()
	rec.Data = append(text, line[end:]...)
	return rec, true
}

func start(v rawjson.Value) int {
	at, _ := v.Range()
	return at
}

// appendEdited appends a value of src with the edits, by the start of the
// value's token.
func appendEdited(out, src []byte, v rawjson.Value, edits map[int][]byte) []byte {
	if text, ok := edits[start(v)]; ok {
		return append(out, text...)
	}
	opening, closing := byte('['), byte(']')
	switch v.Kind() {
	case rawjson.Object:
		opening, closing = '{', '}'
	case rawjson.Array:
	default:
		return append(out, v.Raw()...)
	}
	out = append(out, opening)
	first := true
	for x := range v.Children() {
		if text, ok := edits[start(x)]; ok && text == nil {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		if from, to := x.KeyRange(); to > from {
			out = append(append(out, src[from:to]...), ':')
		}
		out = appendEdited(out, src, x, edits)
	}
	return append(out, closing)
}

// fingerprint is everything that a reading says of a run. What a raw event
// quotes does not count: the consumer has not looked into it.
func fingerprint(r *replay.Reading, raws bool) string {
	if r == nil || r.Status != replay.StatusOK {
		return "broken"
	}
	var b bytes.Buffer
	for _, e := range r.Events {
		switch {
		case e.Type() != "raw":
			b.Write(e.JSON())
		case raws:
			b.WriteString("raw")
		default:
			continue
		}
		b.WriteByte('\n')
	}
	rest, err := json.Marshal(struct {
		Reported, Result, Text any
		Weak                   bool
		Failure, Usage, Useful any
	}{r.ReportedResult, r.RunResult, r.Text, r.WeakSuccess, r.Failure, r.Usage, r.Usefulness})
	if err != nil { // none of the types can fail
		return fmt.Sprintf("%s%v", b.String(), err)
	}
	b.Write(rest)
	return b.String()
}
