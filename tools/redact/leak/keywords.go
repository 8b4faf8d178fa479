package leak

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// finder finds many keywords at once, without regard to case. Each keyword is
// found by three neighbouring letters of it, those that texts have least: of all
// that stand in a text the low bits are looked up in a small table, of those that
// it has a hash in a set of bits, and only where it is one of a keyword's, the
// keyword is compared.
type finder struct {
	may    [1 << 16]uint8              // by the low bits of three letters
	bits   [1 << (gramBits - 6)]uint64 // by hash
	slots  [1 << gramBits]uint16       // by hash → index into places, 0: none
	places [][]place                   // the keywords that may stand around three letters
	single []int32                     // keywords of one byte
	words  []keyword
	// longest is the length of the longest.
	longest int
}

// keyword is a word in lower case, and the rules that have it, ascending.
type keyword struct {
	text  string
	rules []int32
	// A text has the word's first eight bytes if it equals head behind mask with
	// the bits of fold set, which small letters have.
	head, mask, fold uint64
}

// place is where a keyword begins, so many bytes before the three letters.
type place struct {
	word   int32
	before int32
}

// gramBits is how many bits the hash of three letters has.
const gramBits = 16

// gramHash is the hash of the three lowest bytes of x, whose letters are small.
func gramHash(x uint32) uint32 { return x << 8 * 0x9e3779b1 >> (32 - gramBits) }

// lowBits are the low five bits of each letter of x, whatever its case; letters
// and digits with the same ones differ.
func lowBits(x uint64) uint64 {
	return (x ^ x>>5&0x0202020202020202) & 0x1f1f1f1f1f1f1f1f
}

// lowOf is what may is asked for the first three letters of s.
func lowOf(s string) uint16 {
	x := lowBits(uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16)
	return uint16(x&0x1f | x>>8&0x1f<<5 | x>>16&0x1f<<10)
}

// newFinder makes a finder; list[i] are the keywords of rule i, none of which is
// empty.
func newFinder(list [][]string) *finder {
	f := &finder{places: make([][]place, 1)}
	known := map[string]int{}
	for rule, words := range list {
		for _, w := range words {
			n, ok := known[w]
			if !ok {
				n = len(f.words)
				known[w] = n
				f.words = append(f.words, newKeyword(w))
				f.add(n)
				f.longest = max(f.longest, len(w))
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

// smallLetters are the bits that capitals lack. Other bytes change too, which
// only means that a keyword is compared in vain.
const smallLetters = 0x2020202020202020

// add notes the rarest three letters of a keyword, or its two with any third.
func (f *finder) add(n int) {
	w := f.words[n].text
	if len(w) == 1 {
		f.single = append(f.single, int32(n))
		return
	}
	if len(w) == 2 {
		for c := range 256 {
			f.gram(w+string([]byte{byte(c)}), place{int32(n), 0})
		}
		return
	}
	best, least := 0, 2.0
	for i := 0; i+3 <= len(w); i++ {
		often := letterShare(w[i]) * letterShare(w[i+1]) * letterShare(w[i+2])
		if common()[lowOf(w[i:])] {
			often++
		}
		if often < least {
			best, least = i, often
		}
	}
	f.gram(w[best:best+3], place{int32(n), int32(best)})
}

// gramHashOf is the hash of the first three letters of s.
func gramHashOf(s string) uint32 {
	return gramHash(uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | smallLetters&0xffffff)
}

// common has three letters each that stand in every transcript in great number, or
// many times in a row.
var common = sync.OnceValue(func() map[uint16]bool {
	const text = `<pad____>----====....****####    0000\n\n"},{"type":"text","text":"<text:1>","id":"<id:1>","uuid":"<uuid:1>"}]}}`
	m := map[uint16]bool{}
	for i := range len(text) - 2 {
		m[lowOf(text[i:])] = true
	}
	return m
})

func (f *finder) gram(three string, p place) {
	h := gramHashOf(three)
	f.bits[h>>6] |= 1 << (h & 63)
	f.may[lowOf(three)] = 1
	s := &f.slots[h]
	if *s == 0 {
		*s = uint16(len(f.places))
		f.places = append(f.places, nil)
	}
	if list := f.places[*s]; len(list) == 0 || list[len(list)-1] != p { // two letters have some hashes twice
		f.places[*s] = append(list, p)
	}
}

// letterShare is about how often a byte stands in a transcript.
func letterShare(c byte) float64 {
	if n := strings.IndexByte(` etaoinsr"lhd\cumpg:,fy1w0_b/2-v.3k458679{}[]()x=<>jqz`, c); n >= 0 {
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
	may := &f.may
	for ; i+16 <= len(s); i += 8 {
		const odd = 0x00ff00ff00ff00ff
		x, y := lowBits(load64(s, i)), lowBits(load64(s, i+2))
		a, b, c, d := x&odd, x>>8&odd, y&odd, y>>8&odd // every second letter, from the first to the fourth on
		even, other := a|b<<5|c<<10, b|c<<5|d<<10
		m := uint32(may[uint16(even)]) | uint32(may[uint16(even>>16)])<<2 | uint32(may[uint16(even>>32)])<<4 | uint32(may[uint16(even>>48)])<<6 |
			uint32(may[uint16(other)])<<1 | uint32(may[uint16(other>>16)])<<3 | uint32(may[uint16(other>>32)])<<5 | uint32(may[uint16(other>>48)])<<7
		for ; m != 0; m &= m - 1 {
			n := bits.TrailingZeros32(m)
			hash := gramHash(uint32(load64(s, i+n) | smallLetters))
			if f.bits[hash>>6]>>(hash&63)&1 != 0 {
				hits = f.compare(hits, s, i+n, f.slots[hash])
			}
		}
	}
	for ; i < len(s); i++ {
		x := uint32(s[i])
		for n := 1; n < 3 && i+n < len(s); n++ {
			x |= uint32(s[i+n]) << (8 * n)
		}
		if slot := f.slots[gramHash(x|smallLetters&0xffffff)]; slot != 0 {
			hits = f.compare(hits, s, i, slot)
		}
	}
	if len(f.single) > 0 {
		hits = f.singles(hits, s)
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

// singles adds the keywords of one byte.
func (f *finder) singles(hits []hit, s string) []hit {
	n := len(hits)
	for _, word := range f.single {
		w := &f.words[word]
		c := w.text[0]
		hits = w.eachByte(hits, s, c)
		if isLetter(c) {
			hits = w.eachByte(hits, s, c&^0x20)
		}
	}
	if len(hits) > n {
		slices.SortFunc(hits, func(a, b hit) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
	}
	return hits
}

func (k *keyword) eachByte(hits []hit, s string, c byte) []hit {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], c)
		if n < 0 {
			return hits
		}
		i += n
		for _, rule := range k.rules {
			hits = append(hits, hit{int(rule), i, i + 1})
		}
	}
}

// compare adds the keywords that stand around the three letters at s[i].
func (f *finder) compare(hits []hit, s string, i int, slot uint16) []hit {
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
