package leak

import (
	"bytes"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// knownFrame is what frames of one form have in common: where their texts stand.
type knownFrame struct {
	leaves []knownLeaf
	group  uint64
	epoch  int // of the joined texts that the leaves know
}

// knownLeaf is a place of a text in frames of a form.
type knownLeaf struct {
	path  uint64
	token int  // the value that may differ, or -1 for what is the same in each
	text  leaf // of such a one; its place is counted from the token before
	after int  // the token before it, or -1
	// The joined texts of its path, alone and with the frame's block.
	joined [2]*joined
}

// knownForm notes the texts of a frame whose form was met before. It reports
// false, and does nothing, for any other one and where a text is more than its
// letters.
func (x *scan) knownForm(line []byte, text string, at int) bool {
	f, ok := x.known.Match(line)
	if !ok || len(line) > maxFrameLen {
		return false
	}
	x.texts = x.texts[:0]
	for _, t := range x.known.Tokens {
		s := ""
		if line[t.Start] == '"' {
			s = text[t.Start+1 : t.End-1]
			if t.Escaped {
				if len(s) >= edgesFrom {
					return false
				}
				s, _ = unescape(s, false)
			}
			if !simpleText(s) {
				return false
			}
		}
		x.texts = append(x.texts, s)
	}
	for i := range f.leaves {
		k := &f.leaves[i]
		l := k.text
		if k.token >= 0 {
			t := x.known.Tokens[k.token]
			if x.texts[k.token] == "" {
				continue
			}
			l = leaf{path: k.path, text: x.texts[k.token], source: source{t.Start + 1, t.End - 1, !t.Escaped}}
		} else if k.after >= 0 {
			end := x.known.Tokens[k.after].End
			l.start, l.end = l.start+end, l.end+end
		}
		x.joinKnown(f, k, 0, k.path, &l, at)
		if f.group != 0 {
			x.joinKnown(f, k, 1, k.path^f.group, &l, at)
		}
	}
	return true
}

func (x *scan) joinKnown(f *knownFrame, k *knownLeaf, n int, key uint64, l *leaf, at int) {
	if f.epoch != x.epoch { // the texts were closed
		f.epoch = x.epoch
		for i := range f.leaves {
			f.leaves[i].joined = [2]*joined{}
		}
	}
	if k.joined[n] == nil {
		k.joined[n] = x.openText(key)
	}
	x.extend(k.joined[n], l, at)
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
// strings and no more. What tells its block is part of the form.
func (x *scan) learn(line []byte) {
	if x.s.plodding || len(line) == 0 || line[0] != '{' || bytes.IndexByte(line, '\\') >= 0 { // what has escapes teaches nothing
		return
	}
	if !x.known.Try() || x.doc.Parse(line) != nil {
		return
	}
	f := &knownFrame{group: x.group, epoch: -1}
	var differ []rawjson.Value
	n, after := 0, -1
	var walk func(v rawjson.Value) bool
	walk = func(v rawjson.Value) bool {
		list := v.Kind() == rawjson.Array
		for c := range v.Children() {
			switch c.Kind() {
			case rawjson.Number:
				if list {
					return false // it may spell a text
				}
				if !isBlockKey(c.Key()) {
					after = len(differ)
					differ = append(differ, c)
				}
			case rawjson.String:
				t := c.Token()
				if t.Escaped || n == len(x.leaves) || x.leaves[n].start != t.Start+1 || x.leaves[n].end != t.End-1 {
					return false
				}
				k := knownLeaf{path: x.leaves[n].path, text: x.leaves[n], token: -1, after: after}
				n++
				if list || !isBlockKey(c.Key()) {
					k.token, after = len(differ), len(differ)
					differ = append(differ, c)
				} else if after >= 0 {
					_, end := differ[after].Range()
					k.text.start, k.text.end = k.text.start-end, k.text.end-end
				}
				f.leaves = append(f.leaves, k)
			default:
				if !walk(c) {
					return false
				}
			}
		}
		return true
	}
	if !walk(x.doc.Root()) || n != len(x.leaves) || len(differ) > rawjson.MaxDiffer {
		return
	}
	for i := range f.leaves {
		k := &f.leaves[i]
		k.text.text = strings.Clone(k.text.text) // and not the block that it stands in
	}
	x.known.Add(rawjson.NewForm(line, differ), f)
}
