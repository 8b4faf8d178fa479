package leak

import (
	"strconv"
	"strings"
)

// visible leaves out the letters that nobody sees: of no width, soft hyphens and
// marks of the byte order.
func visible(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if n := unseen(s, i); n > 0 {
			i += n
			continue
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// unseen returns the length of the letter at s[i] if nobody sees it.
func unseen(s string, i int) int {
	switch s[i] {
	case 0xc2:
		if strings.HasPrefix(s[i:], "\u00ad") {
			return 2
		}
	case 0xe2:
		if i+2 < len(s) && (s[i+1] == 0x80 && s[i+2] >= 0x8b && s[i+2] <= 0x8d || s[i+1] == 0x81 && s[i+2] == 0xa0) {
			return 3
		}
	case 0xef:
		if strings.HasPrefix(s[i:], "\ufeff") {
			return 3
		}
	}
	return 0
}

// entities decodes the character references of HTML and XML that stand for ASCII
// letters.
func entities(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if c, n := letterReference(s, i); n > 0 {
			w.byte(c, i)
			i += n
			continue
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// maxReference is the length of the longest reference to an ASCII letter that is
// decoded: &#x0000041;
const maxReference = 12

var namedReferences = []struct {
	name   string
	letter byte
}{{"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}}

// letterReference returns the ASCII letter that the reference at s[i] stands for, and
// its length, or 0.
func letterReference(s string, i int) (byte, int) {
	if s[i] != '&' {
		return 0, 0
	}
	if !strings.HasPrefix(s[i:], "&#") {
		for _, n := range namedReferences {
			if strings.HasPrefix(s[i:], n.name) {
				return n.letter, len(n.name)
			}
		}
		return 0, 0
	}
	end := strings.IndexByte(s[i:min(len(s), i+maxReference)], ';')
	if end < 0 {
		return 0, 0
	}
	digits, base := s[i+2:i+end], 10
	if digits != "" && lower(digits[0]) == 'x' {
		digits, base = digits[1:], 16
	}
	c, err := strconv.ParseUint(digits, base, 7)
	if err != nil {
		return 0, 0
	}
	return byte(c), end + 1
}

// fullWidth are the letters and digits that are as wide as a Chinese one.
func fullWidth() (out []string) {
	for _, r := range "０１２３４５６７８９ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ" {
		out = append(out, string(r))
	}
	return out
}

// lineOf returns the line, or the string on it, in which s[start:end] stands, up to
// some length on either side.
func lineOf(s string, start, end int) (from, to int, ok bool) {
	const before, behind = 512, 4096
	for from = start; from > 0 && start-from < before && s[from-1] != '"' && s[from-1] >= ' ' && cutBefore(s, from) == ""; from-- {
	}
	for to = end; to < len(s) && to-end < behind && s[to] != '"' && breakAt(s, to) == 0; to++ {
	}
	return from, to, true
}

// halfWidth makes letters of full width those of ASCII.
func halfWidth(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if c := halfLetter(s, i); c > 0 {
			w.byte(c, i)
			i += len("Ａ")
			continue
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// halfLetter returns the letter of ASCII that the one of full width at s[i]
// shows, or 0.
func halfLetter(s string, i int) byte {
	if s[i] != 0xef || i+2 >= len(s) {
		return 0
	}
	switch c := s[i+2]; {
	case s[i+1] == 0xbc && c >= 0x81 && c < 0xc0: // U+FF01 to U+FF3F
		return '!' + c - 0x81
	case s[i+1] == 0xbd && c >= 0x80 && c <= 0x9e: // U+FF40 to U+FF5E
		return '`' + c - 0x80
	}
	return 0
}
