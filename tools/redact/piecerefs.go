package redact

import "github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"

// pieceRef is where the n-th piece of a group stands.
type pieceRef struct {
	g                *group
	n, frame, offset int32 // a run is smaller than 2 GiB
}

// refChunk is how many pieces are forgotten at once when they were replaced.
const refChunk = 4096

// find returns the piece that stands there. Frames are asked for in their order.
func (g *groups) find(frame, offset int) *pieceRef {
	for p := g.next(); p != nil && int(p.frame) < frame; p = g.next() {
		g.at++
	}
	for read, i := g.read, g.at; read < len(g.refs); read, i = read+1, 0 {
		for ; i < len(g.refs[read]); i++ {
			p := &g.refs[read][i]
			if int(p.frame) != frame {
				return nil
			}
			if int(p.offset) == offset {
				return p
			}
		}
	}
	return nil
}

// next returns the first piece that was not left behind, or nil.
func (g *groups) next() *pieceRef {
	for g.read < len(g.refs) && g.at == len(g.refs[g.read]) {
		g.refs[g.read] = nil
		g.read, g.at = g.read+1, 0
	}
	if g.read == len(g.refs) {
		return nil
	}
	return &g.refs[g.read][g.at]
}

// add adds a piece that stands in a frame, whose text begins at shift in its line.
func (g *groups) add(t *group, src []byte, piece rawjson.Token, frame, shift int) {
	t.buf = piece.AppendText(t.buf, src)
	t.bounds = append(t.bounds, len(t.buf))
	if n := len(g.refs); n == 0 || len(g.refs[n-1]) == refChunk {
		g.refs = append(g.refs, nil)
	}
	last := &g.refs[len(g.refs)-1]
	*last = append(*last, pieceRef{t, int32(len(t.bounds) - 1), int32(frame), int32(piece.Start + shift)})
}
