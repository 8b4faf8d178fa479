// Package jstext has the text semantics of JavaScript where Go's differ:
// white space, UTF-16 lengths and cuts, number and string conversion, UTF-8
// decoding, and case-insensitive ASCII patterns. OpenDesign's readings depend
// on each of them (report on OpenDesign v0.19.2, section 8, point 7).
//
// Strings are UTF-8, with a lone surrogate in its three-byte WTF-8 form, as
// rawjson decodes them.
package jstext

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// IsSpace reports whether trim and \s treat r as white space: unlike Go's
// unicode.IsSpace with U+FEFF and without U+0085.
func IsSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r == ' ':
		return true
	case r < 0x80:
		return false
	case r >= 0x2000 && r <= 0x200a:
		return true
	}
	switch r {
	case 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return false
}

// Trim is String.prototype.trim.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// Lower is s.toLowerCase() where ASCII letters may come of it: U+0130 becomes
// an i and a combining dot, while Go drops the dot.
func Lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307")) }

// Decode decodes bytes as Node's utf8 decoder does: every maximal ill-formed
// part becomes one U+FFFD, so that bytes which spell a surrogate become three.
func Decode(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) + 8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(b)
		}
		out.WriteRune(r)
		b = b[n:]
	}
	return out.String()
}

// illFormed returns the length of the ill-formed part at the start of b that
// one U+FFFD replaces (Unicode 15, "U+FFFD Substitution of Maximal Subparts").
func illFormed(b []byte) int {
	size, lo, hi := sequence(b[0])
	n := 1
	for n < size && n < len(b) && b[n] >= lo && b[n] <= hi {
		n, lo, hi = n+1, 0x80, 0xbf
	}
	return n
}

// sequence returns the length of the sequence that c starts and the range of
// its second byte.
func sequence(c byte) (size int, lo, hi byte) {
	switch {
	case c >= 0xc2 && c <= 0xdf:
		return 2, 0x80, 0xbf
	case c == 0xe0:
		return 3, 0xa0, 0xbf
	case c == 0xed:
		return 3, 0x80, 0x9f
	case c >= 0xe1 && c <= 0xef:
		return 3, 0x80, 0xbf
	case c == 0xf0:
		return 4, 0x90, 0xbf
	case c >= 0xf1 && c <= 0xf3:
		return 4, 0x80, 0xbf
	case c == 0xf4:
		return 4, 0x80, 0x8f
	}
	return 1, 0, 0
}

// Incomplete returns the length of an unfinished UTF-8 sequence at the end of
// b, which a stream decoder holds back until more bytes arrive.
func Incomplete(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		c := b[len(b)-n]
		if c < 0x80 {
			return 0
		}
		if c >= 0xc0 {
			if size, _, _ := sequence(c); size > n && illFormed(b[len(b)-n:]) == n {
				return n
			}
			return 0
		}
	}
	return 0
}

// surrogate returns the lone surrogate at the start of s.
func surrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
	}
	return 0, false
}

func lone(r rune) string {
	return string([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
}

// char returns the first character of s: its length in bytes and in UTF-16
// units.
func char(s string) (bytes, units int) {
	if s[0] < utf8.RuneSelf {
		return 1, 1
	}
	if _, ok := surrogate(s); ok {
		return 3, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r > 0xffff {
		return n, 2
	}
	return n, 1
}

// From is s.slice(n) for n ≥ 0 UTF-16 units. A cut inside a surrogate pair
// leaves the low half.
func From(s string, n int) string {
	for n > 0 && s != "" {
		b, u := char(s)
		if u > n {
			r, _ := utf8.DecodeRuneInString(s)
			return lone(0xdc00+(r-0x10000)&0x3ff) + s[b:]
		}
		s, n = s[b:], n-u
	}
	return s
}

// Head is s.slice(0, n) for n ≥ 0 UTF-16 units. A cut inside a surrogate pair
// leaves the high half.
func Head(s string, n int) string {
	for i := 0; i < len(s); {
		b, u := char(s[i:])
		if u > n {
			if n == 1 {
				r, _ := utf8.DecodeRuneInString(s[i:])
				return s[:i] + lone(0xd800+(r-0x10000)>>10)
			}
			return s[:i]
		}
		i, n = i+b, n-u
	}
	return s
}

// Tail is s.slice(-n) for n > 0: the last n UTF-16 units.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	// A unit takes at most three bytes, so the tail lies in the last 3n bytes.
	start := max(0, len(s)-3*n)
	for start > 0 && s[start]&0xc0 == 0x80 {
		start--
	}
	part := s[start:]
	return From(part, max(0, rawjson.UTF16Len(part)-n))
}

// Join is a + b: a high surrogate at the end of a and a low one at the start
// of b become one character.
func Join(a, b string) string {
	if len(a) >= 3 && len(b) >= 3 && b[0] == 0xed && a[len(a)-3] == 0xed {
		hi, ok := surrogate(a[len(a)-3:])
		lo, ok2 := surrogate(b)
		if ok && ok2 && hi < 0xdc00 && lo >= 0xdc00 {
			return a[:len(a)-3] + string(0x10000+(hi-0xd800)<<10+(lo-0xdc00)) + b[3:]
		}
	}
	return a + b
}

// AppendJoin appends b to a as Join does.
func AppendJoin(a []byte, b string) []byte {
	if len(a) >= 3 && len(b) >= 3 && b[0] == 0xed && a[len(a)-3] == 0xed {
		return append(a[:len(a)-3], Join(string(a[len(a)-3:]), b)...)
	}
	return append(a, b...)
}

// CutPrefix is s.startsWith(prefix) and s.slice(prefix.length).
func CutPrefix(s, prefix string) (rest string, found bool) {
	if rest, found = strings.CutPrefix(s, prefix); found || len(prefix) < 3 {
		return rest, found
	}
	// A prefix that ends inside a surrogate pair of s.
	body := prefix[:len(prefix)-3]
	hi, ok := surrogate(prefix[len(body):])
	after, found := strings.CutPrefix(s, body)
	if !ok || hi >= 0xdc00 || !found {
		return "", false
	}
	r, n := utf8.DecodeRuneInString(after)
	if r <= 0xffff || 0xd800+(r-0x10000)>>10 != hi {
		return "", false
	}
	return lone(0xdc00+(r-0x10000)&0x3ff) + after[n:], true
}

// ToString is String(v) for a parsed JSON value; the zero Value is undefined.
func ToString(v rawjson.Value) string {
	switch v.Kind() {
	case rawjson.Invalid:
		return "undefined"
	case rawjson.String:
		return v.Str()
	case rawjson.Number:
		return numberString(v.Float())
	case rawjson.Object:
		return "[object Object]"
	case rawjson.Array:
		var parts []string
		for e := range v.Children() {
			if e.Kind() == rawjson.Null {
				parts = append(parts, "")
			} else {
				parts = append(parts, ToString(e))
			}
		}
		return strings.Join(parts, ",")
	}
	return string(v.Raw())
}

func numberString(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return string(rawjson.AppendNumber(nil, f))
}

// Truthy is Boolean(v) for a parsed JSON value; the zero Value is undefined.
func Truthy(v rawjson.Value) bool {
	switch v.Kind() {
	case rawjson.Object, rawjson.Array:
		return true
	case rawjson.String:
		return v.Str() != ""
	case rawjson.Number:
		return v.Float() != 0
	}
	return v.Bool()
}

// ToNumber is Number(s) for a string; NaN says that it is not a number.
func ToNumber(s string) float64 {
	s = Trim(s)
	if s == "" {
		return 0
	}
	if len(s) > 2 && s[0] == '0' {
		base := map[byte]int{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[s[1]]
		if base != 0 {
			return digits(s[2:], base)
		}
	}
	switch s {
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	// ParseFloat also takes names, hexadecimal and underscores.
	if strings.Trim(s, "0123456789+-.eE") != "" {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

func digits(s string, base int) float64 {
	f := 0.0
	for i := range len(s) {
		d, err := strconv.ParseUint(s[i:i+1], base, 8)
		if err != nil {
			return math.NaN()
		}
		f = f*float64(base) + float64(d)
	}
	return f
}
