package redact

import "strings"

// The bytes of a text: those that mean nothing, those of names and paths, and
// those that may begin something else.
const (
	plainByte = iota
	nameByte
	markByte
)

// bell ends a control sequence that carries text.
const bell = 0x07

var textClass = func() (t [256]uint8) {
	for c := range 256 {
		if isPathByte(byte(c)) {
			t[c] = nameByte
		}
	}
	t[0x1b], t[bell], t['<'], t['\n'] = markByte, markByte, markByte, markByte
	return
}()

// oddByte has the bytes that may make more of a text than words: those that may
// begin something else, and those that may make a name more than a name.
var oddByte = func() (t [256]uint8) {
	for c := range t {
		if textClass[c] == markByte {
			t[c] = 1
		}
	}
	for _, c := range `./\~%-:` {
		t[c] = 1
	}
	return
}()

// calmEnd returns where the next name or mark begins, up to stop, that is to be
// looked at; all before it is plain names and bytes that mean nothing. Nothing of
// a name stands before s[i] that goes on there.
func calmEnd(s string, i, stop int) int {
	for from := i; ; i++ {
		for i+8 <= stop {
			b := s[i : i+8]
			if oddByte[b[0]]|oddByte[b[1]]|oddByte[b[2]]|oddByte[b[3]]|oddByte[b[4]]|oddByte[b[5]]|oddByte[b[6]]|oddByte[b[7]] != 0 {
				break
			}
			i += 8
		}
		for i < stop && oddByte[s[i]] == 0 {
			i++
		}
		if i == stop {
			return stop
		}
		switch c := s[i]; {
		case textClass[c] == markByte:
			return i
		case c == ':' && (i+1 == len(s) || s[i+1] != '/' && s[i+1] != '\\'):
			continue
		case c == '-' && i >= from+2 && nameHas[s[i-1]] != 0 && nameHas[s[i-2]] != 0: // behind the second place
			continue
		}
		for i > from && nameHas[s[i-1]] != 0 {
			i--
		}
		return i
	}
}

// What a name has in it: bytes of names, the marks of paths.
const (
	hasName  = 1 << iota
	hasDash  // at its first or second place
	hasDot   // and no other mark
	hasMark  // of a path
	hasColon // and a slash behind it
)

var nameHas = func() (t [256]uint8) {
	for c := range t {
		if isPathByte(byte(c)) {
			t[c] = hasName
		}
	}
	t['.'] |= hasDot
	for _, c := range `/\~%` {
		t[c] |= hasMark
	}
	return
}()

// nameEnd returns the end of the name at i and what it has.
func nameEnd(s string, i int) (end int, has uint8) {
	j := i
	for j < len(s) {
		c := nameHas[s[j]]
		if c == 0 {
			break
		}
		has |= c
		j++
	}
	if s[i] == '-' || i+1 < len(s) && s[i+1] == '-' {
		has |= hasDash
	}
	if j+1 < len(s) && s[j] == ':' && (s[j+1] == '/' || s[j+1] == '\\') {
		has |= hasColon
	}
	return j, has
}

// plainName says that a name is no path, URL or placeholder, without a closer
// look.
func plainName(name string, has uint8) bool {
	switch {
	case has&(hasMark|hasColon) != 0:
		return false
	case has&hasDot == 0:
		return has&hasDash == 0 || !isSlug(name)
	case name[0] == 'p' || name[0] == '.' || name[0] == 'C' || has&hasDash != 0:
		return false
	}
	return extension(strings.TrimRight(name, ".%+")) == ""
}
