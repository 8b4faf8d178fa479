package leak

import (
	"bytes"
	"hash/maphash"
	"unsafe"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// knownFrame is what frames of one form have in common: where their texts stand.
type knownFrame struct {
	leaves []knownLeaf
	blocks []knownBlock
	group  uint64 // of what the frames have in common
	last   uint64 // group of the frame before
	epoch  int    // of the joined texts that the leaves know
	// The values of the last such frames that were viewed, as far as they are short.
	viewed [manyViewed][][]byte
	next   int // of viewed to be replaced
}

// knownLeaf is a place of a text in frames of a form.
type knownLeaf struct {
	path  uint64
	token int
	// The joined texts of its path, alone and with the frame's block.
	joined [2]*joined
}

// knownBlock is a value that may differ and says which block a frame belongs to.
type knownBlock struct {
	token int
	key   uint64
}

// knownForm notes the texts of a frame whose form was met before. It reports
// false, and does nothing, for any other one and where a text is more than its
// letters. Alike says that nothing in the line needs to be viewed.
func (x *scan) knownForm(line []byte, text string, at int) (known, alike bool) {
	f, ok := x.known.Match(line)
	if !ok || len(line) > maxFrameLen {
		return false, false
	}
	x.texts = x.texts[:0]
	for _, t := range x.known.Tokens {
		s := ""
		if line[t.Start] == '"' {
			s = text[t.Start+1 : t.End-1]
			if t.Escaped {
				if len(s) >= edgesFrom {
					return false, false
				}
				s, _ = unescape(s, false)
			}
			if !simpleText(s) {
				return false, false
			}
		}
		x.texts = append(x.texts, s)
	}
	group := f.group
	for _, b := range f.blocks {
		group ^= x.blockValue(b.key, text, x.known.Tokens[b.token].Start)
	}
	x.keepOpen(f, group)
	for i := range f.leaves {
		k := &f.leaves[i]
		if x.texts[k.token] == "" {
			continue
		}
		t := x.known.Tokens[k.token]
		l := leaf{path: k.path, text: x.texts[k.token], source: source{t.Start + 1, t.End - 1, !t.Escaped}}
		x.joinKnown(f, k, 0, k.path, &l, at)
		if group != 0 {
			x.joinKnown(f, k, 1, k.path^group, &l, at)
		}
	}
	return true, f.alike(text, x.known.Tokens)
}

// keepOpen forgets the joined texts that the leaves of a form know if they were
// closed, or are another block's.
func (x *scan) keepOpen(f *knownFrame, group uint64) {
	if f.epoch == x.epoch && f.last == group {
		return
	}
	for i := range f.leaves {
		if f.epoch != x.epoch {
			f.leaves[i].joined[0] = nil
		}
		f.leaves[i].joined[1] = nil
	}
	f.epoch, f.last = x.epoch, group
}

func (x *scan) joinKnown(f *knownFrame, k *knownLeaf, n int, key uint64, l *leaf, at int) {
	if k.joined[n] == nil {
		open := x.openText(key)
		x.keepOpen(f, f.last) // to open one may close all
		k.joined[n] = open
	}
	x.extend(k.joined[n], l, at)
}

// Bounds of what is remembered of frames that were viewed.
const (
	manyViewed = 4  // frames of a form
	viewedLen  = 64 // bytes of a value
	fewDigits  = 6  // of a number that may differ
)

// alike says that a frame is one of its form that was viewed, but for
// placeholders and small numbers: what a view of it would find was found. Any
// other one is to be viewed, and is one of those from now on.
func (f *knownFrame) alike(text string, tokens []rawjson.Token) bool {
	for i := range f.viewed {
		if f.viewed[i] != nil && asViewed(text, tokens, f.viewed[i]) {
			return true
		}
	}
	v := &f.viewed[f.next]
	f.next = (f.next + 1) % manyViewed
	if *v == nil {
		*v = make([][]byte, len(tokens))
	}
	for i, t := range tokens {
		(*v)[i] = (*v)[i][:0]
		if t.End-t.Start <= viewedLen {
			(*v)[i] = append((*v)[i], text[t.Start:t.End]...)
		}
	}
	return false
}

func asViewed(text string, tokens []rawjson.Token, viewed [][]byte) bool {
	for i, t := range tokens {
		s := text[t.Start:t.End]
		if s != string(viewed[i]) && !(s[0] == '"' && placeholders(s[1:len(s)-1])) && !(s[0] != '"' && len(s) <= fewDigits) {
			return false
		}
	}
	return true
}

// placeholders says that s is made of placeholders and white space, which may be
// escaped.
func placeholders(s string) bool {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ':
			i++
		case c == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 't' || s[i+1] == 'r'):
			i += 2
		case c == '<':
			end := PlaceholderAt(s, i)
			if end == 0 {
				return false
			}
			i = end
		default:
			return false
		}
	}
	return true
}

// simpleText says that a string is a leaf and nothing else: neither JSON nor
// base64.
func simpleText(s string) bool {
	if s == "" {
		return true
	}
	if s[0] == '{' || s[0] == '[' {
		return false
	}
	if len(s)%4 == 0 && len(s) < maxBase64 {
		if _, ok := wholeBase64(s); ok {
			return false
		}
	}
	return true
}

// learn keeps the form of the frame whose leaves were read, if these are its
// strings and no more.
func (x *scan) learn(line []byte) {
	if x.s.plodding || len(line) == 0 || line[0] != '{' || bytes.IndexByte(line, '\\') >= 0 { // what has escapes teaches nothing
		return
	}
	if !x.known.Try() || x.doc.Parse(line) != nil {
		return
	}
	f := &knownFrame{group: x.group, epoch: -1}
	text := unsafe.String(unsafe.SliceData(line), len(line))
	var differ []rawjson.Value
	n := 0
	var walk func(v rawjson.Value) bool
	walk = func(v rawjson.Value) bool {
		list := v.Kind() == rawjson.Array
		for c := range v.Children() {
			kind := c.Kind()
			switch {
			case kind == rawjson.Number && list:
				return false // it may spell a text
			case kind == rawjson.Number:
			case kind == rawjson.String:
				t := c.Token()
				if t.Escaped || n == len(x.leaves) || x.leaves[n].start != t.Start+1 || x.leaves[n].end != t.End-1 {
					return false
				}
				f.leaves = append(f.leaves, knownLeaf{path: x.leaves[n].path, token: len(differ)})
				n++
			case !walk(c):
				return false
			default:
				continue
			}
			if !list && isBlockKey(c.Key()) {
				b := knownBlock{len(differ), maphash.String(x.seed, c.Key())}
				f.blocks = append(f.blocks, b)
				f.group ^= x.blockValue(b.key, text, c.Token().Start)
			}
			differ = append(differ, c)
		}
		return true
	}
	if !walk(x.doc.Root()) || n != len(x.leaves) || len(differ) > rawjson.MaxDiffer {
		return
	}
	x.known.Add(rawjson.NewForm(line, differ), f)
}
