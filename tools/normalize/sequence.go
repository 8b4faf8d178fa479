package normalize

import (
	"encoding/binary"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// MarkOverlap stands in a sequence after a stretch in which tool calls ran at
// the same time; their frames are then ordered by call.
const MarkOverlap = "overlap"

// MarkArray opens the sequence of a JSON document that is an array of frames.
const MarkArray = "array"

// step is a frame in the order of the run.
type step struct {
	kind *kind
	call int // number of the tool call or request, 0 for none
}

// order keeps the frames that belong to the sequence.
type order struct {
	steps   []step
	calls   map[string]int
	last    map[int]int    // call → its last step from the CLI
	answers map[int][]step // our answers, by the step that they belong after
	opening []step         // our first frame, if no call asked for it
}

func newOrder() *order {
	return &order{calls: map[string]int{}, last: map[int]int{}, answers: map[int][]step{}}
}

// call returns the number of a call id, given as its JSON token.
func (o *order) call(id []byte) int {
	if n := o.calls[string(id)]; n != 0 {
		return n
	}
	n := len(o.calls) + 1
	o.calls[string(id)] = n
	return n
}

// add appends a frame of the CLI.
func (o *order) add(s step) {
	if s.call != 0 {
		o.last[s.call] = len(o.steps)
	}
	o.steps = append(o.steps, s)
}

// addOurs places a frame of ours. When it was written is our doing and a
// matter of chance: an answer counts right after its request, and the first
// frame, which the CLI waits for, at the start.
func (o *order) addOurs(s step) {
	if at, ok := o.last[s.call]; ok && s.call != 0 {
		o.answers[at] = append(o.answers[at], s)
		return
	}
	if s.call == 0 && o.opening == nil {
		o.opening = []step{s}
		return
	}
	o.add(s)
}

// answer places a frame of ours right after the step that it belongs to.
func (o *order) answer(at int, s step) { o.answers[at] = append(o.answers[at], s) }

// flat returns the steps with our frames at their places and with the frames
// of overlapping calls ordered by call. A nil kind is the overlap mark.
func (o *order) flat() []*kind {
	var steps []step
	for i, s := range o.steps {
		steps = append(append(steps, s), o.answers[i]...)
	}
	var out []*kind
	for _, s := range o.opening {
		out = append(out, s.kind)
	}
	for i := 0; i < len(steps); {
		j := i
		for j < len(steps) && steps[j].call != 0 {
			j++
		}
		if j == i {
			out = append(out, steps[i].kind)
			i++
			continue
		}
		out = appendByCall(out, steps[i:j])
		i = j
	}
	return out
}

// appendByCall orders a stretch by call, calls by first appearance.
func appendByCall(out []*kind, stretch []step) []*kind {
	place := map[int]int{} // call → index into groups
	var groups [][]*kind
	overlap := false
	for i, s := range stretch {
		g, seen := place[s.call]
		if !seen {
			g = len(groups)
			place[s.call] = g
			groups = append(groups, nil)
		}
		overlap = overlap || seen && stretch[i-1].call != s.call
		groups[g] = append(groups[g], s.kind)
	}
	for _, g := range groups {
		out = append(out, g...)
	}
	if overlap {
		out = append(out, nil)
	}
	return out
}

// fold makes a run of a streamed kind, or of marks, one.
func fold(ks []*kind) []*kind {
	out := ks[:0:len(ks)]
	for _, k := range ks {
		if n := len(out); n > 0 && out[n-1] == k && (k == nil || k.streamed) {
			continue
		}
		out = append(out, k)
	}
	return out
}

// maxBlock is the longest block whose repeats are found.
const maxBlock = 64

// maxSteps bounds the work of nest. Only a sequence made for the purpose
// comes near; it is then left as far as it got, which is the same every time.
const maxSteps = 1 << 27

// nester finds adjacent repeats. A symbol is an index into blocks or, below
// base, a frame's index.
type nester struct {
	base   int
	blocks [][]int        // symbol base+i is a repeat of blocks[i]
	known  map[string]int // canonical bytes of a block → symbol
	steps  int
}

// nest replaces adjacent repeats of a block by the block in a list: "two or
// more". Shorter blocks go first, so that what repeats inside a block does not
// hide that the block repeats.
func nest(seq []int, base int) ([]int, *nester) {
	n := &nester{base: base, known: map[string]int{}}
	for size := 1; size <= maxBlock && 2*size <= len(seq) && n.steps < maxSteps; {
		next, hit := n.pass(seq, size)
		n.steps += len(seq)
		if !hit {
			size++
			continue
		}
		seq, size = next, 1
	}
	return seq, n
}

// pass replaces the repeats of blocks of one size, from left to right. run
// counts how many symbols before i equal those one block further on.
func (n *nester) pass(seq []int, size int) ([]int, bool) {
	var out []int
	done, run := 0, 0
	for i := 0; i+size < len(seq); i++ {
		if seq[i] != seq[i+size] {
			run = 0
			continue
		}
		if run++; run < size {
			continue
		}
		from := i + 1 - size
		to := i + 1 + size
		for to+size <= len(seq) && equal(seq[from:from+size], seq[to:to+size]) {
			to += size
		}
		out = append(append(out, seq[done:from]...), n.repeat(seq[from:from+size]))
		done, run, i = to, 0, to-1
	}
	if done == 0 {
		return nil, false
	}
	return append(out, seq[done:]...), true
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// repeat returns the symbol for two or more of a block. Two or more of "two or
// more" are the same thing.
func (n *nester) repeat(block []int) int {
	if len(block) == 1 && block[0] >= n.base {
		return block[0]
	}
	var key []byte
	for _, s := range block {
		key = binary.AppendVarint(key, int64(s))
	}
	if s, ok := n.known[string(key)]; ok {
		return s
	}
	s := n.base + len(n.blocks)
	n.blocks = append(n.blocks, append([]int(nil), block...))
	n.known[string(key)] = s
	return s
}

// items spells a sequence as the shape does. Marks have negative symbols.
func (n *nester) items(seq []int) []contract.SeqItem {
	out := make([]contract.SeqItem, 0, len(seq))
	for _, s := range seq {
		switch {
		case s < 0:
			out = append(out, contract.SeqItem{Mark: MarkOverlap})
		case s >= n.base:
			out = append(out, contract.SeqItem{Repeat: n.items(n.blocks[s-n.base])})
		default:
			out = append(out, contract.SeqItem{Index: s})
		}
	}
	return out
}
