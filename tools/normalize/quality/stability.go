package quality

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// chunkings are the numbers of bytes after which a pipe may cut what a child
// prints: within every character, within words, and at the sizes of buffers.
var chunkings = []int{1, 3, 7, 64, 1000, 4096, 65536}

// Chunking is what became of the runs cut in one way.
type Chunking struct {
	Bytes   int      `json:"bytes"` // of each chunk
	Tried   int      `json:"tried"`
	Changed []string `json:"changed,omitempty"` // fixtures that have another signature
}

// Cell is what became of the captures of one agent, version, platform, probe,
// profile and provider.
type Cell struct {
	Agent      string `json:"agent"`
	Version    string `json:"version"`
	Probe      string `json:"probe"`
	Profile    string `json:"profile"`
	Platform   string `json:"platform"`
	Captures   int    `json:"captures"`
	Signatures int    `json:"signatures"`
}

// Stable is the result of a stability run.
type Stable struct {
	Fixtures  int        `json:"fixtures"`
	Chunkings []Chunking `json:"chunkings"`
	// Repeated are the cells that were captured more than once, sorted.
	Repeated []Cell `json:"repeated"`
}

// OK reports whether nothing changed a signature.
func (s *Stable) OK() bool {
	return !slices.ContainsFunc(s.Chunkings, func(c Chunking) bool { return len(c.Changed) > 0 }) &&
		!slices.ContainsFunc(s.Repeated, func(c Cell) bool { return c.Signatures > 1 })
}

// Stability cuts each fixture in every way, through the recorder's own format
// and assembler, and counts the signatures of what was captured repeatedly, where
// one of the captures has a fixture whose place starts with a prefix; none means
// all. It needs a folder for scratch files; progress, which may be nil, is told
// how many cuts are done.
func Stability(fixtures []Fixture, obs []store.Observed, prefixes []string, scratch string, progress func(done, all int)) (*Stable, error) {
	out := &Stable{Fixtures: len(fixtures), Repeated: repeated(obs, prefixes)}
	all := len(chunkings) * len(fixtures)
	if progress == nil {
		progress = func(done, all int) {}
	}
	for k, n := range chunkings {
		c := Chunking{Bytes: n}
		for i, f := range fixtures {
			progress(k*len(fixtures)+i, all)
			r, err := newRun(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			t, err := chunked(f.Transcript, n, filepath.Join(scratch, fmt.Sprintf("%d-%d.bundle", n, i)))
			if err != nil {
				return nil, fmt.Errorf("%s in chunks of %d: %w", f.Name, n, err)
			}
			sig, err := r.sign(t)
			if err != nil {
				return nil, fmt.Errorf("%s in chunks of %d: %w", f.Name, n, err)
			}
			c.Tried++
			if sig != r.base {
				c.Changed = append(c.Changed, f.Name)
			}
		}
		out.Chunkings = append(out.Chunkings, c)
	}
	progress(all, all)
	return out, nil
}

// chunked records a run in chunks of n bytes and reads it back.
func chunked(t *transcript.Transcript, n int, file string) (*transcript.Transcript, error) {
	w, err := transcript.CreateBundle(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file) }()
	ended := map[transcript.Stream]bool{}
	for _, rec := range t.Records {
		if rec.Dir == transcript.Process {
			if rec.Event == transcript.EventExit {
				for _, s := range []transcript.Stream{transcript.Stdout, transcript.Stderr} {
					ended[s] = true
					if err := w.End(transcript.CLIToServer, s, rec.At, "eof"); err != nil {
						return nil, err
					}
				}
			}
			if err := w.Process(rec.At, transcript.ProcessEvent{Event: rec.Event, ExitCode: rec.ExitCode, Signal: rec.Signal, Reason: rec.Reason}); err != nil {
				return nil, err
			}
			continue
		}
		if ended[rec.Stream] {
			continue // printed by somebody else after the child had gone
		}
		for piece := range slices.Chunk(rec.Line(), n) {
			if err := w.Chunk(rec.Dir, rec.Stream, rec.At, piece); err != nil {
				return nil, err
			}
		}
	}
	if _, err := w.Close(); err != nil {
		return nil, err
	}
	r, err := transcript.OpenBundle(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return transcript.Assemble(r)
}

func repeated(obs []store.Observed, prefixes []string) []Cell {
	type key struct {
		cell     Cell
		provider contract.ProviderKind
		revision contract.Digest
	}
	count := map[key]map[contract.Digest]int{}
	asked := map[key]bool{} // the others of a cell count too: it is their signatures that may differ
	for _, o := range obs {
		k := key{
			Cell{Agent: o.Agent, Version: o.CLIVersion, Probe: o.Probe, Profile: o.Extensions.Profile, Platform: string(o.Platform)},
			o.Extensions.Provider, o.Extensions.ProbeRevision,
		}
		if count[k] == nil {
			count[k] = map[contract.Digest]int{}
		}
		count[k][o.Shape.Signature]++
		asked[k] = asked[k] || wanted(o.Extensions.Fixture, prefixes)
	}
	out := []Cell{}
	for k, sigs := range count {
		if !asked[k] {
			continue
		}
		for _, n := range sigs {
			k.cell.Captures += n
		}
		if k.cell.Captures > 1 {
			k.cell.Signatures = len(sigs)
			out = append(out, k.cell)
		}
	}
	slices.SortFunc(out, func(a, b Cell) int {
		return cmp.Or(
			cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Profile, b.Profile),
			cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Captures, b.Captures), cmp.Compare(a.Signatures, b.Signatures),
		)
	})
	return out
}
