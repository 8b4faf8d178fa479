package evidence

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// submission is a bundle that passed every check, with what was derived again.
type submission struct {
	bundle      *Bundle
	observation *contract.Observation
	evidence    *contract.Evidence
	derived     *capture.Derived
}

func errorCaseOf(observation string) string {
	return "errors" + strings.TrimSuffix(strings.TrimPrefix(observation, "observations"), ".observation.json") + ".error.json"
}

// check holds a bundle against the rules of a registry and derives everything
// in it again. Errors: *BundleError, *RefusedError.
func check(reg *store.Registry, b *Bundle) (*submission, error) {
	s := &submission{bundle: b, observation: &contract.Observation{}, evidence: &contract.Evidence{}}
	if err := s.files(); err != nil {
		return nil, err
	}
	if err := s.validate(reg); err != nil {
		return nil, err
	}
	if err := s.honest(reg); err != nil {
		return nil, err
	}
	return s, s.derive(reg)
}

func (s *submission) refuse(why string, args ...any) error {
	return &RefusedError{What: "accepting " + s.bundle.Manifest.Observation, Why: fmt.Sprintf(why, args...)}
}

// files checks that the bundle has the files of one observation and no others.
func (s *submission) files() error {
	m := &s.bundle.Manifest
	place := m.Observation
	if kind, ok := contract.KindOf(place); !ok || kind != contract.KindObservation {
		return notBundle("its manifest names no observation")
	}
	o, problems := contract.Decode[contract.Observation](&contract.Validator{}, place, s.bundle.Files[place])
	if contract.HasErrors(problems) {
		return s.refuse("%s", problems[0])
	}
	s.observation = o
	wanted := append(filesOf(o, place), errorCaseOf(place))
	for _, f := range m.Files {
		if !slices.Contains(wanted, f.Path) {
			return s.refuse("the bundle holds a file that is none of the observation's: %q", f.Path)
		}
	}
	for _, f := range filesOf(o, place)[:4] {
		if _, ok := s.bundle.Files[f]; !ok {
			return s.refuse("the bundle lacks %q", f)
		}
	}
	e, problems := contract.Decode[contract.Evidence](&contract.Validator{}, store.EvidenceOf(place), s.bundle.Files[store.EvidenceOf(place)])
	if contract.HasErrors(problems) {
		return s.refuse("%s", problems[0])
	}
	if e.Kind != contract.EvidenceCapture || e.Observation.Path != place {
		return s.refuse("its evidence record is not that of the capture")
	}
	s.evidence = e
	return nil
}

// validate puts the bundle into a registry of its own, with the rules of ours
// and nothing else, and validates that.
func (s *submission) validate(reg *store.Registry) error {
	alone, err := store.Alone(reg, s.bundle.Files)
	if err != nil {
		return err
	}
	var places []string
	for _, f := range s.bundle.Manifest.Files {
		places = append(places, f.Path)
	}
	result, err := validate.Run(alone, places)
	if err != nil {
		return err
	}
	for _, p := range result.Problems {
		if p.Severity == contract.SeverityError {
			return s.refuse("%s", p)
		}
	}
	return nil
}

// honest refuses what no capture says, or what does not belong here.
func (s *submission) honest(reg *store.Registry) error {
	o := s.observation
	if o.ValidityLevel != contract.LevelRuntimeObserved {
		return s.refuse("it gives itself the level %s: a capture is runtime_observed, what is more follows from other records", o.ValidityLevel)
	}
	at, err := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	if err != nil || at.After(time.Now().Add(time.Hour)) {
		return s.refuse("it was captured in the future")
	}
	probe, err := capture.LoadProbe(reg, o.Probe)
	if err != nil {
		return err
	}
	if o.Extensions.ProbeRevision != probe.Revision {
		return s.refuse("it was captured with another revision of the probe %s than this registry has", o.Probe)
	}
	if err := s.distinct(reg); err != nil {
		return err
	}
	if err := s.consistent(); err != nil {
		return err
	}
	return s.leaks()
}

// distinct refuses a version that the registry has in other letters: their
// folders are one where the file system does not tell upper from lower case.
func (s *submission) distinct(reg *store.Registry) error {
	known, err := reg.Observations(s.observation.Agent)
	if err != nil {
		return err
	}
	for i := range known {
		if v := known[i].CLIVersion; v != s.observation.CLIVersion && strings.EqualFold(v, s.observation.CLIVersion) {
			return s.refuse("the registry has that version as %s: the two differ by upper and lower case only", v)
		}
	}
	return nil
}

// consistent holds the evidence record against the observation where validate
// leaves that to the capture, and takes out what nobody vouches for.
func (s *submission) consistent() error {
	c, o := s.evidence.Capture, s.observation
	same := c.Runner == o.Capture.Runner && c.Raw.Visibility == o.Capture.RawArtifactVisibility &&
		equal(c.WorkflowRunURL, o.Capture.WorkflowRunURL) && equal(c.BinarySHA256, o.Install.BinarySHA256)
	if !same {
		return s.refuse("its evidence record tells of another runner, workflow, binary or raw bundle than the observation")
	}
	s.evidence.Extensions = nil
	return nil
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// texts are what the bundle says in free words, which nothing can derive again:
// for the maintainer to read.
func (s *submission) texts() []string {
	o := s.observation
	out := append([]string{"runner: " + o.Capture.Runner, "installed from: " + o.Install.Source, "version output: " + o.Extensions.VersionOutput,
		"recorded by: " + s.evidence.RecordedBy}, o.Extensions.Findings...)
	for _, v := range o.Extensions.Violations {
		out = append(out, fmt.Sprintf("violation: %+v", v))
	}
	return out
}

// leaks scans every file of the bundle as it would be published.
func (s *submission) leaks() error {
	scanner := leak.NewScanner(nil)
	for _, f := range s.bundle.Manifest.Files {
		if found := scanner.Scan(s.bundle.Files[f.Path]); len(found) > 0 {
			return s.refuse("the leak scan found something in %s (%s)", f.Path, found[0].Rule)
		}
	}
	return nil
}

// derive makes shape and readings from the fixture again and compares.
func (s *submission) derive(reg *store.Registry) error {
	x := &s.observation.Extensions
	families, err := reg.Families()
	if err != nil {
		return err
	}
	t, err := transcript.ReadSanitized(bytes.NewReader(s.bundle.Files[x.Fixture]))
	if err != nil {
		return s.refuse("its transcript cannot be read")
	}
	dialect := families.Dialect(x.Dialect)
	if dialect == nil {
		return s.refuse("registry/families.json has no such dialect")
	}
	if s.derived, err = capture.Derive(t, dialect, s.observation.Agent); err != nil {
		return s.refuse("its transcript cannot be derived again")
	}
	if !bytes.Equal(s.derived.Fixture, s.bundle.Files[x.Fixture]) {
		return s.refuse("its transcript is not in canonical form")
	}
	shape, err := contract.Encode(s.derived.Shape)
	if err != nil {
		return err
	}
	if !bytes.Equal(shape, s.bundle.Files[s.observation.Shape.Path]) {
		return s.refuse("its transcript gives another shape, or its shape has another level than runtime_observed")
	}
	why, err := capture.Publishable(reg, t, s.derived, x.Provider == contract.ProviderEmulated)
	if err != nil {
		return err
	}
	if why != "" {
		return s.refuse("%s", why)
	}
	return nil
}
