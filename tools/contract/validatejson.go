package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// maxDepth bounds the nesting of our own records.
const maxDepth = 200

// decoder reads one JSON text into Go values (map[string]any, []any, string,
// json.Number, bool, nil) and reports what encoding/json lets pass: duplicate
// keys, numbers in another spelling than RFC 8785 has, invalid UTF-8, lone
// surrogates. CLI output is never read with it (that is rawjson).
type decoder struct {
	src      []byte
	pos      int
	pointer  []string // the members on the way to pos
	foreign  int      // depth at which text of a CLI starts, 0 outside
	problems []finding
	stopped  bool // the text is no JSON; the last problem says why
}

// finding is a problem before it has a file, severity and hint.
type finding struct{ code, pointer, message string }

// foreignMember tells for which kinds a member holds JSON as a CLI printed it:
// there duplicate keys and any number spelling are facts, not faults
// (DESIGN D4); the last duplicate counts.
var foreignMember = map[RecordKind]string{KindTranscript: "frame"}

// decode returns the value and what is wrong with its spelling; ok is false if
// the text is no JSON at all.
func decode(kind RecordKind, src []byte) (v any, problems []finding, ok bool) {
	d := &decoder{src: src}
	switch {
	case bytes.HasPrefix(src, []byte("\ufeff")):
		d.fail("JSON-BOM", "the file starts with a byte order mark")
	case !utf8.Valid(src):
		d.pos = validPrefix(src)
		d.fail("JSON-UTF8", "the text is not valid UTF-8")
	default:
		v = d.value(foreignMember[kind])
		d.space()
		if d.pos < len(src) {
			d.fail("JSON-TRAILING", "there is more text after the record")
		}
	}
	return v, d.problems, !d.stopped
}

func validPrefix(b []byte) int {
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		n += size
	}
	return n
}

func (d *decoder) at() string {
	p := ""
	for _, m := range d.pointer {
		p = pointerTo(p, m)
	}
	return p
}

func (d *decoder) report(code, format string, args ...any) {
	d.problems = append(d.problems, finding{code, d.at(), fmt.Sprintf(format, args...)})
}

// fail ends the reading at pos. Only the first call counts.
func (d *decoder) fail(code, what string) {
	if d.stopped {
		return
	}
	before := string(d.src[:d.pos])
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	d.report(code, "%s (line %d, column %d)", what, line, column)
	d.stopped = true
}

func (d *decoder) space() {
	for d.pos < len(d.src) && strings.IndexByte(" \t\r\n", d.src[d.pos]) >= 0 {
		d.pos++
	}
}

func (d *decoder) eat(c byte) bool {
	d.space()
	if !d.stopped && d.pos < len(d.src) && d.src[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *decoder) need(c byte) {
	if !d.eat(c) {
		d.fail("JSON-SYNTAX", "expected "+strconv.QuoteRune(rune(c)))
	}
}

// value reads one value. foreign is the member whose content is foreign.
func (d *decoder) value(foreign string) any {
	d.space()
	switch {
	case d.stopped:
		return nil
	case len(d.pointer) > maxDepth:
		d.fail("JSON-SYNTAX", "the record is nested too deeply")
		return nil
	case d.pos >= len(d.src):
		d.fail("JSON-SYNTAX", "the text ends in the middle")
		return nil
	}
	switch c := d.src[d.pos]; {
	case c == '{':
		return d.object(foreign)
	case c == '[':
		return d.array(foreign)
	case c == '"':
		return d.str()
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	case d.word("true"):
		return true
	case d.word("false"):
		return false
	case !d.word("null"):
		d.fail("JSON-SYNTAX", "expected a value")
	}
	return nil
}

func (d *decoder) word(w string) bool {
	if !bytes.HasPrefix(d.src[d.pos:], []byte(w)) {
		return false
	}
	d.pos += len(w)
	return true
}

func (d *decoder) object(foreign string) any {
	d.pos++
	m := map[string]any{}
	for first := true; !d.stopped && !d.eat('}'); first = false {
		if !first {
			d.need(',')
		}
		d.space()
		if d.pos >= len(d.src) || d.src[d.pos] != '"' {
			d.fail("JSON-SYNTAX", "expected a member name in quotes")
			return m
		}
		key := d.str()
		d.need(':')
		d.pointer = append(d.pointer, key)
		enter := foreign != "" && d.foreign == 0 && key == foreign
		if enter {
			d.foreign = len(d.pointer)
		}
		if _, twice := m[key]; twice && d.foreign == 0 {
			d.report("JSON-DUPLICATE-KEY", "the member is there twice")
		}
		m[key] = d.value(foreign)
		if enter {
			d.foreign = 0
		}
		d.pointer = d.pointer[:len(d.pointer)-1]
	}
	return m
}

func (d *decoder) array(foreign string) any {
	d.pos++
	a := []any{}
	for !d.stopped && !d.eat(']') {
		if len(a) > 0 {
			d.need(',')
		}
		d.pointer = append(d.pointer, strconv.Itoa(len(a)))
		a = append(a, d.value(foreign))
		d.pointer = d.pointer[:len(d.pointer)-1]
	}
	return a
}

// str reads a string. A lone surrogate escape is reported and becomes U+FFFD.
func (d *decoder) str() string {
	start := d.pos
	escaped := false
	for d.pos++; ; d.pos++ {
		if d.pos >= len(d.src) {
			d.fail("JSON-SYNTAX", "the text ends inside a string")
			return ""
		}
		switch c := d.src[d.pos]; {
		case c == '"':
			d.pos++
			if !escaped {
				return string(d.src[start+1 : d.pos-1])
			}
			return d.unescape(d.src[start:d.pos])
		case c == '\\':
			escaped = true
			d.pos++
		case c < 0x20:
			d.fail("JSON-SYNTAX", "a control character in a string must be escaped")
			return ""
		}
	}
}

func (d *decoder) unescape(token []byte) string {
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		d.fail("JSON-SYNTAX", "a string holds an unknown escape")
		return ""
	}
	if strings.ContainsRune(s, utf8.RuneError) && d.foreign == 0 && loneSurrogate(token) {
		d.report("JSON-UTF8", "a string holds half of a surrogate pair")
	}
	return s
}

// loneSurrogate reports whether a string token has a \u escape of half a pair.
func loneSurrogate(token []byte) bool {
	units := func(i int) (rune, bool) {
		if i+6 > len(token) || token[i] != '\\' || token[i+1] != 'u' {
			return 0, false
		}
		u, err := strconv.ParseUint(string(token[i+2:i+6]), 16, 16)
		return rune(u), err == nil
	}
	for i := 0; i < len(token); i++ {
		if token[i] != '\\' {
			continue
		}
		high, ok := units(i)
		if !ok {
			i++
			continue
		}
		i += 5
		if high < 0xD800 || high > 0xDFFF {
			continue
		}
		low, ok := units(i + 1)
		if !ok || high > 0xDBFF || low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

// number reads a number. One in another than the canonical spelling is
// reported and replaced by the canonical one, or by 0 where there is none, so
// that the other rules still apply.
func (d *decoder) number() any {
	start := d.pos
	for d.pos < len(d.src) && strings.IndexByte("+-.0123456789eE", d.src[d.pos]) >= 0 {
		d.pos++
	}
	token := string(d.src[start:d.pos])
	if plainInteger(token) {
		return json.Number(token)
	}
	if !json.Valid([]byte(token)) {
		d.pos = start
		d.fail("JSON-SYNTAX", "this is not a number")
		return nil
	}
	canonical := "0"
	if f, err := strconv.ParseFloat(token, 64); err == nil {
		canonical, _ = jcs.NumberToJSON(f) // fails for infinities only, which ParseFloat refuses
	}
	if canonical != token && d.foreign == 0 {
		d.report("JSON-NUMBER", "the number %s is not in canonical spelling or has no exact one", shortened(token))
	}
	return json.Number(canonical)
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// plainInteger reports whether s is an integer that a double holds exactly, in
// canonical spelling.
func plainInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) == 0 || len(digits) > 15 || digits[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}
