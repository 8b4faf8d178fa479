package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// looseUnescape decodes the percent escapes of s that are well formed.
func looseUnescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && hexAt(s, i+1, 2) {
			n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
			b.WriteByte(byte(n))
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeLoosely decodes backslash escapes in a text that is no JSON by
// itself: a cut line, a log line, JSON inside prose.
func unescapeLoosely(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u', 'x':
			n := map[byte]int{'u': 4, 'x': 2}[c]
			if hexAt(s, i+1, n) {
				r, _ := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
				b.Write(utf8.AppendRune(nil, rune(r)))
				i += n
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// stripANSI removes terminal control sequences.
func stripANSI(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i = max(escapeAt(s, i), i+1)
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
