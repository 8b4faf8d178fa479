package redact

import "strings"

// secretValue finds the value that belongs to the secret-like name around
// s[at:], as in NAME=value, "name": "value" and name: "two words", also with
// escaped quotes. Deny says that the caller takes any value after "=", as
// redaction does; the leak scan wants one that looks like a secret.
func secretValue(s string, at int, deny bool) (start, end int) {
	s = s[:min(len(s), at+maxNamedValue)]
	i := at
	for i < len(s) && i < at+maxName && (isAlnum(s[i]) || s[i] == '_' || s[i] == '-') {
		i++
	}
	if plural(s[at:i]) {
		return 0, 0
	}
	i, _ = skipQuotes(s, i)
	for i < len(s) && s[i] == ' ' {
		i++
	}
	if i >= len(s) || s[i] != '=' && s[i] != ':' {
		return 0, 0
	}
	assigned := s[i] == '='
	i++
	if i < len(s) && s[i] == '>' {
		i++
	}
	for i < len(s) && s[i] == ' ' {
		i++
	}
	start, quoted := skipQuotes(s, i)
	end = valueEnd(s, start, quoted)
	for !quoted && end > start && strings.IndexByte(".:!?", s[end-1]) >= 0 {
		end--
	}
	v := s[start:end]
	switch {
	case len(v) < 4 || !notInert(v) || allDigits(v) || isEnvName(v):
		return 0, 0
	case deny && assigned, secretLike(v, quoted):
		return start, end
	}
	return 0, 0
}

// Bounds of a name and of its value: what is longer is neither, and the scan
// stays linear.
const (
	maxName       = 64
	maxNamedValue = 4096
)

// plural names count things ("tokens used: 12"), they do not hold one.
func plural(name string) bool {
	n := strings.ToLower(name)
	return strings.HasPrefix(n, "tokens") || strings.HasPrefix(n, "token_count") || strings.HasPrefix(n, "token_usage") || strings.HasPrefix(n, "tokenization") || strings.HasPrefix(n, "secrets") || strings.HasPrefix(n, "credentials")
}

// secretName says that a member's name has a secret-like word in it.
func secretName(key string) bool {
	k := strings.ToLower(key)
	for _, w := range secretWords {
		if strings.Contains(k, w) {
			return true
		}
	}
	return false
}

func skipQuotes(s string, i int) (int, bool) {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if j < len(s) && (s[j] == '"' || s[j] == '\'') {
		return j + 1, true
	}
	return i, false
}

func valueEnd(s string, i int, quoted bool) int {
	for i < len(s) {
		c := s[i]
		if c == '"' || c < 0x20 || c == '\\' && (!quoted || i+1 < len(s) && strings.IndexByte(`"nrt\u`, s[i+1]) >= 0) {
			return i
		}
		if !quoted && (c == ' ' || c == ',' || c == ';' || c == ')' || c == '}' || c == ']' || c == '\'' || c == '&' || c == '<' || c == '`') {
			return i
		}
		if quoted && c == '\'' {
			return i
		}
		i++
	}
	return i
}

// secretLike keeps words of prose and enum values out of the leak scan.
func secretLike(v string, quoted bool) bool {
	if len(v) < 8 || strings.Contains(v, "://") || strings.HasPrefix(v, "/") || strings.Contains(v, "***") {
		return false
	}
	return mixed(v) && (strings.ContainsAny(v, "0123456789") || entropy(v) >= 3.5 && !identifier(v))
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != '.' && s[i] != '%' {
			return false
		}
	}
	return true
}

// identifier says that s is made of words, as enum values and names are.
func identifier(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '_' && s[i] != '-' && s[i] != ' ' && s[i] != '.' {
			return false
		}
	}
	return true
}

// isEnvName says that s names a variable: OPENAI_API_KEY.
func isEnvName(s string) bool {
	under := false
	for i := range len(s) {
		c := s[i]
		if c == '_' {
			under = true
		} else if !(c >= 'A' && c <= 'Z' || isDigit(c) && under) {
			return false
		}
	}
	return under
}
