package redact

// Names and ids of a few shapes need not go through everything that tokenAt asks:
// whatever their letters are, all of it but one or two questions has one answer.

// The bytes of a name, by what they say about its shape.
const (
	hasLetter = 1 << iota
	hasDigit
	hasPoint
	hasSlash
	hasJoin   // _ and -
	hasOthers // the other bytes of paths
)

var shapeOf = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case isLetter(b):
			t[c] = hasLetter
		case isDigit(b):
			t[c] = hasDigit
		case b == '.':
			t[c] = hasPoint
		case b == '/':
			t[c] = hasSlash
		case b == '_' || b == '-':
			t[c] = hasJoin
		case isPathByte(b):
			t[c] = hasOthers
		}
	}
	return
}()

// nameOf returns the end of the name at s[i] and what it is made of, if it is not
// longer than maxChunk.
func nameOf(s string, i int) (end int, shape uint8) {
	for end = i; end < len(s) && end-i <= maxChunk; end++ {
		c := shapeOf[s[end]]
		if c == 0 {
			break
		}
		shape |= c
	}
	return end, shape
}

// quickName returns what replaces a name between white space and marks, or "" if
// it stays, for those shapes that are known: /folder/name, name.ext with or
// without folders, word.word. It is a single token, and as sure as ok.
func (r *run) quickName(w string, shape uint8) (text string, ok bool) {
	if shape&hasOthers != 0 || len(w) < 3 || !isAlnum(w[len(w)-1]) {
		return "", false
	}
	if w[0] == '/' {
		if !isAlnum(w[1]) || !isAlnum(w[2]) || !isFolder(w) {
			return "", false
		}
		text = r.pathText(w)
		return text, inertAt(text, 0) == len(text)
	}
	if !isLetter(w[0]) || shape&hasPoint == 0 {
		return "", false
	}
	if extension(w) == "" {
		if shape == hasLetter|hasPoint {
			return r.quickDotted(w)
		}
		return "", false
	}
	if w[1] == '-' || w[0] == 'p' && isDigit(w[1]) || r.nameAt(w, 0) > 0 {
		return "", false
	}
	text = r.pathText(w)
	return text, inertAt(text, 0) == len(text)
}

// isFolder says that behind the first name of a path comes more of it, so that it
// is no command.
func isFolder(w string) bool {
	i := 1
	for i < len(w) && (isLetter(w[i]) || w[i] == '-') {
		i++
	}
	return i < len(w) && w[i] != '.'
}

// nameParts remembers which words of up to 16 letters are public as parts of names.
type nameParts []namePart

type namePart struct {
	low, high uint64 // its letters
	public    bool
}

func (t *nameParts) at(low, high uint64) *namePart {
	if *t == nil {
		*t = make(nameParts, 1<<plainBits)
	}
	return &(*t)[plainHash(low, high)]
}

// quickDotted is quickName for words with dots between, of which the last is no
// extension: the name of a host, unless all of them are public.
func (r *run) quickDotted(w string) (text string, ok bool) {
	public := true
	for i := 0; ; {
		j, low, high := letters(w, i)
		if j == i || j-i >= 12 { // longer ones may be hexadecimal digits
			return "", false
		}
		part := r.parts.at(low, high)
		if part.low != low || part.high != high {
			*part = namePart{low, high, r.lex.word(w[i:j])}
		}
		public = public && part.public
		if j == len(w) {
			if j-i < 2 {
				return "", false
			}
			break
		}
		i = j + 1
	}
	switch {
	case public:
		return "", true
	case r.nameAt(w, 0) > 0:
		return "", false
	}
	return r.place(w), true
}

// quickID returns the end of the id at s[i], behind a mark of paths, or 0: the
// parts of a file in base64 are such ids, thousands in a row.
func (r *run) quickID(s string, i int) int {
	if i == 0 || s[i-1] != '/' && s[i-1] != '+' {
		return 0
	}
	j, digits, changes := i, 0, 0
	last := shapeOf[s[i]]
	for j < len(s) {
		c := shapeOf[s[j]]
		if c&(hasLetter|hasDigit) == 0 {
			break
		}
		digits += int(c / hasDigit)
		if c != last {
			changes++
			last = c
		}
		j++
	}
	n := j - i
	if n < 8 || n > 128 || digits == 0 || digits == n || changes < 2 && digits < 4 {
		return 0
	}
	if j < len(s) && (shapeOf[s[j]] == hasJoin || n <= 20 && s[j] != '/' && wordClass[s[j]] != partsWords) || s[i-1] == '+' && r.nameAt(s, i) > 0 {
		return 0
	}
	if n <= 20 && j < len(s) && s[j] == ':' {
		return 0
	}
	return j
}

// pathText is mapPath for a path that is neither sanitized nor a home folder with
// its separators changed, and is of POSIX.
func (r *run) pathText(p string) string { return r.pathWith(p, "/", "") }

// pathWith returns the sanitized form of a path with its separator and drive.
func (r *run) pathWith(p, sep, start string) string {
	tail, rest := "", p
	if c := rest[len(rest)-1]; len(rest) > 1 && (c == '/' || c == '\\') {
		tail, rest = rest[len(rest)-1:], rest[:len(rest)-1]
	}
	class, rel := r.classify(rest)
	if rel == "" {
		return start + sep + class + tail
	}
	var room [64]byte
	b := room[:0]
	if class != "" {
		b = append(append(append(append(b, start...), sep...), class...), sep...)
	}
	b = append(r.names.appendPath(b, rel), extension(rest)...)
	if class == "" && isDigit(b[len(b)-1]) { // a bare pN would not be known again as a path
		return "./" + string(b) + tail
	}
	return r.names.texts.keep(append(b, tail...))
}
