package rawjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"
)

type parser struct {
	d   *Doc
	src []byte
	pos int
}

func (p *parser) fail(what string) error { return &SyntaxError{Offset: p.pos, What: what} }

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// value parses the value at pos and appends its nodes. ks and ke are the
// range of its key.
func (p *parser) value(ks, ke int, kesc bool, depth int) error {
	if depth > MaxDepth {
		return ErrDepth
	}
	if p.pos >= len(p.src) {
		return p.fail("a value")
	}
	i := len(p.d.nodes)
	p.d.nodes = append(p.d.nodes, node{start: int32(p.pos), keyStart: int32(ks), keyEnd: int32(ke), keyEscaped: kesc})
	kind, esc := Invalid, false
	var err error
	switch c := p.src[p.pos]; {
	case c == '{':
		kind, err = Object, p.object(depth)
	case c == '[':
		kind, err = Array, p.array(depth)
	case c == '"':
		kind = String
		esc, err = p.str()
	case c == '-' || c >= '0' && c <= '9':
		kind, err = Number, p.number()
	case c == 't':
		kind, err = Boolean, p.word("true")
	case c == 'f':
		kind, err = Boolean, p.word("false")
	case c == 'n':
		kind, err = Null, p.word("null")
	default:
		err = p.fail("a value")
	}
	n := &p.d.nodes[i]
	n.kind, n.escaped, n.end, n.next = kind, esc, int32(p.pos), int32(len(p.d.nodes))
	return err
}

func (p *parser) object(depth int) error {
	p.pos++
	p.space()
	if p.eat('}') {
		return nil
	}
	for {
		p.space()
		ks := p.pos
		if p.pos >= len(p.src) || p.src[p.pos] != '"' {
			return p.fail("a key")
		}
		kesc, err := p.str()
		if err != nil {
			return err
		}
		ke := p.pos
		p.space()
		if !p.eat(':') {
			return p.fail("a colon")
		}
		p.space()
		if err := p.value(ks, ke, kesc, depth+1); err != nil {
			return err
		}
		p.space()
		if p.eat('}') {
			return nil
		}
		if !p.eat(',') {
			return p.fail("a comma or a closing brace")
		}
	}
}

func (p *parser) array(depth int) error {
	p.pos++
	p.space()
	if p.eat(']') {
		return nil
	}
	for {
		p.space()
		if err := p.value(0, 0, false, depth+1); err != nil {
			return err
		}
		p.space()
		if p.eat(']') {
			return nil
		}
		if !p.eat(',') {
			return p.fail("a comma or a closing bracket")
		}
	}
}

func (p *parser) eat(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) word(w string) error {
	for i := range len(w) {
		if !p.eat(w[i]) {
			return p.fail("the word " + w)
		}
	}
	return nil
}

// str scans the string token at pos and reports whether it holds a backslash.
func (p *parser) str() (escaped bool, err error) {
	p.pos++
	for {
		p.pos += plainLen(p.src[p.pos:])
		if p.pos >= len(p.src) {
			return escaped, p.fail("a closing quote")
		}
		switch p.src[p.pos] {
		case '"':
			p.pos++
			return escaped, nil
		case '\\':
			escaped = true
			if err := p.escape(); err != nil {
				return true, err
			}
		default:
			return escaped, p.fail("no control character in a string")
		}
	}
}

// plainLen returns how many bytes at the start of b a string token can hold as
// they are: up to the first quote, backslash or control character. It looks at
// eight bytes at once: most of a transcript is text.
func plainLen(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if stop := stops(load64(b, i)); stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

func load64[T []byte | string](b T, i int) uint64 {
	return binary.LittleEndian.Uint64([]byte(b[i : i+8]))
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops sets the high bit of each byte of x that ends a run of plain bytes. A
// borrow can mark bytes after the first such one, which nobody looks at.
func stops(x uint64) uint64 {
	quote, slash := x^('"'*ones), x^('\\'*ones)
	return ((x-0x20*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// escape skips the escape sequence at pos.
func (p *parser) escape() error {
	p.pos++
	if p.pos >= len(p.src) {
		return p.fail("an escape")
	}
	switch p.src[p.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		p.pos++
		return nil
	case 'u':
		p.pos++
		for range 4 {
			if p.pos >= len(p.src) || hexVal(p.src[p.pos]) < 0 {
				return p.fail("a hexadecimal digit")
			}
			p.pos++
		}
		return nil
	}
	return p.fail("an escape")
}

func (p *parser) digits() bool {
	from := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > from
}

func (p *parser) number() error {
	p.eat('-')
	if !p.eat('0') && !p.digits() {
		return p.fail("a digit")
	}
	if p.eat('.') && !p.digits() {
		return p.fail("a digit")
	}
	if p.eat('e') || p.eat('E') {
		if !p.eat('+') {
			p.eat('-')
		}
		if !p.digits() {
			return p.fail("a digit")
		}
	}
	return nil
}

func hexVal(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

func hex4(b []byte) rune {
	return hexVal(b[0])<<12 | hexVal(b[1])<<8 | hexVal(b[2])<<4 | hexVal(b[3])
}

// unquote decodes the inside of a string token that the parser accepted.
func unquote(b []byte, escaped bool) string {
	if !escaped {
		return string(b)
	}
	var short [256]byte // stays on the stack
	if len(b) <= len(short) {
		return string(appendUnquoted(short[:0], b))
	}
	out := appendUnquoted(make([]byte, 0, len(b)), b)
	if cap(out) > 2*len(out) { // mostly escapes: do not keep the room
		return string(out)
	}
	return unsafe.String(unsafe.SliceData(out), len(out)) // nobody else has it
}

// appendUnquoted appends what unquote returns: eight bytes at once where none
// is an escape, as in text, and byte by byte where they are many, as in JSON
// inside a string.
func appendUnquoted(out, b []byte) []byte {
	out = slices.Grow(out, len(b)) // decoding never makes a text longer
	n := len(out)
	for i := 0; i < len(b); {
		for i+8 <= len(b) {
			x := load64(b, i) ^ '\\'*ones
			found := (x - ones) &^ x & highs // its lowest bit is right
			binary.LittleEndian.PutUint64(out[n:n+8], x^'\\'*ones)
			if found != 0 {
				k := bits.TrailingZeros64(found) / 8
				n, i = n+k, i+k
				break
			}
			n, i = n+8, i+8
		}
		if i == len(b) {
			break
		}
		c, length := b[i], 1
		if c == '\\' {
			if b[i+1] == 'u' {
				out, length = decodeEscape(out[:n], b[i:])
				n, i = len(out), i+length
				continue
			}
			c, length = unescape(b[i+1]), 2
		}
		out = out[:n+1]
		out[n] = c
		n, i = n+1, i+length
	}
	return out[:n]
}

// decodeEscape appends the character of the \u sequence at the start of b, or
// of the two that are one surrogate pair, and returns their length.
func decodeEscape(out, b []byte) ([]byte, int) {
	r, n := hex4(b[2:]), 6
	if r >= 0xd800 && r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if lo := hex4(b[8:]); lo >= 0xdc00 && lo < 0xe000 {
			r, n = 0x10000+(r-0xd800)<<10+(lo-0xdc00), 12
		}
	}
	return appendRune(out, r), n
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendRune appends r; a surrogate gets its WTF-8 form.
func appendRune(out []byte, r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f|0x80, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(out, r)
}
