package contract

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Shape is the structure of one kind of run (spec shape.schema.json, DESIGN D6).
type Shape struct {
	SchemaVersion  int            `json:"schema_version"`
	Signature      Digest         `json:"signature"`
	ProtocolFamily ProtocolFamily `json:"protocol_family"`
	ValidityLevel  ValidityLevel  `json:"validity_level"`
	Transport      Transport      `json:"transport"`
	// FrameCount is the number of entries in FrameShapes; 0 for a silent child.
	FrameCount int `json:"frame_count"`
	// EventTypes is the sorted set of the frames' event types.
	EventTypes []string `json:"event_types"`
	// FrameShapes has one entry for each kind of frame: ordered kinds by first
	// appearance, then floating kinds sorted by their canonical form.
	FrameShapes []FrameShape    `json:"frame_shapes"`
	StderrClass StderrClass     `json:"stderr_class"`
	Exit        ExitClass       `json:"exit"`
	Extensions  ShapeExtensions `json:"extensions"`
}

// FrameShape is the union of the frames of one kind.
type FrameShape struct {
	Direction string `json:"direction"` // server->cli or cli->server
	Stream    string `json:"stream"`    // stdin, stdout or stderr
	EventType string `json:"event_type"`
	// Paths is sorted by path, then type. A path that had two types has two entries.
	Paths []PathShape `json:"paths"`
	// Enums has, for each declared enum path that occurred, the sorted set of
	// the values seen, as JSON literals.
	Enums map[string][]Literal `json:"enums"`
}

// PathShape is one path of a frame: members joined by dots, array elements as
// [], keys of declared maps as <key>; "$" is the frame itself.
type PathShape struct {
	Path     string `json:"path"`
	Type     string `json:"type"` // string number boolean null object array unknown
	Required bool   `json:"required"`
}

// ShapeExtensions holds what the specification's fields cannot say.
type ShapeExtensions struct {
	// Sequence is the order of the frames as indexes into FrameShapes. It is
	// the one extension that is part of the signature.
	Sequence []SeqItem `json:"sequence"`
	// Dialect and Normalizer say by which rules the shape was made; they are
	// not part of the signature.
	Dialect    string `json:"dialect,omitempty"`
	Normalizer string `json:"normalizer,omitempty"`
}

// SeqItem is an index into FrameShapes, a block that came two or more times
// in a row, or a mark such as "overlap" (DESIGN D6).
type SeqItem struct {
	Index  int
	Repeat []SeqItem // a nested list in JSON
	Mark   string    // a string in JSON
}

// MarshalJSON writes an integer, a list or a string.
func (s SeqItem) MarshalJSON() ([]byte, error) {
	switch {
	case s.Repeat != nil:
		return json.Marshal(s.Repeat)
	case s.Mark != "":
		return json.Marshal(s.Mark)
	}
	return json.Marshal(s.Index)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *SeqItem) UnmarshalJSON(b []byte) error {
	*s = SeqItem{}
	switch {
	case len(b) > 0 && b[0] == '[':
		s.Repeat = []SeqItem{}
		return json.Unmarshal(b, &s.Repeat)
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &s.Mark)
	}
	if err := json.Unmarshal(b, &s.Index); err != nil {
		return fmt.Errorf("a sequence item is an index, a list or a mark: %w", err)
	}
	return nil
}

// Literal is a JSON scalar in canonical spelling: a quoted string, a number,
// true, false or null.
type Literal string

// MarshalJSON writes the literal as it is.
func (l Literal) MarshalJSON() ([]byte, error) { return []byte(l), nil }

// UnmarshalJSON keeps the literal's canonical spelling.
func (l *Literal) UnmarshalJSON(b []byte) error {
	if text := Literal(b); text.plain() {
		*l = text
		return nil
	}
	c, err := CanonicalBytes(b)
	if err != nil {
		return err
	}
	*l = Literal(c)
	return nil
}

// ComputeSignature returns the hash that identifies the shape: over its
// canonical form without signature, validity_level and extensions, but with
// extensions.sequence (DESIGN D6; the specification hashes the level too,
// docs/decisions says why we do not).
func (s *Shape) ComputeSignature() (Digest, error) {
	room := identities.Get().(*[]byte)
	defer identities.Put(room)
	var plain bool
	if *room, plain = s.appendIdentity((*room)[:0]); plain {
		return Sum(*room), nil
	}
	return Hash(s.identity())
}

// identities are what identities of shapes are written into.
var identities = sync.Pool{New: func() any { return new([]byte) }}

func (s *Shape) identity() map[string]any {
	return map[string]any{
		"schema_version":  s.SchemaVersion,
		"protocol_family": s.ProtocolFamily,
		"transport":       s.Transport,
		"frame_count":     s.FrameCount,
		"event_types":     s.EventTypes,
		"frame_shapes":    s.FrameShapes,
		"stderr_class":    s.StderrClass,
		"exit":            s.Exit,
		"extensions":      map[string]any{"sequence": s.Extensions.Sequence},
	}
}

// Path returns the shape's place in a registry.
func (s *Shape) Path() string { return ShapePath(s.ProtocolFamily, s.Signature) }

// ShapePath returns the place of a shape in a registry, with forward slashes.
func ShapePath(f ProtocolFamily, sig Digest) string {
	return "shapes/" + f.Dir() + "/" + sig.FileName() + ".shape.json"
}
