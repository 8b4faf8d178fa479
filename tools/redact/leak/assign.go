package leak

import "strings"

// Bounds of a name and of its value: what is longer is neither, and the scan
// stays linear.
const (
	maxName       = 64
	maxNamedValue = 4096
	maxBetween    = 24 // a name and the member that holds its value
)

// assigned is a value that stands behind a name, as in NAME=value,
// "name": "value" and name: "two words", also with escaped quotes.
type assigned struct {
	name       string // what stands of the name from the keyword on
	start, end int
	quoted     bool
	equals     bool // behind "=", not ":"
	flag       bool // behind a space: --name value
	loose      bool // behind a space, as words of prose stand
}

func assignment(s string, start, end int) (v assigned, ok bool) {
	s = s[:min(len(s), end+maxNamedValue)]
	i := end
	for i < len(s) && i < end+maxName && (isAlnum(s[i]) || s[i] == '_' || s[i] == '-') {
		i++
	}
	v.name = s[end:i]
	nameEnd := i
	i, quoted := skipQuotes(s, i)
	i = skipMarks(s, i)
	spaces := i
	i = skipSpaces(s, i)
	if i >= len(s) {
		return v, false
	}
	switch c := s[i]; {
	case pairValue(s, spaces) > 0: // "name": "password", "value": "…"
		i = pairValue(s, spaces)
	case c == '=' || c == ':':
		v.equals = c == '='
		i = skipSpaces(s, skipMarks(s, skipEquals(s, i)))
		if t := typeEnd(s, i); c == ':' && t > 0 { // const token: string = "…"
			i = t
		}
	case c == '|' && isCell(s, i): // a cell of a table
		i = skipSpaces(s, i+1)
	case c == '>' && i == nameEnd && isElement(s, start): // <password>…</password>
		v.start, v.end = i+1, valueEnd(s, i+1, false)
		return v, v.end > v.start && strings.HasPrefix(s[v.end:], "</")
	case c == '(' && i == nameEnd && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\''): // withPassword("…")
		i++
	case i == spaces+1 && isFlag(s, start):
		v.flag = true
	case i > spaces && !quoted:
		v.loose = true
		for _, is := range []string{"is ", "was "} {
			if strings.HasPrefix(s[i:], is) {
				i += len(is)
			}
		}
	default:
		return v, false
	}
	v.start, v.quoted = skipQuotes(s, skipMarks(s, i))
	v.end = valueEnd(s, v.start, v.quoted)
	for !v.quoted && v.end > v.start && strings.IndexByte(".:!?*", s[v.end-1]) >= 0 {
		v.end--
	}
	return v, v.end > v.start
}

func skipSpaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// skipMarks passes over what Markdown sets around names and values.
func skipMarks(s string, i int) int {
	for j := i; j < len(s) && j < i+3; j++ {
		if s[j] != '`' && s[j] != '*' {
			return j
		}
	}
	return i
}

func skipEquals(s string, i int) int {
	i++
	if i < len(s) && (s[i] == '>' || s[i] == '=') {
		i++
	}
	return i
}

// typeEnd returns where the value of a declaration begins whose type stands at
// s[i:], as in string = "…" and &'static str = "…", or 0.
func typeEnd(s string, i int) int {
	j := i
	for j < len(s) && j < i+maxBetween && (isLetter(s[j]) || strings.IndexByte("&'<>[]?.| ", s[j]) >= 0) {
		j++
	}
	if j == i || j >= len(s) || s[j] != '=' || strings.HasPrefix(s[j:], "==") {
		return 0
	}
	j = skipSpaces(s, j+1)
	if j < len(s) && (s[j] == '"' || s[j] == '\'' || s[j] == '\\') {
		return j
	}
	return 0
}

// pairValue returns where the value of a name begins that stands as a value
// itself, beside a member with its own: {"name":"TOKEN","value":"…"},
// key="token" value="…", and "token": {"value": "…"}. Otherwise 0.
func pairValue(s string, i int) int {
	j := i
	for j < len(s) && j < i+maxBetween && strings.IndexByte(" \t\r\n,:\"'{->\\", s[j]) >= 0 {
		j++
	}
	if j == i {
		return 0
	}
	for _, word := range []string{"value", "Value", "VALUE", "val"} {
		end := j + len(word)
		if !strings.HasPrefix(s[j:], word) || end >= len(s) || isAlnum(s[end]) {
			continue
		}
		k, _ := skipQuotes(s, end)
		flag := k == end && j >= 2 && s[j-2:j] == "--" && s[k] == ' '
		if k = skipSpaces(s, k); flag {
			return k
		}
		if k < len(s) && (s[k] == ':' || s[k] == '=') {
			return skipSpaces(s, k+1)
		}
	}
	return 0
}

// isCell says that the bar at s[i] ends the cell of a table, in which another one
// stands before the name.
func isCell(s string, i int) bool {
	from := strings.LastIndexAny(s[max(0, i-2*maxName):i], "|\n")
	return from >= 0 && s[max(0, i-2*maxName)+from] == '|' && i+1 < len(s) && s[i+1] == ' '
}

// nameStart returns where the name begins that holds s[at].
func nameStart(s string, at int) int {
	i := at
	for i > 0 && at-i < maxName && (isAlnum(s[i-1]) || s[i-1] == '-' || s[i-1] == '_') {
		i--
	}
	return i
}

// isElement says that the name that holds s[at] is that of an element of XML.
func isElement(s string, at int) bool {
	i := nameStart(s, at)
	return i > 0 && (s[i-1] == '<' || s[i-1] == ':' || s[i-1] == '.')
}

// isFlag says that the name that holds s[at] begins with a dash, and none stands
// before that.
func isFlag(s string, at int) bool {
	i := nameStart(s, at)
	return i < len(s) && s[i] == '-' && (i == 0 || !isAlnum(s[i-1]))
}

// passName says that the name that ends in the word at s[at] may be that of a
// password: DB_PASS and pass, but not bypass and compass.
func passName(s string, at int) bool {
	return at == 0 || !isLetter(s[at-1]) || s[at] == 'P' && s[at-1]&0x20 != 0
}

// random says that a value is no word of prose or code: small and large letters and
// digits, or hexadecimal digits, in an order that names do not have.
func random(v string) bool {
	upper, lower, digit, _ := bytesOf(v)
	if len(v) < minLetters || !digit || !upper && !lower || strings.ContainsAny(v, ".:(){}[]<>,;") || v[0] == '/' && path(v) {
		return false
	}
	if !upper || !lower {
		return hexAt(v, 0, len(v)) && len(v)&7 == 0 && len(v) >= 32
	}
	changes := 0
	for i := 1; i < len(v); i++ {
		a, b := classOf(v[i-1]), classOf(v[i])
		if a != b && !(a == 'A' && b == 'a') {
			changes++
		}
	}
	return changes*4 >= len(v)
}

func classOf(c byte) byte {
	switch {
	case isDigit(c):
		return '0'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= 'a' && c <= 'z':
		return 'a'
	}
	return '-'
}
