package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// track is one agent on one platform.
type track struct {
	agent    *contract.Agent
	platform contract.Platform
	byText   map[string]*captured
	versions []*captured // oldest first
}

type trackKey struct {
	agent    string
	platform contract.Platform
}

// captured is a version with records.
type captured struct {
	text   string
	parsed agents.Version
	probes map[string]*store.Observed // the newest of each, production before others
}

// sort files the observations that count under their tracks: no programs that
// somebody named, and none that was withdrawn.
func (b *builder) sort() error {
	b.counted = b.r.Observations
	if slices.ContainsFunc(b.counted, b.setAside) {
		b.counted = slices.DeleteFunc(slices.Clone(b.counted), b.setAside)
	}
	for i := range b.counted {
		o := &b.counted[i]
		if at, seen := b.first[o.Shape.Signature]; !seen || o.Capture.CapturedAt < at {
			b.first[o.Shape.Signature] = o.Capture.CapturedAt
		}
		a := b.wanted(o.Agent)
		if a == nil || !b.onPlatform(o.Platform) {
			continue
		}
		t := b.track(a, o.Platform)
		v := t.byText[o.CLIVersion]
		if v == nil {
			parsed, err := agents.ParseToken(a, o.CLIVersion)
			if err != nil {
				return fmt.Errorf("planning: %s: %w", o.Path, err)
			}
			v = &captured{text: o.CLIVersion, parsed: parsed, probes: map[string]*store.Observed{}}
			t.byText[o.CLIVersion] = v
			t.versions = append(t.versions, v)
		}
		if old := v.probes[o.Probe]; old == nil || preferred(o, old) {
			v.probes[o.Probe] = o
		}
	}
	b.wantPlatforms()
	for _, t := range b.byTrack {
		slices.SortFunc(t.versions, func(x, y *captured) int {
			n, _ := x.parsed.Compare(y.parsed) // recorded versions have no product to differ in
			return cmp.Or(n, cmp.Compare(x.text, y.text))
		})
	}
	return nil
}

func (b *builder) setAside(o store.Observed) bool {
	_, gone := b.standing.Withdrawn(o.Path)
	return gone || strings.HasPrefix(o.Install.Source, "binary:")
}

func preferred(o, old *store.Observed) bool {
	mine, theirs := o.Extensions.Profile == contract.ProfileProduction, old.Extensions.Profile == contract.ProfileProduction
	if mine != theirs {
		return mine
	}
	return cmp.Or(cmp.Compare(o.Capture.CapturedAt, old.Capture.CapturedAt), cmp.Compare(o.Path, old.Path)) > 0
}

func (b *builder) onPlatform(p contract.Platform) bool {
	return len(b.o.Platforms) == 0 || slices.Contains(b.o.Platforms, p)
}

func (b *builder) track(a *contract.Agent, p contract.Platform) *track {
	k := trackKey{a.ID, p}
	if b.byTrack[k] == nil {
		b.byTrack[k] = &track{agent: a, platform: p, byText: map[string]*captured{}}
	}
	return b.byTrack[k]
}

// wantPlatforms makes a track of each agent on each platform that the plan is
// about, also where nothing was captured yet.
func (b *builder) wantPlatforms() {
	platforms := b.o.Platforms
	if len(platforms) == 0 {
		for k := range b.byTrack {
			platforms = append(platforms, k.platform)
		}
	}
	if len(platforms) == 0 {
		platforms = []contract.Platform{contract.HostPlatform()}
	}
	slices.Sort(platforms)
	for _, p := range slices.Compact(platforms) {
		for i := range b.r.Agents.Agents {
			if a := b.wanted(b.r.Agents.Agents[i].ID); a != nil {
				b.track(a, p)
			}
		}
	}
}

func (b *builder) tracks() []*track {
	var out []*track
	for _, t := range b.byTrack {
		out = append(out, t)
	}
	return out
}

func (t *track) newest() *captured {
	if len(t.versions) == 0 {
		return nil
	}
	return t.versions[len(t.versions)-1]
}

func (b *builder) newVersion(t *track) error {
	latest := b.seen[t.agent.ID]
	switch {
	case latest == "" && t.newest() == nil:
		b.add(t.agent, "latest", t.platform, firstProbes(t.agent), Reason{Code: NewVersion, Text: "no version was captured on " + string(t.platform)})
	case latest != "" && t.byText[latest] == nil:
		text := "discovery saw it, and nobody captured it on " + string(t.platform)
		if n := t.newest(); n != nil {
			text += "; the newest captured is " + n.text
		}
		b.add(t.agent, latest, t.platform, firstProbes(t.agent), Reason{Code: NewVersion, Text: text})
	}
	return nil
}

// sourceRisk asks for the versions that source evidence is about.
func (b *builder) sourceRisk(t *track) error {
	for _, s := range b.r.Sources {
		if s.Agent != t.agent.ID || s.ValidityLevel == contract.LevelSyntheticMock || s.CLIVersion == contract.UnknownVersion || t.byText[s.CLIVersion] != nil {
			continue
		}
		if _, err := agents.ParseToken(t.agent, s.CLIVersion); err != nil {
			return fmt.Errorf("planning: %s: %w", s.Path, err)
		}
		text := fmt.Sprintf("%s evidence (%s) is about a version that nobody captured on %s", s.ValidityLevel, s.Path, t.platform)
		if s.Extensions.Note != "" {
			text += ": " + s.Extensions.Note
		}
		b.add(t.agent, s.CLIVersion, t.platform, firstProbes(t.agent), Reason{Code: SourceRisk, Text: text})
	}
	return nil
}

// uncovered asks for probes that the newest version lacks: all of a Tier 0
// agent, the basic ones of others, and what no version has.
func (b *builder) uncovered(t *track) error {
	n := t.newest()
	if n == nil {
		return nil
	}
	for id, c := range t.agent.Coverage {
		missing := c.Status == contract.CoverageMissing
		lacks := c.Status == contract.CoverageCaptured && n.probes[id] == nil && (t.agent.Tier == 0 || slices.Contains(contract.BasicProbes, id))
		if !missing && !lacks {
			continue
		}
		text := "the newest captured version has no record of it"
		if missing {
			text = "no version has a record of it: " + c.Reason
		}
		b.add(t.agent, n.text, t.platform, []string{id}, Reason{UncoveredProbe, id, text})
	}
	return nil
}

// unconfirmed asks for a second look at the shapes of the newest version, once it
// confirms them: one that comes too early is one more capture of the same kind.
func (b *builder) unconfirmed(t *track) error {
	n := t.newest()
	if n == nil {
		return nil
	}
	for id, o := range n.probes {
		if id != contract.VersionProbeID && b.levels[o.Shape.Signature] == contract.LevelRuntimeObserved && b.ripe(o.Shape.Signature) {
			b.add(t.agent, n.text, t.platform, []string{id}, Reason{Unconfirmed, id, "its shape was seen by one runner within an hour; a capture at another time confirms it"})
		}
	}
	return nil
}

// ripe reports whether the first capture of a shape is so old that one of now, by
// the same runner, confirms it.
func (b *builder) ripe(sig contract.Digest) bool {
	first, err := time.Parse(time.RFC3339, b.first[sig])
	return err != nil || b.o.Now.Sub(first) >= matrix.ConfirmGap
}
