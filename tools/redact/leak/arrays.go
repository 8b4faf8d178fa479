package leak

import "strings"

// arrays scans the bytes that arrays of numbers spell.
func (x *scan) arrays(l *layer) {
	s := l.s
	for i := 0; i < len(s); i++ {
		n := strings.IndexByte(s[i:], '[')
		if n < 0 {
			return
		}
		i += n
		if end, count := numbersEnd(s, i+1); count >= minArray {
			x.view(l.child("bytes", i+1, end, numbers))
			i = end - 1
		}
	}
}

// numbersEnd returns the end of the byte values at s[i] and how many there are.
func numbersEnd(s string, i int) (end, count int) {
	for j := i; j < len(s); {
		for j < len(s) && (s[j] == ' ' || s[j] == ',' || s[j] == '\n' || s[j] == '\r' || s[j] == '\t') {
			j++
		}
		from, n := j, 0
		for j < len(s) && isDigit(s[j]) && j-from < 4 {
			n = n*10 + int(s[j]-'0')
			j++
		}
		if j == from || n > 255 {
			break
		}
		end = j
		count++
	}
	return end, count
}
