package leak

import (
	"cmp"
	"strings"
)

// Literals that source code puts together again: "sk-" + "proj-…", also over lines
// and inside JSON, where their quotes are escaped.

// maxLiteral is how much of a literal belongs to a token, and more.
const maxLiteral = 1024

// joinedLiterals are the beginnings of what stands between two literals: an
// operator, or a line break.
var joinedLiterals = []string{`" + `, `' + `, `"+"`, `'+'`, `"+\`, `'+\`, "\" +\n", "' +\n", `" +\`, `' +\`, `" . `, `' . `, `" .. `, `' .. `, `\n+ "`, `\n+ '`,
	"\"\n ", "'\n ", "\"\n\t", "'\n\t", `"\n `, `'\n `, `"\n\t`, `'\n\t`}

// literals returns the range of the literals around the join at s[start:end]: from
// the first one's letters to the last one's.
func literals(s string, start, end int) (from, to int, ok bool) {
	quote := start
	for s[quote] != '"' && s[quote] != '\'' {
		quote++ // every keyword has one
	}
	mark := markAt(s, quote)
	at := quote + 1 - len(mark)
	for to = at; ; ok = true {
		next := join(s, to, mark)
		n := -1
		if next > 0 {
			n = strings.Index(s[next:min(len(s), next+maxLiteral)], mark)
		}
		if n < 0 {
			break
		}
		to = next + n
	}
	if !ok {
		return 0, end, false
	}
	for from = at; from > 0 && at-from < maxLiteral && s[from-1] >= ' ' && s[from-1] != mark[len(mark)-1]; from-- {
	}
	return from, to, to-from >= minWrapped
}

// markAt returns the quote at s[i] with the backslashes before it.
func markAt(s string, i int) string {
	from := i
	for from > 0 && s[from-1] == '\\' {
		from--
	}
	return s[from : i+1]
}

// join returns the end of what joins the literal that ends at s[i] to the next one,
// or 0.
func join(s string, i int, mark string) int {
	if !strings.HasPrefix(s[i:], mark) {
		return 0
	}
	i += len(mark)
	from := i
	i = blankEnd(s, i)
	for n := 0; i < len(s) && n < 3 && strings.IndexByte("+.&", s[i]) >= 0; n++ {
		i++
	}
	i = blankEnd(s, i)
	if broken := strings.ContainsAny(s[from:i], "+.&\n\\"); !broken || !strings.HasPrefix(s[i:], mark) {
		return 0
	}
	return i + len(mark)
}

// blankEnd returns the end of the white space and line breaks at s[i].
func blankEnd(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t':
			i++
		default:
			n := cmp.Or(tabAt(s, i), breakAt(s, i), continuation(s, i))
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return i
}

// unquote decodes literals that are put together.
func unquote(s string, places bool) (string, []int32) {
	w := newBuilder(len(s), places)
	for i := 0; i < len(s); {
		if s[i] == '\\' || s[i] == '"' || s[i] == '\'' {
			j := i
			for j < len(s) && s[j] == '\\' {
				j++
			}
			if j < len(s) && (s[j] == '"' || s[j] == '\'') {
				if next := join(s, i, s[i:j+1]); next > 0 {
					i = next
					continue
				}
			}
		}
		w.byte(s[i], i)
		i++
	}
	return w.done(len(s))
}

// maxHeading is longer than the first line of any private key.
const maxHeading = 64

// literalSecret says that what a rule found in literals is more than an address or
// the heading of a key.
func literalSecret(r *rule, found string) bool {
	switch r.id {
	case "pem-key", "pgp-key", "ssh2-key", "putty-key":
		return len(found) > maxHeading
	}
	return r.kind != "email" && r.kind != kindPath
}
