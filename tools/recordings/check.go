package recordings

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// State says how a recording stands to what CLIs print today.
type State string

// The states, in the order in which they are looked for.
const (
	StateNoStream State = "no_stream" // the file holds no stream of a protocol that is known
	StateStale    State = "stale"     // something in it no current version emits any more
	StateUnknown  State = "unknown"   // something in it nobody ever captured
	StateCurrent  State = "current"   // all of it is emitted by a current version
)

// Row is what is known of one stream.
type Row struct {
	File   string `json:"file"`
	At     string `json:"at,omitempty"` // JSON pointer of the stream in a cassette
	Format Format `json:"format"`
	State  State  `json:"state"`
	// Reason says why there is no stream.
	Reason  string                  `json:"reason,omitempty"`
	Dialect string                  `json:"dialect,omitempty"`
	Family  contract.ProtocolFamily `json:"protocol_family,omitempty"`
	// Shape is the known shape with this very structure; "" for none. Without
	// the process, its stderr and stdin a recording seldom has one.
	Shape contract.Digest `json:"shape,omitempty"`
	// Versions are the captured versions, AGENT@VERSION, that emit every kind of
	// frame, member and word in it, but for those in Never.
	Versions []string `json:"versions"`
	// Gone is what earlier versions emitted and no current one does, Never what
	// nobody captured: KIND, KIND path:type or KIND path=word. Nothing of the
	// recording's texts is among them but words of the protocol.
	Gone  []string `json:"gone,omitempty"`
	Never []string `json:"never,omitempty"`
}

// Check reads a file, or every file below a folder. The error is about the
// registry, or a place that cannot be read.
func Check(ctx context.Context, reg *store.Registry, place string) ([]Row, error) {
	k, err := learn(reg)
	if err != nil {
		return nil, err
	}
	rows := []Row{}
	err = filepath.WalkDir(place, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return ctx.Err()
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rows = append(rows, k.file(p, b)...)
		return ctx.Err()
	})
	return rows, err
}

func (k *knowledge) file(name string, b []byte) []Row {
	format, streams, err := read(name, b)
	switch {
	case err != nil:
		return []Row{{File: name, Format: format, State: StateNoStream, Reason: err.Error(), Versions: []string{}}}
	case format == FormatMock:
		return []Row{{File: name, Format: format, State: StateNoStream, Versions: []string{},
			Reason: "an export of what a run did, not what its CLI printed: it says nothing about a wire format"}}
	}
	rows := make([]Row, len(streams))
	for i, s := range streams {
		rows[i] = k.row(Row{File: name, At: s.name, Format: format, Versions: []string{}}, s.transcript)
	}
	return rows
}

func (k *knowledge) row(r Row, t *transcript.Transcript) Row {
	d, err := normalize.DetectDialect(k.families, t)
	if err != nil {
		r.State, r.Reason = StateNoStream, "no protocol that is known here"
		return r
	}
	r.Dialect, r.Family = d.ID, d.ProtocolFamily
	if d.ProtocolFamily == contract.FamilyPlain {
		r.State, r.Reason = StateNoStream, "plain text, of which nothing can be told from other text"
		return r
	}
	shape, notes, err := normalize.Shape(t, d, contract.LevelRuntimeObserved)
	if err != nil {
		r.State, r.Reason = StateNoStream, "it cannot be normalized"
		return r
	}
	known := k.dialects[d.ID]
	if known == nil {
		r.State, r.Reason = StateUnknown, "no capture speaks the dialect "+d.ID
		return r
	}
	if known.shapes[shape.Signature] {
		r.Shape = shape.Signature
	}
	// What a shape leaves out counts here: a frame after the last one, too.
	known.judge(&r, itemsOf(slices.Concat(shape.FrameShapes, notes.OptionalKinds, notes.AfterTerminal)))
	slices.SortFunc(r.Versions, k.compare)
	return r
}

// compare orders AGENT@VERSION by agent, and versions of one as it counts them.
func (k *knowledge) compare(x, y string) int {
	agent, v, _ := strings.Cut(x, "@")
	other, w, _ := strings.Cut(y, "@")
	n := strings.Compare(agent, other)
	if a := k.agents.Agent(agent); n == 0 && a != nil {
		n, _ = agents.CompareVersions(a, v, w) // two products of one name have no order
	}
	return cmp.Or(n, strings.Compare(v, w))
}

// knowledge is what a registry has captured.
type knowledge struct {
	families *contract.Families
	agents   *contract.AgentsFile
	dialects map[string]*spoken
}

// spoken is what was captured of one dialect.
type spoken struct {
	shapes map[contract.Digest]bool
	// items has for each kind of frame, member and word the versions that emit
	// it, versions all of them, current the newest of each agent.
	items             map[string]map[string]bool
	versions, current map[string]bool
}

func learn(reg *store.Registry) (*knowledge, error) {
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	var known contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &known); err != nil {
		return nil, err
	}
	observations, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	k := &knowledge{families: families, agents: &known, dialects: map[string]*spoken{}}
	shapes := map[contract.Digest][]string{}
	newest := map[string]map[string]string{} // dialect → agent → version
	for i := range observations {
		o := &observations[i]
		sig, id := o.Shape.Signature, o.Extensions.Dialect
		if shapes[sig] == nil {
			s := &contract.Shape{}
			if err := reg.ReadJSON(o.Shape.Path, s); err != nil {
				return nil, err
			}
			shapes[sig] = items(s)
		}
		s := k.dialects[id]
		if s == nil {
			s = &spoken{map[contract.Digest]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string]bool{}}
			k.dialects[id], newest[id] = s, map[string]string{}
		}
		s.add(sig, o.Agent+"@"+o.CLIVersion, append(outside(o), shapes[sig]...))
		if a := known.Agent(o.Agent); a != nil {
			newest[id][o.Agent] = later(a, newest[id][o.Agent], o.CLIVersion)
		}
	}
	overall := map[string]string{}
	for _, byAgent := range newest {
		for agent, version := range byAgent {
			overall[agent] = later(known.Agent(agent), overall[agent], version)
		}
	}
	for id, byAgent := range newest {
		for agent, version := range byAgent {
			if speaks(known.Agent(agent), overall[agent], id) {
				k.dialects[id].current[agent+"@"+version] = true
			}
		}
	}
	return k, nil
}

// speaks reports whether an agent's newest captured version is started in a way
// that gives the dialect. The newest capture of a dialect that is gone is no
// current one.
func speaks(a *contract.Agent, version, dialect string) bool {
	v, err := agents.ParseToken(a, version)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(a.Launches, func(l contract.AgentLaunch) bool {
		in, err := v.In(l.Versions)
		return l.Dialect == dialect && in && err == nil
	})
}

func (s *spoken) add(sig contract.Digest, version string, list []string) {
	s.shapes[sig], s.versions[version] = true, true
	for _, item := range list {
		if s.items[item] == nil {
			s.items[item] = map[string]bool{}
		}
		s.items[item][version] = true
	}
}

// judge sorts out what of a recording is emitted by whom.
func (s *spoken) judge(r *Row, list []string) {
	for v := range s.versions {
		if !slices.ContainsFunc(list, func(item string) bool { return len(s.items[item]) > 0 && !s.items[item][v] }) {
			r.Versions = append(r.Versions, v)
		}
	}
	for _, item := range list {
		by := s.items[item]
		switch {
		case len(by) == 0:
			r.Never = append(r.Never, item)
		case !s.now(by):
			r.Gone = append(r.Gone, item)
		}
	}
	switch {
	case len(r.Gone) > 0:
		r.State = StateStale
	case len(r.Never) > 0:
		r.State = StateUnknown
	case slices.ContainsFunc(r.Versions, func(v string) bool { return s.current[v] }):
		r.State = StateCurrent
	case len(r.Versions) > 0: // each part is emitted by some current version, all of it by none
		r.State = StateStale
	default:
		r.State = StateUnknown
	}
}

func (s *spoken) now(by map[string]bool) bool {
	for v := range by {
		if s.current[v] {
			return true
		}
	}
	return false
}

// items lists what a shape has on stdout: its kinds of frames, their members,
// the words of the protocol. It is sorted.
func items(s *contract.Shape) []string { return itemsOf(s.FrameShapes) }

// outside lists what an observation has beside its shape.
func outside(o *store.Observed) []string {
	return itemsOf(append(slices.Clone(o.Extensions.OptionalKinds), o.Extensions.AfterTerminal...))
}

func itemsOf(frames []contract.FrameShape) []string {
	seen := map[string]bool{}
	for i := range frames {
		f := &frames[i]
		if f.Stream != string(transcript.Stdout) {
			continue
		}
		seen[f.EventType] = true
		for _, p := range f.Paths {
			seen[fmt.Sprintf("%s %s:%s", f.EventType, p.Path, p.Type)] = true
		}
		for path, words := range f.Enums {
			for _, w := range words {
				seen[fmt.Sprintf("%s %s=%v", f.EventType, path, w)] = true
			}
		}
	}
	out := make([]string, 0, len(seen))
	for item := range seen {
		out = append(out, item)
	}
	slices.Sort(out)
	return out
}

// Worst returns the state that asks for most attention; StateCurrent for no
// rows.
func Worst(rows []Row) State {
	order := []State{StateStale, StateUnknown, StateNoStream, StateCurrent}
	worst := StateCurrent
	for _, r := range rows {
		if cmp.Compare(slices.Index(order, r.State), slices.Index(order, worst)) < 0 {
			worst = r.State
		}
	}
	return worst
}

// later returns the later of two versions; "" is before all.
func later(a *contract.Agent, v, w string) string {
	if v == "" {
		return w
	}
	if n, err := agents.CompareVersions(a, v, w); err == nil && n > 0 {
		return v
	}
	return w
}
