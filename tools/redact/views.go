package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxViews is how many decodings the leak scan stacks: JSON in JSON in base64
// and so on.
const maxViews = 6

type span struct{ start, end int }

// view collects the findings of one scan.
type view struct {
	s     *Scanner
	found []Finding
	seen  map[Finding]bool
	line  int
	base  int // offset of the line in the scanned bytes
	joins map[string]*joinedText
	order []*joinedText
}

type joinedText struct {
	text strings.Builder
	line int
	at   span
}

func (v *view) report(rule int, name string, at span) {
	f := Finding{Rule: ruleID(rule), View: name, Line: v.line, Start: v.base + at.start, End: v.base + at.end}
	key := f
	key.View = ""
	if !v.seen[key] {
		v.seen[key] = true
		v.found = append(v.found, f)
	}
}

// text scans one text and its decodings. In the raw view at is where the text
// stands, otherwise the token that it came from.
func (v *view) text(s, name string, at span, depth int) {
	v.s.matches(s, false, func(m match) {
		where := at
		if name == "raw" {
			where = span{at.start + m.start, at.start + m.end}
		}
		v.report(m.rule, name, where)
	})
	if depth >= maxViews {
		return
	}
	v.json(s, name, at, depth)
	v.runs(s, name, at, depth)
	if strings.IndexByte(s, '%') >= 0 {
		if d, err := url.PathUnescape(s); err == nil && d != s {
			v.text(d, "percent", at, depth+1)
		} else if d := looseUnescape(s); d != s {
			v.text(d, "percent", at, depth+1)
		}
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		v.text(stripANSI(s), "ansi", at, depth+1)
	}
	if strings.IndexByte(s, 0) >= 0 {
		if d := strings.ReplaceAll(s, "\x00", ""); len(d) < len(s)*2/3 {
			v.text(d, "utf16", at, depth+1)
		}
	}
}

// json scans the strings of a JSON text that do not stand there as they are.
func (v *view) json(s, name string, at span, depth int) {
	escaped := strings.IndexByte(s, '\\') >= 0
	if !escaped && !hasByteArray(s) && !v.hasPieces(s) {
		return
	}
	t := strings.TrimSpace(s)
	var d rawjson.Doc
	if t == "" || t[0] != '{' && t[0] != '[' && t[0] != '"' || d.Parse([]byte(s)) != nil {
		if escaped {
			if u := unescapeLoosely(s); u != s {
				v.text(u, "json", at, depth+1)
			}
		}
		return
	}
	v.value(d.Root(), name, at, depth)
	v.pieces(d.Root(), at)
}

func (v *view) value(x rawjson.Value, name string, at span, depth int) {
	where := at
	if name == "raw" {
		a, b := x.Range()
		where = span{at.start + a, at.start + b}
	}
	switch x.Kind() {
	case rawjson.String:
		if bytes.IndexByte(x.Raw(), '\\') >= 0 {
			v.text(x.Str(), "json", where, depth+1)
		}
	case rawjson.Array:
		if b, ok := byteArray(x); ok {
			v.text(string(b), "bytes", where, depth+1)
			return
		}
	}
	for c := range x.Children() {
		if a, b := c.KeyRange(); b > a {
			key := c.Key()
			if len(key) != b-a-2 {
				v.text(key, "json", where, depth+1)
			}
			if c.Kind() == rawjson.String { // a value that its member's name gives away
				v.member(key, c, name, at)
			}
		}
		v.value(c, name, at, depth)
	}
}

// member scans name and value as one text when escapes keep them apart.
func (v *view) member(key string, c rawjson.Value, name string, at span) {
	if bytes.IndexByte(c.Raw(), '\\') < 0 || !secretName(key) {
		return
	}
	v.s.matches(`"`+key+`":"`+c.Str()+`"`, false, func(m match) {
		if m.start > len(key) {
			where := at
			if name == "raw" {
				a, b := c.Range()
				where = span{at.start + a, at.start + b}
			}
			v.report(m.rule, "json", where)
		}
	})
}

// runs scans what base64 and hexadecimal runs decode to.
func (v *view) runs(s, name string, at span, depth int) {
	eachRun(s, func(i, j int) bool {
		where := at
		if name == "raw" {
			where = span{at.start + i, at.start + j}
		}
		for form, d := range decodeRun(s[i:j]) {
			v.text(d, form, where, depth+1)
		}
		return true
	})
}

// minRun is the length from which a run of letters and digits may be an
// encoding of something.
const minRun = 16

// eachRun calls f with every run of the base64 alphabets, until it returns
// false.
func eachRun(s string, f func(i, j int) bool) {
	for i := 0; i < len(s); {
		if !base64Byte[s[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(s) && base64Byte[s[j]] {
			j++
		}
		if j-i >= minRun && !f(i, j) {
			return
		}
		i = j
	}
}

var base64Byte = func() (t [256]bool) {
	for c := range 256 {
		t[c] = isAlnum(byte(c)) || c == '+' || c == '/' || c == '-' || c == '_'
	}
	return
}()

var urlToStd = strings.NewReplacer("-", "+", "_", "/")

// decodeRun returns the texts that a run decodes to, by the name of the form.
func decodeRun(s string) map[string]string {
	if s = strings.TrimRight(s, "_"); len(s) < minRun { // padding, a ruler
		return nil
	}
	var out map[string]string
	add := func(form string, b []byte, err error) {
		if err == nil && readable(b) {
			if out == nil {
				out = map[string]string{}
			}
			out[form] = string(b)
		}
	}
	if len(s)%2 == 0 && hexAt(s, 0, len(s)) {
		b, err := hex.DecodeString(s)
		add("hex", b, err)
	}
	std := s
	if strings.IndexByte(s, '-') >= 0 || strings.IndexByte(s, '_') >= 0 {
		std = urlToStd.Replace(s)
	}
	if len(std)%4 == 1 {
		std = std[:len(std)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(std)
	add("base64", b, err)
	return out
}

// readable says that decoded bytes are text, in UTF-8 or UTF-16.
func readable(b []byte) bool {
	odd := 0
	for _, c := range b {
		if c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != 0 && c != 0x1b || c == 0x7f {
			odd++
		}
	}
	return odd == 0 && (utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0)
}

// byteArray returns the text that an array of byte numbers spells.
func byteArray(x rawjson.Value) ([]byte, bool) {
	var b []byte
	for c := range x.Children() {
		n := c.Float()
		if c.Kind() != rawjson.Number || n < 0 || n > 255 || n != float64(int(n)) {
			return nil, false
		}
		b = append(b, byte(n))
	}
	return b, len(b) >= 4
}

// hasByteArray looks for [1,2,3,4 fast.
func hasByteArray(s string) bool {
	for i := strings.IndexByte(s, '['); i >= 0; {
		commas, j := 0, i+1
		for j < len(s) && (isDigit(s[j]) || s[j] == ',' || s[j] == ' ') {
			if s[j] == ',' {
				commas++
			}
			j++
		}
		if commas >= 3 {
			return true
		}
		n := strings.IndexByte(s[j:], '[')
		if n < 0 {
			return false
		}
		i = j + n
	}
	return false
}

// acrossLines scans what only shows when lines stand together: PEM blocks.
func (v *view) acrossLines(text string) {
	if !strings.Contains(text, "PRIVATE KEY-----") {
		return
	}
	v.line, v.base = 1, 0
	v.s.matches(text, false, func(m match) {
		if ruleID(m.rule) == "pem-key" {
			v.line = 1 + strings.Count(text[:m.start], "\n")
			v.report(m.rule, "raw", span{m.start, m.end})
		}
	})
}
