package redact

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
)

// names hands out placeholders. A placeholder is a function of the value: the
// first kind that a value is met with stays (DESIGN D5).
type names struct {
	byValue nameTable
	byPath  nameTable
	kinds   []string
	last    []uint32 // per kind
	// Placeholders and names of paths that the raw transcript already holds.
	reserved, reservedPaths map[string]bool
	dry                     bool // only to see whether something would be replaced: give none out
	texts                   texts
}

// name is a placeholder: its number, and the index of its kind in the highest
// bits.
type name uint32

const (
	kindBits  = 5
	maxNumber = 1<<(32-kindBits) - 1
)

func (p name) kind() uint32   { return uint32(p) >> (32 - kindBits) }
func (p name) number() uint32 { return uint32(p) & maxNumber }

func newNames() *names {
	return &names{kinds: []string{"path"}, last: []uint32{0}, reserved: map[string]bool{}, reservedPaths: map[string]bool{}}
}

// get returns the placeholder <kind:N> of the value.
func (n *names) get(kind, value string) string {
	return n.of(keyOf(value), func() string { return kind })
}

// of returns the placeholder of a value, of that kind if it has none yet.
func (n *names) of(key textKey, kind func() string) string {
	s := n.byValue.at(key)
	if s.name == 0 {
		if n.dry {
			return leak.PadStart
		}
		n.byValue.put(s, key, n.fresh(n.kind(kind())))
	}
	return n.spell(s.name)
}

// appendPath appends the name pN of a path. Paths are numbered apart from texts.
func (n *names) appendPath(b []byte, value string) []byte {
	key := keyOf(value)
	s := n.byPath.at(key)
	if s.name == 0 {
		if n.dry {
			return append(b, leak.PadStart...)
		}
		n.byPath.put(s, key, n.fresh(0))
	}
	return n.append(b, s.name)
}

func (n *names) kind(kind string) uint32 {
	for i, k := range n.kinds {
		if k == kind {
			return uint32(i)
		}
	}
	if len(n.kinds) == 1<<kindBits {
		panic("more kinds of placeholders than a name has room for")
	}
	n.kinds = append(n.kinds, kind)
	n.last = append(n.last, 0)
	return uint32(len(n.kinds) - 1)
}

func (n *names) fresh(kind uint32) name {
	reserved := n.reserved
	if kind == 0 {
		reserved = n.reservedPaths
	}
	var room [32]byte
	for {
		if n.last[kind] == maxNumber {
			panic("more placeholders of a kind than a name has room for")
		}
		n.last[kind]++
		p := name(kind<<(32-kindBits) | n.last[kind])
		if len(reserved) == 0 || !reserved[string(n.append(room[:0], p))] {
			return p
		}
	}
}

func (n *names) spell(p name) string {
	var room [32]byte
	return n.texts.keep(n.append(room[:0], p))
}

// append appends the placeholder as it is written.
func (n *names) append(b []byte, p name) []byte {
	if p.kind() == 0 {
		return strconv.AppendUint(append(b, 'p'), uint64(p.number()), 10)
	}
	b = append(append(append(b, '<'), n.kinds[p.kind()]...), ':')
	return append(strconv.AppendUint(b, uint64(p.number()), 10), '>')
}

// reserve notes every placeholder that stands in s, so that none is handed
// out twice when a transcript holds some from elsewhere.
func (n *names) reserve(s string) {
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], '<')
		if j < 0 {
			break
		}
		i += j
		if end := placeholderAt(s, i); end > 0 {
			n.reserved[strings.Clone(s[i:end])] = true
		}
		i++
	}
	for i := 0; i < len(s); {
		j := strings.IndexByte(s[i:], 'p')
		if j < 0 {
			return
		}
		i += j + 1
		end := i
		for end < len(s) && isDigit(s[end]) && end < i+9 {
			end++
		}
		if end > i && (i < 2 || !isAlnum(s[i-2])) {
			n.reservedPaths[strings.Clone(s[i-1:end])] = true
		}
	}
}

// mayReserve says that a string token may hold a placeholder.
func mayReserve(raw []byte) bool {
	if bytes.IndexByte(raw, '<') >= 0 || bytes.Contains(raw, []byte(`\u`)) {
		return true
	}
	for i := 0; ; {
		j := bytes.IndexByte(raw[i:], 'p')
		if j < 0 {
			return false
		}
		i += j + 1
		if isDigit(raw[i]) { // a token ends in a quote
			return true
		}
	}
}

// inertAt returns the end of the placeholder or sanitized path that starts at
// i, or 0.
func inertAt(s string, i int) int {
	switch c := s[i]; {
	case c == '<':
		return placeholderAt(s, i)
	case c == '/' || c == '\\' || c == 'p' || c == 'C' || c == '.':
		if i > 0 && isPathByte(s[i-1]) {
			return 0
		}
		return sanitizedPathAt(s, i)
	}
	return 0
}

// placeholderAt returns the end of the placeholder that starts at s[i], or 0.
func placeholderAt(s string, i int) int { return leak.PlaceholderAt(s, i) }

// isInert reports whether s holds nothing but placeholders, sanitized paths
// and white space.
func isInert(s string) bool {
	for i := 0; i < len(s); {
		if isSpace(s[i]) {
			i++
			continue
		}
		end := inertAt(s, i)
		if end == 0 {
			return false
		}
		i = end
	}
	return true
}

// writePadding writes n bytes that mean nothing, as many as PadStart and a
// bracket have at least.
func writePadding(b *strings.Builder, n int) {
	const line = "________________________________________________________________"
	b.WriteString(leak.PadStart)
	for n -= len(leak.PadStart) + 1; n > 0; n -= len(line) {
		b.WriteString(line[:min(n, len(line))])
	}
	b.WriteByte('>')
}

// lengthClasses are the lengths in UTF-16 units at which readers of v0.19.2
// change their mind (role-marker guard, corpus tails, ACP cut, frame limit).
var lengthClasses = []int{64, 2000, 8000, 128000}

// missing returns how many units a text of length have needs to be as long as
// the class of a text of length want demands, or 0.
func missing(want, have int) int {
	for i := len(lengthClasses) - 1; i >= 0; i-- {
		if limit := lengthClasses[i]; want > limit {
			return max(0, limit+1-have)
		}
	}
	return 0
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
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

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != '.' && s[i] != '%' {
			return false
		}
	}
	return true
}
