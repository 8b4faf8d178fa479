package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/validate"
)

// submission is a bundle that passed every check, with what was derived again.
type submission struct {
	bundle      *Bundle
	observation *contract.Observation
	evidence    *contract.Evidence
	probe       *capture.Probe
	derived     *capture.Derived
	known       string // the registry's observation of this very run, "" for none
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
	if s.probe, err = capture.LoadProbe(reg, o.Probe); err != nil {
		return err
	}
	if x := &o.Extensions; x.Readers != replay.Version || x.Normalizer != normalize.Version {
		return s.refuse("it was read by another version of this program: what it says of the run cannot be derived again")
	}
	if o.Extensions.ProbeRevision != s.probe.Revision {
		return s.refuse("it was captured with another revision of the probe %s than this registry has", o.Probe)
	}
	if err := s.distinct(reg); err != nil {
		return err
	}
	s.evidence.Extensions = nil // what nobody vouches for
	return s.leaks()
}

// distinct refuses a version that the registry has in other letters: their
// folders are one where the file system does not tell upper from lower case. It
// also refuses a run that the registry has, told otherwise: at another time, or on
// another machine, it would confirm itself.
func (s *submission) distinct(reg *store.Registry) error {
	known, err := reg.Observations(s.observation.Agent)
	if err != nil {
		return err
	}
	for i := range known {
		k := &known[i]
		if v := k.CLIVersion; v != s.observation.CLIVersion && strings.EqualFold(v, s.observation.CLIVersion) {
			return s.refuse("the registry has that version as %s: the two differ by upper and lower case only", v)
		}
		if k.Capture.RawClientTranscriptSHA256 != s.observation.Capture.RawClientTranscriptSHA256 {
			continue
		}
		same, err := s.published(k)
		if err != nil {
			return err
		}
		if !same {
			return s.refuse("the registry has that run already and tells it otherwise: %s", k.Path)
		}
		s.known = k.Path
	}
	return nil
}

// published reports whether an observation is the submitted one as publishing
// leaves it: its files may have other places, and its own place may have been
// taken, so that it is some milliseconds later.
func (s *submission) published(k *store.Observed) (bool, error) {
	o := *s.observation
	at, err1 := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	then, err2 := time.Parse(time.RFC3339, k.Capture.CapturedAt)
	if err := errors.Join(err1, err2); err != nil {
		return false, err
	}
	o.Capture.CapturedAt = k.Capture.CapturedAt
	o.Extensions.Fixture, o.Extensions.ReferenceGolden, o.ParserReplay.Golden = k.Extensions.Fixture, k.Extensions.ReferenceGolden, k.ParserReplay.Golden
	a, err1 := contract.Encode(o)
	b, err2 := contract.Encode(k.Observation)
	return bytes.Equal(a, b) && then.Sub(at).Abs() < time.Second, errors.Join(err1, err2)
}

// texts are what the bundle says in free words, which nothing can derive again:
// for the maintainer to read.
func (s *submission) texts() []string {
	o := s.observation
	x, c := &o.Extensions, s.evidence.Capture
	out := []string{"runner: " + o.Capture.Runner, "installed from: " + o.Install.Source, "version output: " + x.VersionOutput,
		"started with: " + strings.Join(o.Command.ArgvTemplate, " "), "profile: " + x.Profile, "launcher: " + x.Launcher,
		"provider's model: " + x.Pinned.Model + ", " + x.Pinned.ProviderAPI,
		"recorded by: " + s.evidence.RecordedBy + ", " + c.ToolVersion, "how it ended: " + strings.TrimSpace(x.Ended+" "+x.EndReason)}
	if c.WorkflowRunURL != nil {
		out = append(out, "workflow: "+*c.WorkflowRunURL)
	}
	if v := o.ParserReplay.OpenDesignCommit; v != nil {
		out = append(out, "consumer's commit: "+*v)
	}
	for _, f := range x.Findings {
		out = append(out, "finding: "+f)
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
	violations, weak := capture.Expectations(s.probe, s.derived)
	if !slices.Equal(violations, x.Violations) || weak != x.WeakSuccess {
		return s.refuse("its transcript breaks other expectations of the probe than it says")
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
