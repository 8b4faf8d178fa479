package redact

// keywords is an automaton that finds many keywords in one pass
// (Aho-Corasick), without regard to case.
type keywords struct {
	next []row
	hits [][]hit // per state
	hot  uint16  // states from here on end a keyword
}

// row has the next state for each byte.
type row [256]uint16

type hit struct {
	rule   int
	length int
}

// newKeywords builds the automaton; list[i] are the keywords of rule i.
func newKeywords(list [][]string) *keywords {
	k := &keywords{next: make([]row, 1), hits: make([][]hit, 1)}
	for rule, words := range list {
		for _, w := range words {
			k.add(w, rule)
		}
	}
	k.link()
	k.sort()
	return k
}

func (k *keywords) add(word string, rule int) {
	s := uint16(0)
	for i := range len(word) {
		c := lower(word[i])
		n := k.next[s][c]
		if n == 0 {
			n = uint16(len(k.hits))
			k.hits = append(k.hits, nil)
			k.next = append(k.next, row{})
			k.next[s][c] = n
		}
		s = n
	}
	k.hits[s] = append(k.hits[s], hit{rule, len(word)})
}

// link turns the trie into an automaton: every missing step becomes the step
// of the longest suffix that is a prefix of a keyword.
func (k *keywords) link() {
	fail := make([]uint16, len(k.hits))
	var queue []uint16
	for _, n := range k.next[0] {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		k.hits[s] = append(k.hits[s], k.hits[fail[s]]...)
		for c := range 256 {
			n := k.next[s][c]
			if n == 0 {
				k.next[s][c] = k.next[fail[s]][c]
				continue
			}
			fail[n] = k.next[fail[s]][c]
			queue = append(queue, n)
		}
	}
	for s := range k.next {
		for c := 'a'; c <= 'z'; c++ {
			k.next[s][c-32] = k.next[s][c]
		}
	}
}

// sort numbers the states anew, so that those that end a keyword come last.
func (k *keywords) sort() {
	to := make([]uint16, len(k.hits))
	n := uint16(0)
	for _, ends := range []bool{false, true} {
		for s := range k.hits {
			if (len(k.hits[s]) > 0) == ends {
				to[s] = n
				n++
			}
		}
		if !ends {
			k.hot = n
		}
	}
	next, hits := make([]row, len(k.next)), make([][]hit, len(k.hits))
	for s := range k.next {
		for c, t := range k.next[s] {
			next[to[s]][c] = to[t]
		}
		hits[to[s]] = k.hits[s]
	}
	k.next, k.hits = next, hits
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}

// each calls f with every keyword found: its rule and its place in b.
func (k *keywords) each(b string, f func(rule, start, end int)) {
	s := uint16(0)
	for i := range len(b) {
		s = k.next[s][b[i]]
		if s < k.hot {
			continue
		}
		for _, h := range k.hits[s] {
			f(h.rule, i+1-h.length, i+1)
		}
	}
}
