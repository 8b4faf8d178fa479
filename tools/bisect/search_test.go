package bisect

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// letters gives each letter a signature; '.' is a release that cannot be
// captured.
func letters(truth string) []answer {
	out := make([]answer, len(truth))
	for i, c := range truth {
		if c != '.' {
			out[i] = answer{contract.Digest(fmt.Sprint("sha256:", string(c)))}
		}
	}
	return out
}

// solve captures one by one until nothing is wanted and returns the series and
// the order of captures.
func solve(t interface{ Fatalf(string, ...any) }, truth []answer, every int) (*series, []int) {
	s := &series{points: make([]point, len(truth))}
	var order []int
	for {
		grid, middles := s.wanted(every)
		w := append(grid, middles...)
		if len(w) == 0 {
			return s, order
		}
		i := w[0]
		if slices.Contains(order, i) {
			t.Fatalf("release %d is captured twice", i)
		}
		order = append(order, i)
		s.points[i].answer, s.points[i].gone = truth[i], truth[i] == nil
	}
}

// changes returns the places at which a known release differs from the known
// one before it.
func (s *series) changes() (out []int) {
	last := -1
	for i, p := range s.points {
		if len(p.answer) == 0 {
			continue
		}
		if last >= 0 && !s.points[last].answer.same(p.answer) {
			out = append(out, i)
		}
		last = i
	}
	return out
}

func TestSearch(t *testing.T) {
	for _, c := range []struct {
		name, truth    string
		every          int
		changes        []int
		atMost, atLast int // captures
	}{
		{"one release", "a", 8, nil, 1, 1},
		{"no change", "aaaaaaaaaaaaaaaaa", 8, nil, 3, 3},
		{"one change", "aaaaabbbbbbbbbbbb", 8, []int{5}, 3 + 4, 3 + 2},
		{"change at the newest", "aaaaaaaab", 8, []int{8}, 2 + 4, 2 + 3},
		{"taken back between equal neighbours", "aaaabaaaa", 8, nil, 2, 2},
		{"dense: a change taken back is seen", "aaaabcbdd", 8, []int{4, 5, 6, 7}, 2 + 7, 2},
		{"ends that cannot be captured", "..aaaabbbb..", 8, []int{6}, 4 + 2 + 4, 2},
		{"middle that cannot be captured", "aaaa.bbbb", 8, []int{5}, 2 + 5, 2},
		{"nothing can be captured", "....", 8, nil, 4, 4},
		{"every one", "abab", 1, []int{1, 2, 3}, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, order := solve(t, letters(c.truth), c.every)
			if got := s.changes(); !slices.Equal(got, c.changes) {
				t.Errorf("found changes at %v, want %v", got, c.changes)
			}
			if len(order) > c.atMost || len(order) < c.atLast {
				t.Errorf("%d captures %v, want %d to %d", len(order), order, c.atLast, c.atMost)
			}
		})
	}
}

// What counts as known is not asked for, and what runs is waited for.
func TestSearchUsesWhatIsKnown(t *testing.T) {
	truth := letters("aaaaabbbbbbbbbbbb")
	s := &series{points: make([]point, len(truth))}
	for _, i := range []int{0, 4, 5, 13, 16} {
		s.points[i].answer = truth[i]
	}
	if g, m := s.wanted(8); len(g)+len(m) != 0 {
		t.Errorf("wants %v and %v of a history that is known", g, m)
	}
	s = &series{points: make([]point, len(truth))}
	first, middles := s.wanted(8)
	slices.Sort(first)
	if !slices.Equal(first, []int{0, 8, 16}) || len(middles) > 0 {
		t.Fatalf("wants %v first, and %v", first, middles)
	}
	for _, i := range first {
		s.points[i].running = true
	}
	if g, m := s.wanted(8); len(g)+len(m) != 0 {
		t.Errorf("wants %v and %v while the grid is being captured", g, m)
	}
}

// ceilLog2 is ⌈log₂ n⌉.
func ceilLog2(n int) int { return bits.Len(uint(n - 1)) }

// promised is what a history may cost: its grid, and for each change that was
// found ⌈log₂ n⌉+1 captures, n being the distance of the grid's neighbours.
func promised(n, every int, changes []int) int {
	grid := 1
	for i := 0; i < n-1; i += every {
		grid++
	}
	total := grid
	for _, c := range changes {
		from := (c - 1) / every * every
		total += ceilLog2(min(from+every, n-1)-from) + 1
	}
	return total
}

func TestPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "releases")
		every := rapid.IntRange(1, 40).Draw(t, "every")
		truth := make([]answer, n)
		density := rapid.IntRange(1, 60).Draw(t, "density")
		letter := 0
		for i := range truth {
			if i > 0 && rapid.IntRange(0, density).Draw(t, "change") == 0 {
				letter = rapid.IntRange(0, 5).Draw(t, "letter")
			}
			truth[i] = answer{contract.Digest(fmt.Sprint(letter))}
		}
		s, order := solve(t, truth, every)
		found := s.changes()
		if most := promised(n, every, found); len(order) > most {
			t.Fatalf("%d captures for the changes %v in %d releases, every %d: promised %d", len(order), found, n, every, most)
		}
		checkFound(t, s, truth, every)
	})
}

// checkFound holds what was found against an exhaustive walk: every change is
// real and pinned, and what was missed lies between equal captures that are
// every releases apart or less.
func checkFound(t *rapid.T, s *series, truth []answer, every int) {
	last := -1
	for i, p := range s.points {
		if len(p.answer) == 0 {
			continue
		}
		if last >= 0 {
			open := len(s.open(last, i))
			differ := !truth[last].same(truth[i])
			if differ && open > 0 {
				t.Fatalf("the change between %d and %d is not pinned", last, i)
			}
			if !differ && open >= every {
				t.Fatalf("%d releases between %d and %d were not looked at", open, last, i)
			}
		}
		last = i
	}
}

// With releases that cannot be captured every change is still pinned as far as
// it can be.
func TestGone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := letters(rapid.StringMatching(`[abc.]{1,80}`).Draw(t, "truth"))
		every := rapid.IntRange(1, 12).Draw(t, "every")
		s, _ := solve(t, truth, every)
		checkFound(t, s, truth, every)
	})
}
