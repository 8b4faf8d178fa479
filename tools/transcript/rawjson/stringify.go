package rawjson

import (
	"math"
	"sort"
	"strconv"
	"unicode/utf8"
)

// Stringify re-serialises a value as JavaScript's JSON.stringify does after
// JSON.parse: no white space, integer-like keys first in numeric order, of
// duplicate keys the last value at the first one's place, numbers in their
// shortest double form, and only the escapes that are needed.
func (v Value) Stringify() string { return string(v.AppendStringify(nil)) }

// AppendStringify appends what Stringify returns.
func (v Value) AppendStringify(out []byte) []byte {
	switch v.Kind() {
	case Object:
		out = append(out, '{')
		for i, m := range v.jsMembers() {
			if i > 0 {
				out = append(out, ',')
			}
			out = AppendQuote(out, m.Key())
			out = append(out, ':')
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
		return AppendQuote(out, v.Str())
	case Number:
		return AppendNumber(out, v.Float())
	case Invalid:
		return out
	}
	return append(out, v.Raw()...)
}

// Members returns an object's members as JavaScript enumerates them after
// JSON.parse: without duplicates, integer-like keys first.
func (v Value) Members() []Value { return v.jsMembers() }

func (v Value) jsMembers() []Value {
	var list []Value
	at := make(map[string]int)
	for m := range v.Children() {
		k := m.Key()
		if i, ok := at[k]; ok {
			list[i] = m
			continue
		}
		at[k] = len(list)
		list = append(list, m)
	}
	index := func(m Value) int64 { return arrayIndex(m.Key()) }
	for _, m := range list {
		if index(m) >= 0 {
			sort.SliceStable(list, func(a, b int) bool {
				x, y := index(list[a]), index(list[b])
				return x >= 0 && (y < 0 || x < y)
			})
			break
		}
	}
	return list
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
	f, _ := strconv.ParseFloat(string(v.Raw()), 64) // out of range gives ±Inf, as in JavaScript
	return f
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
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
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
	out = append(out, '"')
	for i := 0; i < len(s); {
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
			if c < 0x20 {
				out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			} else {
				out = append(out, c)
			}
		}
	}
	return append(out, '"')
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
