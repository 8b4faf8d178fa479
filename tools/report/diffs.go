package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Diffs derives the diff reports of a registry: one for each pair of shapes
// between which an agent changed from one version to the next that was
// observed, in the same platform, probe, profile and provider. Withdrawn
// observations do not count. progress is called after each report; it may be
// nil.
func Diffs(ctx context.Context, reg *store.Registry, now time.Time, progress func(done, all int)) ([]*contract.DriftReport, *Ignores, error) {
	b, ignores, err := newBuilder(reg, now)
	if err != nil {
		return nil, nil, err
	}
	out := make([]*contract.DriftReport, 0, len(b.order))
	for i, key := range b.order {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r, err := b.report(b.found[key], ignores)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, r)
		if progress != nil {
			progress(i+1, len(b.order))
		}
	}
	slices.SortFunc(out, func(x, y *contract.DriftReport) int { return cmp.Compare(x.Path(), y.Path()) })
	return out, ignores, nil
}

// diffsOf derives the reports of one version of an agent; "" is the newest
// with a change.
func diffsOf(ctx context.Context, reg *store.Registry, now time.Time, agent, version string) ([]*contract.DriftReport, error) {
	b, ignores, err := newBuilder(reg, now)
	if err != nil {
		return nil, err
	}
	var list []*change
	for _, key := range b.order {
		if c := b.found[key]; c.newer.Agent == agent {
			list = append(list, c)
		}
	}
	if version == "" && len(list) > 0 {
		file, err := readAgents(reg)
		if err != nil {
			return nil, err
		}
		version = slices.MaxFunc(list, func(x, y *change) int {
			c, err := agents.CompareVersions(file.Agent(agent), x.newer.CLIVersion, y.newer.CLIVersion)
			if err != nil { // two products of one name
				return cmp.Compare(x.newer.Capture.CapturedAt, y.newer.Capture.CapturedAt)
			}
			return c
		}).newer.CLIVersion
	}
	var out []*contract.DriftReport
	for _, c := range list {
		if c.newer.CLIVersion != version {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := b.report(c, ignores)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func newBuilder(reg *store.Registry, now time.Time) (*builder, *Ignores, error) {
	b := &builder{reg: reg, sides: map[string]*Side{}, found: map[string]*change{}}
	var err error
	if b.families, err = reg.Families(); err != nil {
		return nil, nil, err
	}
	ignores, err := ReadIgnores(reg, now)
	if err != nil {
		return nil, nil, err
	}
	return b, ignores, b.changes()
}

type builder struct {
	reg      *store.Registry
	families *contract.Families
	aliases  contract.Aliases
	sides    map[string]*Side // by fixture and agent
	found    map[string]*change
	order    []string
}

// change is a pair of shapes and where an agent went from one to the other.
type change struct {
	older, newer *store.Observed
	cells        []contract.DriftCell
	// released says that no server chose: in one of the cells the newer version
	// has no other shape from a live provider.
	released bool
}

// cell is one line of observations of which neighbours are compared.
type cell struct {
	agent    string
	product  string // two programs may share a name and have versions of their own
	platform contract.Platform
	probe    string
	profile  string
	provider contract.ProviderKind
}

func (b *builder) changes() error {
	obs, err := observations(b.reg)
	if err != nil {
		return err
	}
	if err := b.readAliases(); err != nil {
		return err
	}
	file, err := readAgents(b.reg)
	if err != nil {
		return err
	}
	cells := map[cell][]*store.Observed{}
	var order []cell
	for i := range obs {
		o := &obs[i]
		agent := file.Agent(o.Agent)
		if agent == nil {
			return fmt.Errorf("%s has observations but no entry in %s", o.Agent, store.AgentsFile)
		}
		v, err := agents.ParseToken(agent, o.CLIVersion)
		if err != nil {
			return fmt.Errorf("ordering %s: %w", o.Path, err)
		}
		k := cell{o.Agent, v.Product, o.Platform, o.Probe, o.Extensions.Profile, o.Extensions.Provider}
		if cells[k] == nil {
			order = append(order, k)
		}
		cells[k] = append(cells[k], o)
	}
	for _, k := range order {
		if err := b.neighbours(file.Agent(k.agent), k, cells[k]); err != nil {
			return err
		}
	}
	return nil
}

// neighbours compares each version of a cell with the one before it.
func (b *builder) neighbours(agent *contract.Agent, k cell, list []*store.Observed) error {
	versions, err := byVersion(agent, list)
	if err != nil {
		return err
	}
	for i := 1; i < len(versions); i++ {
		before := versions[i-1]
		for _, o := range versions[i] {
			if slices.ContainsFunc(before, func(x *store.Observed) bool { return b.same(x, o) }) {
				continue
			}
			b.add(k, before[len(before)-1], o, k.provider == contract.ProviderLive && len(versions[i]) > 1)
		}
	}
	return nil
}

func (b *builder) same(x, y *store.Observed) bool { return b.signature(x) == b.signature(y) }

func (b *builder) signature(o *store.Observed) contract.Digest {
	return b.aliases.Resolve(o.Shape.Signature)
}

func (b *builder) add(k cell, older, newer *store.Observed, variant bool) {
	key := k.agent + " " + newer.CLIVersion + " " + string(b.signature(newer)) + " " + string(b.signature(older))
	c := b.found[key]
	if c == nil {
		c = &change{older: older, newer: newer}
		b.found[key] = c
		b.order = append(b.order, key)
	}
	c.released = c.released || !variant
	c.cells = append(c.cells, contract.DriftCell{
		Platform: k.platform, Probe: k.probe, Profile: k.profile, OlderVersion: older.CLIVersion,
		OlderObservation: older.Path, NewerObservation: newer.Path,
	})
}

// byVersion groups observations by version, the oldest version first, and
// within a version one of each shape, by path: the order of capture.
func byVersion(agent *contract.Agent, list []*store.Observed) ([][]*store.Observed, error) {
	var failed error
	slices.SortStableFunc(list, func(x, y *store.Observed) int {
		c, err := agents.CompareVersions(agent, x.CLIVersion, y.CLIVersion)
		if err != nil && failed == nil {
			failed = fmt.Errorf("ordering %s: %w", x.Path, err)
		}
		return cmp.Or(c, cmp.Compare(x.CLIVersion, y.CLIVersion), cmp.Compare(x.Path, y.Path))
	})
	if failed != nil {
		return nil, failed
	}
	var out [][]*store.Observed
	for i, o := range list {
		if i == 0 || list[i-1].CLIVersion != o.CLIVersion {
			out = append(out, nil)
		}
		last := &out[len(out)-1]
		if !slices.ContainsFunc(*last, func(x *store.Observed) bool { return x.Shape.Signature == o.Shape.Signature }) {
			*last = append(*last, o)
		}
	}
	return out, nil
}

// report compares the two shapes of a change.
func (b *builder) report(c *change, ignores *Ignores) (*contract.DriftReport, error) {
	older, err := b.side(c.older)
	if err != nil {
		return nil, err
	}
	newer, err := b.side(c.newer)
	if err != nil {
		return nil, err
	}
	r := compare.Runs(older.Side, newer.Side, newer.Dialect)
	reads, err := Measure(older, r.Signals, Adapters())
	if err != nil {
		return nil, fmt.Errorf("what adapters read of %s: %w", c.older.Extensions.Fixture, err)
	}
	signals := Signals(r.Signals, reads)
	ignores.Apply(signals, c.newer.Agent)
	lost := replay.Lost(older.Golden, newer.Golden, replay.Fails(c.older.Extensions.Violations, c.newer.Extensions.Violations))
	slices.SortFunc(c.cells, func(x, y contract.DriftCell) int {
		return cmp.Or(cmp.Compare(x.Platform, y.Platform), cmp.Compare(x.Probe, y.Probe), cmp.Compare(x.Profile, y.Profile), cmp.Compare(x.NewerObservation, y.NewerObservation))
	})
	return &contract.DriftReport{
		SchemaVersion: contract.SchemaVersion, Agent: c.newer.Agent, CLIVersion: c.newer.CLIVersion, ProtocolFamily: c.newer.ProtocolFamily,
		Older: contract.DriftSide{Signature: b.signature(c.older), Dialect: c.older.Extensions.Dialect},
		Newer: contract.DriftSide{Signature: b.signature(c.newer), Dialect: c.newer.Extensions.Dialect},
		Cells: c.cells, Verdict: Judge(r, signals, compare.Evidence{Replay: newer.Replay, Lost: len(lost) > 0, SameTarget: !c.released}), Signals: signals,
	}, nil
}

func key(o *store.Observed) string { return o.Extensions.Fixture + " " + o.Agent }

func (b *builder) side(o *store.Observed) (*Side, error) {
	if s := b.sides[key(o)]; s != nil {
		return s, nil
	}
	d := b.families.Dialect(o.Extensions.Dialect)
	if d == nil {
		return nil, fmt.Errorf("%s has dialect %q, which %s does not have", o.Path, o.Extensions.Dialect, "registry/families.json")
	}
	s, err := Fixture(b.reg, d, o.Extensions.Fixture, o.Agent)
	if err != nil {
		return nil, fmt.Errorf("the fixture of %s: %w", o.Path, err)
	}
	b.sides[key(o)] = s
	return s, nil
}
