package redact

import (
	"strings"
	"unicode/utf8"
)

// place returns the placeholder of a value. Its kind depends on the value
// alone.
func (r *run) place(v string) string {
	return r.names.of(keyOf(v), func() string { return kindOf(v) })
}

// placeID is place for what looks like an identifier.
func (r *run) placeID(v string) string {
	return r.names.of(keyOf(v), func() string {
		if isUUID(v) {
			return "uuid"
		}
		return "id"
	})
}

func kindOf(v string) string {
	switch {
	case !utf8.ValidString(v):
		return "bytes"
	case isUUID(v):
		return "uuid"
	case looksLikeID(v):
		return "id"
	case urlAt(v, 0) == len(v):
		return "url"
	case isEmail(v):
		return "email"
	case isIP(v):
		return "ip"
	case hostAt(v, 0) == len(v):
		return "host"
	}
	return "text"
}

func isUUID(v string) bool {
	if len(v) != 36 || v[8] != '-' || v[13] != '-' || v[18] != '-' || v[23] != '-' {
		return false
	}
	return hexAt(v, 0, 8) && hexAt(v, 9, 4) && hexAt(v, 14, 4) && hexAt(v, 19, 4) && hexAt(v, 24, 12)
}

// looksLikeID knows msg_01AbC…, item_0, call-7f3a…, long hexadecimal and mixed
// runs: identifiers that programs make.
func looksLikeID(v string) bool {
	if len(v) < 3 || len(v) > 128 {
		return false
	}
	if isUUID(v) {
		return true
	}
	longest := false
	from := 0
	for i := 0; i <= len(v); i++ {
		if i < len(v) && v[i] != '_' && v[i] != '-' {
			if !isAlnum(v[i]) {
				return false
			}
			continue
		}
		if part := v[from:i]; idPart(part) || from > 0 && i == len(v) && v[from-1] == '_' && allDigits(part) && part != "" && isLetter(v[0]) {
			longest = true
		}
		from = i + 1
	}
	return longest
}

// idPart says that a run of letters and digits is no word: eight or more with
// both in it, twelve or more hexadecimal digits, ten or more digits.
func idPart(p string) bool {
	if len(p) < 8 { // most words
		return false
	}
	digits, changes := 0, 0
	last := isDigit(p[0])
	for i := range len(p) {
		digit := isDigit(p[i])
		if digit {
			digits++
		}
		if digit != last {
			changes++
			last = digit
		}
	}
	letters := len(p) - digits
	switch {
	case digits >= 10 && letters == 0:
		return true
	case len(p) >= 12 && hexAt(p, 0, len(p)):
		return true
	}
	return digits >= 1 && letters >= 1 && (changes >= 2 || digits >= 4)
}

// urlAt returns the end of the URL at i, or 0.
func urlAt(s string, i int) int {
	if i >= len(s) || !isLetter(s[i]) || i > 0 && isAlnum(s[i-1]) {
		return 0
	}
	j := i
	for j < len(s) && (isAlnum(s[j]) || s[j] == '+' || s[j] == '-' || s[j] == '.') && j-i < 20 {
		j++
	}
	if !strings.HasPrefix(s[j:], "://") || j+3 >= len(s) {
		return 0
	}
	j += 3
	start := j
	for j < len(s) && s[j] > ' ' && strings.IndexByte("\"'<>`\\", s[j]) < 0 && s[j] != 0x7f {
		j++
	}
	for j > start && strings.IndexByte(".,;:!?)]}", s[j-1]) >= 0 {
		j--
	}
	if j == start {
		return 0
	}
	return j
}

// hostAt returns the end of an IP address, host:port or dotted host name at
// i, or 0.
func hostAt(s string, i int) int {
	j := i
	dots, letters := 0, false
	for j < len(s) && j < i+maxToken && (isAlnum(s[j]) || s[j] == '.' || s[j] == '-') {
		if s[j] == '.' {
			dots++
		}
		letters = letters || isLetter(s[j])
		j++
	}
	for j > i && (s[j-1] == '.' || s[j-1] == '-') {
		if s[j-1] == '.' {
			dots--
		}
		j--
	}
	name := s[i:j]
	port := j
	if port < len(s) && s[port] == ':' {
		for port++; port < len(s) && isDigit(s[port]); port++ {
		}
		if port-j < 3 || port-j > 6 {
			port = j
		}
	}
	switch {
	case !letters && dots == 3:
		return port
	case letters && dots >= 1 && hostLabels(name):
		return port
	case port > j && name == "localhost":
		return port
	}
	return 0
}

func hostLabels(host string) bool {
	last := host
	for more := true; more; {
		label, rest, dot := strings.Cut(last, ".")
		if label == "" || !isAlnum(label[0]) {
			return false
		}
		if more = dot; more {
			last = rest
		}
	}
	return len(last) >= 2 && len(last) <= 12 && !strings.ContainsAny(last, "0123456789-") && !isDigit(host[0])
}

func isIP(v string) bool {
	name, _, _ := strings.Cut(v, ":")
	return strings.Count(name, ".") == 3 && allDigits(name) || v != "" && ipv6At(v, 0) == len(v)
}

func isEmail(v string) bool {
	at := strings.IndexByte(v, '@')
	return at > 0 && hostAt(v, at+1) == len(v) && !strings.ContainsAny(v[:at], " \t\n\"'<>/\\@")
}

// publicDotted says that every part of a dotted name is a public word
// (response.completed, features.unified_exec).
func (r *run) publicDotted(name string) bool {
	host, _, port := strings.Cut(name, ":")
	if port || isIP(host) {
		return false
	}
	for _, part := range strings.FieldsFunc(host, func(c rune) bool { return c == '.' || c == '-' || c == '_' }) {
		if !r.lex.word(part) {
			return false
		}
	}
	return true
}

// timeAt returns the end of an ISO 8601 date with time at i, or 0.
func timeAt(s string, i int) int {
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == '-') || len(s)-i < 16 {
		return 0
	}
	for k, c := range "dddd-dd-dd dd:dd" {
		b := s[i+k]
		switch {
		case c == 'd' && !isDigit(b), c == '-' && b != '-', c == ':' && b != ':', c == ' ' && b != 'T' && b != ' ':
			return 0
		}
	}
	j := i + 16
	for j < len(s) && (isDigit(s[j]) || (s[j] == ':' || s[j] == '.' || s[j] == ',') && j+1 < len(s) && isDigit(s[j+1])) {
		j++
	}
	switch {
	case j < len(s) && s[j] == 'Z':
		j++
	case j+5 < len(s)+1 && j < len(s) && (s[j] == '+' || s[j] == '-') && j+2 < len(s) && isDigit(s[j+1]) && isDigit(s[j+2]):
		j += 3
		if j < len(s) && s[j] == ':' {
			j++
		}
		for n := 0; n < 2 && j < len(s) && isDigit(s[j]); n++ {
			j++
		}
	}
	return j
}
