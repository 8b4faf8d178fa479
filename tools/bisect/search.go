package bisect

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// answer is what a release showed in one track: its signatures, more than one
// where captures disagree. Empty means that nothing is known.
type answer []contract.Digest

// same reports whether two releases may speak alike: they share a signature.
func (a answer) same(b answer) bool {
	return slices.ContainsFunc(a, func(d contract.Digest) bool { return slices.Contains(b, d) })
}

// point is one release in a series.
type point struct {
	answer  answer
	gone    bool // it can never be known
	running bool // it is being captured
}

// series is one track through all releases, in ascending order.
type series struct{ points []point }

// denseWindow is how many steps three neighbouring captures that all differ may
// span for everything between them to be captured: changes are dense there, and
// one that was taken back would go unseen. With six steps the captures of a
// change never exceed ⌈log₂ n⌉+1 (TestPromise).
const denseWindow = 6

// wanted returns the releases to capture next: both ends and a grid between
// known ones first, so that an interrupted search has seen all of the history,
// then the middle between unequal neighbours and all of a dense stretch.
// Releases that are being captured count as known where only their place
// matters.
func (s *series) wanted(every int) (grid, middles []int) {
	at := s.usable()
	if len(at) == 0 {
		return nil, nil
	}
	to := func(list *[]int) func(place int) {
		return func(place int) {
			if p := s.points[at[place]]; len(p.answer) == 0 && !p.running {
				*list = append(*list, at[place])
			}
		}
	}
	add := to(&grid)
	add(0)
	add(len(at) - 1)
	s.grid(at, every, add)
	s.middles(at, every, to(&middles))
	return grid, middles
}

// usable returns the releases that are known or can become known.
func (s *series) usable() []int {
	var out []int
	for i := range s.points {
		if !s.points[i].gone {
			out = append(out, i)
		}
	}
	return out
}

// grid cuts what is wider than every between captures, known or under way, into
// pieces of that width.
func (s *series) grid(at []int, every int, add func(place int)) {
	last := 0
	for place := 1; place < len(at); place++ {
		p := s.points[at[place]]
		if len(p.answer) == 0 && !p.running && place < len(at)-1 {
			continue
		}
		for cut := last + every; cut < place; cut += every {
			add(cut)
		}
		last = place
	}
}

// middles cuts between unequal neighbours.
func (s *series) middles(at []int, every int, add func(place int)) {
	var known []int // places
	for place, i := range at {
		if len(s.points[i].answer) > 0 {
			known = append(known, place)
		}
	}
	differs := func(k int) bool { // neighbours k and k+1
		return !s.points[at[known[k]]].answer.same(s.points[at[known[k+1]]].answer)
	}
	for k := 0; k+1 < len(known); k++ {
		if !differs(k) {
			continue
		}
		from, to := known[k], known[k+1]
		switch {
		case to-from > every: // the grid comes first
		case k+2 < len(known) && differs(k+1) && known[k+2]-from <= denseWindow,
			k > 0 && differs(k-1) && to-known[k-1] <= denseWindow:
			for place := from + 1; place < to; place++ {
				add(place)
			}
		case !s.busy(at, from, to):
			if middle := (from + to) / 2; middle > from {
				add(middle)
			}
		}
	}
}

// busy reports whether a release between two places is being captured.
func (s *series) busy(at []int, from, to int) bool {
	for place := from + 1; place < to; place++ {
		if s.points[at[place]].running {
			return true
		}
	}
	return false
}
