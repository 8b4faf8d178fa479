package leak

import "strings"

// Bytes as numbers with something between them, as xxd, hexdump, od, debuggers and
// arrays in source code write them, over any number of lines.

// dumpKeywords give away where a dump is: the places of the first lines, numbers
// with a prefix, and, between marks, those letters of ASCII whose number has a
// letter. Other texts hardly have these, and of twenty letters of a token a few do.
func dumpKeywords() []string {
	out := []string{"00000000: ", "00000010: ", "00000010  ", "0000020 ", "0x0010: ", ", 0x", ",0x", " 0x"}
	for _, n := range []string{"2d", "2e", "2f", "3a", "3d", "4a", "4b", "4c", "4d", "4e", "4f", "5a", "5f", "6a", "6b", "6c", "6d", "6e", "6f", "7a"} {
		out = append(out, " "+n+" ", ":"+n+":", "-"+n+"-")
	}
	return out
}

// dumpPart returns the range of the dump around the keyword at s[start:end].
func dumpPart(s string, start, end int) (from, to int, ok bool) {
	at := start + 1
	switch c := s[start]; {
	case s[end-1]|0x20 == 'x':
		if at = end; !hexAt(s, at, 2) || hexAt(s, at+2, 1) { // a number
			return 0, end, false
		}
	case c == '0':
		if at = end; start > 0 && isAlnum(s[start-1]) && cutBefore(s, start) == "" && !strings.HasSuffix(s[:start], `\t`) {
			return 0, end, false
		}
	case !hexAt(s, end, 2) && !hexAt(s, start-2, 2):
		return 0, end, false
	}
	d := dumpAround(s, at)
	return d.part(end, d.text)
}

// wordsPart is dumpPart for groups of two bytes of which the second one comes first.
func wordsPart(s string, _, end int) (from, to int, ok bool) {
	d := dumpAround(s, end)
	return d.part(end, d.words && !d.colon)
}

// aDump is a dump in a text.
type aDump struct {
	from int
	text bool // it spells some
	dumpText
}

// part is the range of a dump that matters, or else how far it was read.
func (d *aDump) part(end int, ok bool) (from, to int, _ bool) {
	if !ok {
		return d.from, max(d.from+d.stop, end), false
	}
	return d.from, max(d.from+d.end, end), true
}

// manyLines is how many lines of a dump may have no keyword.
const manyLines = 8

// dumpAround returns the dump around s[i].
func dumpAround(s string, i int) (d aDump) {
	for d.from = i; d.from > 0 && i-d.from < 256 && (isHex(s[d.from-1]) || dumpMark(s[d.from-1]) || s[d.from-1]|0x20 == 'x'); d.from-- {
	}
	for range manyLines {
		from := lineBefore(s, d.from)
		if from == d.from {
			break
		}
		d.from = from
	}
	for { // what is no byte of it stands before it
		readable := 0
		d.dumpText = readDump(s[d.from:], func(at int) {
			if readable < minReadable {
				if textByte[hexNibble(s[d.from+at])<<4|hexNibble(s[d.from+at+1])] {
					readable++
				} else {
					readable = 0
				}
			}
		})
		d.text = readable >= minReadable
		next := d.from + max(d.end, d.stop, 1)
		if next > i || d.text {
			return d
		}
		d.from = next
	}
}

// lineBefore returns the beginning of the line of a dump that ends before s[i], or
// i.
func lineBefore(s string, i int) int {
	end := i
	if end > 0 && s[end-1] == '\t' { // it may be indented
		end--
	} else if strings.HasSuffix(s[:end], `\t`) {
		end = len(strings.TrimRight(s[:end-1], `\`))
	}
	cut := cutBefore(s, end)
	if cut == "" {
		return i
	}
	end -= len(cut)
	from := end
	for from > 0 && end-from < 128 && s[from-1] != '\n' && !(s[from-1] == 'n' && from > 1 && s[from-2] == '\\') && s[from-1] != '"' {
		from--
	}
	for range 4 { // some words may stand before it
		n := 0
		if readDump(s[from:end], func(int) { n++ }); n >= minReadable {
			return from
		}
		word := strings.IndexByte(s[from:end], ' ')
		if word < 0 {
			break
		}
		from += word + 1
	}
	return i
}

// tabAt returns the length of the escaped tab at s[i], or 0.
func tabAt(s string, i int) int {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if j == i || j == len(s) || s[j] != 't' {
		return 0
	}
	return j + 1 - i
}

// dumpMark says that a byte may stand between the numbers of a dump.
func dumpMark(c byte) bool { return c == ' ' || c == ':' || c == '-' || c == ',' }

// dumpText is what was read of a dump.
type dumpText struct {
	end   int  // of the last byte
	stop  int  // where reading stopped
	words bool // of groups of two bytes
	colon bool // behind the places of lines
}

// maxDumpLine is how many bytes hexdump -C puts on a line, with two spaces behind
// them and in their middle. Where a colon ends the place none are in the middle.
const maxDumpLine = 16

// readDump calls f with the place of each byte's digits in s, which begins with a
// dump.
func readDump(s string, f func(at int)) (d dumpText) {
	bytes, placed, first := 0, false, true // of the line
	for i := 0; ; {
		gap := 0
	between:
		for i < len(s) {
			switch c := s[i]; {
			case c == ' ' || c == '\t':
				gap++
				i++
			case (c == ',' || c == ':' || c == '-') && !first || c == '*' && first: // an asterisk stands for lines like the one before
				i++
			default:
				if n := tabAt(s, i); n > 0 {
					gap++
					i += n
					continue
				}
				n := breakAt(s, i)
				if n == 0 {
					break between
				}
				i += n
				bytes, placed, first, gap = 0, false, true, 0
			}
		}
		if d.stop = i; i == len(s) {
			return d
		}
		if placed && bytes > 0 && (gap > 2 || gap > 1 && (d.colon || bytes >= maxDumpLine)) {
			if i = breakFrom(s, i); i < 0 {
				return d
			}
			continue
		}
		j := i
		if s[i] == '0' && i+1 < len(s) && s[i+1]|0x20 == 'x' {
			j += 2
		}
		at := j
		for j < len(s) && isHex(s[j]) {
			j++
		}
		n := j - at
		whole := n > 0 && (j == len(s) || !isAlnum(s[j]))
		switch {
		case whole && first && n >= 4 && dumpPlace(s, at, j):
			placed = true
			d.colon = d.colon || s[j] == ':'
		case whole && (n == 2 || n == 4 || n == 8):
			for k := at; k < j; k += 2 {
				if f != nil {
					f(k)
				}
			}
			bytes += n / 2
			d.words = d.words || n == 4
			d.end = j
		case bytes > 0 && gap > 1: // the text beside the bytes
			if j = breakFrom(s, i); j < 0 {
				return d
			}
		default:
			d.stop = j
			return d
		}
		i, first = j, false
	}
}

// dumpPlace says that the digits s[i:j] with which a line begins say where its
// bytes stand.
func dumpPlace(s string, i, j int) bool {
	switch n := j - i; {
	case j == len(s):
		return false
	case s[j] == ':':
		return true
	case n == 6 || n == 7:
		return s[j] == ' '
	}
	return strings.HasPrefix(s[j:], "  ")
}

// maxBeside is longer than the text beside the bytes of a line.
const maxBeside = 128

// breakFrom returns the place of the next line break, escaped or not, or of the end;
// -1 if it is far.
func breakFrom(s string, i int) int {
	for from := i; i < len(s); i++ {
		if breakAt(s, i) > 0 {
			return i
		}
		if i-from > maxBeside {
			return -1
		}
	}
	return i
}

// dumped decodes a dump.
func dumped(s string, places bool) (string, []int32) {
	w := newBuilder(len(s)/3, places)
	readDump(s, func(at int) { w.byte(hexNibble(s[at])<<4|hexNibble(s[at+1]), at) })
	return w.done(len(s))
}

// swapped decodes a dump of groups of two bytes, the second one first.
func swapped(s string, places bool) (string, []int32) {
	w := newBuilder(len(s)/2, places)
	last, odd := 0, false
	readDump(s, func(at int) {
		if odd = !odd; odd {
			last = at
			return
		}
		w.byte(hexNibble(s[at])<<4|hexNibble(s[at+1]), last)
		w.byte(hexNibble(s[last])<<4|hexNibble(s[last+1]), last)
	})
	return w.done(len(s))
}
