// Package consume says what the tests of a consumer are made of: for each
// recorded run that a claim rests on, the bytes, what OpenDesign's parser makes
// of them, and what its daemon makes of the whole run (specification, "Parser
// Replay Gate" and "Daemon Run Harness Gate"; FINE-PRINT 19).
package consume

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Contract is one fixture of one agent that the consumer reads without a loss.
// The names are those of the specification's test listings; what a file of the
// registry holds is named by its place.
type Contract struct {
	ID             string                  `json:"id"` // AGENT/FIXTURE, without endings
	Agent          string                  `json:"agent"`
	ProtocolFamily contract.ProtocolFamily `json:"protocolFamily"`
	Dialect        string                  `json:"dialect"`
	Shape          contract.Digest         `json:"shape"`
	ValidityLevel  contract.ValidityLevel  `json:"validityLevel"`
	Probes         []string                `json:"probes"`    // sorted
	Versions       []string                `json:"versions"`  // newest last
	Platforms      []contract.Platform     `json:"platforms"` // sorted
	Fixture        string                  `json:"fixture"`   // place of the sanitized transcript
	Golden         string                  `json:"golden"`    // place of expectedDaemonEvents
	// AllowedRawEvents are the raw events that the consumer's parser makes of
	// lines that it does not know and loses nothing by.
	AllowedRawEvents []event.Event `json:"allowedRawEvents"`
	// RequiredDaemonEvents are the types without which the run means something
	// else, sorted.
	RequiredDaemonEvents []string `json:"requiredDaemonEvents"`
	// Run is nil where OpenDesign does not start the agent so, or the recorded
	// child has no end that could be played.
	Run *Run `json:"run,omitempty"`
}

// Contracts returns every contract of a registry, sorted by id.
func Contracts(reg *store.Registry) ([]Contract, error) {
	records, err := matrix.Load(reg)
	if err != nil {
		return nil, err
	}
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	standing := matrix.NewStanding(records.Statements)
	m := &maker{reg: reg, families: families, agents: records.Agents, levels: matrix.Levels(records.Observations, standing)}
	groups := map[string][]*store.Observed{}
	for i := range records.Observations {
		o := &records.Observations[i]
		if !matrix.BacksClaims(o) || o.ParserReplay.Status != contract.ReplayCompatible || o.ParserReplay.Golden == "" || o.Extensions.Fixture == "" {
			continue
		}
		if _, withdrawn := standing.Withdrawn(o.Path); withdrawn {
			continue
		}
		groups[id(o)] = append(groups[id(o)], o)
	}
	out := make([]Contract, 0, len(groups))
	for id, group := range groups {
		c, err := m.contract(id, group)
		if err != nil {
			return nil, fmt.Errorf("making the contract of %s: %w", group[0].Extensions.Fixture, err)
		}
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Contract) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// id is the same for all records of one fixture, agent and dialect.
func id(o *store.Observed) string {
	name, _, _ := strings.Cut(path.Base(o.Extensions.Fixture), ".sanitized.")
	name, _, _ = strings.Cut(name, ".transcript.")
	return o.Agent + "/" + name
}

type maker struct {
	reg      *store.Registry
	families *contract.Families
	agents   *contract.AgentsFile
	levels   map[contract.Digest]contract.ValidityLevel
}

func (m *maker) contract(id string, group []*store.Observed) (*Contract, error) {
	o := group[0]
	c := &Contract{
		ID: id, Agent: o.Agent, ProtocolFamily: o.ProtocolFamily, Dialect: o.Extensions.Dialect, Shape: o.Shape.Signature,
		ValidityLevel: m.levels[o.Shape.Signature], Fixture: o.Extensions.Fixture, Golden: o.ParserReplay.Golden,
		AllowedRawEvents: []event.Event{}, Platforms: []contract.Platform{},
	}
	for _, x := range group {
		c.Probes, c.Versions, c.Platforms = append(c.Probes, x.Probe), append(c.Versions, x.CLIVersion), append(c.Platforms, x.Platform)
	}
	slices.Sort(c.Probes)
	slices.Sort(c.Platforms)
	m.sortVersions(o.Agent, c.Versions)
	c.Probes, c.Versions, c.Platforms = slices.Compact(c.Probes), slices.Compact(c.Versions), slices.Compact(c.Platforms)
	t, err := m.fixture(c.Fixture)
	if err != nil {
		return nil, err
	}
	dialect := m.families.Dialect(c.Dialect)
	if dialect == nil {
		return nil, fmt.Errorf("registry/families.json has no dialect %q", c.Dialect)
	}
	reading, err := replay.OpenDesign(replay.Input{Transcript: t, Agent: c.Agent, Dialect: dialect})
	if err != nil {
		return nil, err
	}
	for _, e := range reading.Events {
		if e.Type() == "raw" {
			c.AllowedRawEvents = append(c.AllowedRawEvents, e)
		}
	}
	c.RequiredDaemonEvents = required(reading.Events)
	c.Run = m.run(o, t, dialect, reading)
	return c, nil
}

// essential are the events that carry what a user sees. Statuses and notes come
// and go.
var essential = []string{"error", "stdout", "text_delta", "tool_result", "tool_use", "turn_end", "usage"}

func required(events []event.Event) []string {
	out := []string{}
	for _, e := range events {
		if slices.Contains(essential, e.Type()) && !slices.Contains(out, e.Type()) {
			out = append(out, e.Type())
		}
	}
	slices.Sort(out)
	return out
}

func (m *maker) sortVersions(agent string, versions []string) {
	slices.Sort(versions)
	if a := m.agents.Agent(agent); a != nil {
		matrix.SortVersions(a, versions)
	}
}

func (m *maker) fixture(place string) (*transcript.Transcript, error) {
	b, err := m.reg.ReadFile(place)
	if err != nil {
		return nil, err
	}
	return transcript.ReadSanitized(bytes.NewReader(b))
}
