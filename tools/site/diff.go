package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The limits of a comparison's page.
const (
	mostDiffSignals = 120
	mostDiffLines   = 500
)

func (s *Site) diff(from, to string) (*diffPage, error) {
	a, b, r, err := s.Compare(from, to)
	if err != nil {
		return nil, err
	}
	p := &diffPage{From: a, To: b, Verdict: r.Verdict, Signals: r.Signals}
	if len(p.Signals) > mostDiffSignals {
		p.More, p.Signals = len(p.Signals)-mostDiffSignals, p.Signals[:mostDiffSignals]
	}
	p.Frames = frameDiffs(a, b)
	seen := &shapePage{Shape: b}
	s.fillSeen(seen)
	p.Usual = seen.Seen[:min(len(seen.Seen), 6)]
	return p, nil
}

// frameDiffs shows the members of each kind that differ. Kinds are paired by
// their type and tags, those that are left by their type alone.
func frameDiffs(a, b *contract.Shape) []frameDiff {
	old := make([]*contract.FrameShape, 0, len(a.FrameShapes))
	for i := range a.FrameShapes {
		old = append(old, &a.FrameShapes[i])
	}
	take := func(same func(*contract.FrameShape) bool) *contract.FrameShape {
		if i := slices.IndexFunc(old, same); i >= 0 {
			f := old[i]
			old = slices.Delete(old, i, i+1)
			return f
		}
		return nil
	}
	pairs := make([]*contract.FrameShape, len(b.FrameShapes))
	for i := range b.FrameShapes {
		key := frameKey(&b.FrameShapes[i])
		pairs[i] = take(func(f *contract.FrameShape) bool { return frameKey(f) == key })
	}
	for i := range b.FrameShapes {
		if key := looseKey(&b.FrameShapes[i]); pairs[i] == nil {
			pairs[i] = take(func(f *contract.FrameShape) bool { return looseKey(f) == key })
		}
	}
	var out []frameDiff
	left := mostDiffLines
	for i := range b.FrameShapes {
		if d := oneFrame(pairs[i], &b.FrameShapes[i], &left); len(d.Lines) > 0 {
			out = append(out, d)
		}
	}
	for _, f := range old {
		out = append(out, oneFrame(f, nil, &left))
	}
	return out
}

func frameKey(f *contract.FrameShape) string {
	return looseKey(f) + "\x00" + strings.Join(tags(f), "\x00")
}
func looseKey(f *contract.FrameShape) string {
	return f.Direction + "\x00" + f.Stream + "\x00" + f.EventType + "\x00" + shortKind(f)
}

// oneFrame compares two kinds, of which one may be nil.
func oneFrame(a, b *contract.FrameShape, left *int) frameDiff {
	d := frameDiff{Sign: "±"}
	switch {
	case a == nil:
		d.Sign, d.Name, d.Tags = "+", frameName(b), tags(b)
	case b == nil:
		d.Sign, d.Name, d.Tags = "−", frameName(a), tags(a)
	default:
		d.Name, d.Tags = frameName(b), tags(b)
	}
	before, after := frameLines(a), frameLines(b)
	for _, l := range before {
		if !slices.Contains(after, l) {
			d.Lines = append(d.Lines, diffLine{"−", l})
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			d.Lines = append(d.Lines, diffLine{"+", l})
		}
	}
	slices.SortStableFunc(d.Lines, func(x, y diffLine) int { return strings.Compare(x.Text, y.Text) })
	if len(d.Lines) > *left {
		d.More, d.Lines = len(d.Lines)-*left, d.Lines[:*left]
	}
	*left -= len(d.Lines)
	return d
}

// frameLines spells what a kind consists of.
func frameLines(f *contract.FrameShape) []string {
	if f == nil {
		return nil
	}
	var out []string
	for _, p := range f.Paths {
		text := p.Path + "  " + p.Type
		if !p.Required {
			text += ", optional"
		}
		out = append(out, text)
	}
	for _, t := range tags(f) {
		out = append(out, fmt.Sprintf("value: %s", t))
	}
	return out
}
