package contract

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Resolver answers what the rules of ValidateIn need to know about the rest
// of a registry. Places are relative with forward slashes. A look-up that
// finds no file returns an error that wraps fs.ErrNotExist. Implementations
// should cache: every observation asks for the same few shapes.
type Resolver interface {
	// Agent returns an agent of registry/agents.json, or nil.
	Agent(id string) *Agent
	// HasProbe reports whether probes/<id> is there.
	HasProbe(id string) bool
	// FileDigest returns the hash of a file.
	FileDigest(place string) (Digest, error)
	// Shape returns facts of a shape file.
	Shape(place string) (ShapeFacts, error)
	// ResolveAlias returns the signature that shapes/aliases.json leads to, or
	// sig itself.
	ResolveAlias(sig Digest) Digest
	// Fixtures returns the places of the fixtures of a shape.
	Fixtures(sig Digest) []string
	// Fixture reads and normalizes a sanitized transcript.
	Fixture(place string, f ProtocolFamily, dialect string) (FixtureFacts, error)
	// ClaimedBy returns the agent whose normal claim in the support matrix
	// rests on a shape, or "".
	ClaimedBy(sig Digest) string
	// Observation returns the observation at a place.
	Observation(place string) (*Observation, error)
	// Evidence returns the evidence record at a place.
	Evidence(place string) (*Evidence, error)
	// Policy returns registry/policy.json, or nil if it is none.
	Policy() *Policy
	// Request returns the request with an id.
	Request(id Digest) (*Request, error)
}

// ShapeFacts is what other records need to know of a shape file.
type ShapeFacts struct {
	// Signature is computed from the file's content, whatever it says.
	Signature      Digest
	ProtocolFamily ProtocolFamily
	ValidityLevel  ValidityLevel
}

// FixtureFacts is what a sanitized transcript turns out to be.
type FixtureFacts struct {
	// Shape is the shape derived from it.
	Shape *Shape
	// HasStdout and HasStderr report whether the child printed anything there.
	HasStdout, HasStderr bool
}

// CrossValidate checks a decoded record, a pointer as Decode returns it,
// against the rest of its registry, for callers that have the struct already.
// ValidateIn does both from the text and misses nothing when the record has
// other faults.
func CrossValidate(r Resolver, place string, record any) []Problem {
	return problemsOf(place, crossFindings(r, place, record))
}

// crossFindings checks a record, a pointer as newRecord makes it, against the
// rest of its registry.
func crossFindings(r Resolver, place string, record any) []finding {
	c := &crossChecker{r: r, place: place}
	switch v := record.(type) {
	case *Observation:
		c.observation(v)
	case *SourceEvidence:
		c.sourceEvidence(v)
	case *Shape:
		c.shape(v)
	case *SupportMatrix:
		c.matrix(v)
	case *ErrorCase:
		c.errorCase(v)
	case *Evidence:
		c.evidence(v)
	case *Policy:
		c.policy(v)
	case *LatestSeen:
		for i, a := range v.Agents {
			c.agent(pointerTo("/agents", itoa(i))+"/agent", a.Agent)
		}
	case *Releases:
		for i, a := range v.Agents {
			c.agent(pointerTo("/agents", itoa(i))+"/agent", a.Agent)
		}
	case *DriftIgnores:
		for i, e := range v.Ignored {
			if e.Agent != "" {
				c.agent(pointerTo("/ignored", itoa(i))+"/agent", e.Agent)
			}
		}
	case *DriftReport:
		c.driftReport(v)
	case *Aliases:
		c.aliases(v)
	case *Answer:
		c.answer(v)
	}
	return c.findings
}

type crossChecker struct {
	checker
	r     Resolver
	place string
}

// missing reports a failed look-up: a file that is not there under code, any
// other failure as unreadable.
func (c *crossChecker) missing(code, pointer, what string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		c.report(code, pointer, "%s is not there", what)
		return
	}
	c.report("REF-UNREADABLE", pointer, "%s cannot be read: %v", what, err)
}

func (c *crossChecker) agent(pointer, id string) *Agent {
	a := c.r.Agent(id)
	if a == nil {
		c.report("REF-AGENT", pointer, "registry/agents.json has no agent %s", quoted(id))
	}
	return a
}

func (c *crossChecker) probe(pointer, id string) {
	if !c.r.HasProbe(id) {
		c.report("REF-PROBE", pointer, "there is no probe %s under probes/", quoted(id))
	}
}

// family reports a protocol family that the agent never declared.
func (c *crossChecker) family(pointer string, a *Agent, f ProtocolFamily) {
	if a == nil {
		return
	}
	for _, declared := range a.ProtocolFamilies {
		if declared == f {
			return
		}
	}
	c.report("REF-FAMILY", pointer, "agent %s never declared %s", a.ID, f)
}

// shapeRef checks that the shape file is there, is of the family, and hashes
// to the signature. A renamed shape is looked up under its new name.
func (c *crossChecker) shapeRef(pointer string, ref ShapeRef, family ProtocolFamily) {
	place, want := ref.Path, ref.Signature
	if to := c.r.ResolveAlias(ref.Signature); to != ref.Signature {
		place, want = ShapePath(family, to), to
	}
	facts, err := c.r.Shape(place)
	if err != nil {
		c.missing("REF-SHAPE", pointer+"/path", "the shape "+place, err)
		return
	}
	if facts.Signature != want {
		c.report("REF-SHAPE-HASH", pointer+"/signature", "the shape at %s hashes to %s", place, facts.Signature)
	}
	if facts.ProtocolFamily != family {
		c.report("REF-SHAPE-FAMILY", pointer+"/path", "the shape is of %s, the record of %s", facts.ProtocolFamily, family)
	}
}

// file checks that a file is there and, if want is not empty, its hash.
func (c *crossChecker) file(pointer, place string, want Digest) bool {
	got, err := c.r.FileDigest(place)
	if err != nil {
		c.missing("REF-FILE", pointer, place, err)
		return false
	}
	if want != "" && got != want {
		c.report("REF-FILE-HASH", pointer, "%s hashes to %s", place, got)
		return false
	}
	return true
}

// link checks evidence: an HTTPS URL is not looked up, a place must be there.
func (c *crossChecker) link(pointer, link string) {
	if strings.HasPrefix(link, "https://") {
		return
	}
	if _, err := c.r.FileDigest(link); err != nil {
		c.missing("REF-EVIDENCE", pointer, "the evidence "+quoted(link), err)
	}
}

// recordPlace reports a record whose place does not follow from its content
// (FINE-PRINT 3): <root>/<agent>/<version>/<platform>/<time>.<name>.
func (c *crossChecker) recordPlace(root, agent, version string, p Platform, at, name string) {
	if agent == "" || version == "" || p == "" || at == "" {
		return // the schema says what is missing
	}
	if at[len(at)-1] == 'Z' && c.place == root+"/"+agent+"/"+version+"/"+string(p)+"/"+strings.ReplaceAll(at, ":", "")+"."+name && isPlace(c.place) {
		if _, err := time.Parse(time.RFC3339, at); err == nil {
			return // as this program writes it
		}
	}
	folder := path.Join(root, agent, version, string(p))
	base, found := strings.CutSuffix(path.Base(c.place), "."+name)
	if path.Dir(c.place) != folder || !found {
		c.report("FILE-PLACE", "", "the record belongs at %s/<time>.%s", folder, name)
		return
	}
	stamp, err := time.Parse("2006-01-02T150405Z", base)
	if err != nil {
		stamp, err = time.Parse("2006-01-02T150405.000Z", base)
	}
	want, _ := time.Parse(time.RFC3339, at)
	if err != nil || !stamp.Truncate(time.Second).Equal(want.Truncate(time.Second)) {
		c.report("FILE-PLACE", "", "the time in the file name %s is not the record's %s", quoted(base), at)
	}
}
