package rawjson

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// Stringify re-serialises a value as JavaScript's JSON.stringify does after
// JSON.parse: no white space, integer-like keys first in numeric order, of
// duplicate keys the last value at the first one's place, numbers in their
// shortest double form, and only the escapes that are needed.
func (v Value) Stringify() string {
	var short [256]byte // stays on the stack
	return string(v.AppendStringify(short[:0]))
}

// AppendStringify appends what Stringify returns.
func (v Value) AppendStringify(out []byte) []byte {
	switch v.Kind() {
	case Object:
		out = append(out, '{')
		var few [fewMembers]Value
		for i, m := range v.jsMembers(few[:0]) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(m.appendKey(out), ':')
			out = m.AppendStringify(out)
		}
		return append(out, '}')
	case Array:
		out = append(out, '[')
		first := true
		for e := range v.Children() {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = e.AppendStringify(out)
		}
		return append(out, ']')
	case String:
		n := &v.d.nodes[v.i]
		return appendToken(out, v.d.src[n.start:n.end], n.escaped)
	case Number:
		return AppendNumber(out, v.Float())
	case Invalid:
		return out
	}
	return append(out, v.Raw()...)
}

// appendKey appends the key of an object's member as JSON.
func (v Value) appendKey(out []byte) []byte {
	n := &v.d.nodes[v.i]
	return appendToken(out, v.d.src[n.keyStart:n.keyEnd], n.keyEscaped)
}

// appendToken appends a string token as JSON.stringify writes it: most are
// written like that already.
func appendToken(out, token []byte, escaped bool) []byte {
	if !escaped && isASCII(token) {
		return append(out, token...)
	}
	return AppendQuote(out, unquote(token[1:len(token)-1], escaped))
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Members returns an object's members as JavaScript enumerates them after
// JSON.parse: without duplicates, integer-like keys first.
func (v Value) Members() []Value { return v.jsMembers(nil) }

// fewMembers is the size up to which comparing each key with those before it
// is faster than a map.
const fewMembers = 16

// jsMembers appends the members to list, which must be empty.
func (v Value) jsMembers(list []Value) []Value {
	var at map[string]int // of objects with more than a few members
	integers := false
	for m := range v.Children() {
		if i := m.among(list, at); i >= 0 {
			list[i] = m
			continue
		}
		if len(list) == fewMembers {
			at = make(map[string]int, 2*fewMembers)
			for i, old := range list {
				at[old.Key()] = i
			}
		}
		if at != nil {
			at[m.Key()] = len(list)
		}
		integers = integers || m.index() >= 0
		list = append(list, m)
	}
	if integers {
		slices.SortStableFunc(list, func(a, b Value) int {
			x, y := uint64(a.index()), uint64(b.index()) // -1, no index, comes last
			return cmp.Compare(x, y)
		})
	}
	return list
}

// among returns the place of the member with the same key in list, or -1; at
// has the places by key once there are many.
func (v Value) among(list []Value, at map[string]int) int {
	if at != nil {
		if i, ok := at[v.Key()]; ok {
			return i
		}
		return -1
	}
	n := &v.d.nodes[v.i]
	key := v.d.src[n.keyStart:n.keyEnd]
	for i, m := range list {
		o := &m.d.nodes[m.i]
		if n.keyEscaped || o.keyEscaped {
			if v.Key() == m.Key() {
				return i
			}
		} else if bytes.Equal(key, m.d.src[o.keyStart:o.keyEnd]) {
			return i
		}
	}
	return -1
}

// index is the number that JavaScript sees in a member's key, or -1.
func (v Value) index() int64 {
	n := &v.d.nodes[v.i]
	if c := v.d.src[n.keyStart+1]; !n.keyEscaped && (c < '0' || c > '9') {
		return -1 // without decoding it
	}
	return arrayIndex(v.Key())
}

// arrayIndex returns the number that JavaScript sees in an integer-like key
// (0 to 2^32-2 in canonical spelling), or -1.
func arrayIndex(k string) int64 {
	if k == "" || len(k) > 10 || k[0] == '0' && len(k) > 1 {
		return -1
	}
	n, err := strconv.ParseUint(k, 10, 64)
	if err != nil || n > math.MaxUint32-1 {
		return -1
	}
	return int64(n)
}

// Float returns a number as the double that JavaScript reads, which may be
// infinite, and 0 for other kinds.
func (v Value) Float() float64 {
	if v.Kind() != Number {
		return 0
	}
	return Float(v.Raw())
}

// Float is Value.Float for the token of a number.
func Float(raw []byte) float64 {
	if n, ok := smallInt(raw); ok {
		return float64(n)
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // out of range gives ±Inf, as in JavaScript
	return f
}

// smallInt reads a number token of digits only that a double holds exactly.
func smallInt(raw []byte) (n int64, ok bool) {
	if len(raw) > 15 {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// AppendNumber appends f as JSON.stringify writes a number: null for a value
// that is not finite.
func AppendNumber(out []byte, f float64) []byte {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(out, "null"...)
	case f == 0:
		return append(out, '0') // also for -0
	}
	a := math.Abs(f)
	if a < 1<<53 && f == math.Trunc(f) {
		return strconv.AppendInt(out, int64(f), 10)
	}
	if a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	// Go writes at least two digits of exponent (1e-07), JavaScript as few as
	// it can (1e-7).
	if n := len(out); out[n-2] == '0' && (out[n-3] == '-' || out[n-3] == '+') {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}

const hexDigits = "0123456789abcdef"

// AppendQuote appends s as JSON.stringify quotes it: no HTML escaping, and a
// lone surrogate (in its WTF-8 form) as a \u escape. Bytes that are not UTF-8
// become U+FFFD, one for each maximal part of a character, as the decoder in
// front of JavaScript makes them.
func AppendQuote(out []byte, s string) []byte {
	out = append(slices.Grow(out, len(s)+2), '"')
	for i := 0; i < len(s); {
		n := asciiLen(s[i:])
		out = append(out, s[i:i+n]...)
		if i += n; i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			if r, ok := surrogate(s[i:]); ok {
				out = append(out, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
				i += 3
				continue
			}
			r, n := decodeRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		i++
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(out, '"')
}

// AppendQuoteBytes is AppendQuote for bytes.
func AppendQuoteBytes(out, b []byte) []byte {
	return AppendQuote(out, unsafe.String(unsafe.SliceData(b), len(b))) // which is not kept
}

// asciiLen is plainLen up to the first byte that is not ASCII.
func asciiLen(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := load64(s, i)
		if stop := stops(x) | x&highs; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// surrogate decodes a WTF-8 surrogate at the start of s.
func surrogate(s string) (rune, bool) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2] >= 0x80 && s[2] <= 0xbf {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
	}
	return 0, false
}

// UTF16Len returns the length of s in UTF-16 code units, which is what
// JavaScript's length counts.
func UTF16Len(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if _, ok := surrogate(s[i:]); ok {
			n, i = n+1, i+3
			continue
		}
		r, size := decodeRune(s[i:])
		n++
		if r > 0xffff {
			n++
		}
		i += size
	}
	return n
}

// decodeRune is utf8.DecodeRuneInString, except that of a broken character all
// bytes that could have begun it count as one (WHATWG Encoding, "UTF-8
// decoder"), not each byte by itself.
func decodeRune(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n != 1 {
		return r, n
	}
	for n < len(s) && n < 3 && !utf8.FullRuneInString(s[:n]) {
		n++
	}
	// s[:n] is now impossible or a whole broken character; without its last
	// byte it was still possible.
	if n > 1 && utf8.FullRuneInString(s[:n]) {
		n--
	}
	return r, n
}
