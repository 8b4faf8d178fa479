package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// denyEdits redacts a text of which nothing is public: what readers look for
// stays (white space at the edges, role markers, tags, terminal control
// sequences, JSON), paths become paths, every other stretch one placeholder.
func (r *run) denyEdits(s string, depth int) []edit {
	edits := r.spare.take()
	from := 0 // start of the stretch that waits
	flush := func(to int) {
		edits = r.stretch(edits, s, from, to)
		from = to
	}
	// take ends the stretch at i and goes on at end. What stands between has
	// its edits made after those of the stretch: placeholders are numbered in
	// the order of the text.
	take := func(i, end int, inside func() []edit) int {
		flush(i)
		if inside != nil {
			edits = append(edits, inside()...)
		}
		from = end
		return end
	}
	js, je := r.embeddedJSON(s, depth)
	if end := roleMarkerAt(s, 0); end > 0 {
		take(0, end, nil)
	}
	for i := from; i < len(s); {
		if i == js {
			i = take(i, je, func() []edit {
				nested, _ := r.jsonEdits(s[js:je], depth+1, false)
				return appendShifted(nil, nested, js)
			})
			continue
		}
		if !r.plodding {
			stop := len(s)
			if js > i {
				stop = js
			}
			if i = calmEnd(s, i, stop); i == stop {
				continue
			}
		}
		switch textClass[s[i]] {
		case plainByte:
			i++
			continue
		case nameByte:
			j, has := nameEnd(s, i)
			if plainName(s[i:j], has) {
				i = j
				continue
			}
			end, text := r.nameOrPlaceAt(s, i)
			if end == 0 {
				i = j
				continue
			}
			flush(i)
			if text != "" {
				edits = append(edits, edit{start: i, end: end, text: text})
			}
			from, i = end, end
			continue
		}
		if end, at, inside := r.markAt(s, i); end > 0 {
			i = take(at, end, inside)
		} else {
			i++
		}
	}
	flush(len(s))
	return edits
}

// nameOrPlaceAt returns the end of the sanitized path, URL or path at i, and what
// replaces it, or "" if it stays.
func (r *run) nameOrPlaceAt(s string, i int) (int, string) {
	if end := inertAt(s, i); end > 0 {
		return end, ""
	}
	if end := urlAt(s, i); end > 0 {
		return end, r.place(s[i:end])
	}
	if end := pathAt(s, i); end > 0 {
		return end, r.mapPathAgain(s[i:end])
	}
	return 0, ""
}

// markAt returns the range of the control sequence, placeholder, tag or role
// marker that the byte at i begins, and what makes the edits inside it.
func (r *run) markAt(s string, i int) (end, start int, inside func() []edit) {
	switch s[i] {
	case 0x1b:
		return escapeAt(s, i), i, nil
	case bell:
		return i + 1, i, nil
	case '\n':
		return roleMarkerAt(s, i+1), i + 1, nil
	}
	if end = placeholderAt(s, i); end > 0 {
		return end, i, nil
	}
	end, inside = r.tagAt(s, i)
	return end, i, inside
}

// stretch appends the edit for the plain text s[from:to]; white space at its
// edges stays.
func (r *run) stretch(edits []edit, s string, from, to int) []edit {
	for from < to && isSpace(s[from]) {
		from++
	}
	for to > from && isSpace(s[to-1]) {
		to--
	}
	if from == to {
		return edits
	}
	return append(edits, edit{start: from, end: to, text: r.place(s[from:to])})
}

// roleMarkerAt finds what the role-marker guard of v0.19.2 finds at the start
// of a line: "## user", "## assistant", "## assist", "## system", not followed
// by a lower-case letter.
func roleMarkerAt(s string, i int) int {
	j := i
	for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		j++
	}
	if !strings.HasPrefix(s[j:], "##") {
		return 0
	}
	k := j + 2
	for k < len(s) && (s[k] == ' ' || s[k] == '\t') {
		k++
	}
	if k == j+2 {
		return 0
	}
	for _, w := range []string{"user", "assistant", "assist", "system"} {
		end := k + len(w)
		if strings.HasPrefix(s[k:], w) && (end == len(s) || s[end] < 'a' || s[end] > 'z') {
			return end
		}
	}
	return 0
}

// tagAt handles the tags that readers act on. Attribute values other than a
// media type are text.
func (r *run) tagAt(s string, i int) (int, func() []edit) {
	for _, t := range []string{"</artifact>", "<tool_call>", "</tool_call>"} {
		if strings.HasPrefix(s[i:], t) {
			return i + len(t), nil
		}
		if end := cutTagAt(s, i, t); end > 0 {
			return end, nil
		}
	}
	const open = "<artifact"
	if end := cutTagAt(s, i, open); end > 0 {
		return end, nil
	}
	if !strings.HasPrefix(s[i:], open) || i+len(open) < len(s) && s[i+len(open)] != ' ' && s[i+len(open)] != '>' {
		return 0, nil
	}
	close := tagEnd(s, i+len(open))
	if close < 0 {
		return i + len(open), nil
	}
	return close + 1, func() []edit { return r.attributes(s, i+len(open), close) }
}

// cutTagAt returns the end of a tag that the end of the text cut, before what
// lengthened the text, or 0.
func cutTagAt(s string, i int, tag string) int {
	n := 0
	for n < len(tag) && i+n < len(s) && s[i+n] == tag[n] {
		n++
	}
	end := i + n
	if n < 2 || n == len(tag) {
		return 0
	}
	rest := end
	if rest < len(s) && s[rest] == ' ' {
		rest++
	}
	if end == len(s) || strings.HasPrefix(s[rest:], leak.PadStart) && placeholderAt(s, rest) == len(s) {
		return end
	}
	return 0
}

// tagEnd returns the place of the bracket that ends a tag; those of
// placeholders do not.
func tagEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch {
		case s[i] == '>':
			return i
		case s[i] == '<':
			if end := placeholderAt(s, i); end > 0 {
				i = end - 1
			}
		}
	}
	return -1
}

// attributes redacts what stands between <artifact and its closing bracket.
func (r *run) attributes(s string, from, to int) []edit {
	var edits []edit
	for at := from; at < to; {
		eq := strings.IndexByte(s[at:to], '=')
		if eq < 0 {
			return r.stretch(edits, s, at, to)
		}
		name := strings.TrimSpace(s[at : at+eq])
		if !map[string]bool{"identifier": true, "type": true, "title": true, "id": true}[name] {
			edits = r.stretch(edits, s, at, at+eq)
		}
		at += eq + 1
		end := to
		if at < to && (s[at] == '"' || s[at] == '\'') {
			if n := strings.IndexByte(s[at+1:to], s[at]); n >= 0 {
				end = at + 1 + n
			}
			at++
		} else if n := strings.IndexByte(s[at:to], ' '); n >= 0 {
			end = at + n
		}
		if !mediaTypes[s[at:end]] && !isInert(s[at:end]) {
			edits = r.stretch(edits, s, at, end)
		}
		at = min(end+1, to)
	}
	return edits
}

var mediaTypes = map[string]bool{"text/html": true, "text/css": true, "image/svg+xml": true, "text/markdown": true, "text/plain": true, "application/json": true}

// escapeAt returns the end of the terminal control sequence at i. Of an OSC
// sequence only the frame counts: its text stays text. No sequence goes on with a
// placeholder: that came behind a text which ended in one.
func escapeAt(s string, i int) int {
	j := i + 1
	if j >= len(s) {
		return j
	}
	switch s[j] {
	case '[':
		for j++; j < len(s) && (isDigit(s[j]) || strings.IndexByte(";:?<=>!\"#$%&'()*+,-./ ", s[j]) >= 0); j++ {
			if placeholderAt(s, j) > 0 {
				return j
			}
		}
		if j < len(s) && s[j] >= 0x40 && s[j] < 0x7f {
			j++
		}
		return j
	case ']':
		for j++; j < len(s) && (isDigit(s[j]) || s[j] == ';'); j++ {
		}
		return j
	}
	if s[j] < utf8.RuneSelf && s[j] != '\n' && placeholderAt(s, j) == 0 {
		return j + 1
	}
	return j
}

// embeddedJSON returns the range of the JSON object that stands inside a text
// ("prefix {…}"), or -1, -1.
func (r *run) embeddedJSON(s string, depth int) (int, int) {
	start := strings.IndexByte(s, '{')
	if start < 0 || depth >= maxNesting {
		return -1, -1
	}
	end := strings.LastIndexByte(s, '}') + 1
	if end <= start+2 || !beginsObject(s[start+1:end]) {
		return -1, -1
	}
	var d rawjson.Doc
	if d.Parse([]byte(s[start:end])) != nil {
		return -1, -1
	}
	return start, end
}

// beginsObject says that a member's name or the end of an object comes next.
func beginsObject(s string) bool {
	c := firstByte(s)
	return c == '"' || c == '}'
}
