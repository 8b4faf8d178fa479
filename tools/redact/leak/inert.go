// Package leak finds secrets in bytes that are about to be published: token
// grammars of providers, values with secret-like names, addresses, home
// folders and the very values that a child's environment held, as they stand
// and in whatever they may be encoded, joined or cut into. It knows grammars,
// not meanings; redaction by denial (package redact) is the guarantee, this is
// the alarm.
//
// No finding holds a byte of what was scanned.
package leak

import "strings"

// The constants of the placeholder grammar that have no number.
const (
	// TimePlaceholder stands for every timestamp and duration in a text.
	TimePlaceholder = "<time>"
	// PadStart begins <pad____>, which lengthens a text to its length class.
	PadStart = "<pad"
)

// isKind knows the words of the placeholder grammar <kind:N>.
func isKind(word string) bool {
	switch word {
	case "text", "id", "uuid", "email", "url", "host", "ip", "token", "bytes", "num":
		return true
	}
	return false
}

// PlaceholderAt returns the end of the placeholder that starts at s[i], which
// is a "<", or 0. Placeholders are never findings.
func PlaceholderAt(s string, i int) int {
	rest := s[i:]
	if strings.HasPrefix(rest, TimePlaceholder) {
		return i + len(TimePlaceholder)
	}
	if strings.HasPrefix(rest, PadStart) {
		j := len(PadStart)
		for j < len(rest) && rest[j] == '_' {
			j++
		}
		if j < len(rest) && rest[j] == '>' {
			return i + j + 1
		}
		return 0
	}
	j := 1
	for j < len(rest) && rest[j] >= 'a' && rest[j] <= 'z' && j < 8 {
		j++
	}
	if j >= len(rest) || rest[j] != ':' || !isKind(rest[1:j]) {
		return 0
	}
	d := j + 1
	for d < len(rest) && isDigit(rest[d]) {
		d++
	}
	if d == j+1 || d-j > 10 || d >= len(rest) || rest[d] != '>' {
		return 0
	}
	return i + d + 1
}

// HasPlaceholder says that a placeholder stands somewhere in s.
func HasPlaceholder(s string) bool {
	for i := strings.IndexByte(s, '<'); i >= 0 && i < len(s); i++ {
		if s[i] == '<' && PlaceholderAt(s, i) > 0 {
			return true
		}
	}
	return false
}

func notInert(s string) bool { return strings.IndexByte(s, '<') < 0 || !HasPlaceholder(s) }

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// hexAt says that n hexadecimal digits stand at s[from:].
func hexAt(s string, from, n int) bool {
	if from < 0 || from+n > len(s) {
		return false
	}
	for i := from; i < from+n; i++ {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}
