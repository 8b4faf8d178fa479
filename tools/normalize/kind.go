package normalize

import (
	"bytes"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// The modes of a discriminator (contract.Discriminator.Mode).
const (
	modeValue    = "value"
	modeSet      = "set"
	modePresence = "presence"
	modeEmpty    = "empty"
	modeZero     = "zero"
)

// The event types of frames that have no type of their own.
const (
	// EventNonJSON is a line on a JSON stream that is not a JSON object.
	EventNonJSON = "non_json"
	// EventText is the joined stdout of a plain transport (FINE-PRINT 6).
	EventText = "text"
	// eventOther is a type that does not look like an enum value, and is text.
	eventOther = "<text>"
)

// kind collects the frames that have direction, stream, event type and all
// discriminators in common.
type kind struct {
	dir    transcript.Dir
	stream transcript.Stream
	event  string

	streamed bool // a run of one counts once
	floating bool
	optional bool
	terminal bool
	calls    []*call // those whose condition the kind meets, or may meet

	root   *node
	frames int
	index  int // in the frames of the shape, once that order is known
}

// kinds finds the kind of a frame.
type kinds struct {
	rules *rules
	byKey map[string]*kind
	list  []*kind
	key   []byte
	names map[string]string // event types and set members seen
	buf   []byte
	set   []string
}

func newKinds(r *rules) *kinds {
	return &kinds{rules: r, byKey: map[string]*kind{}, names: map[string]string{}}
}

// of returns the kind of a frame, a new one for the first of its kind. p is
// what the frame is in a JSON-RPC transport.
func (ks *kinds) of(dir transcript.Dir, s transcript.Stream, v rawjson.Value, p part) *kind {
	event := ks.event(v, p)
	ks.key = append(ks.key[:0], dir...)
	ks.key = append(append(ks.key, 0), s...)
	ks.key = append(append(ks.key, 0), event...)
	for i := range ks.rules.kind {
		ks.key = append(ks.key, 0)
		ks.discriminate(&ks.rules.kind[i], v)
	}
	if k := ks.byKey[string(ks.key)]; k != nil {
		return k
	}
	k := &kind{
		dir: dir, stream: s, event: event,
		streamed: ks.rules.stream.match(v),
		floating: ks.rules.floating.match(v),
		optional: ks.rules.optional.match(v),
		terminal: ks.rules.terminal.match(v) || p.isAnswer && p.method != "" && p.method == ks.rules.dialect.Turn,
	}
	for i := range ks.rules.calls {
		if c := &ks.rules.calls[i]; !c.byKind || c.when.Match(v) {
			k.calls = append(k.calls, c)
		}
	}
	ks.add(k)
	k.root = newNode("$", "", ks.rules.root(v))
	return k
}

// text returns the kind of frames that are not JSON objects. A run of noise
// counts once: how much of it there is depends on chunks and chance.
func (ks *kinds) text(dir transcript.Dir, s transcript.Stream, event string) *kind {
	ks.key = append(ks.key[:0], dir...)
	ks.key = append(append(ks.key, 0), s...)
	ks.key = append(append(ks.key, 0, 0), event...)
	if k := ks.byKey[string(ks.key)]; k != nil {
		return k
	}
	return ks.add(&kind{dir: dir, stream: s, event: event, streamed: true})
}

func (ks *kinds) add(k *kind) *kind {
	k.root = newNode("$", "", ks.rules.paths.Root())
	k.index = -1
	ks.byKey[string(ks.key)] = k
	ks.list = append(ks.list, k)
	return k
}

// event names a frame's type. A JSON-RPC frame has its method for a type,
// to which the dialect's paths may add, or is an answer.
func (ks *kinds) event(v rawjson.Value, p part) string {
	switch {
	case p.isAnswer:
		return p.event
	case p.method == "":
		return ks.eventType(v)
	}
	if !contract.IsEnumLiteral(p.method) {
		return eventOther
	}
	for _, at := range ks.rules.eventType {
		t := at.First(v)
		if t.Kind() != rawjson.String {
			continue
		}
		lit, ok := appendLiteral(ks.buf[:0], t)
		ks.buf = lit
		if !ok {
			return p.method + ":" + eventOther
		}
		return p.method + ":" + string(lit[1:len(lit)-1])
	}
	return p.method
}

func (ks *kinds) eventType(v rawjson.Value) string {
	for _, p := range ks.rules.eventType {
		if t := p.First(v); t.Kind() == rawjson.String {
			lit, ok := appendLiteral(ks.buf[:0], t)
			ks.buf = lit
			if !ok {
				return eventOther
			}
			return ks.name(lit[1 : len(lit)-1])
		}
	}
	for _, u := range ks.rules.untyped {
		if u.when.Match(v) {
			return u.name
		}
	}
	return v.Kind().String()
}

func (ks *kinds) discriminate(d *discriminator, v rawjson.Value) {
	if d.when != nil && !d.when.Match(v) {
		return
	}
	switch d.mode {
	case modeSet:
		ks.set = ks.set[:0]
		d.place.Find(v, func(x rawjson.Value) bool {
			ks.buf = appendValue(ks.buf[:0], x)
			if s := ks.name(ks.buf); !slices.Contains(ks.set, s) {
				ks.set = append(ks.set, s)
			}
			return true
		})
		slices.Sort(ks.set)
		for _, s := range ks.set {
			ks.key = append(append(ks.key, s...), ',')
		}
	case modeValue:
		ks.key = appendValue(ks.key, d.place.First(v))
	default:
		ks.key = append(ks.key, aspect(d.mode, d.place.First(v)))
	}
}

// aspect tells the values of a presence, empty or zero discriminator apart.
func aspect(mode string, v rawjson.Value) byte {
	switch {
	case !v.Exists():
		return 'a'
	case v.Kind() == rawjson.Null:
		return 'n'
	case mode == modeEmpty && v.IsStr(""):
		return 'e'
	case mode == modeZero && v.Kind() == rawjson.Number && v.Float() == 0:
		return '0'
	}
	return 'p'
}

// name returns b as a string, without a copy if it was seen before.
func (ks *kinds) name(b []byte) string {
	if s, ok := ks.names[string(b)]; ok {
		return s
	}
	s := string(b)
	ks.names[s] = s
	return s
}

// appendValue appends a value so that only what redaction keeps tells values
// apart: enum-like strings, numbers, booleans and null by value, the rest by type.
func appendValue(out []byte, v rawjson.Value) []byte {
	if lit, ok := appendLiteral(out, v); ok {
		return lit
	}
	return append(out, v.Kind().String()...)
}

// maxExact is the largest integer that canonical JSON can carry.
const maxExact = 1<<53 - 1

// appendLiteral appends a scalar as a shape spells it. It is not ok for a
// value that has no place there.
func appendLiteral(out []byte, v rawjson.Value) (_ []byte, ok bool) {
	raw := v.Raw()
	switch v.Kind() {
	case rawjson.String:
		if bytes.IndexByte(raw, '\\') >= 0 {
			raw = rawjson.AppendQuote(nil, v.Str())
		}
		if contract.IsEnumLiteral(string(raw[1 : len(raw)-1])) {
			return append(out, raw...), true
		}
	case rawjson.Number:
		if f := v.Float(); f >= -maxExact && f <= maxExact {
			return rawjson.AppendNumber(out, f), true
		}
	case rawjson.Boolean, rawjson.Null:
		return append(out, raw...), true
	}
	return out, false
}
