package redact

import (
	"bytes"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// rewrite replaces the bytes of one record by their sanitized form.
func (r *run) rewrite(rec *transcript.Record) {
	line := rec.Line()
	body := bytes.TrimSpace(line)
	if len(body) == 0 {
		rec.Frame = nil
		rec.Data = bytes.Clone(line)
		return
	}
	shift := offset(line, body)
	rec.Data, rec.Frame = nil, nil
	var f *form
	if formed(rec) {
		if f = r.forms.match(body); f != nil && f.parts != nil {
			r.store(rec, line, shift, len(body), r.rewriteForm(f, line, body, shift), f.facts, f.sound)
			return
		}
	}
	json, why := r.parse(rec, body)
	if why != "" {
		deviate(rec, r.framed(rec), transcript.DeviationNotJSON)
		rec.Data = slices.Concat(line[:shift], []byte(r.deny(rec, body, why)), line[shift+len(body):])
		return
	}
	if json {
		w := r.writer(body, shift)
		w.value(r.doc.Root(), r.d.set.Root(), false)
		facts := r.factsOf(r.doc.Root())
		r.store(rec, line, shift, len(body), applyBytes(line, shift, len(body), w.edits), facts, false)
		if f != nil {
			f.settle(body, r.forms.known.Tokens, w.edits, facts, rec.Frame != nil)
		}
		r.edits = w.edits
		return
	}
	deviate(rec, r.framed(rec), transcript.DeviationNotJSON)
	out := r.textLine(string(body), rec)
	rec.Data = slices.Concat(line[:shift], []byte(out), line[shift+len(body):])
}

// formed says that frames of the record's stream are remembered by their form:
// not those of a session file, which has rules of its own.
func formed(rec *transcript.Record) bool {
	return rec.Stream != transcript.Stderr && rec.Stream != transcript.Session
}

// framed says that every line of the record's stream should be JSON.
func (r *run) framed(rec *transcript.Record) bool {
	return rec.Stream == transcript.Stdout && !r.d.plain || rec.Stream == transcript.Session
}

// frameFacts are facts about a frame that its values do not change.
type frameFacts struct{ duplicate, batch, missing bool }

func (r *run) factsOf(root rawjson.Value) frameFacts {
	return frameFacts{
		duplicate: root.HasDuplicateKeys(),
		batch:     root.Kind() == rawjson.Array,
		missing:   r.d.jsonrpc && root.Kind() == rawjson.Object && !root.Get("jsonrpc").Exists(),
	}
}

// store stores a sanitized JSON line as frame or data. Sound says that others of
// the same form, and with other values, had no problem as frames.
func (r *run) store(rec *transcript.Record, line []byte, shift, n int, out []byte, is frameFacts, sound bool) {
	deviate(rec, rec.Stream == transcript.Stdout && is.duplicate, transcript.DeviationDuplicateKey)
	if r.d.rpc && rec.Stream != transcript.Stderr {
		deviate(rec, is.batch, transcript.DeviationBatch)
		deviate(rec, is.missing, transcript.DeviationNoJSONRPC)
		rest := string(line[:shift]) + string(line[shift+n:])
		ended := rest == "\n" || rest == "\r\n" && slices.Contains(rec.Deviations, transcript.DeviationCRLF) ||
			rest == "" && slices.Contains(rec.Deviations, transcript.DeviationTruncatedTail)
		frame := out[shift : len(out)-len(line)+shift+n]
		if ended && !is.missing && (sound && transcript.PlainBytes(frame) || transcript.FrameProblem(frame) == "") {
			rec.Frame = frame
			return
		}
	}
	rec.Data = out
}

func deviate(rec *transcript.Record, is bool, what string) {
	if is && !slices.Contains(rec.Deviations, what) {
		rec.Deviations = append(slices.Clip(rec.Deviations), what)
	}
}

// textLine redacts a line that is no JSON. The beginning of a JSON text is
// redacted as the JSON that it would have been.
func (r *run) textLine(s string, rec *transcript.Record) string {
	if out, ok := r.cutLine(s); ok {
		return out
	}
	if isInert(s) {
		return s
	}
	deny := rec.Stream == transcript.Stdin || rec.Stream == transcript.Session || r.in.Hermetic && r.scenario.has(s) ||
		r.d.plain && rec.Stream == transcript.Stdout && !r.in.Hermetic
	out := r.padded(s, r.settle(s, !deny, 0))
	if r.becameJSON(s, out) {
		return out + `\\` // no reader takes for a frame what was none
	}
	if whole, ok := completeJSON(out); ok && (out[0] == '{' || out[0] == '[') && r.doc.Parse(whole) == nil { // a placeholder made it one
		r.walk(r.doc.Root(), r.d.set.Root(), walkContext{src: whole, written: rec.Stream == transcript.Stderr})
		for _, m := range r.members {
			m.always = 0 // more texts may stay now
		}
		r.forms.forget()
		r.plain, r.named = nil, recent[nameEdits]{}
		out, _ = r.cutLine(out)
	}
	return out
}

// becameJSON says that a line is JSON only because its placeholders took out what
// was wrong with it, as an escape that JSON does not have.
func (r *run) becameJSON(s, out string) bool {
	return out != s && r.doc.Parse([]byte(out)) == nil && r.doc.Parse([]byte(s)) != nil
}

// cutLine redacts a line that is the beginning of a JSON object or array.
func (r *run) cutLine(s string) (string, bool) {
	if s[0] != '{' && s[0] != '[' {
		return "", false
	}
	whole, ok := completeJSON(s)
	if !ok || r.doc.Parse(whole) != nil {
		return "", false
	}
	w := r.writer(whole, 0)
	w.quiet = true
	w.value(r.doc.Root(), r.d.set.Root(), false)
	return apply(s, clip(w.edits, len(s))), true
}

// clip drops what edits put behind the end of a text that was completed.
func clip(edits []edit, n int) []edit {
	for i, e := range edits {
		if e.start >= n {
			return edits[:i]
		}
		edits[i].end = min(e.end, n)
	}
	return edits
}

// writer collects the edits of one JSON text.
type writer struct {
	r     *run
	src   []byte
	frame int
	shift int
	depth int  // of JSON inside strings
	quiet bool // a cut text: its pieces are not those of a frame
	rare  bool // no string seems to come twice
	// What replaces a whole string is written behind out, instead of an edit.
	direct, wrote bool
	out           []byte
	edits         []edit
}

func (r *run) writer(src []byte, shift int) *writer {
	return &writer{r: r, src: src, frame: r.frame, shift: shift, edits: r.edits[:0]}
}

func (w *writer) value(v rawjson.Value, st paths.State, opaque bool) {
	f := st.Flags()
	opaque = opaque || f&fOpaque != 0
	switch v.Kind() {
	case rawjson.String:
		w.str(v.Token(), f)
	case rawjson.Number:
		a, b := v.KeyRange() // none in a list
		at, _ := v.Range()
		w.number(v.Raw(), at, f&fMeasured != 0 || w.depth > 0 && measuredKey(v.Key()) || f&fLiteral == 0 && a != b && w.account(w.r.last))
	case rawjson.Array:
		if f&fEncoded != 0 && w.bytes(v) {
			return
		}
		next := st.Elem()
		for c := range v.Children() {
			w.value(c, next, opaque)
		}
	case rawjson.Object:
		for c := range v.Children() {
			m := w.r.member(c, w.src)
			w.memberName(c, m, f&fMap != 0, opaque)
			w.value(c, st.Key(m.name), opaque)
		}
	}
}

// str replaces a string. It says whether the string is a piece of another text.
func (w *writer) str(t rawjson.Token, f paths.Flags) (piece bool) {
	a, b := t.Start, t.End
	if b == a+2 {
		return false
	}
	if f&fPiece != 0 && !w.quiet && w.depth == 0 {
		if p := w.r.groups.find(w.frame, a+w.shift); p != nil {
			w.r.resolve(p.g)
			w.replace(a, b, t.Text(w.src), p.g.out[p.n])
			return true
		}
	}
	if f&fEncoded != 0 {
		s := t.Text(w.src)
		if out, ok := w.r.base64(s, w.depth); ok {
			w.replace(a, b, s, out)
			return false
		}
	}
	if b-a > maxMemo || w.rare {
		s := t.Text(w.src)
		w.replace(a, b, s, w.r.str(s, w.depth))
		return false
	}
	token := string(w.src[a:b])
	known, ok := w.r.tokens.get(token)
	if !ok {
		s := t.Text(w.src)
		if out := w.r.str(s, w.depth); out != s {
			w.r.quoted = rawjson.AppendQuote(w.r.quoted[:0], out)
			known = string(w.r.quoted)
		}
		w.r.tokens.put(token, known)
	}
	if known != "" {
		w.edits = append(w.edits, edit{start: a + 1, end: b - 1, text: known[1 : len(known)-1]})
	}
	return false
}

// replace rewrites the inside of a string token.
func (w *writer) replace(a, b int, old, text string) {
	if text == old {
		return
	}
	if w.direct {
		w.out, w.wrote = rawjson.AppendQuote(w.out, text), true
		return
	}
	q := rawjson.AppendQuote(w.r.quoted[:0], text)
	w.r.quoted = q
	w.edits = append(w.edits, edit{start: a + 1, end: b - 1, text: string(q[1 : len(q)-1])})
}

// number replaces measured numbers and those too long to be a count: zero
// stays zero and the sign stays.
func (w *writer) number(token []byte, at int, measured bool) {
	if !measured && len(token) < 10 {
		return
	}
	raw := string(token)
	if !measured && len(strings.TrimLeft(raw, "-")) < 10 {
		return
	}
	whole, _, _ := strings.Cut(strings.TrimPrefix(raw, "-"), ".")
	if !measured && len(whole) < 10 && !strings.ContainsAny(raw, "eE") {
		return
	}
	one := "1"
	if raw[0] == '-' {
		one = "-1"
	}
	if rawjson.Float(token) == 0 || raw == one {
		return
	}
	w.edits = append(w.edits, edit{start: at, end: at + len(token), text: one})
}

// account says that a number is the state of somebody's account, which the name
// of its member tells in every dialect.
func (w *writer) account(m *member) bool {
	return m.account.decide(func() bool {
		low := strings.ToLower(m.name)
		for _, s := range []string{"account", "balance", "billing", "cost", "credit", "overage", "quota", "usd", "utilization"} {
			if strings.Contains(low, s) {
				return true
			}
		}
		return false
	})
}

// measuredKey knows the members of error bodies that hold times.
func measuredKey(k string) bool {
	k = strings.ToLower(k)
	for _, s := range []string{"_ms", "_at", "seconds", "duration", "elapsed", "reset", "retry", "timestamp", "expires"} {
		if strings.Contains(k, s) && k != "status" {
			return true
		}
	}
	return false
}

// memberName replaces an object's key that is data.
func (w *writer) memberName(v rawjson.Value, m *member, data, opaque bool) {
	k := m.name
	switch {
	case !data && m.protocol:
		return
	case m.always.decide(func() bool {
		return k == "" || isInert(k) || w.r.survive[k] || w.r.lex.names[k] || w.r.lex.codes[k]
	}):
		return
	case !data && opaque && m.public.decide(func() bool { return w.r.lex.key(k) }):
		return
	}
	a, b := v.KeyRange()
	w.replace(a, b, k, w.r.place(k))
}

// protocolKey says that a member name looks like one that a program's author
// chose: letters, a few digits, no identifier.
func protocolKey(k string) bool {
	if k == "" || len(k) > 64 || isDigit(k[0]) || k[0] == '-' || k[0] == '.' || isUUID(k) || len(k) >= 12 && hexAt(k, 0, len(k)) {
		return false
	}
	digits := 0
	for i := range len(k) {
		if isDigit(k[i]) {
			digits++
		}
	}
	if digits > 4 {
		return false
	}
	for i := range len(k) {
		if !isAlnum(k[i]) && strings.IndexByte("_$.-", k[i]) < 0 {
			return false
		}
	}
	return !isSlug(k) && !isAddress(k) && !strings.HasPrefix(k, "mcp__") && !madeKey(k)
}

// madeKey says that a member's name holds a long run of letters and digits in
// turns: an identifier that a program made (ses_…), no word with a number in it.
func madeKey(k string) bool {
	from, changes := 0, 0
	for i := 0; i <= len(k); i++ {
		switch {
		case i == len(k) || !isAlnum(k[i]):
			if i-from >= 12 && changes >= 3 {
				return true
			}
			from, changes = i+1, 0
		case i > from && isDigit(k[i]) != isDigit(k[i-1]):
			changes++
		}
	}
	return false
}

// jsonEdits redacts JSON inside a text. With cut the text may end early.
func (r *run) jsonEdits(s string, depth int, cut bool) ([]edit, bool) {
	var d rawjson.Doc
	src := []byte(s)
	if d.Parse(src) != nil {
		ok := false
		if cut {
			src, ok = completeJSON(s)
		}
		if !ok || d.Parse(src) != nil {
			return nil, false
		}
	}
	w := &writer{r: r, src: src, frame: -1, depth: depth + 1, quiet: true}
	w.value(d.Root(), paths.State{}, true)
	return clip(w.edits, len(s)), true
}
