package redact

import "strings"

// appendForeignRanges adds the stretches of a text of the CLI that are not its
// own words, whichever these are: what it repeats of a request to a model,
// titles that it gives the terminal's window, and the values of an environment
// that was dumped.
func appendForeignRanges(found []edit, s string) []edit {
	found = appendRequests(found, s)
	for at := 0; ; {
		n := strings.Index(s[at:], "\x1b]")
		if n < 0 {
			break
		}
		from := escapeAt(s, at+n)
		to := from
		for to < len(s) && s[to] != bell && s[to] != 0x1b {
			to++
		}
		found = appendSpoken(found, s, from, to)
		at = to
	}
	if strings.IndexByte(s, '=') < 0 {
		return found
	}
	found = appendDump(found, s, 0, len(s), "\x00", 2)
	return appendDump(found, s, 0, len(s), "\n", 3)
}

// variableEnd returns the end of the name of a variable and the equals sign
// behind it at the start of a line, or 0.
func variableEnd(line string) int {
	i := 0
	for i < len(line) && (isLetter(line[i]) || line[i] == '_' || i > 0 && isDigit(line[i])) {
		i++
	}
	if i == 0 || i == len(line) || line[i] != '=' {
		return 0
	}
	return i + 1
}

// appendDump adds the values of a dump with at least so many variables one after
// the other.
func appendDump(found []edit, s string, from, to int, sep string, least int) []edit {
	if strings.Count(s[from:to], sep) < least-1 {
		return found
	}
	var values []edit
	flush := func() {
		if len(values) >= least {
			found = append(found, values...)
		}
		values = nil
	}
	for from < to {
		end := to
		if n := strings.Index(s[from:to], sep); n >= 0 {
			end = from + n
		}
		if n := variableEnd(s[from:end]); n > 0 {
			values = appendSpoken(values, s, from+n, end)
		} else {
			flush()
		}
		from = end + len(sep)
	}
	flush()
	return found
}

// appendSpoken adds s[from:to] without the white space at its edges.
func appendSpoken(found []edit, s string, from, to int) []edit {
	for from < to && isSpace(s[from]) {
		from++
	}
	for to > from && isSpace(s[to-1]) {
		to--
	}
	if from == to {
		return found
	}
	return append(found, edit{start: from, end: to, text: spokenText})
}
