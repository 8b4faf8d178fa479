package quality

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Row is what became of the mutations of one kind.
type Row struct {
	Mutation   string `json:"mutation"`
	Structural bool   `json:"structural"`
	Tried      int    `json:"tried"`
	// Changed is how many gave another signature: all should of a structural
	// one, none of another.
	Changed int `json:"changed"`
	// Declared counts those of the others that lie in a part that the dialect
	// leaves out of the identity, by the part.
	Declared map[string]int `json:"declared,omitempty"`
	// Wrong are the first of those that nothing explains.
	Wrong      []string `json:"wrong,omitempty"`
	WrongCount int      `json:"wrong_count"`
}

// maxWrong is how many unexplained mutations a row names.
const maxWrong = 10

// Report is the result for several fixtures.
type Report struct {
	Fixtures int    `json:"fixtures"`
	Rows     []*Row `json:"rows"`
}

// OK reports whether nothing is unexplained.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Rows, func(x *Row) bool { return x.WrongCount > 0 })
}

func (r *Report) row(mutation string, structural bool) *Row {
	for _, x := range r.Rows {
		if x.Mutation == mutation {
			return x
		}
	}
	x := &Row{Mutation: mutation, Structural: structural, Declared: map[string]int{}}
	r.Rows = append(r.Rows, x)
	return x
}

// Sensitivity mutates each fixture in every way, one change at a time.
// progress, which may be nil, is told how many fixtures are done.
func Sensitivity(fixtures []Fixture, progress func(done, all int)) (*Report, error) {
	if progress == nil {
		progress = func(done, all int) {}
	}
	out := &Report{}
	for i, f := range fixtures {
		progress(i, len(fixtures))
		r, err := newRun(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		out.Fixtures++
		t := &trial{run: r, report: out}
		t.members()
		t.sequence()
		t.exit()
		t.content()
		if t.err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, t.err)
		}
	}
	progress(len(fixtures), len(fixtures))
	return out, nil
}

// trial tries mutations of one run.
type trial struct {
	*run
	report *Report
	err    error
}

// try normalizes a mutated run. cause is the declared part that the mutation
// lies in, "" for none; what describes it.
func (t *trial) try(mutation string, structural bool, tr *transcript.Transcript, cause, what string) {
	sig, err := t.sign(tr)
	if err != nil {
		t.err = err
		return
	}
	row := t.report.row(mutation, structural)
	row.Tried++
	changed := sig != t.base
	if changed {
		row.Changed++
	}
	switch {
	case changed == structural:
	case cause != "":
		row.Declared[cause]++
	default:
		if row.WrongCount++; len(row.Wrong) < maxWrong {
			row.Wrong = append(row.Wrong, t.Name+": "+what)
		}
	}
}

var memberChanges = []struct {
	name string
	do   change
}{{"rename a member", rename}, {"drop a member", drop}, {"retype a member", retype}, {"add a member", add}}

// members changes each place of each kind, in all its frames at once.
func (t *trial) members() {
	kinds := map[string][]int{}
	var order []string
	for i, f := range t.frames {
		if kinds[f.kind] == nil {
			order = append(order, f.kind)
		}
		kinds[f.kind] = append(kinds[f.kind], i)
	}
	for _, k := range order {
		frames := kinds[k]
		seen := map[string]bool{}
		for _, i := range frames {
			ps, _ := t.places(t.frames[i].text)
			for _, p := range ps {
				if seen[p.path] {
					continue
				}
				seen[p.path] = true
				for _, c := range memberChanges {
					texts := t.everywhere(frames, p.path, c.do)
					if len(texts) > 0 {
						t.try(c.name, true, t.with(texts), t.causeOfMember(frames, p), k+" "+p.path)
					}
				}
			}
		}
	}
}

// everywhere changes one place in several frames.
func (t *trial) everywhere(frames []int, path string, do change) map[int][]byte {
	out := map[int][]byte{}
	for _, i := range frames {
		text := t.frames[i].text
		var edits []edit
		ps, _ := t.places(text)
		for _, p := range ps {
			if p.path != path {
				continue
			}
			if e := do(text, p); e != nil {
				edits = append(edits, *e)
			}
		}
		if len(edits) > 0 {
			out[i] = apply(text, edits)
		}
	}
	return out
}

func (t *trial) causeOfMember(frames []int, p place) string {
	f := t.frames[frames[0]]
	switch {
	case f.Optional:
		return "optional kind"
	case !slices.ContainsFunc(frames, func(i int) bool { return !t.frames[i].after }):
		return "after the terminal frame"
	case p.Racy:
		return "racy value"
	}
	return ""
}

// sequence drops, duplicates and swaps frames, and moves the terminal one.
func (t *trial) sequence() {
	for i := range t.frames {
		cause, what := t.causeOfFrame(i), fmt.Sprintf("frame %d, %s", i+1, t.frames[i].kind)
		slots := t.slots()
		slots[i] = nil
		t.try("drop a frame", true, t.reordered(slots), firstOf(cause, t.repeated(i)), what)
		slots[i] = []int{i, i}
		t.try("duplicate a frame", true, t.reordered(slots), firstOf(cause, t.repeated(i)), what)
		if i+1 < len(t.frames) && t.frames[i].kind != t.frames[i+1].kind {
			slots[i], slots[i+1] = []int{i + 1}, []int{i}
			t.try("swap two frames", true, t.reordered(slots), firstOf(cause, t.causeOfFrame(i+1), t.calls(i)), what)
		}
	}
	if t.last > 1 {
		slots := t.slots()
		slots[t.last-1], slots[t.last] = []int{t.last, t.last - 1}, nil
		t.try("move the terminal frame", true, t.reordered(slots), t.causeOfFrame(t.last-1), t.frames[t.last-1].kind)
	}
}

// causeOfFrame is the declared part that a frame's presence and place lie in.
func (t *trial) causeOfFrame(i int) string {
	f := t.frames[i]
	switch {
	case f.Optional:
		return "optional kind"
	case f.Floating:
		return "floating kind"
	case f.Streamed:
		return "stream kind"
	case f.after:
		return "after the terminal frame"
	}
	return ""
}

// repeated says that a frame is one of several of its kind: two or more of a
// block count the same (DESIGN D6).
func (t *trial) repeated(i int) string {
	n := 0
	for _, f := range t.frames {
		if f.kind == t.frames[i].kind {
			n++
		}
	}
	if n > 1 {
		return "two or more of a block"
	}
	return ""
}

// calls says that two neighbours belong to a run whose frames are ordered by
// tool call or request, or around a stream.
func (t *trial) calls(i int) string {
	if t.repeated(i) != "" || t.repeated(i+1) != "" {
		return "two or more of a block"
	}
	if t.Dialect.ProtocolFamily.IsRPC() || len(t.Dialect.Calls) > 0 {
		return "ordered by call"
	}
	return ""
}

func firstOf(causes ...string) string {
	for _, c := range causes {
		if c != "" {
			return c
		}
	}
	return ""
}

// exit changes how the child ended.
func (t *trial) exit() {
	out := &transcript.Transcript{Records: slices.Clone(t.Transcript.Records)}
	for i := range out.Records {
		rec := &out.Records[i]
		if rec.Event != transcript.EventExit {
			continue
		}
		code := 1
		if rec.ExitCode != nil && *rec.ExitCode != 0 {
			code = 0
		}
		rec.ExitCode, rec.Signal = &code, ""
		if _, _, ended := t.Transcript.Exit(); ended == transcript.EventExit {
			t.try("change the exit", true, out, "", strings.TrimSpace(fmt.Sprint("exit ", code)))
		}
		return
	}
}
