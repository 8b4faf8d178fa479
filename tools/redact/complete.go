package redact

import "strings"

// completeJSON returns a JSON text that was cut off with what it needs to be
// whole. The added part says nothing; it is dropped again after redaction.
func completeJSON(s string) ([]byte, bool) {
	c := completer{}
	for i := 0; i < len(s); i++ {
		if !c.step(s, i) {
			return nil, false
		}
	}
	end := c.closing(s)
	return append(append(make([]byte, 0, len(s)+len(end)), s...), end...), true // a long text is copied once
}

// completer follows strings and brackets of a JSON text.
type completer struct {
	stack    []byte // '{' or '['
	inString bool
	escape   int  // bytes of an escape sequence that are still due
	isKey    bool // the open or last string is a member's name
	want     byte // what comes next: 'k' key, ':' colon, 'v' value, ',' comma
	word     int  // start of an open literal or number, plus one
}

func (c *completer) step(s string, i int) bool {
	b := s[i]
	if c.inString {
		c.stringByte(b)
		return true
	}
	if c.word > 0 && (isAlnum(b) || b == '.' || b == '-' || b == '+') {
		return true
	}
	c.word = 0
	switch {
	case isSpace(b):
	case b == '{' || b == '[':
		c.stack = append(c.stack, b)
		c.want = map[byte]byte{'{': 'k', '[': 'v'}[b]
	case b == '}' || b == ']':
		if len(c.stack) == 0 {
			return false
		}
		c.stack = c.stack[:len(c.stack)-1]
		c.want = ','
	case b == '"':
		c.inString = true
		c.isKey = c.want == 'k'
	case b == ':':
		c.want = 'v'
	case b == ',':
		c.want = 'v'
		if len(c.stack) > 0 && c.stack[len(c.stack)-1] == '{' {
			c.want = 'k'
		}
	case isAlnum(b) || b == '-':
		c.word = i + 1
		c.want = ','
	default:
		return false
	}
	return true
}

func (c *completer) stringByte(b byte) {
	switch {
	case c.escape == 1 && b == 'u':
		c.escape = 5
	case c.escape > 0:
		c.escape--
		if c.escape == 1 { // the last hexadecimal digit has been read
			c.escape = 0
		}
	case b == '\\':
		c.escape = 1
	case b == '"':
		c.inString = false
		c.want = ','
		if c.isKey {
			c.want = ':'
		}
	}
}

// closing returns what the text lacks.
func (c *completer) closing(s string) string {
	var b strings.Builder
	if c.inString {
		switch {
		case c.escape == 1:
			b.WriteByte('\\')
		case c.escape > 1:
			b.WriteString(strings.Repeat("0", c.escape-1))
		}
		b.WriteByte('"')
		c.want = ','
		if c.isKey {
			c.want = ':'
		}
	}
	if c.word > 0 {
		b.WriteString(restOfWord(s[c.word-1:]))
	}
	last := byte(0)
	if t := strings.TrimRight(s, " \t\r\n"); t != "" {
		last = t[len(t)-1]
	}
	switch {
	case c.want == ':':
		b.WriteString(":null")
	case c.want == 'v' && last != '[' && !c.inString:
		b.WriteString("null")
	case c.want == 'k' && last == ',':
		b.WriteString(`"":null`)
	}
	for i := len(c.stack) - 1; i >= 0; i-- {
		b.WriteByte(c.stack[i] + 2) // the closing bracket in ASCII
	}
	return b.String()
}

// restOfWord completes true, false, null and numbers.
func restOfWord(w string) string {
	for _, k := range []string{"true", "false", "null"} {
		if strings.HasPrefix(k, w) {
			return k[len(w):]
		}
	}
	if last := w[len(w)-1]; !isDigit(last) {
		return "0"
	}
	return ""
}
