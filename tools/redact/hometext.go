package redact

import "strings"

// userNameEnd returns where a home folder goes on behind a user name that holds
// spaces, escaped or not, or end if the path ends there. An unescaped space
// counts between capitalised words only: prose goes on in small letters.
func userNameEnd(s string, i, end int) int {
	if end >= len(s) || s[end] != ' ' {
		return end
	}
	name := homeStart(s[i:end])
	if name < 0 {
		return end
	}
	escaped := s[end-1] == '\\'
	if rest := strings.TrimSuffix(s[i+name:end], `\`); rest == "" || strings.ContainsAny(rest, `/\`) || !escaped && !capital(rest) {
		return end
	}
	at := end
	for range 3 {
		word := at + 1
		j := word
		for j < len(s) && isPathByte(s[j]) && s[j] != '/' && s[j] != '\\' {
			j++
		}
		if j == word || !escaped && !capital(s[word:j]) {
			return end
		}
		switch {
		case j == len(s):
			return end
		case s[j] == '\\' && j+1 < len(s) && s[j+1] == ' ':
			at = j + 1
		case s[j] == '/' || s[j] == '\\':
			return j
		case s[j] == ' ':
			at = j
		default:
			return end
		}
	}
	return end
}

// homeStart returns where the user's name begins in the path of a home folder,
// or -1.
func homeStart(p string) int {
	for _, root := range []string{"/Users/", "/home/", `\Users\`, `\home\`} {
		if n := strings.Index(p, root); n >= 0 {
			return n + len(root)
		}
	}
	return -1
}

func capital(w string) bool { return w[0] >= 'A' && w[0] <= 'Z' || w[0] >= 0x80 }

// isEncodedHome finds the path of a home folder with its separators percent
// encoded, as in a query or a file's name.
func isEncodedHome(p string) bool {
	if strings.IndexByte(p, '%') < 0 {
		return false
	}
	q := strings.ToUpper(p)
	if len(q) > 4 && isLetter(q[0]) && strings.HasPrefix(q[1:], "%3A") {
		q = q[4:]
	}
	for _, sep := range []string{"%2F", "%5C"} {
		for _, root := range []string{"USERS", "HOME", "ROOT", "MNT", "TMP"} {
			if strings.HasPrefix(q, sep+root+sep) {
				return true
			}
		}
	}
	return false
}
