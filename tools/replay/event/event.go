// Package event holds daemon events: ordered JSON objects whose key order is
// part of the contract and in which an absent member and a null one differ.
package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Value is one value of an event: a string, number, boolean or null, or an
// object or array kept as its serialised JSON.
type Value struct {
	kind rawjson.Kind
	text string // the decoded string, or the JSON of any other kind
}

// String returns a string value.
func String(s string) Value { return Value{rawjson.String, s} }

// Bool returns a boolean value.
func Bool(b bool) Value { return Value{rawjson.Boolean, strconv.FormatBool(b)} }

// Null is the null value.
var Null = Value{rawjson.Null, "null"}

// Number returns a number, spelled as JavaScript spells it; one that is not
// finite becomes null, as in JSON.stringify.
func Number(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null
	}
	var short [32]byte // stays on the stack
	return Value{rawjson.Number, string(rawjson.AppendNumber(short[:0], f))}
}

// Of returns a foreign value as JSON.stringify would write it after
// JSON.parse. The zero Value of rawjson gives the zero Value, which Object
// leaves out, as JavaScript leaves out undefined.
func Of(v rawjson.Value) Value {
	switch v.Kind() {
	case rawjson.Invalid:
		return Value{}
	case rawjson.String:
		return String(v.Str())
	case rawjson.Number:
		return Number(v.Float())
	}
	return Value{v.Kind(), v.Stringify()}
}

// OrNull is Of, with null in place of a missing value.
func OrNull(v rawjson.Value) Value {
	if !v.Exists() {
		return Null
	}
	return Of(v)
}

// Kind returns the value's kind; Invalid says that there is no value.
func (v Value) Kind() rawjson.Kind { return v.kind }

// Exists reports whether there is a value.
func (v Value) Exists() bool { return v.kind != rawjson.Invalid }

// Str returns the string, or "" for other kinds.
func (v Value) Str() string {
	if v.kind != rawjson.String {
		return ""
	}
	return v.text
}

// IsStr reports whether the value is the string s.
func (v Value) IsStr(s string) bool { return v.kind == rawjson.String && v.text == s }

// True reports whether the value is the boolean true.
func (v Value) True() bool { return v.kind == rawjson.Boolean && v.text == "true" }

// Float returns the number, or 0 for other kinds.
func (v Value) Float() float64 {
	if v.kind != rawjson.Number {
		return 0
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// AppendJSON appends the value as JSON; the zero Value appends nothing.
func (v Value) AppendJSON(out []byte) []byte {
	if v.kind == rawjson.String {
		return rawjson.AppendQuote(out, v.text)
	}
	return append(out, v.text...)
}

// JSON returns the value as JSON.
func (v Value) JSON() string { return string(v.AppendJSON(nil)) }

// Field is one member of an event.
type Field struct {
	Key   string
	Value Value
}

// F returns a member.
func F(key string, v Value) Field { return Field{key, v} }

// Object returns an object value with the members in order, without those
// that have no value.
func Object(fields ...Field) Value {
	var short [256]byte // stays on the stack
	return Value{rawjson.Object, string(Event{fields}.AppendJSON(short[:0]))}
}

// Array returns an array value.
func Array(items ...Value) Value {
	out := []byte{'['}
	for i, v := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = v.AppendJSON(out)
	}
	return Value{rawjson.Array, string(append(out, ']'))}
}

// Event is one daemon event. Its first member is normally "type".
type Event struct{ fields []Field }

// New returns an event of the type with the members in order, without those
// that have no value.
func New(typ string, fields ...Field) Event {
	return Event{appendFields(make([]Field, 0, len(fields)+1), typ, fields)}
}

func appendFields(all []Field, typ string, fields []Field) []Field {
	all = append(all, F("type", String(typ)))
	for _, f := range fields {
		if f.Value.Exists() {
			all = append(all, f)
		}
	}
	return all
}

// Maker makes events that share storage, for a reading of a million of them.
// The zero Maker is ready to use.
type Maker struct{ room []Field }

const roomFields = 1024

// New returns what the function New returns.
func (m *Maker) New(typ string, fields ...Field) Event {
	if need := len(fields) + 1; need > cap(m.room)-len(m.room) {
		m.room = make([]Field, 0, max(need, min(2*cap(m.room), roomFields), 32))
	}
	start := len(m.room)
	m.room = appendFields(m.room, typ, fields)
	return Event{m.room[start:len(m.room):len(m.room)]}
}

// Type returns the member "type", or "".
func (e Event) Type() string { return e.Get("type").Str() }

// Get returns the member's value; the zero Value says that there is none.
func (e Event) Get(key string) Value {
	for i := len(e.fields) - 1; i >= 0; i-- {
		if e.fields[i].Key == key {
			return e.fields[i].Value
		}
	}
	return Value{}
}

// Fields returns the members in order. The caller must not change them.
func (e Event) Fields() []Field { return e.fields }

// With returns the event with the member set: in place where it exists, else
// at the end.
func (e Event) With(key string, v Value) Event {
	fields := append([]Field(nil), e.fields...)
	for i := range fields {
		if fields[i].Key == key {
			fields[i].Value = v
			return Event{fields}
		}
	}
	return Event{append(fields, F(key, v))}
}

// Equal reports whether both events have the same members with the same
// values in the same order.
func (e Event) Equal(o Event) bool {
	if len(e.fields) != len(o.fields) {
		return false
	}
	for i, f := range e.fields {
		if f != o.fields[i] {
			return false
		}
	}
	return true
}

// AppendJSON appends what JSON returns.
func (e Event) AppendJSON(out []byte) []byte {
	out = append(out, '{')
	first := true
	for _, f := range e.fields {
		if !f.Value.Exists() {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = rawjson.AppendQuote(out, f.Key)
		out = append(out, ':')
		out = f.Value.AppendJSON(out)
	}
	return append(out, '}')
}

// JSON returns the event as one compact JSON object without HTML escaping.
// Use it to write events: encoding/json escapes <, > and & again.
func (e Event) JSON() []byte {
	size := len("{}\n")
	for _, f := range e.fields {
		size += len(f.Key) + len(f.Value.text) + len(`"":"",`)
	}
	return e.AppendJSON(make([]byte, 0, size+size/8))
}

// MarshalJSON implements json.Marshaler.
func (e Event) MarshalJSON() ([]byte, error) { return e.JSON(), nil }

// UnmarshalJSON implements json.Unmarshaler; the order of members is kept.
func (e *Event) UnmarshalJSON(b []byte) error {
	v, err := rawjson.Parse(b)
	if err != nil {
		return fmt.Errorf("reading an event: %w", err)
	}
	if v.Kind() != rawjson.Object {
		return errors.New("reading an event: not a JSON object")
	}
	*e = Event{}
	for _, m := range v.Members() {
		e.fields = append(e.fields, F(m.Key(), Of(m)))
	}
	return nil
}

var (
	_ json.Marshaler   = Event{}
	_ json.Unmarshaler = (*Event)(nil)
)
