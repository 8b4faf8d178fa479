package redact

// keywords is an automaton that finds many keywords in one pass
// (Aho-Corasick), without regard to case.
type keywords struct {
	next []uint16 // state<<8 | byte -> state
	hits [][]hit  // per state
}

type hit struct {
	rule   int
	length int
}

// newKeywords builds the automaton; list[i] are the keywords of rule i, in
// lower case.
func newKeywords(list [][]string) *keywords {
	k := &keywords{next: make([]uint16, 256), hits: [][]hit{nil}}
	for rule, words := range list {
		for _, w := range words {
			k.add(w, rule)
		}
	}
	k.link()
	return k
}

func (k *keywords) add(word string, rule int) {
	s := 0
	for i := range len(word) {
		c := lower(word[i])
		n := int(k.next[s<<8|int(c)])
		if n == 0 {
			n = len(k.hits)
			k.hits = append(k.hits, nil)
			k.next = append(k.next, make([]uint16, 256)...)
			k.next[s<<8|int(c)] = uint16(n)
		}
		s = n
	}
	k.hits[s] = append(k.hits[s], hit{rule, len(word)})
}

// link turns the trie into an automaton: every missing step becomes the step
// of the longest suffix that is a prefix of a keyword.
func (k *keywords) link() {
	fail := make([]int, len(k.hits))
	var queue []int
	for c := range 256 {
		if n := int(k.next[c]); n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		k.hits[s] = append(k.hits[s], k.hits[fail[s]]...)
		for c := range 256 {
			n := int(k.next[s<<8|c])
			if n == 0 {
				k.next[s<<8|c] = k.next[fail[s]<<8|c]
				continue
			}
			fail[n] = int(k.next[fail[s]<<8|c])
			queue = append(queue, n)
		}
	}
	for s := range k.hits {
		for c := byte('a'); c <= 'z'; c++ {
			k.next[s<<8|int(c-32)] = k.next[s<<8|int(c)]
		}
	}
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}

// each calls f with every keyword found: its rule and its place in b.
func (k *keywords) each(b string, f func(rule, start, end int)) {
	s := 0
	for i := range len(b) {
		s = int(k.next[s<<8|int(b[i])])
		if len(k.hits[s]) > 0 {
			for _, h := range k.hits[s] {
				f(h.rule, i+1-h.length, i+1)
			}
		}
	}
}
