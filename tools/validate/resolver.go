package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// resolver answers contract.Resolver over a store, with a cache: every
// observation asks for the same few files. It is safe for concurrent use.
type resolver struct {
	reg       *store.Registry
	validator contract.Validator
	agents    *contract.AgentsFile
	families  *contract.Families
	noAgents  bool // agents cannot be read
	aliases   contract.Aliases
	policy    contract.Policy
	probes    map[string]bool
	claimed   map[contract.Digest]string
	digests   memo[string, contract.Digest]
	shapes    memo[string, contract.ShapeFacts]
	records   memo[string, *contract.Checked] // of shapes
	derived   memo[fixtureKey, *capture.Derived]
	readers   memo[string, *capture.Reader] // by dialect
	any       sync.Map                      // fixtureKey without an agent → what some agent's fixture gave
	printed   sync.Map                      // place → streams, of each transcript that was read
	there     memo[string, bool]
	goldens   memo[goldenKey, *string]
	cases     errorcase.Forms
	room      []store.Observed     // for the records of those that observe read
	observed  map[string]*observed // those
	others    memo[string, *observed]
	fixtures  map[contract.Digest][]string
}

// streams tells what a CLI printed on.
type streams struct{ stdout, stderr bool }

func newResolver(reg *store.Registry) *resolver {
	r := &resolver{
		reg: reg, validator: contract.Validator{Lean: true}, agents: &contract.AgentsFile{}, families: &contract.Families{}, probes: map[string]bool{}, claimed: map[contract.Digest]string{},
		fixtures: map[contract.Digest][]string{},
	}
	r.digests.find, r.shapes.find, r.records.find, r.derived.find = r.findDigest, r.findShape, r.findRecord, r.findDerived
	r.readers.find = r.findReader
	r.there.find, r.goldens.find, r.others.find = r.findThere, r.findGolden, r.findObserved
	// What cannot be read here is reported by the checks of that file itself.
	r.noAgents = reg.ReadJSON(store.AgentsFile, r.agents) != nil
	_ = reg.ReadJSON("registry/families.json", r.families)
	if reg.Exists("shapes/aliases.json") {
		_ = reg.ReadJSON("shapes/aliases.json", &r.aliases)
	}
	if reg.Exists(matrix.PolicyPath) {
		_ = reg.ReadJSON(matrix.PolicyPath, &r.policy)
	}
	if ids, err := capture.ProbeIDs(reg); err == nil {
		for _, id := range ids {
			r.probes[id] = true
		}
	}
	r.loadClaims()
	if files, err := reg.Walk("fixtures", ".jsonl"); err == nil {
		for _, f := range files {
			if sig, err := store.FixtureShape(f); err == nil {
				r.fixtures[sig] = append(r.fixtures[sig], f)
			}
		}
	}
	return r
}

func (r *resolver) loadClaims() {
	m := &contract.SupportMatrix{}
	if !r.reg.Exists(matrix.Path) || r.reg.ReadJSON(matrix.Path, m) != nil {
		return
	}
	for _, e := range m.Agents {
		if e.SupportStatus != contract.SupportVersionRangeVerified && e.SupportStatus != contract.SupportServerVariantPossible {
			continue
		}
		for _, s := range e.ObservedShapes {
			r.claimed[s.Shape] = e.Agent
		}
	}
}

// Agent implements contract.Resolver.
func (r *resolver) Agent(id string) *contract.Agent { return r.agents.Agent(id) }

// HasProbe implements contract.Resolver.
func (r *resolver) HasProbe(id string) bool { return r.probes[id] }

// FileDigest implements contract.Resolver.
func (r *resolver) FileDigest(place string) (contract.Digest, error) {
	if isObservation(place) {
		c, err := r.checked(place)
		if err != nil {
			return "", err
		}
		return c.digest, nil
	}
	return r.digests.get(place)
}

// Shape implements contract.Resolver.
func (r *resolver) Shape(place string) (contract.ShapeFacts, error) { return r.shapes.get(place) }

func (r *resolver) findShape(place string) (contract.ShapeFacts, error) {
	c, err := r.records.get(place)
	if err != nil {
		return contract.ShapeFacts{}, err
	}
	if s := contract.RecordOf[contract.Shape](c); s != nil { // its signature was computed, and is that
		return contract.ShapeFacts{Signature: s.Signature, ProtocolFamily: s.ProtocolFamily, ValidityLevel: s.ValidityLevel}, nil
	}
	b, err := r.read(place)
	if err != nil {
		return contract.ShapeFacts{}, err
	}
	s := &contract.Shape{}
	if err := json.Unmarshal(b, s); err != nil {
		return contract.ShapeFacts{}, errors.New("it is not a shape")
	}
	sig, err := s.ComputeSignature()
	return contract.ShapeFacts{Signature: sig, ProtocolFamily: s.ProtocolFamily, ValidityLevel: s.ValidityLevel}, err
}

// findRecord reads and checks a shape: records that name it ask for it before
// it is its turn.
func (r *resolver) findRecord(place string) (*contract.Checked, error) {
	var c *contract.Checked
	err := r.use(place, func(text []byte) error {
		r.digests.put(place, contract.Sum(text)) // so that it is read once
		c = r.validator.Check(contract.KindShape, place, text)
		return nil
	})
	return c, err
}

// ResolveAlias implements contract.Resolver.
func (r *resolver) ResolveAlias(sig contract.Digest) contract.Digest { return r.aliases.Resolve(sig) }

// Fixtures implements contract.Resolver.
func (r *resolver) Fixtures(sig contract.Digest) []string { return r.fixtures[sig] }

// Fixture implements contract.Resolver.
func (r *resolver) Fixture(place string, f contract.ProtocolFamily, dialect string) (contract.FixtureFacts, error) {
	d, err := r.derivedFor(place, dialect)
	if err != nil {
		return contract.FixtureFacts{}, err
	}
	if d.Dialect.ProtocolFamily != f {
		return contract.FixtureFacts{}, fmt.Errorf("dialect %q is of %s, not of %s", dialect, d.Dialect.ProtocolFamily, f)
	}
	printed, _ := r.printed.Load(place)
	p, _ := printed.(streams)
	return contract.FixtureFacts{Shape: d.Shape, HasStdout: p.stdout, HasStderr: p.stderr}, nil
}

// derivedFor is derive for those to whom the agent is all one.
func (r *resolver) derivedFor(place, dialect string) (*capture.Derived, error) {
	if d, ok := r.any.Load(fixtureKey{place, dialect, ""}); ok {
		return d.(*capture.Derived), nil
	}
	return r.derive(place, dialect, "")
}

// exists reports whether there is a file, which all the while is there or not.
func (r *resolver) exists(place string) bool {
	there, _ := r.there.get(place)
	return there
}

func (r *resolver) findThere(place string) (bool, error) { return r.reg.Exists(place), nil }

// ClaimedBy implements contract.Resolver.
func (r *resolver) ClaimedBy(sig contract.Digest) string { return r.claimed[sig] }

// Observation implements contract.Resolver.
func (r *resolver) Observation(place string) (*contract.Observation, error) {
	c, err := r.checked(place)
	if err != nil {
		return nil, err
	}
	if o := contract.RecordOf[contract.Observation](c.Checked); o != nil {
		return o, nil
	}
	return nil, errors.New("it is not a valid observation")
}

func isObservation(place string) bool {
	kind, ok := contract.KindOf(place)
	return ok && kind == contract.KindObservation
}

// observed is an observation that was read and checked alone, and the hash of
// its text.
type observed struct {
	*contract.Checked
	digest contract.Digest
	sound  bool // nothing at all is wrong with it; said before other records are read
}

// observe reads the observations of a registry before anything asks for them:
// their evidence, their error cases and the rules about the whole do.
func (r *resolver) observe(places []string) error {
	r.room = make([]store.Observed, len(places))
	read := make([]observed, len(places))
	err := r.reg.ReadEach(places, func(i int, text []byte) error {
		o := &r.room[i]
		o.Path = places[i]
		read[i] = observed{Checked: r.validator.CheckInto(contract.KindObservation, o.Path, text, &o.Observation), digest: contract.Sum(text)}
		return nil
	})
	r.observed = make(map[string]*observed, len(places))
	for i := range read {
		r.observed[places[i]] = &read[i]
	}
	return err
}

// checked returns an observation, whether observe read it or not.
func (r *resolver) checked(place string) (*observed, error) {
	if o := r.observed[place]; o != nil {
		return o, nil
	}
	return r.others.get(place)
}

func (r *resolver) findObserved(place string) (*observed, error) {
	b, err := r.read(place)
	if err != nil {
		return nil, err
	}
	return &observed{Checked: r.validator.Check(contract.KindObservation, place, b), digest: contract.Sum(b)}, nil
}

// observations returns the readable ones among those that observe read; the
// others have their own problems.
func (r *resolver) observations() []store.Observed {
	out := r.room[:0:0]
	for i := range r.room {
		place := r.room[i].Path
		o := contract.RecordOf[contract.Observation](r.observed[place].Checked)
		if o == &r.room[i].Observation && i == len(out) {
			out = r.room[: i+1 : i+1] // nothing is copied while all are good
		} else if o != nil {
			out = append(out, store.Observed{Path: place, Observation: *o})
		}
	}
	return out
}

// Evidence implements contract.Resolver.
func (r *resolver) Evidence(place string) (*contract.Evidence, error) {
	b, err := r.read(place)
	if err != nil {
		return nil, err
	}
	e, problems := contract.Decode[contract.Evidence](&r.validator, place, b)
	if contract.HasErrors(problems) {
		return nil, errors.New("it is not a valid evidence record")
	}
	return e, nil
}

// Policy implements contract.Resolver.
func (r *resolver) Policy() *contract.Policy { return &r.policy }

// Request implements contract.Resolver.
func (r *resolver) Request(id contract.Digest) (*contract.Request, error) {
	place := path.Join("registry", "requests", id.FileName()+".request.json")
	b, err := r.read(place)
	if err != nil {
		return nil, err
	}
	q, problems := contract.Decode[contract.Request](&r.validator, place, b)
	if contract.HasErrors(problems) {
		return nil, errors.New("it is not a valid request")
	}
	return q, nil
}

// derive makes everything that follows from a fixture.
func (r *resolver) derive(place, dialect, agent string) (*capture.Derived, error) {
	return r.derived.get(fixtureKey{place, dialect, agent})
}

func (r *resolver) findDerived(k fixtureKey) (*capture.Derived, error) {
	t, err := r.transcript(k.place)
	if err != nil {
		return nil, err
	}
	reader, err := r.readers.get(k.dialect)
	if err != nil {
		return nil, err
	}
	d, err := reader.Reread(t, k.agent)
	if err != nil {
		return nil, err
	}
	d.Reference.Events, d.Consumer.Events = nil, nil // they are in the goldens, and take most of the room
	r.any.LoadOrStore(fixtureKey{k.place, k.dialect, ""}, d)
	return d, nil
}

func (r *resolver) findReader(dialect string) (*capture.Reader, error) {
	d := r.families.Dialect(dialect)
	if d == nil {
		return nil, fmt.Errorf("registry/families.json has no dialect %q", strings.ToValidUTF8(dialect, "?"))
	}
	return capture.NewReader(d)
}

// findGolden returns where a golden differs first from what its adapter reads in
// the fixture, nil where it does not.
func (r *resolver) findGolden(k goldenKey) (*string, error) {
	d, err := r.derived.get(k.fixture)
	if err != nil {
		return nil, err
	}
	return r.unlike(k.place, d.Goldens[k.adapter])
}
