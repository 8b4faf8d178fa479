package leak

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// automaton is what finder is held against: it finds many keywords in one pass (Aho-Corasick), without regard to
// case. Bytes that no keyword holds share one class, so that the tables stay
// in the cache.
type automaton struct {
	class  [256]uint8
	stride uint32
	next   []uint32   // state·stride + class → state·stride
	hits   [][]ending // per state
	hot    uint32     // states from here on end a keyword, times stride
}

// ending is a keyword that ends in a state.
type ending struct {
	rule   int32
	length int32
}

// newAutomaton builds the automaton; list[i] are the keywords of rule i.
func newAutomaton(list [][]string) *automaton {
	a := &automaton{}
	classes := uint32(1)
	for _, words := range list {
		for _, w := range words {
			for i := range len(w) {
				if c := lower(w[i]); a.class[c] == 0 {
					a.class[c] = uint8(classes)
					classes++
				}
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[lower(c)]
	}
	a.stride = classes
	a.next = make([]uint32, classes)
	a.hits = make([][]ending, 1)
	for rule, words := range list {
		for _, w := range words {
			a.add(w, int32(rule))
		}
	}
	a.link()
	a.sort()
	return a
}

func (a *automaton) add(word string, rule int32) {
	s := uint32(0)
	for i := range len(word) {
		at := s*a.stride + uint32(a.class[word[i]])
		n := a.next[at]
		if n == 0 {
			n = uint32(len(a.hits))
			a.hits = append(a.hits, nil)
			a.next = append(a.next, make([]uint32, a.stride)...)
			a.next[at] = n
		}
		s = n
	}
	a.hits[s] = append(a.hits[s], ending{rule, int32(len(word))})
}

// link turns the trie into an automaton: every missing step becomes the step
// of the longest suffix that is a prefix of a keyword.
func (a *automaton) link() {
	fail := make([]uint32, len(a.hits))
	var queue []uint32
	for c := range a.stride {
		if n := a.next[c]; n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.hits[s] = append(a.hits[s], a.hits[fail[s]]...)
		for c := range a.stride {
			n, f := a.next[s*a.stride+c], a.next[fail[s]*a.stride+c]
			if n == 0 {
				a.next[s*a.stride+c] = f
				continue
			}
			fail[n] = f
			queue = append(queue, n)
		}
	}
}

// sort numbers the states anew, so that those that end a keyword come last,
// and multiplies them by the stride.
func (a *automaton) sort() {
	to := make([]uint32, len(a.hits))
	n := uint32(0)
	for _, ends := range []bool{false, true} {
		for s := range a.hits {
			if (len(a.hits[s]) > 0) == ends {
				to[s] = n
				n++
			}
		}
		if !ends {
			a.hot = n * a.stride
		}
	}
	next, hits := make([]uint32, len(a.next)), make([][]ending, len(a.hits))
	for s := range uint32(len(a.hits)) {
		for c := range a.stride {
			next[to[s]*a.stride+c] = to[a.next[s*a.stride+c]] * a.stride
		}
		hits[to[s]] = a.hits[s]
	}
	a.next, a.hits = next, hits
}

// each calls f with every keyword found: its rule and its place in b.
func (a *automaton) each(b string, f func(rule, start, end int)) {
	s := uint32(0)
	next, class, hot := a.next, &a.class, a.hot
	for i := range len(b) {
		s = next[s+uint32(class[b[i]])]
		if s < hot {
			continue
		}
		for _, h := range a.hits[s/a.stride] {
			f(int(h.rule), i+1-int(h.length), i+1)
		}
	}
}

// The finder finds what an automaton finds, in its order, at every place of a
// text.
func TestFinderIsAnAutomaton(t *testing.T) {
	lists := [][][]string{theCatalogue().keywords(), {{"a"}, {"b", "ab"}, {"aba", "q~"}, {"-a-", "a"}, {"xyzzy-plugh-plover"}}}
	for _, list := range lists {
		f, a := newFinder(list), newAutomaton(list)
		var words []string
		for _, l := range list {
			words = append(words, l...)
		}
		rapid.Check(t, func(t *rapid.T) {
			var b strings.Builder
			for range rapid.IntRange(0, 20).Draw(t, "parts") {
				w := rapid.SampledFrom(words).Draw(t, "word")
				switch rapid.IntRange(0, 4).Draw(t, "how") {
				case 0:
					b.WriteString(strings.ToUpper(w))
				case 1:
					b.WriteString(w[:rapid.IntRange(0, len(w)).Draw(t, "cut")])
				case 2:
					b.WriteString(rapid.StringOfN(rapid.RuneFrom([]rune("ab q~@-_\n\x00é")), 0, 9, -1).Draw(t, "text"))
				default:
					b.WriteString(w)
				}
			}
			s := b.String()
			var got, want []hit
			f.each(s, func(rule, start, end int) { got = append(got, hit{rule, start, end}) })
			a.each(s, func(rule, start, end int) { want = append(want, hit{rule, start, end}) })
			if !slices.Equal(got, want) {
				t.Fatalf("%q has %v, want %v", s, got, want)
			}
		})
	}
}
