package external

import (
	"errors"
	"strings"
)

// Prefix marks a command whose first word looks like the name of an adapter.
const Prefix = "exec:"

// IsCommand reports whether a value of --adapter is a command and no name: it
// has the prefix, a path separator or white space, which no name has.
func IsCommand(s string) bool {
	return strings.HasPrefix(s, Prefix) || strings.ContainsAny(s, "/\\ \t")
}

// Split cuts a command into its words at white space. Single or double quotes
// keep white space together; nothing else is special, and no shell sees the
// command. The error says what to change.
func Split(command string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, c := range strings.TrimPrefix(command, Prefix) {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("the adapter's command has a quote that does not end")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("the adapter's command names no program")
	}
	return words, nil
}
