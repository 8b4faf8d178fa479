package leak

import (
	"slices"
	"strings"
	"sync"
)

// finder finds many keywords at once, without regard to case. Of the pairs of
// letters that follow each other in a keyword one stands at an even place of the
// text, so only every second pair of it is looked up; where it is one of a
// keyword's, the keyword is compared. Each keyword has the two neighbouring
// pairs that texts have least.
type finder struct {
	slots [1 << 16]uint16 // by pair, its first byte low → index into places, 0: none
	// places are the keywords that may stand around a pair.
	places [][]place
	// around has, by the same index, which bytes may stand before and behind the
	// pair: bit n for those whose last five bits are n.
	around []struct{ before, behind uint32 }
	words  []keyword
}

// keyword is a word in lower case, and the rules that have it, ascending.
type keyword struct {
	text  string
	rules []int32
	// A text has the word's first eight bytes if it equals head behind mask with
	// the bits of fold set, which small letters have.
	head, mask, fold uint64
}

// place is where a keyword begins, so many bytes before the pair.
type place struct {
	word   int32
	before int32
}

// newFinder makes a finder; list[i] are the keywords of rule i, none of which is
// empty.
func newFinder(list [][]string) *finder {
	f := &finder{places: make([][]place, 1), around: make([]struct{ before, behind uint32 }, 1)}
	known := map[string]int{}
	for rule, words := range list {
		for _, w := range words {
			n, ok := known[w]
			if !ok {
				n = len(f.words)
				known[w] = n
				f.words = append(f.words, newKeyword(w))
				f.add(n)
			}
			if k := &f.words[n]; !slices.Contains(k.rules, int32(rule)) {
				k.rules = append(k.rules, int32(rule))
			}
		}
	}
	return f
}

func newKeyword(w string) keyword {
	k := keyword{text: w}
	for i := range min(8, len(w)) {
		k.head |= uint64(w[i]) << (8 * i)
		k.mask |= 0xff << (8 * i)
		if w[i] >= 'a' && w[i] <= 'z' {
			k.fold |= 0x20 << (8 * i)
		}
	}
	return k
}

// anyByte stands for every byte in a pair that reaches over a keyword's edge.
const anyByte = -1

// add notes the two pairs of a keyword.
func (f *finder) add(n int) {
	w := f.words[n].text
	at := func(i int) int {
		if i < 0 || i >= len(w) {
			return anyByte
		}
		return int(w[i])
	}
	best, least := 0, 0.0
	for i := -1; i+2 <= len(w); i++ { // pairs at i and i+1
		if len(w) > 2 && (i < 0 || i+2 == len(w)) {
			continue
		}
		if often := share(at(i), at(i+1)) + share(at(i+1), at(i+2)); least == 0 || often < least {
			best, least = i, often
		}
	}
	f.pair(at(best), at(best+1), place{int32(n), int32(best)})
	f.pair(at(best+1), at(best+2), place{int32(n), int32(best + 1)})
}

// pair notes a place for a pair in every spelling.
func (f *finder) pair(a, b int, p place) {
	for _, x := range spellings(a) {
		for _, y := range spellings(b) {
			s := &f.slots[uint16(x)|uint16(y)<<8]
			if *s == 0 {
				*s = uint16(len(f.places))
				f.places = append(f.places, nil)
				f.around = append(f.around, struct{ before, behind uint32 }{})
			}
			f.places[*s] = append(f.places[*s], p)
			f.around[*s].before |= byteBit(f.words[p.word].text, int(p.before)-1)
			f.around[*s].behind |= byteBit(f.words[p.word].text, int(p.before)+2)
		}
	}
}

// byteBit is the bit of the byte w[i], and all bits for what lies outside w.
func byteBit(w string, i int) uint32 {
	if i < 0 || i >= len(w) {
		return 1<<32 - 1
	}
	return 1 << (w[i] & 31)
}

func spellings(c int) []byte {
	switch {
	case c == anyByte:
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		return all
	case c >= 'a' && c <= 'z':
		return []byte{byte(c), byte(c) - 32}
	}
	return []byte{byte(c)}
}

// share is about how often a pair stands in a transcript.
func share(a, b int) float64 { return letterShare(a) * letterShare(b) }

func letterShare(c int) float64 {
	if c == anyByte {
		return 1
	}
	if n := strings.IndexByte(` etaoinsr"lhd\cumpg:,fy1w0_b/2-v.3k458679{}[]()x=<>jqz`, byte(c)); n >= 0 {
		return 0.12 / (1 + float64(n)*0.4)
	}
	return 0.003
}

// hit is a keyword of a rule in a text.
type hit struct{ rule, start, end int }

func (a hit) before(b hit) bool {
	if a.end != b.end {
		return a.end < b.end
	}
	if a.start != b.start {
		return a.start < b.start
	}
	return a.rule < b.rule
}

// each calls yield with every keyword found, its rule and its place, in the
// order of their ends, longer ones first.
func (f *finder) each(s string, yield func(rule, start, end int)) {
	room := hitRoom.Get().(*[]hit)
	hits := (*room)[:0]
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := load64(s, i)
		a, b, c, d := f.slots[uint16(x)], f.slots[uint16(x>>16)], f.slots[uint16(x>>32)], f.slots[uint16(x>>48)]
		if a|b|c|d == 0 {
			continue
		}
		for k, slot := range [4]uint16{a, b, c, d} {
			if slot != 0 {
				hits = f.compare(hits, s, i+2*k, slot)
			}
		}
	}
	for ; i < len(s); i += 2 {
		pair := uint16(s[i])
		if i+1 < len(s) {
			pair |= uint16(s[i+1]) << 8
		}
		if slot := f.slots[pair]; slot != 0 {
			hits = f.compare(hits, s, i, slot)
		}
	}
	for _, h := range hits {
		yield(h.rule, h.start, h.end)
	}
	*room = hits
	hitRoom.Put(room)
}

// hitRoom is where hits are kept until they are in order. What is scanned inside
// of what was found has its own.
var hitRoom = sync.Pool{New: func() any { return new([]hit) }}

// compare adds the keywords that stand around the pair at s[i].
func (f *finder) compare(hits []hit, s string, i int, slot uint16) []hit {
	a := &f.around[slot]
	if i > 0 && a.before>>(s[i-1]&31)&1 == 0 || i+2 < len(s) && a.behind>>(s[i+2]&31)&1 == 0 {
		return hits
	}
	for _, p := range f.places[slot] {
		w := &f.words[p.word]
		from := i - int(p.before)
		to := from + len(w.text)
		if from < 0 || to > len(s) || !w.is(s, from) {
			continue
		}
		for _, rule := range w.rules {
			h := hit{int(rule), from, to}
			hits = append(hits, h)
			for n := len(hits) - 1; n > 0 && h.before(hits[n-1]); n-- {
				hits[n], hits[n-1] = hits[n-1], h
			}
		}
	}
	return hits
}

// is says that the keyword stands at s[from:], which is long enough.
func (k *keyword) is(s string, from int) bool {
	n := 0
	if from+8 <= len(s) {
		if (load64(s, from)|k.fold)&k.mask != k.head {
			return false
		}
		n = 8
	}
	for ; n < len(k.text); n++ {
		if lower(s[from+n]) != k.text[n] {
			return false
		}
	}
	return true
}

func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 32
	}
	return c
}
