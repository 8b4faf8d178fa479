package leak

import "strings"

// secretValue finds the value of the secret-like name around s[start:end].
// Deny says that the caller takes any value behind "=", as redaction does; the
// leak scan wants one that looks like a secret.
func secretValue(_ *rule, s string, start, end int, deny bool) (int, int) {
	if end < len(s) && (s[end] == 's' || s[end] == 'S') && (end+1 == len(s) || !isAlnum(s[end+1])) { // most hits: tokens
		if plural(s[start : end+1]) {
			return 0, 0
		}
	}
	if end-start == len("pass") && lower(s[start]) == 'p' && (end < len(s) && isLetter(s[end]) || !passName(s, start)) {
		return 0, 0
	}
	v, ok := assignment(s, start, end)
	if !ok || plural(s[start:end]+v.name) || deny && v.flag {
		return 0, 0
	}
	text := s[v.start:v.end]
	switch {
	case len(text) < 4 || !notInert(text) || allDigits(text) || isEnvName(text) || v.loose && !random(text):
		return 0, 0
	case deny && v.equals, secretLike(text) && (deny || !reference(text, v.quoted)):
		return v.start, v.end
	}
	return 0, 0
}

// reference says that a value names where a secret comes from and holds none:
// {api_key}, sk-ant-{key}, ${TOKEN}, $TOKEN, %TOKEN%, env[name], load(file).
func reference(v string, quoted bool) bool {
	if _, rest, ok := strings.Cut(v, "{"); ok {
		name, _, closed := strings.Cut(rest, "}")
		if closed && name != "" && identifier(strings.NewReplacer(":", "", "$", "", "{", "").Replace(strings.TrimRight(name, "0123456789"))) {
			return true
		}
	}
	if v[0] == '%' { // a password may hold two percent signs
		if name, rest, ok := strings.Cut(v[1:], "%"); ok && rest == "" && identifier(strings.TrimRight(name, "0123456789")) {
			return true
		}
	}
	if v[0] == '$' && len(v) > 1 && (identifier(strings.TrimRight(v[1:], "0123456789"))) {
		return true
	}
	if pattern(v) || version(v) || v[len(v)-1] == '-' || v[len(v)-1] == '_' { // the last: a token goes on elsewhere
		return true
	}
	if quoted {
		return false
	}
	if identifierDigits(v) && strings.HasSuffix(lowerASCII(v), "key") { // a name in code that ends as the member does
		return true
	}
	i := 0
	for i < len(v) && (isAlnum(v[i]) || v[i] == '_' || v[i] == '.') {
		i++
	}
	return i > 0 && isLetter(v[0]) && i < len(v) && (v[i] == '[' || v[i] == '(' || v[i] == '{')
}

// pattern says that a value is an expression for texts and none itself: it has
// a class of letters and how many of them.
func pattern(v string) bool {
	if strings.Contains(v, "(?:") {
		return true
	}
	i := strings.IndexByte(v, '[')
	return i >= 0 && (strings.Contains(v[i:], "-z") || strings.Contains(v[i:], "-Z") || strings.Contains(v[i:], "-9") || strings.Contains(v[i:], "[^"))
}

// version knows 2.1.332, v0.148.0-alpha.9 and 2025.11.06-8fe8a63.
func version(v string) bool {
	v = strings.TrimPrefix(v, "v")
	i, dots := 0, 0
	for i < len(v) && (isDigit(v[i]) || v[i] == '.') {
		if v[i] == '.' {
			dots++
		}
		i++
	}
	return dots >= 1 && isDigit(v[0]) && len(v)-i <= 20 && (i == len(v) || v[i] == '-' || v[i] == '+')
}

// longName is longer than the names of code that stand behind a provider's.
const longName = 32

// namedValue finds a value of the rule's grammar behind the provider's name.
func namedValue(r *rule, s string, start, end int, _ bool) (int, int) {
	v, ok := assignment(s, start, end)
	if !ok || v.loose || v.flag && !v.quoted {
		return 0, 0
	}
	m := r.compiled().FindStringIndex(s[v.start:min(len(s), v.start+maxNamedValue)])
	if m == nil {
		return 0, 0
	}
	a, b := v.start, v.start+m[1]
	if b < len(s) && (isAlnum(s[b]) || strings.IndexByte("_-./=", s[b]) >= 0) || !mixed(s[a:b]) || b-a < longName && identifier(s[a:b]) {
		return 0, 0
	}
	return a, b
}

// plural names count things ("tokens used: 12"), they do not hold one.
func plural(name string) bool {
	n := strings.ToLower(name)
	for _, p := range []string{"tokens", "token_count", "token_usage", "tokenization", "secrets", "credentials"} {
		if strings.HasPrefix(n, p) {
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

// secretLike keeps words of prose, code and enum values out of the leak scan.
func secretLike(v string) bool {
	if len(v) < 8 || strings.Contains(v, "://") || v[0] == '/' && path(v) || strings.Contains(v, "***") {
		return false
	}
	return mixed(v) && (strings.ContainsAny(v, "0123456789") || !identifier(v) && (entropy(v) >= 3.5 || len(v) >= minLetters && bothCases(v)) || randomLetters(v))
}

// path says that a value that begins with a slash is a place of files: a key in
// base64 has large and small letters and digits, and never a point.
func path(v string) bool {
	upper, lower, digit, other := bytesOf(strings.NewReplacer("/", "", "+", "", "=", "").Replace(v))
	return other || !upper || !lower || !digit
}

// bothCases says that v has large and small letters.
func bothCases(v string) bool {
	upper, lower, _, _ := bytesOf(v)
	return upper && lower
}

// minLetters is the length from which letters alone are taken for a key.
const minLetters = 16

// randomLetters says that a value is one word of large and small letters that
// are no words: their size changes more often than in a name (fromEnvironment).
func randomLetters(v string) bool {
	if len(v) < minLetters {
		return false
	}
	changes := 0
	for i := range len(v) {
		if !isLetter(v[i]) {
			return false
		}
		if i > 0 && v[i]&0x20 != v[i-1]&0x20 {
			changes++
		}
	}
	return changes*4 >= len(v)
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

// identifierDigits says that s is a name of code, which may have digits.
func identifierDigits(s string) bool {
	return isLetter(s[0]) && identifier(strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return 'x'
		}
		return c
	}, s))
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
