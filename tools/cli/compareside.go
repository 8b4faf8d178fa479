package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// side is one argument of compare.
type side struct {
	compare.Side
	name        string
	dialect     *contract.Dialect // nil when a shape does not say
	observation *contract.Observation
	replay      contract.ReplayStatus // "" when nobody replayed it
	stdoutOnly  bool
}

// sideLoader reads the arguments of compare.
type sideLoader struct {
	app      *app
	reg      *store.Registry
	families *contract.Families
	flags    dialectFlags
}

func (l *sideLoader) load(name string) (*side, error) {
	b, err := l.read(name)
	if err != nil {
		return nil, err
	}
	s := &side{name: name}
	switch recordOf(b) {
	case contract.KindShape:
		return s, l.shape(s, b)
	case contract.KindObservation:
		return s, l.observation(s, b)
	case contract.KindSourceEvidence:
		return s, l.source(s, b)
	}
	in, err := parseInput(name, b)
	if err != nil {
		return nil, err
	}
	d, err := l.app.dialect(l.families, in, l.flags)
	if err != nil {
		return nil, err
	}
	return s, s.transcript(in, d, d.Parser)
}

// read returns the bytes of a file or, if there is none, of a place in the
// registry.
func (l *sideLoader) read(name string) ([]byte, error) {
	b, err := l.app.readInput(name)
	if errors.Is(err, fs.ErrNotExist) && fs.ValidPath(name) && l.reg.Exists(name) {
		return l.reg.ReadFile(name)
	}
	return b, err
}

// recordOf tells a shape, an observation and a source-evidence record from
// everything else by the members that only they have.
func recordOf(b []byte) contract.RecordKind {
	v, err := rawjson.Parse(b)
	switch {
	case err != nil || v.Kind() != rawjson.Object:
		return ""
	case v.Get("frame_shapes").Kind() == rawjson.Array:
		return contract.KindShape
	case v.Get("parser_replay").Kind() == rawjson.Object && v.Get("shape").Kind() == rawjson.Object:
		return contract.KindObservation
	case v.Get("derived_shape").Kind() == rawjson.Object && v.Get("source_refs").Kind() == rawjson.Array:
		return contract.KindSourceEvidence
	}
	return ""
}

func (l *sideLoader) shape(s *side, b []byte) error {
	shape, err := decoded[contract.Shape](contract.KindShape, s.name, b)
	if err != nil {
		return err
	}
	s.Shape = shape
	s.dialect = l.families.Dialect(shape.Extensions.Dialect)
	return nil
}

// observation reads the fixture that the observation names, so that optional
// frames, exit code and error texts count too.
func (l *sideLoader) observation(s *side, b []byte) error {
	o, err := decoded[contract.Observation](contract.KindObservation, s.name, b)
	if err != nil {
		return err
	}
	s.observation = o
	return l.fixture(s, o.Extensions.Fixture, o.Extensions.Dialect, o.Agent)
}

// source reads the fixture of a synthetic record; other source evidence has
// only a shape.
func (l *sideLoader) source(s *side, b []byte) error {
	e, err := decoded[contract.SourceEvidence](contract.KindSourceEvidence, s.name, b)
	if err != nil {
		return err
	}
	if e.Extensions.Fixture != "" {
		return l.fixture(s, e.Extensions.Fixture, e.Extensions.Dialect, e.Agent)
	}
	shape, err := l.registryOf(s.name).ReadFile(e.DerivedShape.Path)
	if err != nil {
		return fmt.Errorf("the shape of %s: %w", s.name, err)
	}
	return l.shape(s, shape)
}

func (l *sideLoader) fixture(s *side, place, dialect, agent string) error {
	fixture, err := l.registryOf(s.name).ReadFile(place)
	if err != nil {
		return fmt.Errorf("the fixture of %s: %w", s.name, err)
	}
	in, err := parseInput(place, fixture)
	if err != nil {
		return err
	}
	d := l.families.Dialect(dialect)
	if d == nil {
		return &dialectError{fmt.Errorf("%s has dialect %q, which registry/families.json does not have", s.name, dialect)}
	}
	return s.transcript(in, d, agent)
}

// registryOf returns the registry that a file lies in, which need not be the
// one around the working folder.
func (l *sideLoader) registryOf(name string) *store.Registry {
	if dir, ok := store.Find(filepath.Dir(name)); ok && l.app.registry == "" {
		if _, err := os.Stat(name); err == nil {
			if reg, err := store.Open(dir); err == nil {
				return reg
			}
		}
	}
	return l.reg
}

// decoded validates a record and names its first problem.
func decoded[T any](kind contract.RecordKind, name string, b []byte) (*T, error) {
	var v contract.Validator
	out, problems := contract.Decode[T](&v, name, b)
	if contract.HasErrors(problems) {
		return nil, fmt.Errorf("%s is not a valid %s: %s", name, kind, problems[0])
	}
	return out, nil
}

// transcript derives the side from a transcript. Only a sanitized one can be
// replayed and have its texts quoted.
func (s *side) transcript(in *input, d *contract.Dialect, agent string) error {
	s.dialect, s.stdoutOnly = d, in.stdoutOnly()
	var notes normalize.Notes
	var err error
	if in.kind == sanitized {
		var derived *capture.Derived
		if derived, err = capture.Derive(in.transcript, d, agent); err == nil {
			s.Shape, notes, s.replay = derived.Shape, derived.Notes, derived.Comparison.Status
			if s.stdoutOnly {
				s.replay = "" // how a run ended is part of what a reading can lose
			}
			s.Texts, err = compare.ErrorTexts(in.transcript, d)
		}
	} else {
		s.Shape, notes, err = normalize.Shape(in.transcript, d, contract.LevelRuntimeObserved)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	s.Optional, s.AfterTerminal = notes.OptionalKinds, notes.AfterTerminal
	s.ExitCode, _, _ = in.transcript.Exit()
	return nil
}
