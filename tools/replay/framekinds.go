package replay

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// The names that FrameFindings gives to what comes from no frame.
const (
	KindEndOfRun = "(end of run)" // how the process ended, or what was missing until then
	KindUntold   = "(not told)"   // the adapter did not say which line it had read
)

// FrameFindings is what a consumer loses, doubles or invents of the frames of
// one kind.
type FrameFindings struct {
	// FrameKind is the name that normalize.KindName gives, or one of the names
	// above.
	FrameKind string         `json:"frame_kind"`
	Findings  []FrameFinding `json:"findings"`
}

// FrameFinding is a finding of one kind of frames.
type FrameFinding struct {
	Finding
	// Beside names, for something doubled, the kind of frames that gave it
	// before.
	Beside string `json:"beside,omitempty"`
}

// String says the finding in a few words.
func (f FrameFinding) String() string {
	if f.Beside == "" {
		return f.Finding.String()
	}
	return f.Finding.String() + ", given before by " + f.Beside
}

// FindingsByFrame says of each finding of Compatible which kind of frame it
// comes from. Kinds are in order of first appearance on stdout, those that are
// no frames last. A reading that was not run gives none.
func FindingsByFrame(in Input, ref, consumer *Reading) ([]FrameFindings, error) {
	if ref.Status != StatusOK || consumer.Status != StatusOK {
		return nil, nil
	}
	n, err := normalize.New(in.Dialect)
	if err != nil {
		return nil, fmt.Errorf("naming the frames of the transcript: %w", err)
	}
	lines := slices.Collect(in.Transcript.Lines(transcript.CLIToServer, transcript.Stdout))
	byKind, first := map[string]map[string][]located{}, map[string]int{} // by kind, then by the kind beside it
	for _, f := range compare(ref, consumer) {
		kind, order := kindOfLine(n, lines, f.line)
		if seen, ok := first[kind]; !ok || order < seen {
			first[kind] = order
		}
		beside := ""
		if f.first >= 0 {
			beside, _ = kindOfLine(n, lines, f.first)
		}
		if byKind[kind] == nil {
			byKind[kind] = map[string][]located{}
		}
		byKind[kind][beside] = append(byKind[kind][beside], f)
	}
	out := make([]FrameFindings, 0, len(byKind))
	for kind, found := range byKind {
		out = append(out, FrameFindings{kind, besides(found)})
	}
	slices.SortFunc(out, func(a, b FrameFindings) int {
		if d := first[a.FrameKind] - first[b.FrameKind]; d != 0 {
			return d
		}
		return strings.Compare(a.FrameKind, b.FrameKind)
	})
	return out, nil
}

// besides counts the findings of one kind of frames.
func besides(found map[string][]located) []FrameFinding {
	var out []FrameFinding
	for _, beside := range slices.Sorted(maps.Keys(found)) {
		for _, f := range tally(found[beside]) {
			out = append(out, FrameFinding{f, beside})
		}
	}
	return out
}

func kindOfLine(n *normalize.Normalizer, lines [][]byte, line int) (kind string, order int) {
	switch {
	case line == reference.EndOfRun:
		return KindEndOfRun, len(lines)
	case line < 0 || line >= len(lines):
		return KindUntold, len(lines) + 1
	}
	v, err := rawjson.Parse(lines[line])
	if err != nil {
		return normalize.EventNonJSON, line
	}
	return n.KindName(v), line
}

// places finds the lines of a reading's events.
type places struct {
	r       *Reading
	uses    map[string][]int // id → lines of its tool_use events
	results map[string]int   // id → line of its last tool_result
	lasts   map[string]int   // type → line of its last event
	text    strings.Builder
	starts  []int // where each piece of text starts, and its line
	lines   []int
}

func placesOf(r *Reading) *places {
	p := &places{r: r, uses: map[string][]int{}, results: map[string]int{}, lasts: map[string]int{}}
	for i, e := range r.Events {
		line := p.line(i)
		p.lasts[e.Type()] = line
		switch e.Type() {
		case "tool_use":
			id := strings.TrimSuffix(e.Get("id").Str(), taskSuffix)
			p.uses[id] = append(p.uses[id], line)
		case "tool_result":
			p.results[strings.TrimSuffix(e.Get("toolUseId").Str(), taskSuffix)] = line
		case "text_delta":
			p.piece(e.Get("delta").Str(), line)
		case "stdout":
			p.piece(e.Get("chunk").Str(), line)
		}
	}
	return p
}

func (p *places) piece(text string, line int) {
	p.starts, p.lines = append(p.starts, p.text.Len()), append(p.lines, line)
	p.text.WriteString(text)
}

// line returns the line of an event.
func (p *places) line(i int) int {
	if i >= len(p.r.Origins) {
		return reference.Untold
	}
	return p.r.Origins[i]
}

// lineOfText returns the line that gave the byte at an offset of all text.
func (p *places) lineOfText(at int) int {
	i := sort.SearchInts(p.starts, at+1) - 1
	if i < 0 {
		return reference.Untold
	}
	return p.lines[i]
}

// textLine returns the line where a text begins, at or after *from, and moves
// *from behind the text.
func (p *places) textLine(text string, from *int) int {
	i := strings.Index(p.text.String()[*from:], text)
	if i < 0 {
		return reference.EndOfRun // a text that no event shows
	}
	at := *from + i
	*from = at + len(text)
	return p.lineOfText(at)
}

// use returns the line of the n-th announcement of a call.
func (p *places) use(id string, n int) int {
	if n < len(p.uses[id]) {
		return p.uses[id][n]
	}
	return reference.EndOfRun
}

func (p *places) result(id string) int { return lineOr(p.results, id) }

// last returns the line of the last event of a type.
func (p *places) last(typ string) int { return lineOr(p.lasts, typ) }

func lineOr(lines map[string]int, key string) int {
	if line, ok := lines[key]; ok {
		return line
	}
	return reference.EndOfRun
}
