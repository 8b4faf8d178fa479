package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// side is one argument of compare.
type side struct {
	*report.Side
	name        string
	dialect     *contract.Dialect // nil when a shape does not say
	observation *contract.Observation
	stdoutOnly  bool
	help        string // a help text instead of a run
}

// sideLoader reads the arguments of compare.
type sideLoader struct {
	app      *app
	reg      *store.Registry
	families *contract.Families
	flags    dialectFlags
}

func (l *sideLoader) load(name string) (*side, error) {
	place, err := l.place(name)
	if err != nil {
		return nil, err
	}
	b, err := l.read(place)
	if errors.Is(err, fs.ErrNotExist) {
		hint := findHint(name)
		if l.reg.ReadOnly() {
			hint = noRecords + ": name one with --registry DIR; " + hint
		}
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("%s is no file, and no signature or observation of the registry", name), Hint: hint}
	}
	if err != nil {
		return nil, err
	}
	s := &side{name: place}
	switch recordOf(place, b) {
	case contract.KindShape:
		return s, l.shape(s, b)
	case contract.KindObservation:
		return s, l.observation(s, b)
	case contract.KindSourceEvidence:
		return s, l.source(s, b)
	case "":
	default:
		return nil, &Exit{Code: ExitCannotKnow, Err: fmt.Errorf("%s is a record of another kind; compare takes runs", place), Hint: "name its observation, shape or fixture"}
	}
	if l.flags == (dialectFlags{}) && compare.IsHelp(string(b)) {
		s.help = string(b)
		return s, nil
	}
	in, err := parseInput(place, b)
	if err != nil {
		return nil, err
	}
	d, err := l.app.dialect(l.families, in, l.flags)
	if err != nil {
		return nil, err
	}
	return s, s.transcript(in, d, d.Parser)
}

// bareDigest is a signature as people cut it out of a file's name.
var bareDigest = lazyregexp.New(`^[0-9a-fA-F]{8,64}$`)

// wellFormed is a signature, or the beginning of one, as it is written.
var wellFormed = lazyregexp.New(`^sha256:[0-9a-f]{8,64}$`)

// findHint says how to name what cannot be found.
func findHint(name string) string {
	if ext := filepath.Ext(name); ext == ".json" || ext == ".jsonl" || filepath.IsAbs(name) {
		return "check the path; a file of the registry may be named from its top, as observations/…"
	}
	if bareDigest.Get().MatchString(name) {
		return "a signature is written sha256:" + strings.ToLower(name)
	}
	agent, _, _ := strings.Cut(strings.ReplaceAll(name, "@", "/"), "/")
	if wellFormed.Get().MatchString(name) {
		return "neither a shape nor a fixture has this hash here; agent-contracts matrix --explain AGENT VERSION names those of a version"
	}
	if strings.HasPrefix(strings.ToLower(name), "sha256") {
		return "a signature is in small letters and has at least eight digits: sha256:0a1b2c3d; agent-contracts matrix --explain AGENT VERSION names those of a version"
	}
	return "a version alone is many runs: agent-contracts matrix --explain " + agent + " VERSION names its observations, and agent-contracts bisect " + agent + " --dry-run --from V --to V its changes"
}

// place finds what a name stands for: a file as it is, else the signature of a
// shape, the hash of a fixture, or an observation without its folder and
// ending. Anything else stays as it is.
func (l *sideLoader) place(name string) (string, error) {
	if name == "-" || l.reg.Exists(name) {
		return name, nil
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	found, err := report.Find(l.reg, name)
	var ambiguous *report.AmbiguousError
	if errors.As(err, &ambiguous) {
		return "", &Exit{Code: ExitUsage, Err: err, Hint: "give more of its digits"}
	}
	if err != nil {
		return "", err
	}
	if found != "" {
		return found, nil
	}
	return name, nil
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

// recordOf tells the kind of a record by its name: a broken observation is no
// stream of a CLI. Under any other name a shape, an observation and a
// source-evidence record have members that nothing else has.
func recordOf(name string, b []byte) contract.RecordKind {
	v, err := rawjson.Parse(b)
	object := err == nil && v.Kind() == rawjson.Object
	switch kind, _ := contract.KindOf(filepath.ToSlash(name)); {
	case kind == contract.KindShape || kind == contract.KindObservation || kind == contract.KindSourceEvidence:
		return kind
	case !object:
		return ""
	case kind != "" && v.Get("schema_version").Kind() == rawjson.Number:
		return kind
	case v.Get("frame_shapes").Kind() == rawjson.Array:
		return contract.KindShape
	case v.Get("parser_replay").Kind() == rawjson.Object && v.Get("shape").Kind() == rawjson.Object:
		return contract.KindObservation
	case v.Get("derived_shape").Kind() == rawjson.Object && v.Get("source_refs").Kind() == rawjson.Array:
		return contract.KindSourceEvidence
	}
	return ""
}

// shape reads a fixture of the shape with it, where the registry has one, so
// that what adapters read of it can be told.
func (l *sideLoader) shape(s *side, b []byte) error {
	shape, err := decoded[contract.Shape](contract.KindShape, s.name, b)
	if err != nil {
		return err
	}
	s.dialect = l.families.Dialect(shape.Extensions.Dialect)
	s.Side = &report.Side{Side: compare.Side{Shape: shape, Dialect: s.dialect, ShapeOnly: true}}
	if s.dialect == nil {
		return nil
	}
	in, err := report.InputOf(l.registryOf(s.name), shape, s.dialect)
	if err != nil {
		return err
	}
	s.Input = in
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

// transcript derives the side from a transcript. How a run ended is part of
// what a reading can lose: of stdout alone the replay tells nothing.
func (s *side) transcript(in *input, d *contract.Dialect, agent string) error {
	var err error
	s.dialect, s.stdoutOnly = d, in.stdoutOnly()
	if s.Side, err = report.Transcript(in.transcript, d, agent, in.kind == sanitized); err != nil {
		return fmt.Errorf("reading %s: %w", s.name, err)
	}
	if s.stdoutOnly {
		s.Replay, s.Golden = "", nil
	}
	return nil
}
