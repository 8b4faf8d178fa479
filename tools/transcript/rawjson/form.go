package rawjson

import "strings"

// Form is what texts have in common that differ in some of their values only.
// Most frames of a stream have the form of one that came before: everything but
// a text and an id is the same, byte for byte, and need not be parsed again.
type Form struct {
	slots []slot
	tail  string // behind the last slot
}

// slot is a value that differs from text to text.
type slot struct {
	lead   string // between the slot before and this one
	number bool
}

// Token is the range of a value in a text; a string's range holds its quotes.
type Token struct {
	Start, End int
	Escaped    bool // the string token holds a backslash
}

// Text decodes the string token in src, as Value.Str does.
func (t Token) Text(src []byte) string { return unquote(src[t.Start+1:t.End-1], t.Escaped) }

// AppendText appends what Text returns.
func (t Token) AppendText(out, src []byte) []byte {
	if t.Escaped {
		return appendUnquoted(out, src[t.Start+1:t.End-1])
	}
	return append(out, src[t.Start+1:t.End-1]...)
}

// Token returns the value's token.
func (v Value) Token() Token {
	n := &v.d.nodes[v.i]
	return Token{int(n.start), int(n.end), n.escaped}
}

// NewForm returns the form of the parsed text src in which these strings and
// numbers may differ. They are in the order of the text.
func NewForm(src []byte, differ []Value) *Form {
	f := &Form{slots: make([]slot, len(differ))}
	at := 0
	for i, v := range differ {
		start, end := v.Range()
		f.slots[i] = slot{lead: string(src[at:start]), number: v.Kind() == Number}
		at = end
	}
	f.tail = string(src[at:])
	return f
}

func (f *Form) size() int {
	n := len(f.tail)
	for i := range f.slots {
		n += len(f.slots[i].lead)
	}
	return n
}

// Has says that a text stands in a part that the texts of a form have in common.
func (f *Form) Has(text string) bool {
	for i := range f.slots {
		if strings.Contains(f.slots[i].lead, text) {
			return true
		}
	}
	return strings.Contains(f.tail, text)
}

// Match says whether a text has the form and returns the tokens of the values
// that may differ, in the room of tokens. A text that has the form of a valid
// text is valid.
func (f *Form) Match(src []byte, tokens []Token) ([]Token, bool) {
	p := parser{src: src}
	tokens = tokens[:0]
	for i := range f.slots {
		s := &f.slots[i]
		end := p.pos + len(s.lead)
		if end >= len(src) || string(src[p.pos:end]) != s.lead {
			return tokens, false
		}
		p.pos = end
		t := Token{Start: end}
		switch c := src[end]; {
		case !s.number && c == '"':
			var err error
			if t.Escaped, err = p.str(); err != nil {
				return tokens, false
			}
		case s.number && (c == '-' || c >= '0' && c <= '9'):
			if p.number() != nil {
				return tokens, false
			}
		default:
			return tokens, false
		}
		t.End = p.pos
		tokens = append(tokens, t)
	}
	return tokens, string(src[p.pos:]) == f.tail
}
