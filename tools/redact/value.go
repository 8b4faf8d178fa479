package redact

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// str returns the sanitized form of a string. It depends on the string alone:
// the same text has the same form wherever it stands.
func (r *run) str(s string, depth int) string {
	if len(s) > maxMemo {
		return r.compute(s, depth)
	}
	if len(s) <= maxSimple && isSimple(s) {
		return r.simple(s)
	}
	if s == "" {
		return ""
	}
	if out, ok := r.memo.get(s); ok {
		return out
	}
	out := r.compute(s, depth)
	r.memo.put(s, out)
	return out
}

// maxSimple is shorter than any length class.
const maxSimple = 64

// isSimple says that a text is made of letters, digits and what joins them in
// identifiers, and is neither a path nor anything else with parts.
func isSimple(s string) bool {
	if len(s) < 2 || s[0] == '-' || s[1] == '-' {
		return false
	}
	for i := range len(s) {
		if !simpleByte[s[i]] {
			return false
		}
	}
	return true
}

var simpleByte = func() (t [256]bool) {
	for c := range t {
		t[c] = isAlnum(byte(c)) || c == '_' || c == '-'
	}
	return
}()

// simple is compute for a simple text: it stays, or is one stretch.
func (r *run) simple(s string) string {
	if r.stays(s) || r.isWritten(s) {
		return r.compute(s, 0)
	}
	if out, ok := r.runText(s); ok {
		return out
	}
	return r.place(s)
}

// maxMemo is the length up to which a string's form is remembered; a longer
// one seldom comes again in another spelling.
const maxMemo = 512

func (r *run) compute(s string, depth int) string {
	if isInert(s) || r.stays(s) {
		return s
	}
	if out, ok := r.runText(s); ok {
		return out
	}
	return r.alone(s, depth)
}

// alone is compute for a text that no pieces make.
func (r *run) alone(s string, depth int) string {
	if isInert(s) || r.stays(s) {
		return s
	}
	if timeAt(s, 0) == len(s) {
		return leak.TimePlaceholder
	}
	if c := firstByte(s); (c == '{' || c == '[') && depth < maxNesting {
		if edits, ok := r.jsonEdits(s, depth, false); ok {
			out := apply(s, edits)
			return out + strings.Repeat(" ", missing(utf16Len(s), utf16Len(out)))
		}
	}
	written := r.isWritten(s)
	if written && !r.in.Hermetic && depth >= maxNesting && (firstByte(s) == '{' || firstByte(s) == '[') && isJSONText(s) {
		r.doubt(fmt.Sprintf("JSON inside strings is more than %d deep", maxNesting), s)
		written = false
	}
	return r.padded(s, r.settle(s, written, depth))
}

// settle redacts a text until nothing changes: a placeholder can give its
// neighbour a meaning that it had not before (a "~" after a word is none, after
// a placeholder it is a path).
func (r *run) settle(s string, written bool, depth int) string {
	out := s
	for range 8 {
		edits, settled := r.textEdits(out, written, depth)
		if len(edits) > 0 {
			out = apply(out, edits)
		}
		done := len(edits) == 0 || settled && !r.plodding && r.secretsStay(out, edits)
		r.spare.give(edits)
		if done {
			break
		}
	}
	return out
}

// secretsStay says that a text, with its edits, has no secret that it did not
// have before: where rules looked there is none now, and no edit makes a
// keyword.
func (r *run) secretsStay(out string, edits []edit) bool {
	if !r.scanner.Inert() {
		return false
	}
	looks := r.looks
	slices.SortFunc(looks, func(a, b leak.Look) int { return cmp.Compare(a.Start, b.Start) })
	shift, at := 0, 0 // of out against the text before, behind the edits up to at
	for len(looks) > 0 || at < len(edits) {
		if at == len(edits) || len(looks) > 0 && looks[0].End <= edits[at].start {
			l := looks[0]
			looks = looks[1:]
			l.Start, l.End = l.Start+shift, l.End+shift
			if !r.scanner.Clear(out, l) {
				return false
			}
			continue
		}
		e := edits[at]
		if len(looks) > 0 && looks[0].Start < e.end {
			if looks[0].Start < e.start || looks[0].End > e.end {
				return false
			}
			looks = looks[1:]
			continue
		}
		from := e.start + shift
		to := from + len(e.text)
		if e.text[0] != '<' && r.scanner.Touches(out, from, to) || strings.HasPrefix(e.text, "<token") || to < len(out) && e.text[0] != '<' && isPathByte(out[to]) {
			return false
		}
		shift += len(e.text) - (e.end - e.start)
		at++
	}
	return true
}

// textEdits returns what is replaced in a text and whether the text then stays
// as it is, as wordEdits does.
func (r *run) textEdits(s string, written bool, depth int) (edits []edit, settled bool) {
	switch {
	case isInert(s):
		return nil, false
	case written:
		return r.wordEdits(s)
	}
	return r.denyEdits(s, depth), false
}

// stays says that a whole string is a literal of the protocol.
func (r *run) stays(s string) bool {
	return len(s) <= r.lex.longest && (r.survive[s] || r.lex.codes[s])
}

// isWritten says that the CLI or the provider wrote the text, so that public
// words in it survive.
func (r *run) isWritten(s string) bool { return r.written.has(s) && !r.model.has(s) }

// padded keeps the length class of a text.
func (r *run) padded(s, out string) string {
	if len(s) <= lengthClasses[0] { // bytes are never fewer than UTF-16 units
		return out
	}
	if n := missing(utf16Len(s), utf16Len(out)); n > 0 {
		return pad(out, n)
	}
	return out
}

// utf16Len is the length of a text in UTF-16 units, without looking at more
// than each byte's class.
func utf16Len(s string) int {
	n, i := 0, 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		if (b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7])&0x80 != 0 {
			break
		}
		n += 8
	}
	for ; i < len(s); i++ {
		if s[i]&0xc0 != 0x80 {
			n++
		}
		if s[i] >= 0xf0 {
			n++
		}
	}
	return n
}

// base64 redacts a string that holds text as base64.
func (r *run) base64(s string, depth int) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || len(b) == 0 {
		return "", false
	}
	return base64.StdEncoding.EncodeToString([]byte(r.decoded(b, depth))), true
}

// decoded redacts text that stood in an encoding; other bytes become one
// placeholder.
func (r *run) decoded(b []byte, depth int) string {
	if !utf8.Valid(b) {
		return r.names.get("bytes", string(b))
	}
	return r.str(string(b), depth)
}

// bytes redacts an array of byte numbers that holds text.
func (w *writer) bytes(v rawjson.Value) bool {
	var b []byte
	for c := range v.Children() {
		n, err := strconv.ParseUint(string(c.Raw()), 10, 8)
		if err != nil || c.Kind() != rawjson.Number {
			return false
		}
		b = append(b, byte(n))
	}
	text := w.r.decoded(b, w.depth)
	if text == string(b) {
		return true
	}
	out := []byte{'['}
	for i := range len(text) {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendUint(out, uint64(text[i]), 10)
	}
	start, end := v.Range()
	w.edits = append(w.edits, edit{start: start, end: end, text: string(append(out, ']'))})
	return true
}

func isJSONText(s string) bool {
	_, err := rawjson.Parse([]byte(s))
	return err == nil
}
