package leak

import (
	"strconv"
	"strings"
)

// Letters and octal numbers behind the places of lines, as od, od -c, od -b and
// hexdump -c print bytes.

// odPlace is the length of the place with which a line begins.
const odPlace = len("0000000")

// odWord is the length of two bytes in octal.
const odWord = 6

// odFirst is the place of the first line.
const odFirst = "0000000 "

// odPart returns the range of the lines around the second one, which begins at
// s[start].
func odPart(s string, start, _ int) (from, to int, ok bool) {
	cut := cutBefore(s, start)
	first := strings.LastIndex(s[max(0, start-256):start], odFirst)
	if cut == "" || first < 0 {
		return 0, start, false
	}
	from, to = max(0, start-256)+first, start
	for {
		n := strings.Index(s[to:], cut)
		if n < 0 {
			return from, len(s), true
		}
		to += n
		if next := to + len(cut); next+odPlace > len(s) || !isPlace(s[next:next+odPlace]) {
			return from, to, true
		} else {
			to = next
		}
	}
}

// cutBefore returns the line break that ends at s[i], in the form in which it
// stands there, or "".
func cutBefore(s string, i int) string {
	if i > 0 && s[i-1] == '\n' {
		return "\n"
	}
	if i > 1 && s[i-1] == 'n' && s[i-2] == '\\' {
		from := i - 2
		for from > 0 && s[from-1] == '\\' {
			from--
		}
		return s[from:i]
	}
	return ""
}

func isPlace(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// od decodes the lines.
func od(s string, places bool) (string, []int32) {
	w := newBuilder(len(s)/4, places)
	second := len(odFirst) // where the second line begins: only its break tells the form of all
	for second < len(s) && !(isPlace(s[second:min(len(s), second+odPlace)]) && cutBefore(s, second) != "") {
		second++
	}
	cut := cutBefore(s, second)
	if cut == "" {
		return w.done(len(s))
	}
	for i := 0; i < len(s); {
		end := len(s)
		if n := strings.Index(s[i:], cut); n >= 0 {
			end = i + n
		}
		w.cells(s, min(i+odPlace, end), end)
		i = end + len(cut)
	}
	return w.done(len(s))
}

// cells writes what the cells of a line stand for. Each is four letters wide, and
// one with nothing in it is a space.
func (w *builder) cells(s string, i, end int) {
	for {
		gap := i
		for i < end && s[i] == ' ' {
			i++
		}
		gap = i - gap
		at := i
		for i < end && s[i] != ' ' {
			i++
		}
		if i == at {
			return
		}
		if i-at == odWord { // of two bytes, the lower one first
			n, err := strconv.ParseUint(s[at:i], 8, 16)
			if err != nil {
				return
			}
			w.byte(byte(n), at)
			w.byte(byte(n>>8), at)
			continue
		}
		c, wide := cell(s[at:i])
		if wide == 0 {
			return
		}
		for n := (gap + wide) / 4; n > 1; n-- {
			w.byte(' ', at)
		}
		w.byte(c, at)
	}
}

// cell returns the byte that a cell stands for and how many letters it shows, 0
// for what is none. Its own backslashes may be escaped once more.
func cell(s string) (c byte, wide int) {
	rest := strings.TrimLeft(s, `\`)
	switch {
	case rest == "":
		return '\\', 1
	case rest == s && len(s) == 3 && octalAt(s, 0):
		return (s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'), 3
	case len(rest) != 1:
		return 0, 0
	case rest == s || rest[0] == '"' || rest[0] == '/':
		return rest[0], 1
	}
	return simpleEscapes[rest[0]], 2
}
