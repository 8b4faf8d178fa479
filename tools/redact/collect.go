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
	body := bytes.TrimSpace(rec.Line())
	if len(body) == 0 {
		return
	}
	json, why := r.parse(rec, body)
	if !json {
		r.names.reserve(string(body))
		if why != "" {
			return
		}
		if c, ok := completeJSON(string(body)); ok && r.doc.Parse([]byte(c)) == nil {
			r.walk(r.doc.Root(), r.d.set.Root(), walkContext{src: []byte(c), written: rec.Stream == transcript.Stderr})
		}
		return
	}
	root := r.doc.Root()
	ctx := walkContext{src: body, written: rec.Stream == transcript.Stderr, synthetic: anyHolds(r.d.synthetic, root)}
	r.walk(root, r.d.set.Root(), ctx)
	if rec.Stream != transcript.Stderr {
		r.collectPieces(root, body, bytes.Index(rec.Line(), body))
	}
}

// walkContext is what a value inherits from those around it.
type walkContext struct {
	src       []byte
	written   bool // below a Vocabulary path, or on stderr
	synthetic bool
	opaque    bool // inside a payload, where member names may be data
	depth     int  // of JSON inside strings
}

func (r *run) walk(v rawjson.Value, st paths.State, ctx walkContext) {
	f := st.Flags()
	if f&fVocabulary != 0 {
		ctx.written = true
	}
	ctx.opaque = ctx.opaque || f&fOpaque != 0
	switch v.Kind() {
	case rawjson.String:
		r.token(v, st, ctx)
	case rawjson.Array:
		next := st.Elem()
		for c := range v.Children() {
			r.walk(c, next, ctx)
		}
	case rawjson.Object:
		for c := range v.Children() {
			k := r.key(c, ctx.src)
			r.names.reserve(k)
			if !ctx.opaque && f&fMap == 0 && !r.members[k] && protocolKey(k) && !r.secret(k) {
				r.members[k] = true
			}
			r.walk(c, st.Key(k), ctx)
		}
	}
}

// key returns a member's name without a new string for each.
func (r *run) key(v rawjson.Value, src []byte) string {
	a, b := v.KeyRange()
	if s, ok := r.intern[string(src[a:b])]; ok {
		return s
	}
	k := v.Key()
	r.intern[string(src[a:b])] = k
	return k
}

// token decodes a string only when what it says may matter beyond its own
// place.
func (r *run) token(v rawjson.Value, st paths.State, ctx walkContext) {
	raw := v.Raw()
	if len(raw) == 2 {
		return
	}
	c := firstByte(string(raw[1:min(len(raw), 40)]))
	nested := c == '{' || c == '[' || c == '\\'
	if st.Flags()&(fLiteral|fName|fVocabulary|fModel) == 0 && !ctx.written && !nested && !mayReserve(raw) {
		return
	}
	r.leaf(v.Str(), st, ctx)
}

func (r *run) leaf(s string, st paths.State, ctx walkContext) {
	r.names.reserve(s)
	f := st.Flags()
	switch {
	case f&fLiteral != 0 && r.enumLike(s):
		r.survive[s] = true
	case f&fName != 0 && (r.lex.names[s] || r.lex.codes[s]):
		r.survive[s] = true
	case f&fLiteral != 0 && !isInert(s):
		r.unknown(s)
	}
	if f&fModel != 0 {
		if len(r.groups.prefixes) > 0 {
			r.spoken[s] = true
		}
		if ctx.synthetic || r.in.Hermetic && !r.scenario.has(s) {
			ctx.written = true
		} else {
			r.model[s] = true
			ctx.written = false
		}
	} else if ctx.written && r.in.Hermetic && r.scenario.has(s) {
		ctx.written = false
	}
	if ctx.written {
		r.written[s] = true
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

// firstByte returns the first byte of s that is no white space, or 0.
func firstByte(s string) byte {
	for i := range len(s) {
		if !isSpace(s[i]) {
			return s[i]
		}
	}
	return 0
}
