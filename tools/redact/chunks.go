package redact

import "strings"

// maxChunk is the length up to which a word with its punctuation is remembered.
const maxChunk = 48

// chunkAt returns the end of the word at i, up to white space, and what is
// replaced in it, if that depends on nothing around it: most of a text is words
// that come again and again.
func (r *run) chunkAt(s string, i int) (end int, edits []edit, ok bool) {
	end = i
	for end < len(s) && !isSpace(s[end]) {
		end++
	}
	if end-i > maxChunk {
		return 0, nil, false
	}
	w := s[i:end]
	if edits, ok = r.chunks.get(w); ok {
		return end, edits, true
	}
	if !standsAlone(w) {
		return 0, nil, false
	}
	for k := 0; k < len(w); {
		next, text := r.tokenAt(w, k)
		if text != "" {
			edits = append(edits, edit{start: k, end: next, text: text})
		}
		k = next
	}
	r.chunks.put(w, edits)
	return end, edits, true
}

// standsAlone says that nothing in a word depends on the words beside it, as
// numbers beside a measure, times, phrases and home folders with spaces do.
func standsAlone(w string) bool {
	if strings.Contains(w, "/home/") || strings.Contains(w, "/Users/") {
		return false
	}
	for i := 0; i < len(w); {
		c := w[i]
		switch {
		case c == '<':
			end := placeholderAt(w, i)
			if end == 0 {
				return false
			}
			i = end
			continue
		case isDigit(c):
			end := i
			for end < len(w) && isDigit(w[end]) {
				end++
			}
			if end-i > 3 {
				return false
			}
			i = end
			continue
		case c >= 0x7f || c <= ' ' || c == '\\':
			return false
		}
		i++
	}
	return true
}
