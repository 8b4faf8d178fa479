package normalize

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// form is what frames have in common that differ only in values at which no rule
// looks: each adds the same to the shape.
type form struct {
	dir        transcript.Dir
	stream     transcript.Stream
	step       step
	nodes      []*node // that a frame counts at
	duplicates int
	differ     []rawjson.Value // of the frame that is learned from
	many       bool            // they are too many
}

func (f *form) note(n *node) {
	if f != nil && (len(f.nodes) == 0 || f.nodes[len(f.nodes)-1] != n) {
		f.nodes = append(f.nodes, n)
	}
}

// differs notes the scalars of a value: what they are does not matter.
func (f *form) differs(v rawjson.Value) {
	if f == nil {
		return
	}
	for c := range v.Children() {
		f.differs(c)
	}
	if k := v.Kind(); k != rawjson.String && k != rawjson.Number {
		return
	}
	if f.many = f.many || len(f.differ) == rawjson.MaxDiffer; !f.many {
		f.differ = append(f.differ, v)
	}
}

// places are the places at whose values the rules look, enums apart.
func (r *rules) places() []paths.Place {
	list := append([]paths.Place(nil), r.eventType...)
	add := func(p paths.Place) { list = append(list, p) }
	for _, u := range r.untyped {
		u.when.Places(add)
	}
	for _, d := range r.kind {
		add(d.place)
		if d.when != nil {
			d.when.Places(add)
		}
	}
	for _, c := range r.calls {
		add(c.place)
		c.when.Places(add)
	}
	return list
}

// known adds a frame of a form that was met before.
func (r *run) known(f frame) bool {
	if r.terminal || r.rules.plodding {
		return false
	}
	x, ok := r.forms.Match(f.text)
	if !ok || x.dir != f.dir || x.stream != f.stream {
		return false
	}
	w := &r.walker
	w.frame++
	w.duplicates += x.duplicates
	x.step.kind.frames++
	for _, n := range x.nodes {
		if n.seen != w.frame {
			n.seen = w.frame
			n.frames++
		}
	}
	r.order.add(x.step)
	return true
}

// learnAfter is how many frames of a kind come before it is worth it to learn the
// form of one: most runs are short, and learning takes longer than two frames do.
const learnAfter = 4

// learn adds a frame, and keeps its form if another frame of it would add the
// same. That is so for frames of the CLI that neither ask nor answer.
func (r *run) learn(f frame, s step, p part, v rawjson.Value) {
	w := &r.walker
	if s.kind.frames >= learnAfter && f.dir != transcript.ServerToCLI && !s.kind.terminal && !p.isAnswer && p.key == "" && !r.rules.plodding && r.forms.Try() {
		w.form = &form{dir: f.dir, stream: f.stream, step: s, duplicates: -w.duplicates}
	}
	w.add(s.kind, v, f.text)
	x := w.form
	w.form = nil
	if x == nil || x.many {
		return
	}
	x.duplicates += w.duplicates
	fixed := map[rawjson.Value]bool{}
	for _, at := range r.looked {
		at.Find(v, func(v rawjson.Value) bool { fixed[v] = true; return true })
	}
	if r.rpc != nil {
		fixed[v.Get("method")] = true
		fixed[v.Get("id")] = true
	}
	var differ []rawjson.Value
	last := 0
	for _, v := range x.differ {
		start, end := v.Range()
		if start < last { // a member that came twice
			return
		}
		if last = end; !fixed[v] {
			differ = append(differ, v)
		}
	}
	x.differ = nil
	r.forms.Add(rawjson.NewForm(f.text, differ), x)
}
