package redact

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// maxLine is how long a line is read as more than one text, in bytes.
var maxLine = 64 << 20

// maxPreview is how many words of one unclear place are shown, masked.
const maxPreview = 8

// parse reads a line. why says that it cannot be read as what it is: whose words
// it holds is then unknown, so it is replaced as if the model had said it, and a
// person must look. What a run with our own provider holds is known.
func (r *run) parse(rec *transcript.Record, body []byte) (json bool, why string) {
	if len(body) > maxLine {
		return false, "is too long to be read"
	}
	open := body[0] == '{' || body[0] == '['
	if open || !r.d.plain { // in a plain dialect only an object or array is more than text
		err := r.doc.Parse(body)
		if err == nil {
			return true, ""
		}
		if errors.Is(err, rawjson.ErrDepth) {
			return false, "nests too deeply to be read"
		}
	}
	if r.in.Hermetic || rec.Stream == transcript.Stdin {
		return false, ""
	}
	if !utf8.Valid(body) {
		return false, "is not UTF-8"
	}
	if r.d.plain || !open || rec.Stream == transcript.Stderr || body[0] == '[' && !strings.ContainsRune("{[\"", rune(firstByte(string(body[1:])))) { // [INFO] and the like
		return false, ""
	}
	if whole, ok := completeJSON(string(body)); ok && r.doc.Parse(whole) == nil {
		return false, "" // cut off, which says where its texts stand
	}
	return false, "begins like JSON and is none"
}

// deny replaces a line that cannot be read.
func (r *run) deny(rec *transcript.Record, body []byte, why string) string {
	s := string(body)
	out := s
	switch {
	case isInert(s):
	case !utf8.ValidString(s):
		out = r.names.get("bytes", s)
	default:
		out = r.place(s)
	}
	if out != s {
		r.doubt(fmt.Sprintf("record %d, on %s, %s", r.frame+1, rec.Stream, why), s)
	}
	return out
}

// doubt notes that a person must look, and at what, masked.
func (r *run) doubt(why, what string) {
	if r.quiet || r.unsure[why] || len(r.unsure) >= 100 {
		return
	}
	r.unsure[why] = true
	what = strings.TrimLeft(what, "[{\" \t")
	what = what[:min(len(what), 4096)]
	for n, w := range strings.FieldsFunc(what, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
		if n == maxPreview {
			r.preview = append(r.preview, "…")
			break
		}
		r.preview = append(r.preview, mask(w))
	}
}

// Replaced are words of a raw transcript that its sanitized form lacks, masked,
// sorted, and at most 24 of them: what somebody looks at who wonders why the two
// read differently. Words with digits, such as ids, are left out.
func Replaced(raw, clean *transcript.Transcript) []string {
	kept, out := map[string]bool{}, []string{}
	each := func(t *transcript.Transcript, f func(string)) {
		for i := range t.Records {
			if t.Records[i].Stream == transcript.Stdin {
				continue
			}
			for _, w := range strings.FieldsFunc(string(t.Records[i].Line()), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
				f(w)
			}
		}
	}
	each(clean, func(w string) { kept[w] = true })
	each(raw, func(w string) {
		if !kept[w] && len(w) > 2 && utf8.ValidString(w) && !strings.ContainsFunc(w, unicode.IsNumber) {
			kept[w] = true
			out = append(out, mask(w))
		}
	})
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(24, len(out))]
}

// fault is the error of a panic. What was panicked with may hold a byte of the
// transcript, unless the run time made it.
func (r *run) fault(p any) error {
	what := "a fault"
	if e, ok := p.(runtime.Error); ok {
		what = e.Error()
	}
	return fmt.Errorf("redacting record %d failed, which is our mistake: %s", r.frame+1, what)
}
