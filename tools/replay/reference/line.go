package reference

import (
	"bytes"
	"errors"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// Deviations that only a reading finds.
const (
	DeviationNonJSONPrefix = "non_json_prefix"
	DeviationLineSeparator = "unicode_line_separator" // U+2028 or U+2029, which some line splitters cut at
)

var (
	lineSeparator      = []byte("\u2028")
	paragraphSeparator = []byte("\u2029")
)

// line is one stdout line after framing.
type line struct {
	text       []byte // without line end, terminal sequences and NULs
	frame      rawjson.Value
	isFrame    bool
	deviations []string
}

// framer turns lines into frames. The frame of a line is valid until the next
// one.
type framer struct {
	doc rawjson.Doc
}

// read parses one line. known are the deviations that the recorder noted.
func (f *framer) read(raw []byte, known []string) line {
	l := line{deviations: append([]string(nil), known...)}
	ended := bytes.HasSuffix(raw, []byte("\n"))
	l.text = bytes.TrimSuffix(raw, []byte("\n"))
	if t, ok := bytes.CutSuffix(l.text, []byte("\r")); ok {
		l.text = t
		l.deviate(transcript.DeviationCRLF)
	}
	l.clean()
	l.text = bytes.TrimSpace(l.text)
	if len(l.text) == 0 {
		return l
	}
	err := f.doc.Parse(l.text)
	if err != nil {
		err = f.afterPrefix(&l, err)
	}
	if err == nil {
		l.frame = f.doc.Root()
		k := l.frame.Kind()
		l.isFrame = k == rawjson.Object || k == rawjson.Array
	}
	switch {
	case err != nil && !ended && incomplete(err, len(l.text)):
		l.deviate(transcript.DeviationTruncatedTail)
	case !l.isFrame:
		l.deviate(transcript.DeviationNotJSON)
	default:
		if duplicateKeys(l.frame, l.text) {
			l.deviate(transcript.DeviationDuplicateKey)
		}
		if bytes.IndexByte(l.text, lineSeparator[0]) >= 0 && (bytes.Contains(l.text, lineSeparator) || bytes.Contains(l.text, paragraphSeparator)) {
			l.deviate(DeviationLineSeparator)
		}
	}
	return l
}

func (l *line) deviate(name string) {
	for _, d := range l.deviations {
		if d == name {
			return
		}
	}
	l.deviations = append(l.deviations, name)
}

// clean removes what cannot be part of JSON: terminal sequences and NULs.
func (l *line) clean() {
	if bytes.IndexByte(l.text, 0x1b) >= 0 {
		l.text = stripTerminal(l.text)
		l.deviate(transcript.DeviationANSI)
	}
	if bytes.IndexByte(l.text, 0) >= 0 {
		l.text = bytes.ReplaceAll(l.text, []byte{0}, nil)
		l.deviate(transcript.DeviationNUL)
	}
}

// afterPrefix looks for an object behind words on the same line, as CLIs print
// when a notice lacks its line break. It returns the first error if there is
// none.
func (f *framer) afterPrefix(l *line, first error) error {
	i := bytes.Index(l.text, []byte(`{"`))
	if i <= 0 {
		return first
	}
	if err := f.doc.Parse(l.text[i:]); err != nil {
		return first
	}
	l.text = l.text[i:]
	l.deviate(DeviationNonJSONPrefix)
	return nil
}

func incomplete(err error, length int) bool {
	var syntax *rawjson.SyntaxError
	return errors.As(err, &syntax) && syntax.Incomplete(length)
}

// stripTerminal removes CSI and OSC sequences and other two-byte escapes. What
// it returns is b if there are none.
func stripTerminal(b []byte) []byte {
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != 0x1b {
			out = append(out, b[i])
			continue
		}
		if i+1 >= len(b) {
			break
		}
		i++
		switch b[i] {
		case '[':
			for i++; i < len(b) && (b[i] < 0x40 || b[i] > 0x7e); i++ {
			}
		case '(', ')', '*', '+', '-', '.', '/', '#', '%', ' ':
			i++ // the character set or mode that is chosen
		case ']', 'P', '_', '^':
			for i++; i < len(b) && b[i] != 0x07; i++ {
				if b[i] == 0x1b {
					i++ // the string terminator ESC \
					break
				}
			}
		}
	}
	return out
}

// manyKeys is the size from which a map is faster than comparing each key
// with all before it.
const manyKeys = 24

// duplicateKeys reports whether any object of the value repeats a key, as it
// is spelled. text is what was parsed.
func duplicateKeys(v rawjson.Value, text []byte) bool {
	var keys [manyKeys][]byte
	var many map[string]bool
	n := 0
	object := v.Kind() == rawjson.Object
	for m := range v.Children() {
		if object {
			from, to := m.KeyRange()
			key := text[from:to]
			if many == nil {
				for _, k := range keys[:n] {
					if bytes.Equal(k, key) {
						return true
					}
				}
			}
			if n < manyKeys {
				keys[n] = key
				n++
			} else {
				if many == nil {
					many = make(map[string]bool, 2*manyKeys)
					for _, k := range keys {
						many[string(k)] = true
					}
				}
				if many[string(key)] {
					return true
				}
				many[string(key)] = true
			}
		}
		if k := m.Kind(); (k == rawjson.Object || k == rawjson.Array) && duplicateKeys(m, text) {
			return true
		}
	}
	return false
}
