package redact

import "testing"

// Pieces are found in every frame in turn, over more than are forgotten at once,
// and those that were left behind are gone.
func TestPiecesAreFoundInTheirOrder(t *testing.T) {
	g := &groups{}
	for i := range 2*refChunk + 10 {
		if n := len(g.refs); n == 0 || len(g.refs[n-1]) == refChunk {
			g.refs = append(g.refs, nil)
		}
		last := &g.refs[len(g.refs)-1]
		*last = append(*last, pieceRef{n: int32(i), frame: int32(i / 3 * 2), offset: int32(i % 3)})
	}
	for frame := range (2*refChunk + 10) / 3 * 2 {
		for offset := range 3 {
			p, want := g.find(frame, offset), frame/2*3+offset
			if frame%2 == 1 {
				if p != nil {
					t.Fatalf("frame %d has a piece", frame)
				}
			} else if p == nil || int(p.n) != want {
				t.Fatalf("frame %d, %d: %v, want piece %d", frame, offset, p, want)
			}
		}
	}
	if g.refs[0] != nil || g.refs[1] != nil {
		t.Error("what was left behind is kept")
	}
}
