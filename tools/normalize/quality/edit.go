package quality

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// edit replaces bytes of a frame.
type edit struct {
	from, to int
	text     string
}

// place is one place of a frame and what the dialect declares of it.
type place struct {
	path string
	normalize.PlaceTraits
	v rawjson.Value
}

func (r *run) places(text []byte) ([]place, rawjson.Value) {
	v, err := rawjson.Parse(text)
	if err != nil {
		return nil, v
	}
	var out []place
	r.n.Declared(v, func(path string, p normalize.PlaceTraits, v rawjson.Value) { out = append(out, place{path, p, v}) })
	return out, v
}

// apply makes edits that do not overlap; of one that lies in another the outer
// one counts.
func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out.Write(text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(text[at:])
	return out.Bytes()
}

// change edits the values at a place; nil if it does not apply there.
type change func(text []byte, p place) *edit

// isMember reports whether a place has a name of its own that belongs to the
// protocol: no element of an array, no key of a map.
func (p place) isMember() bool {
	return !strings.HasSuffix(p.path, "]") && !strings.Contains(p.path, "<key>")
}

func rename(text []byte, p place) *edit {
	if !p.isMember() {
		return nil
	}
	_, to := p.v.KeyRange()
	return &edit{to - 1, to - 1, "_v2"}
}

func drop(text []byte, p place) *edit {
	if !p.isMember() {
		return nil
	}
	from, _ := p.v.KeyRange()
	_, to := p.v.Range()
	if rest := bytes.TrimLeft(text[to:], " \t\r\n"); len(rest) > 0 && rest[0] == ',' {
		return &edit{from, len(text) - len(rest) + 1, ""}
	}
	if before := bytes.TrimRight(text[:from], " \t\r\n"); len(before) > 0 && before[len(before)-1] == ',' {
		from = len(before) - 1
	}
	return &edit{from, to, ""}
}

func retype(_ []byte, p place) *edit {
	from, to := p.v.Range()
	switch p.v.Kind() {
	case rawjson.String, rawjson.Object, rawjson.Array:
		return &edit{from, to, "7"}
	}
	return &edit{from, to, `"x"`}
}

// add puts a new member into an object whose members the protocol names.
func add(text []byte, p place) *edit {
	if p.v.Kind() != rawjson.Object || p.Opaque || p.Map {
		return nil
	}
	from, _ := p.v.Range()
	if p.v.Len() == 0 {
		return &edit{from + 1, from + 1, `"new_member":1`}
	}
	return &edit{from + 1, from + 1, `"new_member":1,`}
}

// turned is another text of the same length, equal where texts were equal:
// letters move thirteen places. Escapes stay.
func turned(raw []byte) string {
	out := bytes.Clone(raw)
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '\\' && i+1 < len(out):
			if i++; out[i] == 'u' {
				i += 4
			}
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + (c-'A'+13)%26
		}
	}
	return string(out)
}

// counted is another number of the same spelling, equal where numbers were
// equal: digits move by one, zero stays.
func counted(raw []byte) string {
	out := bytes.Clone(raw)
	for i, c := range out {
		if c == 'e' || c == 'E' {
			break // an exponent would leave what a number can hold
		}
		if c >= '1' && c <= '9' {
			out[i] = '1' + (c-'1'+1)%9
		}
	}
	return string(out)
}
