package redact

import (
	"strconv"
	"strings"
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
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u', 'x':
			n := 2
			if c == 'u' {
				n = 4
			}
			if !hexAt(s, 0, n) {
				b.WriteByte(c)
				continue
			}
			r, _ := strconv.ParseUint(s[:n], 16, 32)
			b.WriteRune(rune(r))
			s = s[n:]
		default:
			b.WriteByte(c)
		}
	}
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
