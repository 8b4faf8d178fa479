package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/gowebpki/jcs"
)

// Canonical returns v in the form of RFC 8785 (JCS). v is a Go value that
// encoding/json can write. Only our own records go through here; numbers that
// the form cannot carry exactly (beyond ±(2^53-1)) are refused.
func Canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding a record: %w", err)
	}
	return CanonicalBytes(buf.Bytes())
}

// CanonicalBytes returns the RFC 8785 form of one JSON text. It refuses
// duplicate keys, trailing data, and integers beyond ±(2^53-1), which JCS
// would change silently.
func CanonicalBytes(b []byte) ([]byte, error) {
	if err := checkNumbers(b); err != nil {
		return nil, err
	}
	out, err := jcs.Transform(b)
	if err != nil {
		return nil, fmt.Errorf("canonical json: %w", err)
	}
	return out, nil
}

const maxSafeInteger = 1<<53 - 1

func checkNumbers(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("canonical json: %w", err)
		}
		n, ok := t.(json.Number)
		if !ok {
			continue
		}
		f, err := n.Float64()
		if err != nil || math.Abs(f) > maxSafeInteger {
			return fmt.Errorf("canonical json: the number %s has no exact double form", n)
		}
	}
}

// Hash returns the digest of v's canonical form.
func Hash(v any) (Digest, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return Sum(b), nil
}

// Encode returns the form in which records are stored: two-space indentation,
// no HTML escaping, one newline at the end. Map keys are sorted by
// encoding/json, struct fields keep their order.
func Encode(v any) ([]byte, error) {
	room := encodings.Get().(*encoding)
	defer encodings.Put(room)
	room.compact.Reset()
	room.indented.Reset()
	enc := json.NewEncoder(&room.compact)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		err = json.Indent(&room.indented, room.compact.Bytes(), "", "  ")
	}
	if err != nil {
		return nil, fmt.Errorf("encoding a record: %w", err)
	}
	return bytes.Clone(room.indented.Bytes()), nil
}

// encoding is room for a record's text, again and again: a validation makes
// thousands, to compare them with what is there.
type encoding struct{ compact, indented bytes.Buffer }

var encodings = sync.Pool{New: func() any { return new(encoding) }}
