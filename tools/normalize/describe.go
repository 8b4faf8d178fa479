package normalize

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Traits is what a dialect declares of a kind of frames.
type Traits struct{ Streamed, Floating, Optional, Terminal bool }

// Traits says what the dialect declares of a frame's kind. In a JSON-RPC
// transport it cannot tell an answer from its own request, so that the frame
// that ends a turn there is not terminal.
func (n *Normalizer) Traits(frame rawjson.Value) Traits {
	if frame.Kind() != rawjson.Object {
		return Traits{Streamed: true}
	}
	k := newKinds(n.rules).of(transcript.CLIToServer, transcript.Stdout, frame, part{})
	return Traits{k.streamed, k.floating, k.optional, k.terminal}
}

// PlaceTraits is what a dialect declares of a place.
type PlaceTraits struct{ Enum, Opaque, Racy, Map bool }

// Declared calls visit for the places of a frame as Places does, and says what
// the dialect declares of each.
func (n *Normalizer) Declared(frame rawjson.Value, visit func(path string, p PlaceTraits, v rawjson.Value)) {
	if frame.Kind() != rawjson.Object {
		return
	}
	walkFlagged(frame, "$", n.rules.root(frame), 0, func(path string, f paths.Flags, v rawjson.Value) {
		visit(path, PlaceTraits{f&enum != 0, f&opaque != 0, f&racy != 0, f&dynamic != 0}, v)
	})
}
