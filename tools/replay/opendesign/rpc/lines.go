// Package rpc has the parts of OpenDesign v0.19.2's ACP and Pi sessions that
// need no session: the framing of stdout, the choice of a permission and the
// names of usage members (report on OpenDesign v0.19.2, section 3).
package rpc

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

const (
	maxJoinedUnits = 128_000 // UTF-16 units of one message
	maxJoinedLines = 256
)

// Lines frames stdout: one JSON value a line, or one that stretches over
// several lines. Everything else is dropped without a word.
type Lines struct {
	partial []byte
	joined  []string // lines that may be the beginning of one value
	doc     rawjson.Doc
}

// Feed returns the messages that the chunk completes, as their text: a line,
// or several trimmed lines joined by line feeds.
func (l *Lines) Feed(chunk []byte) []string {
	var messages []string
	for {
		line, rest, found := bytes.Cut(chunk, []byte{'\n'})
		l.partial = append(l.partial, line...)
		if !found {
			return messages
		}
		messages = l.line(messages, jstext.Trim(jstext.Decode(l.partial)))
		l.partial, chunk = l.partial[:0], rest
	}
}

// Flush returns what is left when stdout closes.
func (l *Lines) Flush() []string {
	messages := l.line(nil, jstext.Trim(jstext.Decode(l.partial)))
	l.partial = nil
	if len(l.joined) == 0 {
		return messages
	}
	if whole := strings.Join(l.joined, "\n"); l.valid(whole) {
		l.joined = nil
		return append(messages, whole)
	}
	return l.giveUp(messages)
}

func (l *Lines) valid(text string) bool { return l.doc.ParseText(text) == nil }

func (l *Lines) line(messages []string, line string) []string {
	if line == "" {
		return messages
	}
	if len(l.joined) > 0 {
		whole := strings.Join(l.joined, "\n") + "\n" + line
		switch {
		case l.valid(whole):
			l.joined = nil
			return append(messages, whole)
		case unfinished(whole) && rawjson.UTF16Len(whole) <= maxJoinedUnits && len(l.joined) < maxJoinedLines:
			l.joined = append(l.joined, line)
			return messages
		}
		messages = l.giveUp(messages)
	}
	switch {
	case l.valid(line):
		return append(messages, line)
	case (line[0] == '{' || line[0] == '[') && unfinished(line):
		l.joined = []string{line}
	}
	return messages
}

// giveUp treats every joined line as one of its own.
func (l *Lines) giveUp(messages []string) []string {
	for _, line := range l.joined {
		if l.valid(line) {
			messages = append(messages, line)
		}
	}
	l.joined = nil
	return messages
}

// unfinished reports whether the text may be the beginning of a JSON value.
// It is laxer than JSON: a string may hold anything, and a comma may stand
// before a closing bracket.
func unfinished(s string) bool {
	const (
		value = iota
		valueOrEnd
		keyOrEnd
		colon
		next
	)
	var open []byte
	want := value
	for i := 0; i < len(s); {
		if n := spaceLen(s[i:]); n > 0 {
			i += n
			continue
		}
		c := s[i]
		switch {
		case want == next && len(open) == 0:
			return false // something behind the value
		case (c == '}' || c == ']') && len(open) > 0 && closes(open[len(open)-1], c) && want != value && want != colon:
			open = open[:len(open)-1]
			want = next
			i++
		case want == next && c == ',':
			want = valueOrEnd
			if open[len(open)-1] == '{' {
				want = keyOrEnd
			}
			i++
		case want == colon && c == ':':
			want = value
			i++
		case want == keyOrEnd && c == '"':
			end := stringEnd(s, i)
			if end < 0 {
				return true
			}
			want, i = colon, end
		case want == value || want == valueOrEnd:
			if c == '{' || c == '[' {
				open = append(open, c)
				want = keyOrEnd
				if c == '[' {
					want = valueOrEnd
				}
				i++
				continue
			}
			end, cut := scalarEnd(s, i)
			if cut || end < 0 {
				return cut
			}
			want, i = next, end
		default:
			return false
		}
	}
	return want != next || len(open) > 0
}

func spaceLen(s string) int {
	for i, r := range s {
		if !jstext.IsSpace(r) {
			return i
		}
	}
	return len(s)
}

func closes(open, c byte) bool { return open == '{' && c == '}' || open == '[' && c == ']' }

// stringEnd returns where the string that starts at i ends, or -1 if it does
// not.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// scalarEnd returns where the string, number or word at i ends, or -1 if it
// is none; cut says that the text ends within it. A number is never cut.
func scalarEnd(s string, i int) (end int, cut bool) {
	if s[i] == '"' {
		end := stringEnd(s, i)
		return end, end < 0
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(s[i:], word) {
			return i + len(word), false
		}
		if strings.HasPrefix(word, s[i:]) {
			return -1, true
		}
	}
	return numberEnd(s, i), false
}

// numberEnd returns where the number at i ends, or -1 if there is none.
func numberEnd(s string, i int) int {
	if s[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return -1
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}
