package redact

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// plainWords remembers what becomes of words of up to 16 letters that touch
// nothing but white space and marks: that depends on the word alone, and a text
// is mostly such words. "" says that the word stays.
type plainWords []plainWord

type plainWord struct {
	low, high uint64 // its letters
	text      string
}

const plainBits = 11

func (t *plainWords) at(low, high uint64) *plainWord {
	if *t == nil {
		*t = make(plainWords, 1<<plainBits)
	}
	return &(*t)[plainHash(low, high)]
}

func plainHash(low, high uint64) uint64 {
	hash := (low ^ bits.RotateLeft64(high*0x9e3779b97f4a7c15, 29)) * 0xff51afd7ed558ccd
	return hash >> (64 - plainBits)
}

// What a byte of a text is to the words beside it.
const (
	joinsWords = iota // a mark of paths, names or addresses: what it means is for tokenAt to say
	partsWords        // white space or a mark that stays, whatever stands beside it
	letterByte
	digitByte
	openByte // "<", which may begin a placeholder
)

var wordClass = func() (t [256]uint8) {
	for i := range 0x80 {
		switch c := byte(i); {
		case isLetter(c):
			t[i] = letterByte
		case isDigit(c):
			t[i] = digitByte
		case c == '<':
			t[i] = openByte
		case !isPathByte(c) && c != 0x1b:
			t[i] = partsWords
		}
	}
	return
}()

// endsWord says that a run of letters, digits or marks of names ends before s[j]
// and that nothing behind it changes what it is: no port, address, drive or 's.
func endsWord(s string, j int) bool {
	if j == len(s) {
		return true
	}
	switch c := wordClass[s[j]]; {
	case s[j] == ':':
		return j+1 == len(s) || s[j+1] != ':' && wordClass[s[j+1]] == partsWords
	case s[j] == '\'':
		return j+1 == len(s) || wordClass[s[j+1]] != letterByte
	default:
		return c == partsWords || c == openByte
	}
}

// plainText redacts the words from s[i] on, where one begins, as long as each, up
// to white space, is made of plain words, numbers, names and paths that touch
// nothing, and marks. It returns where a word begins that is more than that, or
// the end. What it appends to edits is what tokenAt would say; sure says that the
// text with them stays as it is.
func (r *run) plainText(edits []edit, s string, i int) (_ []edit, end int, sure bool) {
	sure = true
	from, n, before := i, len(edits), sure // of the word that is read: its start, its first edit, and what was sure before
	for i < len(s) {
		ok := false
		switch c := wordClass[s[i]]; {
		case c == partsWords:
			if i++; isSpace(s[i-1]) {
				from, n, before = i, len(edits), sure
			}
			continue
		case c == openByte:
			i = max(i+1, placeholderAt(s, i))
			continue
		case i > from && isPathByte(s[i-1]):
			return edits[:n], from, before
		case c == letterByte:
			if j, low, high := letters(s, i); j > i && endsWord(s, j) {
				w := r.plain.at(low, high)
				if w.low != low || w.high != high {
					_, text := r.tokenAt(s, i)
					*w = plainWord{low, high, text}
				}
				if w.text != "" {
					edits = append(edits, edit{start: i, end: j, text: w.text})
				}
				i = j
				continue
			}
		case c == digitByte:
			j, text, stays := r.plainNumber(s, i, i == from)
			if j > 0 {
				if text != "" {
					edits = append(edits, edit{start: i, end: j, text: text})
				}
				i, sure = j, sure && stays
				continue
			}
		}
		stays := false
		if edits, i, stays, ok = r.plainName(edits, s, i); !ok {
			return edits[:n], from, before
		}
		sure = sure && stays
	}
	return edits, i, sure
}

// plainNumber returns the end of the number at s[i], or 0 if it may be part of
// more, what replaces it, and whether that is sure. First says that white space
// stands before it.
func (r *run) plainNumber(s string, i int, first bool) (end int, text string, sure bool) {
	j := i + 1
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	if j-i <= 3 && (endsWord(s, j) || s[j] == ':' && i > 0 && s[i-1] == ':') { // else an address may begin
		return j, "", true
	}
	if !first {
		return 0, "", false
	}
	if end := pairEnd(s, i, j); end > 0 {
		return end, "", true
	}
	end, text = r.countAt(s, i)
	return end, text, text != "" || isYear(s[i:max(i, end)]) // a longer one may stay beside a measure
}

// pairEnd returns the end of a time of day or the like, two short numbers with a
// colon between and white space around, of which the first is s[i:j], or 0.
func pairEnd(s string, i, j int) int {
	if j-i > 3 || j == len(s) || s[j] != ':' {
		return 0
	}
	end := j + 1
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == j+1 || end-j > 4 || end < len(s) && !isSpace(s[end]) {
		return 0
	}
	return end
}

// nameEdits are what is replaced in a name or path.
type nameEdits struct {
	edits []edit
	whole bool // it is one token
	sure  bool // with the edits it stays as it is
}

// staysWith says that nothing would be replaced in w with its edits. It gives no
// placeholder away.
func (r *run) staysWith(w string, edits []edit) bool {
	if len(edits) == 0 {
		return true
	}
	out := apply(w, edits)
	if inertAt(out, 0) == len(out) {
		return true
	}
	if !contextFree(out) {
		return false
	}
	r.names.dry = true
	again, _ := r.tokensOf(out)
	r.names.dry = false
	return len(again) == 0
}

// plainName redacts the run of bytes of names and paths at s[i], where one
// begins, if that depends on it alone.
func (r *run) plainName(edits []edit, s string, i int) (_ []edit, end int, sure, ok bool) {
	j, shape := nameOf(s, i)
	if j == i || j-i > maxChunk || shape&hasOthers != 0 && strings.IndexByte(s[i:j], '$') >= 0 || i > 0 && (s[i-1] == '<' || s[i] == '/' && (s[i-1] == ':' || s[i-1] == '>')) {
		return edits, 0, false, false
	}
	colon := false // behind a path, before a line's number
	if !endsWord(s, j) {
		if colon = s[j] == ':' && s[i] == '/' && j+1 < len(s) && s[j+1] != '/' && s[j+1] != '\\'; !colon {
			return edits, 0, false, false
		}
	}
	w := s[i:j]
	if j < len(s) && s[j] == ' ' && homeStart(w) >= 0 { // it may go on behind the space
		return edits, 0, false, false
	}
	if !r.plodding {
		if text, ok := r.quickName(w, shape); ok {
			if text != "" {
				edits = append(edits, edit{start: i, end: j, text: text})
			}
			return edits, j, true, true
		}
	}
	known, ok := r.named.get(w)
	if !ok {
		if !contextFree(w) || colon && pathAt(w, 0) < len(w) { // what is not used must get no placeholder
			return edits, 0, false, false
		}
		known.edits, known.whole = r.tokensOf(w)
		known.sure = r.staysWith(w, known.edits)
		r.named.putAgain(w, known)
	}
	if colon && !known.whole {
		return edits, 0, false, false
	}
	return appendShifted(edits, known.edits, i), j, known.sure, true
}

// tokensOf redacts a text token by token and says whether it is a single one.
func (r *run) tokensOf(w string) (edits []edit, whole bool) {
	for k := 0; k < len(w); {
		next, text := r.tokenAt(w, k)
		if text != "" {
			edits = append(edits, edit{start: k, end: next, text: text})
		}
		whole = k == 0 && next == len(w)
		k = next
	}
	return edits, whole
}

// letters returns the end of the run of letters at s[i] and the letters, or i if
// there are more than 16.
func letters(s string, i int) (end int, low, high uint64) {
	if i+17 > len(s) {
		var b [17]byte
		n := 0
		for n < len(s)-i && isLetter(s[i+n]) {
			b[n] = s[i+n]
			n++
		}
		return i + n, binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	}
	b := []byte(s[i : i+17]) // does not leave the stack
	low = binary.LittleEndian.Uint64(b)
	if other := otherThanLetters(low); other != 0 {
		n := bits.TrailingZeros64(other) / 8
		return i + n, low & (1<<(8*n) - 1), 0
	}
	high = binary.LittleEndian.Uint64(b[8:])
	if other := otherThanLetters(high); other != 0 {
		n := bits.TrailingZeros64(other) / 8
		return i + 8 + n, low, high & (1<<(8*n) - 1)
	}
	if isLetter(b[16]) {
		return i, 0, 0
	}
	return i + 16, low, high
}

// otherThanLetters sets the high bit of each byte of x that is no ASCII letter.
func otherThanLetters(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	y := x&^highs | 0x20*ones
	fromA, behindZ := y+(0x80-'a')*ones, y+(0x80-'z'-1)*ones
	return ^(fromA &^ behindZ &^ x) & highs
}
