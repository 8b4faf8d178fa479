package redact

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// EventsEquivalent checks that a reader made the same of the raw and of the
// sanitized transcript: as many events, the same keys in the same order, the
// same kinds, and strings that correspond one to one over the whole list.
// Numbers are equal, or the sanitized one is 1 where the raw one was not zero.
// Timestamps have one constant for all, so there the correspondence need not
// be one to one. The text of a tool_input_delta, which is JSON in pieces, is
// compared for emptiness only: its parts have no meaning of their own, and the
// tool_use that follows is compared in full.
//
// Each event is one JSON text. The error names the event's number (from 0) and
// the path inside it, never a byte of either.
func EventsEquivalent(raw, sanitized [][]byte) error {
	if len(raw) != len(sanitized) {
		return fmt.Errorf("comparing events: %d of the raw transcript, %d of the sanitized one", len(raw), len(sanitized))
	}
	e := equivalence{there: map[string]string{}, back: map[string]string{}}
	for i := range raw {
		a, err := rawjson.Parse(raw[i])
		if err != nil {
			return fmt.Errorf("comparing events: raw event %d: %w", i, err)
		}
		b, err := rawjson.Parse(sanitized[i])
		if err != nil {
			return fmt.Errorf("comparing events: sanitized event %d: %w", i, err)
		}
		e.delta = a.Get("type").IsStr("tool_input_delta")
		if path, what := e.value(a, b, "$"); what != "" {
			return fmt.Errorf("comparing events: event %d at %s: %s", i, path, what)
		}
	}
	return nil
}

// equivalence is the correspondence of strings found so far.
type equivalence struct {
	there, back map[string]string
	delta       bool // inside a tool_input_delta
}

// value returns the path and kind of the first difference, or "", "".
func (e *equivalence) value(a, b rawjson.Value, path string) (string, string) {
	if a.Kind() != b.Kind() {
		return path, fmt.Sprintf("%s became %s", a.Kind(), b.Kind())
	}
	switch a.Kind() {
	case rawjson.Boolean:
		if a.Bool() != b.Bool() {
			return path, "boolean changed"
		}
	case rawjson.Number:
		if x, y := a.Float(), b.Float(); x != y && (x == 0 || y != 1 && y != -1) {
			return path, "number changed"
		}
	case rawjson.String:
		if what := e.text(a.Str(), b.Str(), path == "delta"); what != "" {
			return path, what
		}
	case rawjson.Array, rawjson.Object:
		return e.children(a, b, path)
	}
	return "", ""
}

func (e *equivalence) children(a, b rawjson.Value, path string) (string, string) {
	if x, ok := byteArray(a); ok { // text as byte numbers: its length may change
		if y, ok := byteArray(b); ok && string(x) != string(y) {
			if what := e.text(string(x), string(y), false); what != "" {
				return path, what
			}
			return "", ""
		}
	}
	if a.Len() != b.Len() {
		return path, fmt.Sprintf("%d members became %d", a.Len(), b.Len())
	}
	var list []rawjson.Value
	for c := range b.Children() {
		list = append(list, c)
	}
	i := 0
	for c := range a.Children() {
		d := list[i]
		i++
		sub := paths.Elem(path)
		if a.Kind() == rawjson.Object {
			if what := e.text("\x00"+c.Key(), "\x00"+d.Key(), false); what != "" { // names and texts correspond apart
				return paths.MapKey(path), "key: " + what
			}
			sub = paths.Join(path, safeKey(d.Key()))
		}
		if p, what := e.value(c, d, sub); what != "" {
			return p, what
		}
	}
	return "", ""
}

// safeKey keeps a key of the sanitized side out of an error if it is not a
// plain name.
func safeKey(k string) string {
	if protocolKey(k) {
		return k
	}
	return "<key>"
}

func (e *equivalence) text(a, b string, delta bool) string {
	if (a == "") != (b == "") {
		return "empty text became another"
	}
	if e.delta && delta {
		return ""
	}
	if a != b && looksJSON(a) && looksJSON(b) {
		x, err := rawjson.Parse([]byte(a))
		y, err2 := rawjson.Parse([]byte(b))
		if err == nil && err2 == nil {
			if _, what := e.value(x, y, "$"); what != "" {
				return "JSON in text: " + what
			}
			return ""
		}
	}
	if old, ok := e.there[a]; ok && old != b {
		return "one text became two"
	}
	e.there[a] = b
	if strings.Contains(b, leak.TimePlaceholder) {
		return ""
	}
	if old, ok := e.back[b]; ok && old != a {
		return "two texts became one"
	}
	e.back[b] = a
	return ""
}

func looksJSON(s string) bool {
	t := bytes.TrimLeft([]byte(s[:min(len(s), 64)]), " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// byteArray returns the text that an array of byte numbers spells.
func byteArray(x rawjson.Value) ([]byte, bool) {
	var b []byte
	for c := range x.Children() {
		n := c.Float()
		if c.Kind() != rawjson.Number || n < 0 || n > 255 || n != float64(int(n)) {
			return nil, false
		}
		b = append(b, byte(n))
	}
	return b, len(b) >= 4
}
