package compare

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// order compares the order of the kinds that both shapes have.
func (c *comparison) order(as, bs []*frame, pairs []pair, seqA, seqB []contract.SeqItem) {
	number := map[*frame]int{} // one number for the two frames of a pair
	frames := map[int]*frame{}
	for i, p := range pairs {
		number[p.a], number[p.b] = i+1, i+1
		frames[i+1] = p.b
	}
	a, b := flatten(as, number, seqA), flatten(bs, number, seqB)
	if a.overlap != b.overlap {
		c.add(Signal{ID: ConcurrencyChanged, From: concurrency(a.overlap), To: concurrency(b.overlap)})
	}
	same := true
	for n := 1; n <= len(pairs); n++ {
		f := frames[n]
		if from, to := a.count(n), b.count(n); from != to && !f.streamed && from != "" && to != "" {
			same = false
			c.add(Signal{ID: CardinalityChanged, EventType: f.EventType, Kinds: c.kinds(f), From: from, To: to})
		}
	}
	moved := outOfPlace(a.firsts, b.firsts)
	for _, n := range moved {
		f := frames[n]
		s := Signal{ID: OrderChanged, EventType: f.EventType, Kinds: c.kinds(f)}
		if f.terminal {
			s.ID = TerminalMoved
		}
		c.add(s)
	}
	if len(moved) == 0 && same && !slices.Equal(a.all, b.all) {
		c.add(Signal{ID: OrderChanged})
	}
}

func concurrency(overlap bool) string {
	if overlap {
		return "parallel"
	}
	return "serial"
}

// flat is a sequence over the kinds that both shapes have.
type flat struct {
	all     []int // with -1 and -2 around repeats
	firsts  []int // kinds by first appearance
	counts  map[int]int
	overlap bool
}

func flatten(fs []*frame, number map[*frame]int, seq []contract.SeqItem) flat {
	f := flat{counts: map[int]int{}}
	f.add(fs, number, seq, 1)
	return f
}

func (f *flat) add(fs []*frame, number map[*frame]int, seq []contract.SeqItem, weight int) {
	for _, s := range seq {
		switch {
		case s.Repeat != nil:
			from := len(f.all)
			f.all = append(f.all, -1)
			f.add(fs, number, s.Repeat, 2)
			if len(f.all) == from+1 { // only kinds that the other shape lacks
				f.all = f.all[:from]
				continue
			}
			f.all = append(f.all, -2)
		case s.Mark != "":
			f.overlap = f.overlap || s.Mark == "overlap"
		case s.Index >= 0 && s.Index < len(fs):
			n := number[fs[s.Index]]
			if n == 0 {
				continue
			}
			if f.counts[n] == 0 {
				f.firsts = append(f.firsts, n)
			}
			f.counts[n] += weight
			f.all = append(f.all, n)
		}
	}
}

// count says how often a kind comes; "" for one without a place in the order.
func (f *flat) count(n int) string {
	switch f.counts[n] {
	case 0:
		return ""
	case 1:
		return "once"
	}
	return "several"
}

// maxTable bounds the work of outOfPlace; more kinds than it allows are a
// stream made for the purpose.
const maxTable = 1 << 22

// outOfPlace returns the kinds of b that are not part of a longest common
// order of a and b.
func outOfPlace(a, b []int) []int {
	if len(a)*len(b) > maxTable {
		return nil
	}
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	var out []int
	i, j := 0, 0
	for j < len(b) {
		switch {
		case i < len(a) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && table[i+1][j] >= table[i][j+1]:
			i++
		default:
			out = append(out, b[j])
			j++
		}
	}
	return out
}
