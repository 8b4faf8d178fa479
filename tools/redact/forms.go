package redact

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// form is a form of frames: whatever was found out about the first one but the
// values that differ holds for each. A stream has thousands of frames and a
// dozen forms.
type form struct {
	slots  []formSlot
	pieces []pieceAct
	// What became of what the frames have in common, between the values that
	// differ, and which facts about the result they share. nil: none was
	// rewritten yet.
	parts []string
	facts frameFacts
	sound bool // the first result had no transcript.FrameProblem
}

// formSlot is a value that differs from frame to frame, and what is known of its
// place.
type formSlot struct {
	value  rawjson.Value // in the frame that the form is learned from
	number bool
	state  paths.State
	ctx    walkContext
	member *member // whose value a number is, nil in a list
	// The last string that stood here, as it was written: when it was collected,
	// and when it was rewritten, with what became of its inside.
	collected, rewritten, out []byte
	others                    int // how many others have stood here since
}

// manyOthers is after how many strings in a row that were not like the one
// before a slot is one of ids and the like, which need not be remembered.
const manyOthers = 32

// pieceAct is what collectPieces does for a frame: it closes texts of a rule, or
// adds the piece in a slot.
type pieceAct struct {
	rule     *pieceRule
	key      []byte
	end, all bool
	slot     int
}

// maxRepeated is how long a string may be that is compared with the one before.
const maxRepeated = 256

// forms are the forms of a run, and what is noted of a frame to make one of it.
type forms struct {
	known rawjson.Forms[*form]
	off   bool

	learning bool
	slots    []formSlot
	acts     []pieceAct
	markers  []string // what must stand in the common part
}

// match returns the form of a frame, whose values are then in known.Tokens, or
// nil.
func (fs *forms) match(body []byte) *form {
	if body[0] != '{' || len(body) > maxLine {
		return nil
	}
	f, _ := fs.known.Match(body)
	return f
}

// begin notes from now on what is special about a frame, unless forms seem not
// to come again.
func (fs *forms) begin(root rawjson.Value) {
	fs.learning = !fs.off && root.Kind() == rawjson.Object && fs.known.Try()
	fs.slots, fs.acts, fs.markers = fs.slots[:0], fs.acts[:0], fs.markers[:0]
}

func (fs *forms) giveUp() { fs.learning = false }

// note notes a value that may differ. m is the member whose number it is.
func (fs *forms) note(v rawjson.Value, st paths.State, ctx walkContext, m *member) {
	if !fs.learning || ctx.depth > 0 {
		return
	}
	if m == nil && st.Flags()&(fLiteral|fName) != 0 {
		return
	}
	if len(fs.slots) == rawjson.MaxDiffer {
		fs.giveUp()
		return
	}
	if a, b := v.KeyRange(); a == b {
		m = nil
	}
	ctx.src = nil
	fs.slots = append(fs.slots, formSlot{value: v, number: v.Kind() == rawjson.Number, state: st, ctx: ctx, member: m})
}

func (fs *forms) act(a pieceAct, key []byte) {
	if fs.learning {
		a.key = bytes.Clone(key)
		fs.acts = append(fs.acts, a)
	}
}

// slotOf returns the slot of a piece. One that is part of the form is no piece.
func (fs *forms) slotOf(v rawjson.Value) int {
	for i := range fs.slots {
		if fs.slots[i].value == v {
			return i
		}
	}
	fs.giveUp()
	return 0
}

// end makes a form of what was noted. What the dialect's conditions ask for is
// part of it.
func (fs *forms) end(r *run, root rawjson.Value, body []byte) {
	if !fs.learning {
		return
	}
	asked := func(v rawjson.Value) {
		for i := range fs.slots {
			if fs.slots[i].value == v {
				fs.slots[i].value = rawjson.Value{}
			}
		}
	}
	for i := range r.d.asked {
		asked(r.looked.at(i))
	}
	for _, steps := range r.d.askedLists {
		lookup(root, steps, asked)
	}
	f := &form{pieces: append([]pieceAct(nil), fs.acts...)}
	var differ []rawjson.Value
	at := make([]int, len(fs.slots)) // new place of a slot
	for i, s := range fs.slots {
		at[i] = -1
		if s.value.Exists() {
			at[i] = len(differ)
			differ = append(differ, s.value)
			s.value = rawjson.Value{}
			f.slots = append(f.slots, s)
		}
	}
	for i := range f.pieces {
		if p := &f.pieces[i]; !p.end {
			if p.slot = at[p.slot]; p.slot < 0 {
				fs.giveUp()
			}
		}
	}
	text := rawjson.NewForm(body, differ)
	for _, m := range fs.markers {
		if !text.Has(m) {
			fs.giveUp()
		}
	}
	if fs.learning {
		fs.known.Add(text, f)
	}
	fs.giveUp()
}

// collectForm is collect for a frame of a form.
func (r *run) collectForm(f *form, body []byte, shift int) {
	for i, t := range r.forms.known.Tokens {
		s := &f.slots[i]
		raw := body[t.Start:t.End]
		if s.number || len(raw) <= maxRepeated && bytes.Equal(raw, s.collected) {
			continue
		}
		r.token(body, t, s.state, s.ctx)
		if s.collected = s.collected[:0]; len(raw) <= maxRepeated && s.state.Flags()&fModel == 0 { // what the model says depends on what stood before
			s.collected = append(s.collected, raw...)
		}
	}
	for i := range f.pieces {
		p := &f.pieces[i]
		switch {
		case !p.end:
			r.groups.add(r.group(p.rule, p.key), body, r.forms.known.Tokens[p.slot], r.frame, shift)
		case len(r.groups.open) > 0:
			r.groups.close(p.key, p.all)
		}
	}
}

// rewriteForm returns the line of a frame of a form, rewritten, if one of the
// form was rewritten before.
func (r *run) rewriteForm(f *form, line, body []byte, shift int) []byte {
	w := r.writer(body, shift)
	w.direct = true
	out := append(r.room[:0], line[:shift]...)
	for i, t := range r.forms.known.Tokens {
		s := &f.slots[i]
		out = append(out, f.parts[i]...)
		raw := body[t.Start:t.End]
		known := !s.number && s.state.Flags()&fPiece == 0 && len(raw) <= maxRepeated && bytes.Equal(raw, s.rewritten)
		if known {
			out = append(append(append(out, '"'), s.out...), '"')
			s.others = 0
			continue
		}
		s.others++
		w.rare = s.others > manyOthers
		w.edits, w.out, w.wrote = w.edits[:0], out, false
		piece := false
		if s.number {
			w.number(raw, t.Start, f.measured(w, s))
		} else {
			piece = w.str(t, s.state.Flags())
		}
		from := len(out)
		if w.wrote {
			out = w.out
		} else {
			out = appendEdited(out, body, t.Start, t.End, w.edits)
		}
		if s.rewritten = s.rewritten[:0]; !s.number && !piece && len(raw) <= maxRepeated {
			s.rewritten = append(s.rewritten, raw...)
			s.out = append(s.out[:0], out[from+1:len(out)-1]...)
		}
	}
	out = append(append(out, f.parts[len(f.slots)]...), line[shift+len(body):]...)
	r.edits, r.room = w.edits, out
	return r.keep(out)
}

func (f *form) measured(w *writer, s *formSlot) bool {
	flags := s.state.Flags()
	return flags&fMeasured != 0 || flags&fLiteral == 0 && s.member != nil && w.account(s.member)
}

// settle keeps what became of the common part of a form.
func (f *form) settle(body []byte, tokens []rawjson.Token, edits []edit, facts frameFacts, sound bool) {
	f.facts, f.sound = facts, sound
	f.parts = make([]string, 0, len(tokens)+1)
	at, e := 0, 0
	for i := 0; i <= len(tokens); i++ {
		start, end := len(body), len(body)
		if i < len(tokens) {
			start, end = tokens[i].Start, tokens[i].End
		}
		n := e
		for n < len(edits) && edits[n].start < start {
			n++
		}
		f.parts = append(f.parts, string(appendEdited(nil, body, at, start, edits[e:n])))
		for e = n; e < len(edits) && edits[e].start < end; e++ {
		}
		at = end
	}
}

// forget drops what became of forms, because more may stay than before.
func (fs *forms) forget() {
	fs.known.Each(func(f *form) {
		f.parts = nil
		for i := range f.slots {
			f.slots[i].rewritten = nil
		}
	})
}
