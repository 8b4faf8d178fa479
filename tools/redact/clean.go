package redact

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// clean says fast that a text holds nothing that any view of the scan would
// find. It reads the text as a whole: as it stands, and with its backslash
// escapes decoded until none is left, which shows JSON inside JSON at every
// depth. The scan proper, which knows places, runs only when this one is not
// content.
func (s *Scanner) clean(b []byte) bool {
	text := string(b)
	level := text
	for depth := 0; ; depth++ {
		if s.dirty(level) {
			return false
		}
		if depth == maxViews || strings.IndexByte(level, '\\') < 0 {
			break
		}
		next := unescapeLoosely(level)
		if next == level {
			break
		}
		level = next
	}
	return !s.dirtyForms(level, 0) && !s.dirtyFrames(b)
}

func (s *Scanner) dirty(text string) bool {
	found := false
	s.matches(text, false, func(match) { found = true })
	return found
}

// dirtyForms looks at the encodings other than JSON.
func (s *Scanner) dirtyForms(text string, depth int) bool {
	if depth > maxViews {
		return false
	}
	nested := func(t string) bool { return s.dirty(t) || s.dirtyForms(t, depth+1) }
	if strings.IndexByte(text, 0) >= 0 {
		if nested(strings.ReplaceAll(text, "\x00", "")) {
			return true
		}
	}
	if strings.IndexByte(text, 0x1b) >= 0 && nested(stripANSI(text)) {
		return true
	}
	if strings.IndexByte(text, '%') >= 0 {
		if d := looseUnescape(text); d != text && nested(d) {
			return true
		}
	}
	dirty := false
	eachRun(text, func(i, j int) bool {
		for _, d := range decodeRun(text[i:j]) {
			if strings.IndexByte(d, '\\') >= 0 && s.dirty(unescapeLoosely(d)) {
				dirty = true
			}
			dirty = dirty || nested(d)
		}
		return !dirty
	})
	return dirty
}

// dirtyFrames looks at what only frames show: texts in pieces and arrays of
// bytes.
func (s *Scanner) dirtyFrames(b []byte) bool {
	pieces := false
	for _, p := range s.joins {
		pieces = pieces || bytes.Contains(b, []byte(p.marker))
	}
	if !pieces && !hasByteArray(string(b)) {
		return false
	}
	v := &view{s: s, seen: map[Finding]bool{}}
	var d rawjson.Doc
	for line := range bytes.Lines(b) {
		text := string(line)
		if !v.hasPieces(text) && !hasByteArray(text) {
			continue
		}
		if d.Parse(line) == nil {
			v.frames(d.Root(), 0)
		}
	}
	v.joined()
	return len(v.found) > 0
}

// frames reads the pieces and byte arrays of a frame and of the frames in its
// strings, as the records of a transcript hold them.
func (v *view) frames(x rawjson.Value, depth int) {
	v.pieces(x, span{})
	v.inside(x, depth)
}

func (v *view) inside(x rawjson.Value, depth int) {
	switch x.Kind() {
	case rawjson.Array:
		if b, ok := byteArray(x); ok {
			v.text(string(b), "bytes", span{}, 1)
			return
		}
	case rawjson.String:
		if depth < maxViews && bytes.IndexByte(x.Raw(), '\\') >= 0 {
			if c := firstByte(string(x.Raw()[1:])); c == '{' || c == '[' {
				if n, err := rawjson.Parse([]byte(x.Str())); err == nil {
					v.frames(n, depth+1)
				}
			}
		}
	}
	for c := range x.Children() {
		v.inside(c, depth)
	}
}
