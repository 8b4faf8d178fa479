package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Severity says whether a problem makes a record invalid.
type Severity string

// The severities. A record with warnings only is valid.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one thing wrong with one record.
type Problem struct {
	// Code is the id of a rule in Rules; it never changes its meaning.
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	// File is the name the caller gave, usually the place in the registry.
	File string `json:"file"`
	// Pointer is the place in the record as RFC 6901 says; "" is the whole
	// record. A missing member is pointed at where it should be.
	Pointer string `json:"pointer"`
	// Message says what is wrong with this record, Hint what to do about it.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns the problem on one line: code, severity, file, pointer and
// message. The empty pointer is written "-", so that the columns stay, and
// control characters are escaped, so that a record cannot forge a line.
func (p Problem) String() string {
	pointer := p.Pointer
	if pointer == "" {
		pointer = "-"
	}
	return p.Code + " " + string(p.Severity) + " " + Printable(p.File) + " " + Printable(pointer) + " " + Printable(p.Message)
}

// HasErrors reports whether ps holds more than warnings.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == SeverityError })
}

// SortProblems orders problems by file, pointer, code and message, and removes
// repetitions. Pointers compare part by part, numbers as numbers.
func SortProblems(ps []Problem) []Problem {
	slices.SortFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), comparePointers(a.Pointer, b.Pointer),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}

func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return cmp.Compare(m, n)
		}
		return cmp.Compare(x, y)
	})
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointerTo appends one member name or index to a pointer.
func pointerTo(pointer, member string) string {
	return pointer + "/" + pointerEscapes.Replace(member)
}

// Printable escapes what a terminal or a log reader could take for more than text.
func Printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return r != ' ' && !unicode.IsPrint(r) || r == unicode.ReplacementChar }

// quoted returns s for a message: short values in quotes, longer ones by
// their length only, because a record may hold text that nobody has cleared.
func quoted(s string) string {
	const longest = 60
	if len(s) > longest {
		return "a string of " + strconv.Itoa(len(s)) + " bytes"
	}
	return strconv.QuoteToASCII(s)
}

func itoa(i int) string { return strconv.Itoa(i) }
