package redact

import "strings"

// countAt is tokenAt for a number of up to nine digits between white space, which
// is nothing but a number, and returns 0 for anything else.
func (r *run) countAt(s string, i int) (int, string) {
	end := i
	for end < len(s) && end < i+10 && isDigit(s[end]) {
		end++
	}
	if end == i || end == i+10 || i > 0 && !isSpace(s[i-1]) || end < len(s) && !isSpace(s[end]) || r.nameAt(s, i) > 0 {
		return 0, ""
	}
	return r.numberAt(s, i, end)
}

// numberAt keeps numbers that say nothing about anybody: up to three digits,
// years, and longer ones beside a word of measure.
func (r *run) numberAt(s string, i, j int) (int, string) {
	if end := moneyEnd(s, i, j); end > 0 {
		return end, r.names.get("num", s[i:end])
	}
	if j-i <= 3 || isYear(s[i:j]) || j-i <= 7 && measured(s, i, j) {
		return j, ""
	}
	return j, r.names.get("num", s[i:j])
}

func isYear(digits string) bool {
	return len(digits) == 4 && (digits[:2] == "19" || digits[:2] == "20")
}

// moneyEnd returns the end of an amount of money, with its groups and fraction,
// whose first digits are s[i:j]: what somebody has or owes is nobody's business.
// A single digit behind a dollar sign is a parameter of a shell.
func moneyEnd(s string, i, j int) int {
	if !strings.HasSuffix(s[:i], "$") && !strings.HasSuffix(s[:i], "€") && !strings.HasSuffix(s[:i], "£") && !strings.HasSuffix(s[:i], "¥") {
		return 0
	}
	end := j
	for end+1 < len(s) && (s[end] == '.' || s[end] == ',') && isDigit(s[end+1]) {
		for end++; end < len(s) && isDigit(s[end]); {
			end++
		}
	}
	if end == i+1 {
		return 0
	}
	return end
}

// isMeasure knows the words beside which a longer number counts something:
// "274931 tokens", "limit of 128000", "8000 pixels". Each must be a word of
// the vocabulary, or redacting twice would differ from redacting once.
func isMeasure(w string) bool {
	switch w {
	case "token", "tokens", "maximum", "max", "chars", "characters", "bytes", "pixels", "lines", "requests", "seconds", "limit", "of", "code", "status":
		return true
	}
	return false
}

func measured(s string, i, j int) bool {
	from := j
	for from < len(s) && s[from] == ' ' {
		from++
	}
	to := from
	for to < len(s) && isAlnum(s[to]) {
		to++
	}
	if isMeasure(s[from:to]) {
		return true
	}
	to = i
	for to > 0 && strings.IndexByte(" :=>(", s[to-1]) >= 0 {
		to--
	}
	from = to
	for from > 0 && isAlnum(s[from-1]) {
		from--
	}
	return isMeasure(s[from:to])
}

func leadingDigits(w string) int {
	n := 0
	for n < len(w) && isDigit(w[n]) {
		n++
	}
	return n
}

// ordinal knows 27th, 3pm, 5h, 10x.
func ordinal(w string) bool {
	n := leadingDigits(w)
	if n == 0 || n > 3 {
		return false
	}
	switch w[n:] {
	case "st", "nd", "rd", "th", "am", "pm", "AM", "PM", "x", "xx", "h", "d":
		return true
	}
	return false
}

// duration knows 182ms and 4s; the fraction before it is a number of its own.
func duration(w string) bool {
	n := leadingDigits(w)
	if n == 0 || n > 9 {
		return false
	}
	switch w[n:] {
	case "ms", "s", "us", "ns", "m", "min":
		return true
	}
	return false
}
