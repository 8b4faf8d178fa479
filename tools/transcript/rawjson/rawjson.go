// Package rawjson reads JSON that somebody else wrote, as it comes: member
// order, duplicate keys, number spelling and white space are kept, and every
// token knows its byte range, so that a caller can rewrite one token in place.
//
// The grammar is that of ECMA-404, which is what JavaScript's JSON.parse
// accepts (DESIGN.md D4: no parser on this path refuses or reorders anything
// that production accepts). Records of our own go through contract.Canonical
// instead.
package rawjson

import (
	"errors"
	"fmt"
	"iter"
	"unsafe"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of JSON values. True and False are Boolean.
const (
	Invalid Kind = iota
	Null
	Boolean
	Number
	String
	Array
	Object
)

// String returns the word that shapes use for the kind (spec
// shape.schema.json, "Valid type values").
func (k Kind) String() string {
	return [...]string{"unknown", "null", "boolean", "number", "string", "array", "object"}[k]
}

// MaxDepth is the deepest nesting that Parse accepts. A deeper text is
// reported as an error, never as a crash.
const MaxDepth = 10000

// ErrDepth says that a text nests deeper than MaxDepth.
var ErrDepth = errors.New("json nests too deeply")

// SyntaxError says where a text stops being JSON. It never quotes the text:
// the text may hold a secret.
type SyntaxError struct {
	Offset int    // byte offset of the offending byte, or the length of the text
	What   string // what was expected
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not json at byte %d: %s", e.Offset, e.What)
}

// Incomplete reports whether the text was a valid beginning of JSON that
// ended too early.
func (e *SyntaxError) Incomplete(length int) bool { return e.Offset >= length }

type node struct {
	kind             Kind
	escaped          bool // the string token holds a backslash
	keyEscaped       bool
	start, end       int32 // token range, quotes included
	keyStart, keyEnd int32 // range of the member's key with its quotes; 0,0 outside objects
	next             int32 // index of the node after this subtree
}

// Doc is a parsed text. Its storage is reused by the next Parse; a Value is
// valid until then. The zero Doc is ready to use.
type Doc struct {
	src   []byte
	nodes []node
}

// Parse parses one JSON text with optional white space around it. The Doc
// refers to src and does not copy it. The error is a *SyntaxError or ErrDepth.
func (d *Doc) Parse(src []byte) error {
	d.src = src
	d.nodes = d.nodes[:0]
	if len(src) > 1<<31-2 {
		return &SyntaxError{Offset: 0, What: "text larger than 2 GiB"}
	}
	p := parser{d: d, src: src}
	p.space()
	if err := p.value(0, 0, false, 0); err != nil {
		return err
	}
	p.space()
	if p.pos < len(src) {
		return p.fail("end of text")
	}
	return nil
}

// ParseText is Parse of a text that is not copied either.
func (d *Doc) ParseText(text string) error {
	return d.Parse(unsafe.Slice(unsafe.StringData(text), len(text))) // nobody writes to it
}

// Root returns the top value. It is only valid after a Parse without error.
func (d *Doc) Root() Value { return Value{d, 0} }

// Parse parses src into a Doc of its own. Use Doc.Parse where speed matters.
func Parse(src []byte) (Value, error) {
	d := &Doc{}
	if err := d.Parse(src); err != nil {
		return Value{}, err
	}
	return d.Root(), nil
}

// Value is one value of a Doc. The zero Value has kind Invalid and no
// members.
type Value struct {
	d *Doc
	i int32
}

// Exists reports whether the value is part of a document.
func (v Value) Exists() bool { return v.d != nil }

// Kind returns the value's kind, or Invalid for the zero Value.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Invalid
	}
	return v.d.nodes[v.i].kind
}

// Range returns the byte range of the value's token in the parsed text; a
// string's range holds its quotes. The zero Value has 0, 0.
func (v Value) Range() (start, end int) {
	if v.d == nil {
		return 0, 0
	}
	n := &v.d.nodes[v.i]
	return int(n.start), int(n.end)
}

// KeyRange returns the byte range of the member's key with its quotes, and
// 0, 0 for a value that is not an object's member.
func (v Value) KeyRange() (start, end int) {
	if v.d == nil {
		return 0, 0
	}
	n := &v.d.nodes[v.i]
	return int(n.keyStart), int(n.keyEnd)
}

// Raw returns the value's token as it was written.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := &v.d.nodes[v.i]
	return v.d.src[n.start:n.end]
}

// Str returns the decoded string, or "" for other kinds. A lone surrogate
// escape is kept as its three-byte WTF-8 form, so that distinct texts stay
// distinct.
func (v Value) Str() string {
	if v.Kind() != String {
		return ""
	}
	n := &v.d.nodes[v.i]
	return unquote(v.d.src[n.start+1:n.end-1], n.escaped)
}

// AppendStr appends what Str returns.
func (v Value) AppendStr(out []byte) []byte {
	if v.Kind() != String {
		return out
	}
	n := &v.d.nodes[v.i]
	token := v.d.src[n.start+1 : n.end-1]
	if n.escaped {
		return appendUnquoted(out, token)
	}
	return append(out, token...)
}

// IsStr reports whether the value is the string s.
func (v Value) IsStr(s string) bool {
	if v.Kind() != String {
		return false
	}
	n := &v.d.nodes[v.i]
	if !n.escaped {
		return string(v.d.src[n.start+1:n.end-1]) == s
	}
	return v.Str() == s
}

// Bool returns the value of a Boolean, and false for other kinds.
func (v Value) Bool() bool { return v.Kind() == Boolean && v.Raw()[0] == 't' }

// Key returns the decoded key of an object's member, and "" for other values.
func (v Value) Key() string {
	if v.d == nil || v.d.nodes[v.i].keyEnd == 0 {
		return ""
	}
	n := &v.d.nodes[v.i]
	return unquote(v.d.src[n.keyStart+1:n.keyEnd-1], n.keyEscaped)
}

// KeyIs reports whether the value is the member with the key k of an object.
func (v Value) KeyIs(k string) bool {
	if v.d == nil || v.d.nodes[v.i].keyEnd == 0 {
		return false
	}
	n := &v.d.nodes[v.i]
	if !n.keyEscaped {
		return string(v.d.src[n.keyStart+1:n.keyEnd-1]) == k
	}
	return v.Key() == k
}

// Children yields the members of an object or the elements of an array in
// the order in which they were written, duplicates included.
func (v Value) Children() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if k := v.Kind(); k != Object && k != Array {
			return
		}
		end := v.d.nodes[v.i].next
		for i := v.i + 1; i < end; i = v.d.nodes[i].next {
			if !yield(Value{v.d, i}) {
				return
			}
		}
	}
}

// Len returns the number of members or elements.
func (v Value) Len() int {
	n := 0
	for range v.Children() {
		n++
	}
	return n
}

// Get returns the member with the key; of duplicates the last one, as
// JavaScript does. The zero Value says that there is none.
func (v Value) Get(key string) Value {
	var found Value
	if v.Kind() != Object {
		return found
	}
	nodes := v.d.nodes
	for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i].next {
		n := &nodes[i]
		if n.keyEscaped && v.d.at(i).Key() == key || !n.keyEscaped && string(v.d.src[n.keyStart+1:n.keyEnd-1]) == key {
			found = v.d.at(i)
		}
	}
	return found
}

func (d *Doc) at(i int32) Value { return Value{d, i} }

// At walks object members, as Get does for each key.
func (v Value) At(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// HasDuplicateKeys reports whether any object in the value repeats a key.
func (v Value) HasDuplicateKeys() bool {
	if v.Kind() == Object {
		var few [fewMembers]Value
		list := few[:0]
		var at map[string]int // of objects with more than a few members
		for m := range v.Children() {
			if m.among(list, at) >= 0 {
				return true
			}
			if len(list) == fewMembers && at == nil {
				at = make(map[string]int, 2*fewMembers)
				for i, old := range list {
					at[old.Key()] = i
				}
			}
			if at != nil {
				at[m.Key()] = len(list)
			}
			list = append(list, m)
		}
	}
	for c := range v.Children() {
		if (c.Kind() == Object || c.Kind() == Array) && c.HasDuplicateKeys() {
			return true
		}
	}
	return false
}
