package redact

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// collect reads one record before anything is replaced: which values stay by
// their path, which texts the CLI wrote, which texts come in pieces. After it
// every decision depends on the value alone.
func (r *run) collect(rec *transcript.Record) {
	if rec.Dir == transcript.Process || rec.DataRef != "" {
		return
	}
	line := rec.Line()
	body := bytes.TrimSpace(line)
	if len(body) == 0 {
		return
	}
	framed := formed(rec)
	if framed {
		if f := r.forms.match(body); f != nil {
			r.collectForm(f, body, offset(line, body))
			return
		}
	}
	json, why := r.parse(rec, body)
	if !json {
		s := string(body)
		r.names.reserve(s)
		if why != "" {
			return
		}
		if whole, ok := completeJSON(s); ok && r.doc.Parse(whole) == nil {
			r.walk(r.doc.Root(), r.d.set.Root(), walkContext{src: whole, written: rec.Stream == transcript.Stderr})
		}
		return
	}
	root := r.doc.Root()
	r.looked.next(root)
	ctx := walkContext{src: body, written: rec.Stream == transcript.Stderr, synthetic: anyHolds(r.d.synthetic, &r.looked)}
	if framed {
		r.forms.begin(root)
	}
	r.walk(root, r.d.set.Root(), ctx)
	if framed {
		r.collectPieces(root, body, offset(line, body))
		r.forms.end(r, root, body)
	}
}

// offset returns where a part of a line begins in it.
func offset(line, part []byte) int { return cap(line) - cap(part) }

// walkContext is what a value inherits from those around it.
type walkContext struct {
	src       []byte
	written   bool // below a Vocabulary path, or on stderr
	synthetic bool
	opaque    bool // inside a payload, where member names may be data
	sent      bool // below a member of requestKeys, or in a long output: no text of the CLI
	depth     int  // of JSON inside strings
}

func (r *run) walk(v rawjson.Value, st paths.State, ctx walkContext) {
	f := st.Flags()
	if f&fVocabulary != 0 {
		ctx.written = true
	}
	ctx.written = ctx.written && !ctx.sent
	ctx.opaque = ctx.opaque || f&fOpaque != 0
	switch v.Kind() {
	case rawjson.String:
		r.forms.note(v, st, ctx, nil)
		r.token(ctx.src, v.Token(), st, ctx)
	case rawjson.Number:
		r.forms.note(v, st, ctx, r.last)
	case rawjson.Array:
		if f&fEncoded != 0 {
			r.forms.giveUp()
		}
		next := st.Elem()
		for c := range v.Children() {
			r.walk(c, next, ctx)
		}
	case rawjson.Object:
		for c := range v.Children() {
			m := r.member(c, ctx.src)
			if !ctx.opaque && f&fMap == 0 && !m.protocol && m.named.decide(func() bool { return protocolKey(m.name) && !r.secret(m.name) }) {
				m.protocol = true
			}
			below := ctx
			below.sent = ctx.sent || requestKeys[m.name]
			r.walk(c, st.Key(m.name), below)
		}
	}
}

// member returns what is known of a member's name. Members come mostly in the
// order in which they came before.
func (r *run) member(v rawjson.Value, src []byte) *member {
	a, b := v.KeyRange()
	m := r.last.next
	if m == nil || m.raw != string(src[a:b]) {
		if m = r.spelled[string(src[a:b])]; m == nil {
			m = r.newMember(string(src[a:b]), v.Key())
		}
		r.last.next = m
	}
	r.last = m
	return m
}

func (r *run) newMember(raw, name string) *member {
	m := r.members[name]
	if m == nil {
		r.names.reserve(name)
		m = &member{raw: raw, name: name}
		r.members[name] = m
	}
	r.spelled[raw] = m
	return m
}

// token decodes a string only when what it says may matter beyond its own
// place.
func (r *run) token(src []byte, t rawjson.Token, st paths.State, ctx walkContext) {
	raw := src[t.Start:t.End]
	if len(raw) == 2 {
		return
	}
	c := raw[1]
	if isSpace(c) {
		c = firstByte(string(raw[1:min(len(raw), 40)]))
	}
	nested := c == '{' || c == '[' || c == '\\'
	if st.Flags()&(fLiteral|fName|fVocabulary|fModel) == 0 && !ctx.written && !nested && !mayReserve(raw) {
		return
	}
	r.leaf(t.Text(src), st, ctx)
}

func (r *run) leaf(s string, st paths.State, ctx walkContext) {
	r.names.reserve(s)
	f := st.Flags()
	switch {
	case f&fLiteral != 0 && r.enumLikeAgain(s):
		r.survive[s] = true
	case f&fName != 0 && (r.lex.names[s] || r.lex.codes[s]):
		r.survive[s] = true
	case f&fLiteral != 0 && !isInert(s):
		r.unknown(s, keyOf(s))
	}
	if f&fModel != 0 {
		if len(r.groups.prefixes) > 0 {
			r.spoken.add(s)
		}
		if ctx.synthetic || r.in.Hermetic && !r.scenario.has(s) {
			ctx.written = true
		} else {
			r.model.add(s)
			ctx.written = false
		}
	} else if ctx.written && r.in.Hermetic && r.scenario.has(s) {
		ctx.written = false
	}
	if ctx.written && f&fOutput != 0 && len(s) > maxOutput && utf16Len(s) > maxOutput {
		ctx.written, ctx.sent = false, true
	}
	if ctx.written {
		r.written.add(s)
	}
	if c := firstByte(s); (c == '{' || c == '[') && ctx.depth < maxNesting {
		if v, err := rawjson.Parse([]byte(s)); err == nil {
			ctx.src = []byte(s)
			ctx.depth++
			ctx.opaque = true
			r.walk(v, st, ctx)
		}
	}
}

// maxOutput is the length in UTF-16 units up to which what a tool gave back may be
// a message. It is a length class, so that a sanitized text is on the same side.
const maxOutput = 2000

// firstByte returns the first byte of s that is no white space, or 0.
func firstByte(s string) byte {
	for i := range len(s) {
		if !isSpace(s[i]) {
			return s[i]
		}
	}
	return 0
}
