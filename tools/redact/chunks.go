package redact

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// maxChunk is the length up to which a word with its punctuation is remembered.
const maxChunk = 48

// chunkAt returns the end of the word at i, up to white space, and what is
// replaced in it, if that depends on nothing around it: most of a text is words
// that come again and again.
func (r *run) chunkAt(s string, i int) (end int, edits []edit, ok bool) {
	short := r.short.at(s, i)
	if short.word != nil && short.is() {
		return i + short.n, short.word.edits, true
	}
	end = i
	for end < len(s) && !isSpace(s[end]) {
		end++
	}
	if end-i > maxChunk {
		return 0, nil, false
	}
	w := s[i:end]
	if short.word == nil {
		if edits, ok = r.chunks.get(w); ok {
			return end, edits, true
		}
	}
	if !standsAlone(w) {
		return 0, nil, false
	}
	edits, _ = r.tokensOf(w)
	if short.word != nil {
		*short.word = shortWord{short.low, short.high, edits}
	} else {
		r.chunks.putAgain(w, edits)
	}
	return end, edits, true
}

// shortWords remembers what is replaced in words of up to 16 bytes, as recent
// does, without a look at more than these.
type shortWords []shortWord

type shortWord struct {
	low, high uint64 // its bytes
	edits     []edit
}

// foundWord is a word in a text and where it would be remembered.
type foundWord struct {
	word      *shortWord // nil: it is longer, or the text ends near it
	low, high uint64
	n         int
}

func (f *foundWord) is() bool { return f.word.low == f.low && f.word.high == f.high }

// at finds the word at s[i], up to white space.
func (t *shortWords) at(s string, i int) (f foundWord) {
	if i+17 > len(s) {
		return f
	}
	b := []byte(s[i : i+16]) // does not leave the stack
	f.low = binary.LittleEndian.Uint64(b)
	if gap := gaps(f.low); gap != 0 {
		f.n = bits.TrailingZeros64(gap) / 8
		f.low &= 1<<(8*f.n) - 1
	} else {
		f.high = binary.LittleEndian.Uint64(b[8:])
		f.n = 16
		if gap := gaps(f.high); gap != 0 {
			k := bits.TrailingZeros64(gap) / 8
			f.n = 8 + k
			f.high &= 1<<(8*k) - 1
		}
	}
	if !isSpace(s[i+f.n]) {
		return f
	}
	if *t == nil {
		*t = make(shortWords, 1<<shortBits)
	}
	hash := (f.low ^ bits.RotateLeft64(f.high*0x9e3779b97f4a7c15, 29)) * 0xff51afd7ed558ccd
	f.word = &(*t)[hash>>(64-shortBits)]
	return f
}

const shortBits = 11

// gaps sets the high bit of the first byte of x that is white space or a control
// byte, and perhaps of some behind it.
func gaps(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	return (x - 0x21*ones) &^ x & highs
}

// standsAlone says that nothing in a word depends on the words beside it, as
// numbers beside a measure, times, phrases and home folders with spaces do.
func standsAlone(w string) bool {
	if isPathByte(w[len(w)-1]) && (strings.Contains(w, "/home/") || strings.Contains(w, "/Users/")) {
		return false // it may go on behind a space
	}
	return contextFree(w)
}

// contextFree is standsAlone for a word behind which no name goes on.
func contextFree(w string) bool {
	for i := 0; i < len(w); {
		c := w[i]
		switch {
		case c == '<':
			end := placeholderAt(w, i)
			if end == 0 {
				return false
			}
			i = end
			continue
		case isDigit(c):
			end := i
			for end < len(w) && isDigit(w[end]) {
				end++
			}
			if end-i > 3 {
				return false
			}
			i = end
			continue
		case c >= 0x7f || c <= ' ' || c == '\\':
			return false
		}
		i++
	}
	return true
}
