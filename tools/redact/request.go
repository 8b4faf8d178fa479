package redact

import "strings"

// requestKeys are names under which CLIs and their libraries repeat what they
// sent to a model: prompts, files, answers. Nothing below one of them is a word
// of the CLI (a public report, case 101: the AI SDK logs requestBodyValues).
// Not "prompt": errors of ACP adapters name their cause under it.
var requestKeys = map[string]bool{
	"requestBodyValues": true, "requestBody": true, "request_body": true, "systemPrompt": true, "system_prompt": true,
	"systemInstruction": true, "system_instruction": true,
}

// appendRequests adds the strings below such a name in a text, be it spelled as
// JSON, as JSON inside a string, or as Node prints an object.
func appendRequests(found []edit, s string) []edit {
	if !mayRequest(s) {
		return found
	}
	for i := 0; i < len(s); {
		if !isAlnum(s[i]) && s[i] != '_' {
			i++
			continue
		}
		end := i
		for end < len(s) && (isAlnum(s[end]) || s[end] == '_') {
			end++
		}
		word := s[i:end]
		i = end
		if !requestKeys[word] {
			continue
		}
		if from, escapes := valueAfter(s, end); from > 0 {
			found, i = appendValue(found, s, from, escapes)
		}
	}
	return found
}

// mayRequest says that a word of s may be one of requestKeys: a capital or an
// underscore goes on behind a stem. Each stem is looked for by a rare letter.
func mayRequest(s string) bool {
	return mayStem(s, "request", 2) || mayStem(s, "system", 1)
}

func mayStem(s, stem string, rare int) bool {
	for at := rare; at < len(s); at++ {
		n := strings.IndexByte(s[at:], stem[rare])
		if n < 0 {
			return false
		}
		at += n
		if rest := s[at-rare:]; len(rest) > len(stem) && strings.HasPrefix(rest, stem) {
			switch rest[len(stem)] {
			case '_', 'B', 'P', 'I':
				return true
			}
		}
	}
	return false
}

// valueAfter returns where the value of a member begins whose name ends at i,
// and how many backslashes stand before a quotation mark there; 0 if the word is
// no name or its value no string, array or object.
func valueAfter(s string, i int) (from, escapes int) {
	for i < len(s) && s[i] == '\\' {
		i, escapes = i+1, escapes+1
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		i++
	} else if escapes > 0 {
		return 0, 0
	}
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	if i == len(s) || s[i] != ':' {
		return 0, 0
	}
	for i++; i < len(s) && isSpace(s[i]); i++ {
	}
	if j := i + escapes; i < len(s) && (s[i] == '{' || s[i] == '[' || j < len(s) && isQuote(s[j])) {
		return i, escapes
	}
	return 0, 0
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// appendValue adds the strings of the value at from that are no names of
// members, and returns where the value ends: with the text if it is cut.
func appendValue(found []edit, s string, from, escapes int) ([]edit, int) {
	depth, i := 0, from
	for i < len(s) {
		switch c := s[i]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case isQuote(c):
			end := closing(s, i+1, c, escapes)
			if rest := strings.TrimLeft(s[min(end+1, len(s)):], " \t"); !strings.HasPrefix(rest, ":") {
				found = appendSpoken(found, s, i+1, max(i+1, end-escapes))
			}
			i = end
		}
		i++
		if depth <= 0 && (i > len(s) || s[i-1] == '}' || s[i-1] == ']' || isQuote(s[i-1])) {
			break
		}
	}
	return found, min(i, len(s))
}

// closing returns the place of the quotation mark that ends the string at i:
// the one with as many backslashes before it as the string's first had.
func closing(s string, i int, quote byte, escapes int) int {
	for back := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			back++
			continue
		case s[i] == quote && (back == escapes || escapes == 0 && back%2 == 0):
			return i
		}
		back = 0
	}
	return i
}
