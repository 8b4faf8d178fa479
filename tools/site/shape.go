package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// shapePage is one protocol structure.
type shapePage struct {
	Shape    *contract.Shape
	Frames   []frameView
	Sequence []step
	Seen     []seenAt
	More     int // places that are left out
	Example  []string
	Fixture  string
}

// frameView is one kind of frame.
type frameView struct {
	ID    string
	Name  string
	From  string // who speaks, and on what stream
	Tags  []string
	Paths []contract.PathShape
	More  int // paths that are left out
}

// step is one part of the order of frames.
type step struct {
	Name, ID string
	Open     bool // a block begins that comes two or more times
	Close    bool
}

// seenAt is where a shape was seen.
type seenAt struct {
	Agent, Version, Probe, Profile string
	Platform                       contract.Platform
	Href                           string
	Chip                           chip
}

// The limits of a page: pages stay below 100 kB.
const (
	mostPaths   = 400
	mostSeen    = 60
	mostExample = 8
)

func (s *Site) shapePage(text string) (*shapePage, error) {
	shape, err := s.Shape(text)
	if err != nil {
		return nil, err
	}
	p := &shapePage{Shape: shape}
	left := mostPaths
	for i := range shape.FrameShapes {
		f := &shape.FrameShapes[i]
		v := frameView{ID: fmt.Sprintf("f%d", i), Name: frameName(f), From: f.Stream, Tags: tags(f), Paths: f.Paths}
		if f.Direction == "server->cli" {
			v.From = "to the CLI, " + f.Stream
		}
		if len(v.Paths) > left {
			v.More, v.Paths = len(v.Paths)-left, v.Paths[:left]
		}
		left -= len(v.Paths)
		p.Frames = append(p.Frames, v)
	}
	p.Sequence = steps(shape, shape.Extensions.Sequence, nil)
	s.fillSeen(p)
	return p, nil
}

func frameName(f *contract.FrameShape) string { return cmp.Or(f.EventType, "(untyped)") }

// tags are the values that tell a kind apart from others of its type.
func tags(f *contract.FrameShape) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(f.Enums)) {
		var values []string
		for _, v := range f.Enums[path] {
			values = append(values, strings.Trim(string(v), `"`))
		}
		text := strings.Join(values, ", ")
		if text == f.EventType || strings.HasSuffix(path, "jsonrpc") {
			continue
		}
		out = append(out, path+" = "+text)
	}
	return out
}

// steps writes the order of frames as a list in which blocks that repeat have
// a beginning and an end.
func steps(shape *contract.Shape, seq []contract.SeqItem, out []step) []step {
	for _, item := range seq {
		switch {
		case item.Repeat != nil:
			out = append(out, step{Open: true})
			out = steps(shape, item.Repeat, out)
			out = append(out, step{Close: true})
		case item.Mark != "":
			out = append(out, step{Name: item.Mark})
		case item.Index >= 0 && item.Index < len(shape.FrameShapes):
			f := &shape.FrameShapes[item.Index]
			name := frameName(f)
			if kind := shortKind(f); kind != "" {
				name += " " + kind
			}
			out = append(out, step{Name: name, ID: fmt.Sprintf("f%d", item.Index)})
		}
	}
	return out
}

// shortKind is the one value that best tells a kind apart.
func shortKind(f *contract.FrameShape) string {
	for _, path := range slices.Sorted(maps.Keys(f.Enums)) {
		last := path[strings.LastIndexByte(path, '.')+1:]
		v := f.Enums[path]
		if len(v) == 1 && path != "type" && slices.Contains([]string{"type", "subtype", "kind", "sessionUpdate", "role"}, last) {
			if text := strings.Trim(string(v[0]), `"`); text != f.EventType {
				return text
			}
		}
	}
	return ""
}

// fillSeen lists where the shape was seen, and shows the beginning of a
// transcript that has it.
func (s *Site) fillSeen(p *shapePage) {
	u := s.shapes[shortOf(p.Shape.Signature)]
	have := map[string]bool{}
	for _, o := range u.seen {
		href := proofPath(o.Agent, o.CLIVersion, o.Platform, trackOf(o))
		if have[href] {
			continue
		}
		have[href] = true
		if len(p.Seen) == mostSeen {
			p.More++
			continue
		}
		p.Seen = append(p.Seen, seenAt{o.Agent, o.CLIVersion, o.Probe, o.Extensions.Profile, o.Platform, href, readingChip(o.ParserReplay.Status)})
	}
	if len(u.seen) > 0 {
		p.Fixture = u.seen[0].Extensions.Fixture
		p.Example = s.example(p.Fixture)
	}
}

// example returns the first lines of a sanitized transcript, cut to what fits
// on a page.
func (s *Site) example(place string) []string {
	b, err := s.reg.ReadFile(place)
	if err != nil {
		return nil
	}
	var out []string
	for line := range bytes.Lines(b) {
		var rec struct {
			Dir    string          `json:"dir"`
			Stream string          `json:"stream"`
			Data   string          `json:"data"`
			Frame  json.RawMessage `json:"frame"`
		}
		if json.Unmarshal(line, &rec) != nil || rec.Stream == "stderr" || rec.Stream == "session" {
			continue
		}
		text := strings.TrimSpace(rec.Data + string(rec.Frame))
		if text == "" {
			continue
		}
		const most = 320
		if r := []rune(text); len(r) > most {
			text = string(r[:most]) + " …"
		}
		if rec.Dir == "server->cli" {
			text = "→ " + text
		}
		if out = append(out, text); len(out) == mostExample {
			break
		}
	}
	return out
}

// diffPage compares two shapes.
type diffPage struct {
	From, To *contract.Shape
	Verdict  contract.Verdict
	Signals  []compare.Signal
	Frames   []frameDiff
	Usual    []seenAt // where the newer one was seen
	More     int      // signals that are left out
}

// frameDiff is what differs in the frames of one kind.
type frameDiff struct {
	Name  string
	Tags  []string
	Sign  string // "+" for a new kind, "−" for one that is gone, "±" for a changed one
	Lines []diffLine
	More  int
}

type diffLine struct{ Sign, Text string }
