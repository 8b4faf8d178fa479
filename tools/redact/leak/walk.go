package leak

import (
	"hash/maphash"
	"strings"
)

// open is an object or array that the walk is in.
type open struct {
	path  uint64
	array bool
	key   string
	// numbers are where an array of nothing but byte values began.
	numbers int
}

// walk notes the strings of a JSON text as leaves. It takes any text: what is
// no JSON gives no or few leaves.
func (x *scan) walk(s string, path uint64, depth int, in source) {
	var stack []open
	top := open{path: path}
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '{', '[':
			if len(stack) >= maxOpen {
				return
			}
			next := open{path: mix(x.seed, top.path, top.key), array: c == '[', numbers: i + 1}
			stack = append(stack, top)
			top = next
			i++
		case '}', ']':
			if c == ']' && top.array && top.numbers > 0 {
				x.byteLeaf(s, top, i, in)
			}
			if len(stack) == 0 {
				return
			}
			top = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			i++
		case '"':
			end := stringEnd(s, i+1)
			j := end + 1
			for j < len(s) && s[j] == ' ' {
				j++
			}
			top.numbers = 0
			if !top.array && j < len(s) && s[j] == ':' {
				top.key = s[i+1 : min(end, len(s))]
				i = j + 1
				if isBlockKey(top.key) {
					x.blockOf(top.key, s, i)
				}
				continue
			}
			x.leaf(s[i+1:min(end, len(s))], in.part(i+1, min(end, len(s))), mix(x.seed, top.path, top.key), depth)
			i = end + 1
		default:
			i++
		}
	}
}

// stringEnd returns the place of the quote that ends a string, or the end.
func stringEnd(s string, i int) int {
	for {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return len(s)
		}
		i += n
		back := i
		for back > 0 && s[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i
		}
		i++
	}
}

func mix(seed maphash.Seed, path uint64, key string) uint64 {
	return path*0x9e3779b97f4a7c15 ^ maphash.String(seed, key)
}

// blockOf adds the scalar at s[i] to what tells the frame's block.
func (x *scan) blockOf(key string, s string, i int) {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	x.group ^= x.blockValue(maphash.String(x.seed, key), s, i)
}

// blockValue returns what the scalar at s[i] adds to the group of a frame, by the
// hash of its key.
func (x *scan) blockValue(key uint64, s string, i int) uint64 {
	end := i
	if i < len(s) && s[i] == '"' {
		end = min(stringEnd(s, i+1), len(s))
	} else {
		for end < len(s) && isAlnum(s[end]) {
			end++
		}
	}
	if end == i || end-i > 128 {
		return 0
	}
	return mix(x.seed, key, s[i:end]) | 1
}

// leaf notes a string, the strings of JSON in it, and what it is the base64
// of.
func (x *scan) leaf(raw string, in source, path uint64, depth int) {
	if raw == "" {
		return
	}
	text := raw
	if strings.IndexByte(raw, '\\') >= 0 {
		in.exact = false
		if !x.entire {
			if head, tail, ok := edges(raw); ok {
				x.leaves = append(x.leaves, leaf{path: path, head: head, tail: tail, source: in})
				return
			}
		}
		text, _ = unescape(raw, false)
	}
	if text == "" {
		return
	}
	x.leaves = append(x.leaves, leaf{path: path, text: text, source: in})
	if c := text[0]; (c == '{' || c == '[') && depth < maxNested {
		x.walk(text, path^0x15, depth+1, in)
	}
	if len(text)%4 == 0 && len(text) < maxBase64 {
		if b, ok := wholeBase64(text); ok {
			in.exact = false
			x.leaves = append(x.leaves, leaf{path: path ^ 0xb64, text: b, source: in})
		}
	}
}

// Of a text that is longer only the edges are decoded, each with some letters to
// spare: an escape and a run of backslashes are shorter.
const (
	spare     = 64
	edgesFrom = 4*pieceKeep + 2*spare
)

// edges decodes what is kept of either end of a long text, and nothing between.
// It reports false for a text that is not that long, or that must be read whole:
// JSON, base64, a constant.
func edges(raw string) (head, tail string, ok bool) {
	if len(raw) < edgesFrom {
		return "", "", false
	}
	used := 0
	w := newBuilder(pieceKeep+spare, false)
	for w.b.Len() < pieceKeep {
		if used+spare >= len(raw) {
			return "", "", false
		}
		n := strings.IndexByte(raw[used:used+spare], '\\')
		if n < 0 {
			n = spare
		}
		w.copy(raw, used, used+n)
		if used += n; n < spare {
			used += w.escape(raw, used)
		}
	}
	head = w.b.String()[:pieceKeep]
	if head[0] == '{' || head[0] == '[' || word(head) || strings.IndexFunc(head, notBase64) < 0 {
		return "", "", false
	}
	for from := len(raw) - pieceKeep - spare; from >= used+spare; from -= pieceKeep {
		at := from
		for at > from-spare && raw[at-1] == '\\' { // not in the middle of an escape
			at--
		}
		if raw[at-1] == '\\' {
			return "", "", false
		}
		if text, _ := unescape(raw[at:], false); len(text) >= pieceKeep+spare/4 { // the first letters may be the rest of \u0041
			return head, text[len(text)-pieceKeep:], true
		}
	}
	return "", "", false
}

func notBase64(c rune) bool { return c != '=' && (c > 0x7f || sixBits[c] == 0xff) }

// byteLeaf notes the text that an array of byte values spells.
func (x *scan) byteLeaf(s string, o open, end int, in source) {
	last, count := numbersEnd(s, o.numbers)
	if count == 0 || strings.Trim(s[last:end], " \n\r\t") != "" {
		return
	}
	text, _ := numbers(s[o.numbers:last], false)
	in = in.part(o.numbers, last)
	in.exact = false
	x.leaves = append(x.leaves, leaf{path: o.path ^ 0xb1e, text: text, source: in})
}

// wholeBase64 returns the text that all of s is the base64 of.
func wholeBase64(s string) (string, bool) {
	t := strings.TrimRight(s, "=")
	if len(s)-len(t) > 2 || !encodedLook(t) {
		return "", false
	}
	for i := range len(t) {
		if sixBits[t[i]] == 0xff {
			return "", false
		}
	}
	b, _ := base64(t, false)
	for i := range len(b) {
		if !textByte[b[i]] {
			return "", false
		}
	}
	return b, b != ""
}
