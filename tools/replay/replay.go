// Package replay reads a transcript the way a consumer does (DESIGN D8): the
// reference (package reference) says what is right, open-design (package
// opendesign) what OpenDesign v0.19.2 makes of the same bytes, and Compatible
// says what that consumer loses, doubles or invents.
package replay

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// The adapters, by the name of their folder under goldens/ (FINE-PRINT 3).
const (
	AdapterReference  = "reference"
	AdapterOpenDesign = "open-design-parser"
)

// Adapters lists the adapters that are built in.
var Adapters = []string{AdapterReference, AdapterOpenDesign}

// The statuses of a reading.
const (
	StatusOK     = "ok"
	StatusNotRun = "not_run"
)

// Input is what an adapter reads.
type Input struct {
	Transcript *transcript.Transcript
	Agent      string // an agent's id
	Dialect    *contract.Dialect
	// Version is the CLI's version where it is known, else "". The adapters
	// that are built in do not look at it.
	Version string
}

func (in Input) check() error {
	if in.Transcript == nil || in.Dialect == nil {
		return errors.New("replaying a transcript: no transcript or no dialect given")
	}
	return nil
}

// Reading is what one adapter makes of a transcript. The embedded Reading is
// empty unless Status is ok.
type Reading struct {
	Adapter string
	Agent   string
	Dialect string // its id
	Status  string // ok or not_run
	Reason  string // why it was not run, or what an ok reading cannot show
	// Classifier is what the consumer's daemon would hand its failure
	// classifier at the end of the run; nil for a reading that no daemon makes.
	Classifier *classify.Input
	reference.Reading
	// consumerID is the id that the consumer gives a call, nil for the CLI's own.
	consumerID func(string) string
	completed  bool // a session that got its answer
}

func (r *Reading) idOf(id string) string {
	if r.consumerID == nil {
		return id
	}
	return r.consumerID(id)
}

// Run reads the input with the adapter of that name. A dialect that the
// adapter has no reader for gives the status not_run, which is no error and no
// compatibility.
func Run(adapter string, in Input) (*Reading, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	switch adapter {
	case AdapterReference:
		return Reference(in)
	case AdapterOpenDesign:
		return OpenDesign(in)
	}
	return nil, fmt.Errorf("replaying with adapter %q: there is none of that name; built in are %s", adapter, strings.Join(Adapters, " and "))
}

// add appends events that a stdout line gave (reference.Reading.Origins).
func (r *Reading) add(line int, events []Event) {
	r.Events = append(r.Events, events...)
	for range events {
		r.Origins = append(r.Origins, line)
	}
}

func (in Input) reading(adapter string) *Reading {
	return &Reading{Adapter: adapter, Agent: in.Agent, Dialect: in.Dialect.ID, Status: StatusOK}
}

func (in Input) notRun(adapter, reason string) *Reading {
	r := in.reading(adapter)
	r.Status, r.Reason = StatusNotRun, reason
	return r
}

// Reference returns our own reading of the input.
func Reference(in Input) (*Reading, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	ref, err := reference.Read(in.Transcript, in.Dialect, in.Agent)
	if errors.Is(err, reference.ErrNoReader) {
		return in.notRun(AdapterReference, "the reference has no reader for the dialect "+in.Dialect.ID), nil
	}
	if err != nil {
		return nil, err
	}
	r := in.reading(AdapterReference)
	r.Reading = *ref
	return r, nil
}

// OpenDesign returns what OpenDesign v0.19.2 makes of the input: its parser's
// events, and the run's result and failure as its daemon decides them when the
// child closes.
func OpenDesign(in Input) (*Reading, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Dialect.Parser == "" {
		return in.notRun(AdapterOpenDesign, "OpenDesign v"+opendesign.Version+" has no parser for the dialect "+in.Dialect.ID), nil
	}
	r := in.reading(AdapterOpenDesign)
	if in.Dialect.Parser == parserACP || in.Dialect.Parser == parserPi {
		r.readSession(in)
		r.summarize()
		r.closeOpenDesign(in)
		return r, nil
	}
	parser, err := opendesign.New(in.Dialect.Parser, opendesign.Options{SuppressHTMLArtifacts: in.Agent == "claude"})
	if err != nil {
		return nil, fmt.Errorf("replaying dialect %q: %w", in.Dialect.ID, err)
	}
	n := 0
	for line := range in.Transcript.Lines(transcript.CLIToServer, transcript.Stdout) {
		r.add(n, parser.Feed(line))
		n++
	}
	r.add(reference.EndOfRun, parser.Flush())
	r.summarize()
	r.closeOpenDesign(in)
	return r, nil
}
