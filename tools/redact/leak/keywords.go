package leak

// automaton finds many keywords in one pass (Aho-Corasick), without regard to
// case. Bytes that no keyword holds share one class, so that the tables stay
// in the cache.
type automaton struct {
	class  [256]uint8
	stride uint32
	next   []uint32 // state·stride + class → state·stride
	hits   [][]hit  // per state
	hot    uint32   // states from here on end a keyword, times stride
}

// hit is a keyword that ends in a state.
type hit struct {
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
	a.hits = make([][]hit, 1)
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
	a.hits[s] = append(a.hits[s], hit{rule, int32(len(word))})
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
	next, hits := make([]uint32, len(a.next)), make([][]hit, len(a.hits))
	for s := range uint32(len(a.hits)) {
		for c := range a.stride {
			next[to[s]*a.stride+c] = to[a.next[s*a.stride+c]] * a.stride
		}
		hits[to[s]] = a.hits[s]
	}
	a.next, a.hits = next, hits
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
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
