package normalize

import (
	"iter"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// stderrPhrases says which words on stderr tell what it is about, strongest
// class first; a class wins for the whole text if one line of it has one of its
// phrases. Every word here is in the redaction vocabulary, so that raw and
// redacted text have one class (a test says so). Numbers do not count: they
// stand in paths, times and ports. Sources: the error texts of the CLIs and of
// their providers that public reports and the provider APIs name.
var stderrPhrases = []struct {
	class   contract.StderrClass
	phrases []string
}{
	{"quota", []string{
		"rate limit", "rate_limit", "rate_limit_error", "too many requests", "quota", "insufficient_quota",
		"quota_exceeded", "usage limit", "usage_limit_reached", "credit balance", "billing", "insufficient balance",
		"resource_exhausted", "resource exhausted",
	}},
	{"auth", []string{
		"unauthorized", "authentication", "authentication_error", "not authenticated", "failed to authenticate",
		"unauthenticated", "not logged in", "please log in", "please login", "invalid api key", "invalid_api_key",
		"api key not valid", "missing api key", "missing environment variable", "no credentials", "permission_denied",
		"forbidden", "run /login", "token has been revoked", "token could not be refreshed", "invalid_grant",
	}},
	{"upstream", []string{
		"connection refused", "connection reset", "connection closed", "connection error", "stream disconnected",
		"socket hang up", "econnrefused", "econnreset", "enotfound", "etimedout", "eai_again", "fetch failed",
		"network error", "bad gateway", "service unavailable", "gateway timeout", "internal server error",
		"overloaded", "overloaded_error", "at capacity", "high demand", "timed out", "unable to connect",
	}},
	{"protocol", []string{
		"unknown option", "unknown argument", "unknown arguments", "unexpected argument", "unrecognized option",
		"invalid option", "invalid value", "unknown variant", "error loading config", "requires --verbose",
		"requires output-format", "output format", "usage:", "no conversation found", "session not found",
		"no saved session found", "invalid json", "unexpected token", "failed to parse", "parse error",
	}},
}

// benignPhrases open lines that successful runs print.
var benignPhrases = []string{
	"reading prompt from stdin", "reading additional input from stdin", "loaded cached credentials",
	"warning", "warn", "info", "deprecated", "deprecation",
}

// logLevels are the levels of log lines. What a log line says is a matter of
// the CLI's own insides, whatever its level: it is never what the run came to.
var logLevels = []string{"trace", "debug", "info", "warn", "warning", "error"}

// StderrWords returns every word that StderrClass looks for, in lower case.
// Redaction must keep them on stderr.
func StderrWords() []string {
	var out []string
	add := func(phrases []string) {
		for _, p := range phrases {
			out = append(out, strings.Fields(p)...)
		}
	}
	for _, c := range stderrPhrases {
		add(c.phrases)
	}
	add(benignPhrases)
	add(logLevels)
	slices.Sort(out)
	return slices.Compact(out)
}

// StderrClass says what a CLI's stderr was about: none without a word,
// diagnostic for chatter of healthy runs and log lines, debug if every line is
// a debug or trace line, otherwise the strongest class that a line's words
// tell, and unknown if none does. chatter is how lines of healthy runs begin
// in one dialect, beside those that all have.
func StderrClass(lines iter.Seq[[]byte], chatter ...string) contract.StderrClass {
	var seen [8]bool
	for raw := range lines {
		if line := strings.ToLower(strings.TrimSpace(stripANSI(string(raw)))); line != "" {
			seen[slices.Index(contract.StderrClasses, lineClass(line, chatter))] = true
		}
	}
	for _, c := range stderrPhrases {
		if seen[slices.Index(contract.StderrClasses, c.class)] {
			return c.class
		}
	}
	for _, c := range []contract.StderrClass{"unknown", "diagnostic", "debug"} {
		if seen[slices.Index(contract.StderrClasses, c)] {
			return c
		}
	}
	return "none"
}

// lineClass classifies one line, in lower case and without white space around it.
func lineClass(line string, chatter []string) contract.StderrClass {
	switch logLevel(line) {
	case "":
	case "trace", "debug":
		return "debug"
	default:
		return "diagnostic"
	}
	for _, p := range benignPhrases {
		if at := strings.Index(line, p); at >= 0 && at <= 1 && endsWord(line, at+len(p)) {
			return "diagnostic"
		}
	}
	for _, p := range chatter {
		if strings.HasPrefix(line, strings.ToLower(p)) {
			return "diagnostic"
		}
	}
	for _, c := range stderrPhrases {
		for _, p := range c.phrases {
			if hasPhrase(line, p) {
				return c.class
			}
		}
	}
	return "unknown"
}

// logLevel returns the level of a log line: one that starts with a time and a
// level, in either order, or with a level in brackets.
func logLevel(line string) string {
	f := strings.Fields(line)
	if len(f) < 2 {
		return ""
	}
	first, second := strings.Trim(f[0], "[]:"), strings.Trim(f[1], "[]:")
	switch {
	case slices.Contains(logLevels, second) && isTime(first):
		return second
	case slices.Contains(logLevels, first) && (isTime(second) || strings.HasPrefix(f[0], "[")):
		return first
	}
	return ""
}

// isTime reports whether a field is a time of the day or a placeholder for one.
func isTime(s string) bool {
	return s == "<time>" || len(s) >= 8 && s[0] >= '0' && s[0] <= '9' && strings.Contains(s, ":")
}

// hasPhrase reports whether the phrase stands in the line as whole words.
func hasPhrase(line, phrase string) bool {
	for at := 0; ; {
		i := strings.Index(line[at:], phrase)
		if i < 0 {
			return false
		}
		i += at
		if (i == 0 || !isWord(line[i-1])) && endsWord(line, i+len(phrase)) {
			return true
		}
		at = i + 1
	}
}

func endsWord(line string, at int) bool {
	return at >= len(line) || !isWord(line[at]) || !isWord(line[at-1])
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// stripANSI drops escape sequences (CSI and OSC).
func stripANSI(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			b.WriteByte(s[i])
			continue
		}
		i = escapeEnd(s, i)
	}
	return b.String()
}

// escapeEnd returns the index of the last byte of the escape sequence at i.
func escapeEnd(s string, i int) int {
	if i+1 >= len(s) {
		return i
	}
	j := i + 2
	switch s[i+1] {
	case '[':
		for j < len(s) && (s[j] < 0x40 || s[j] > 0x7e) {
			j++
		}
		return min(j, len(s)-1)
	case ']':
		for j < len(s) && s[j] != 0x07 && s[j] != 0x1b {
			j++
		}
		if j+1 < len(s) && s[j] == 0x1b {
			return j + 1
		}
		return min(j, len(s)-1)
	}
	return i + 1
}
