package agentcontracts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/consume"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Consumer is the consumer whose readings the registry holds.
const Consumer = contract.ConsumerOpenDesign

type (
	// Contract is what is recorded of one fixture of one agent.
	Contract = consume.Contract
	// Run is what the consumer's daemon makes of a whole recorded run.
	Run = consume.Run
	// ErrorCase is a failing run and how it is to be classified.
	ErrorCase = contract.ErrorCase
	// Record is one line of a sanitized transcript.
	Record = transcript.Record
)

// SupportedShape is a recorded run that a claim rests on and that the consumer
// reads without a loss.
type SupportedShape struct {
	Contract
	// SanitizedFixture is the transcript, one JSON object a line.
	SanitizedFixture string
	// ExpectedDaemonEvents are the JSON objects that the consumer's parser makes
	// of it, in order.
	ExpectedDaemonEvents []json.RawMessage
}

// DaemonRunShape is a supported shape whose child can be played; its Run is not
// nil.
type DaemonRunShape struct {
	Contract
	Transcript []Record
	// StdoutFrames and StderrFrames are the lines that the child printed, each
	// with its line break.
	StdoutFrames, StderrFrames []string
	ExpectedStdin              ExpectedStdin
	Prompt                     string
}

// ExpectedStdin is what the host of a played child is expected to write.
type ExpectedStdin struct {
	Mode   contract.StdinMode `json:"mode"`
	Frames []StdinFrame       `json:"frames"`
	// ClosedAt is the number of lines of stdout after which the host closes
	// stdin; nil for never.
	ClosedAt *int `json:"closedAt"`
	// WaitsForEnd says that the child lives on after its turn until stdin ends.
	WaitsForEnd bool `json:"waitsForEnd"`
}

// StdinFrame is one frame that the host writes, and the number of lines of
// stdout that come before it. Data is nil for the prompt.
type StdinFrame struct {
	AfterStdoutLine int     `json:"afterStdoutLine"`
	Data            *string `json:"data"`
}

// Filter narrows what is given out; an empty member narrows nothing.
type Filter struct {
	Agent          string
	ProtocolFamily contract.ProtocolFamily
}

// ErrorFilter narrows ErrorCases.
type ErrorFilter struct {
	Agent string // "" for all
	All   bool   // also the cases on which the consumer disagrees
}

// Contracts are what the tests of a consumer are made of (specification,
// "OpenDesign Consumption"). It is safe for concurrent use.
type Contracts struct {
	reg  *store.Registry
	list func() ([]consume.Contract, error)
}

var embedOnce sync.Once
var embeddedContracts *Contracts

// EmbeddedContracts returns the contracts of this version of the module. They
// are derived from the embedded records when one first asks for them, which
// takes seconds: they are for tests.
func EmbeddedContracts() *Contracts {
	// Not a variable with a value: the linker leaves the records out of a
	// program that never comes here (docs/decisions/0017).
	embedOnce.Do(func() { embeddedContracts = OpenContracts(recorded{}) })
	return embeddedContracts
}

// OpenContracts returns the contracts of another registry. Its records are read
// when one asks.
func OpenContracts(fsys fs.FS) *Contracts {
	c := &Contracts{reg: store.Embedded(fsys)}
	c.list = sync.OnceValues(func() ([]consume.Contract, error) { return consume.Contracts(c.reg) })
	return c
}

// SupportedShapes returns the recorded runs that a parser is held against,
// sorted by id. An error means that a record is broken.
func (c *Contracts) SupportedShapes(f Filter) ([]SupportedShape, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	var out []SupportedShape
	for i := range list {
		if !f.fits(&list[i]) {
			continue
		}
		s := SupportedShape{Contract: list[i]}
		b, err := c.reg.ReadFile(s.Fixture)
		if err != nil {
			return nil, err
		}
		s.SanitizedFixture = string(b)
		var golden struct {
			Events []json.RawMessage `json:"events"`
		}
		if err := c.reg.ReadJSON(s.Golden, &golden); err != nil {
			return nil, err
		}
		s.ExpectedDaemonEvents = golden.Events
		out = append(out, s)
	}
	return out, nil
}

func (f Filter) fits(c *consume.Contract) bool {
	return (f.Agent == "" || f.Agent == c.Agent) && (f.ProtocolFamily == "" || f.ProtocolFamily == c.ProtocolFamily)
}

// DaemonRunShapes returns those of the supported shapes whose whole run the
// consumer's daemon makes. An error means that a record is broken.
func (c *Contracts) DaemonRunShapes(f Filter) ([]DaemonRunShape, error) {
	list, err := c.list()
	if err != nil {
		return nil, err
	}
	var out []DaemonRunShape
	for i := range list {
		if list[i].Run == nil || !f.fits(&list[i]) {
			continue
		}
		s, err := c.runShape(list[i])
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	return out, nil
}

func (c *Contracts) runShape(of consume.Contract) (*DaemonRunShape, error) {
	s := &DaemonRunShape{Contract: of}
	b, err := c.reg.ReadFile(s.Fixture)
	if err != nil {
		return nil, err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Fixture, err)
	}
	s.Transcript = t.Records
	s.ExpectedStdin = ExpectedStdin{Mode: s.Run.RuntimeDef.StdinMode, Frames: []StdinFrame{}, ClosedAt: s.Run.ExpectedRun.StdinClosedAt, WaitsForEnd: s.Run.WaitsForStdin}
	for i := range t.Records {
		r := &t.Records[i]
		line := r.Line()
		switch {
		case r.Stream == transcript.Stdin && r.Dir == transcript.ServerToCLI:
			f := StdinFrame{AfterStdoutLine: len(s.StdoutFrames)}
			if line != nil {
				text := string(line)
				f.Data = &text
			}
			s.ExpectedStdin.Frames = append(s.ExpectedStdin.Frames, f)
		case r.Dir != transcript.CLIToServer || line == nil:
		case r.Stream == transcript.Stderr:
			s.StderrFrames = append(s.StderrFrames, string(line))
		default:
			s.StdoutFrames = append(s.StdoutFrames, string(line))
		}
	}
	if c.reg.Exists(s.Run.PromptFile) {
		if b, err = c.reg.ReadFile(s.Run.PromptFile); err != nil {
			return nil, err
		}
		s.Prompt = string(b)
	}
	return s, nil
}

// ErrorCases returns failing runs and how they are to be classified, sorted by
// place: those on which the consumer agrees, or all. An error means that a
// record is broken.
func (c *Contracts) ErrorCases(f ErrorFilter) ([]ErrorCase, error) {
	all, err := c.reg.ErrorCases()
	if err != nil {
		return nil, err
	}
	var out []ErrorCase
	for i := range all {
		e := &all[i].ErrorCase
		if f.Agent != "" && f.Agent != e.Agent || !f.All && !agrees(e) {
			continue
		}
		out = append(out, *e)
	}
	return out, nil
}

func agrees(e *ErrorCase) bool {
	differs, known := e.Differences(Consumer)
	return known && len(differs) == 0
}

// recorded is the whole embedded registry: what everyone needs, and the records.
type recorded struct{}

// Open implements fs.FS.
func (recorded) Open(name string) (fs.File, error) {
	f, err := files.Open(name)
	if err != nil {
		return records.Open(name)
	}
	return f, nil
}

// ReadDir implements fs.ReadDirFS: no folder lies in both parts.
func (recorded) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := files.ReadDir(name)
	if err != nil {
		return records.ReadDir(name)
	}
	return list, nil
}
