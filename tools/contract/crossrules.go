package contract

import (
	"cmp"
	"strings"
)

// crossFileRules are about a record and other files.
var crossFileRules = []Rule{
	{"REF-AGENT", SeverityError, "Every agent is in registry/agents.json.", "Add the agent there, or correct its id.", specShared},
	{"REF-FAMILY", SeverityError, "A record's protocol family is one that its agent declares.", "Correct protocol_family, or declare the family in registry/agents.json.", "specification, observation.schema.json"},
	{"REF-PROBE", SeverityError, "A record's probe has a folder under probes/.", "Correct the probe's id, or add the probe.", specRecord},
	{"REF-SHAPE", SeverityError, "The shape that a record names is there.", "Add the shape file with the record; normalize derives it from the fixture.", specRecord},
	{"REF-SHAPE-HASH", SeverityError, "The signature that a record names is the hash of the shape file.", "Restore the shape file or derive it again; never edit a shape.", "specification, observation.schema.json"},
	{"REF-SHAPE-FAMILY", SeverityError, "A record and its shape are of one protocol family.", "Correct protocol_family or the shape reference.", specRecord},
	{"REF-FILE", SeverityError, "The file that a record names is there.", "Add the file, or restore it from version control.", "specification, Validation Plan"},
	{"REF-FILE-HASH", SeverityError, "The file that a record names has the content it had then.", "Restore the file from version control; files named by hash never change.", "DESIGN D6, FINE-PRINT 7"},
	{"REF-EVIDENCE", SeverityError, "Evidence that is a place in the registry is there.", "Name a record that is there, or an HTTPS URL.", "specification, support-matrix.schema.json"},
	{"REF-UNREADABLE", SeverityError, "The file that a record names can be read.", "See that file's own problems.", "specification, Validation Plan"},
	{"DRIFT-CELL", SeverityError, "A diff report names observations with the two shapes that it compares.", "Run report diffs --write.", "specification, Compare"},
	{"FILE-PLACE", SeverityError, "A record's place follows from its content.", "Move the file to the place named.", "FINE-PRINT 3"},
	{"OBS-NOT-REDACTED", SeverityError, "Only an observation whose redaction passed is in a public registry.", "Remove the record and its fixture; redact again.", "specification, Compare; DESIGN D5"},
	{"OBS-EXTENSIONS", SeverityWarning, "An observation says provider, profile, dialect and fixture, so that it can be derived again and counts in the matrix.", "Capture again with this program.", "FINE-PRINT 3"},
	{"OBS-RAW-STDOUT", SeverityError, "What the child printed on stdout is pinned by its hash.", "Capture again; the hash cannot be added later.", "specification, observation.schema.json"},
	{"OBS-RAW-STDERR", SeverityError, "What the child printed on stderr is pinned by its hash.", "Capture again; the hash cannot be added later.", "specification, observation.schema.json"},
	{"OBS-FIXTURE-SHAPE", SeverityError, "The fixture of an observation has the shape that the observation names.", "Restore fixture and shape, or capture again.", "specification, Validation Plan; DESIGN D6"},
	{"SHAPE-REQUIRED-PATH-ABSENT", SeverityError, "A path that every frame of a kind has is in the fixture.", "Derive the shape again with normalize.", "specification, shape.schema.json"},
	{"SHAPE-FIXTURE-MISMATCH", SeverityError, "Every fixture of a shape has that shape.", "Derive the shape again with normalize, or restore the fixture.", "specification, Validation Plan"},
	{"SHAPE-LEVEL-CLAIMED", SeverityError, "A shape of a source or mock backs no normal support claim.", "Capture the CLI, or generate the matrix from the records.", "specification, shape.schema.json"},
	{"EVID-SUBJECT", SeverityError, "Evidence and its observation are about the same agent, version, platform and probe.", "Correct the record, or name another observation.", "specification, Validity Levels"},
	{"EVID-RAW", SeverityError, "Evidence is about the raw artifact and fixture that the observation pins, and that of a capture says of it what the observation says.", "Correct the member, or name another observation.", "specification, Validity Levels"},
	{"EVID-REPRODUCTION-SHAPE", SeverityError, "A reproduction got the shape of the observation it reproduces.", "Another shape is a finding of its own, not a reproduction.", "specification, Validity Levels"},
	{"EVID-REPRODUCTION-RUN", SeverityError, "The observation that a contributor reproduced another one with is another run of the same version, platform, probe and profile, with its shape.", "Name the contributor's own observation, or write null.", "specification, Validity Levels"},
	{"EVID-WITHDRAWAL", SeverityError, "A withdrawal is about its observation or about a statement on it, and names another observation as what takes its place.", "Correct the reference; agent-contracts withdraw writes the record.", "FINE-PRINT 1"},
	{"EVID-MAINTAINER", SeverityError, "Maintainers attest and promote, and withdraw where there are any; registry/policy.json names them.", "Let a maintainer decide, or add the handle to maintainers in registry/policy.json.", "specification, Validity Levels"},
	{"EVID-CORRECTION", SeverityError, "A correction is made after its run, and names a failure only for a run that failed or was cancelled.", "Correct run_result, failure or recorded_at; agent-contracts correct writes the record.", "specification 002, decision 4"},
	{"ALIAS-TARGET", SeverityError, "An alias leads to a shape that is there.", "Add the shape, or remove the alias.", "FINE-PRINT 1"},
	{"REF-REQUEST", SeverityError, "An Answer's Request is there.", "Answer a pending Request; review list shows them.", "DESIGN D11"},
}

func (c *crossChecker) observation(o *Observation) {
	a := c.agent("/agent", o.Agent)
	c.family("/protocol_family", a, o.ProtocolFamily)
	c.probe("/probe", o.Probe)
	c.recordPlace("observations", o.Agent, o.CLIVersion, o.Platform, o.Capture.CapturedAt, o.Probe+".observation.json")
	if o.Redaction.Status != RedactionPassed {
		c.report("OBS-NOT-REDACTED", "/redaction/status", "the status is %s", o.Redaction.Status)
	}
	c.shapeRef("/shape", o.Shape, o.ProtocolFamily)
	if o.ParserReplay.Golden != "" {
		c.file("/parser_replay/golden", o.ParserReplay.Golden, "")
	}
	x := &o.Extensions
	if x.FixtureSHA256 == "" {
		c.report("OBS-EXTENSIONS", "/extensions", "the observation names no fixture")
		return
	}
	if x.ReferenceGolden != "" {
		c.file("/extensions/reference_golden", x.ReferenceGolden, "")
	}
	if c.file("/extensions/fixture", x.Fixture, x.FixtureSHA256) {
		c.fixtureOf(o)
	}
}

// fixtureOf checks the observation against what its fixture turns out to be.
func (c *crossChecker) fixtureOf(o *Observation) {
	f, err := c.r.Fixture(o.Extensions.Fixture, o.ProtocolFamily, o.Extensions.Dialect)
	if err != nil {
		c.missing("REF-FILE", "/extensions/fixture", o.Extensions.Fixture, err)
		return
	}
	if f.HasStdout && !o.ProtocolFamily.IsRPC() && o.Capture.RawStdoutSHA256 == nil {
		c.report("OBS-RAW-STDOUT", "/capture/raw_stdout_sha256", "the fixture has stdout, its hash is missing")
	}
	if f.HasStderr && o.Capture.RawStderrSHA256 == nil {
		c.report("OBS-RAW-STDERR", "/capture/raw_stderr_sha256", "the fixture has stderr, its hash is missing")
	}
	if want := c.r.ResolveAlias(o.Shape.Signature); f.Shape != nil && f.Shape.Signature != want {
		c.report("OBS-FIXTURE-SHAPE", "/shape/signature", "the fixture's shape is %s", f.Shape.Signature)
	}
}

func (c *crossChecker) sourceEvidence(s *SourceEvidence) {
	a := c.agent("/agent", s.Agent)
	c.family("/protocol_family", a, s.ProtocolFamily)
	c.shapeRef("/derived_shape", s.DerivedShape, s.ProtocolFamily)
	x := &s.Extensions
	if x.Fixture != "" {
		c.file("/extensions/fixture", x.Fixture, x.FixtureSHA256)
	}
	if x.Probe != "" {
		c.probe("/extensions/probe", x.Probe)
		c.recordPlace("evidence", s.Agent, s.CLIVersion, cmp.Or(x.Platform, "unknown"), s.DiscoveredAt, x.Probe+".source-evidence.json")
	}
	if x.ReferenceGolden != "" {
		c.file("/extensions/reference_golden", x.ReferenceGolden, "")
	}
	if x.ParserReplay != nil && x.ParserReplay.Golden != "" {
		c.file("/extensions/parser_replay/golden", x.ParserReplay.Golden, "")
	}
}

func (c *crossChecker) shape(s *Shape) {
	if want := s.Path(); c.place != want {
		c.report("FILE-PLACE", "", "the shape belongs at %s", want)
	}
	if agent := c.r.ClaimedBy(s.Signature); agent != "" && !s.ValidityLevel.SupportsClaim() && s.ValidityLevel != LevelServerVariant {
		c.report("SHAPE-LEVEL-CLAIMED", "/validity_level", "a claim about %s rests on this shape, which is only %s", agent, s.ValidityLevel)
	}
	for _, place := range c.r.Fixtures(s.Signature) {
		f, err := c.r.Fixture(place, s.ProtocolFamily, s.Extensions.Dialect)
		if err != nil {
			c.missing("REF-FILE", "", place, err)
			continue
		}
		if f.Shape == nil || f.Shape.Signature == s.Signature {
			continue
		}
		c.report("SHAPE-FIXTURE-MISMATCH", "/signature", "the fixture %s has the shape %s", place, f.Shape.Signature)
		c.requiredPaths(s, f.Shape, place)
	}
}

// requiredPaths reports each path that the shape requires and the fixture's
// frames of the same direction, stream and type never have.
func (c *crossChecker) requiredPaths(s, derived *Shape, place string) {
	has := map[[4]string]bool{}
	for _, f := range derived.FrameShapes {
		for _, p := range f.Paths {
			has[[4]string{f.Direction, f.Stream, f.EventType, p.Path}] = true
		}
	}
	for i, f := range s.FrameShapes {
		for j, p := range f.Paths {
			if p.Required && !has[[4]string{f.Direction, f.Stream, f.EventType, p.Path}] {
				at := pointerTo(pointerTo("/frame_shapes", itoa(i))+"/paths", itoa(j))
				c.report("SHAPE-REQUIRED-PATH-ABSENT", at, "%s is required, %s has none", quoted(p.Path), place)
			}
		}
	}
}

func (c *crossChecker) matrix(m *SupportMatrix) {
	for i := range m.Agents {
		e := &m.Agents[i]
		at := pointerTo("/agents", itoa(i))
		a := c.agent(at+"/agent", e.Agent)
		for j, f := range e.ProtocolFamilies {
			c.family(pointerTo(at+"/protocol_families", itoa(j)), a, f)
		}
		for j, s := range e.ObservedShapes {
			c.matrixShape(pointerTo(at+"/observed_shapes", itoa(j)), e, s)
		}
		for j, b := range e.KnownBreakingShapes {
			c.link(pointerTo(at+"/known_breaking_shapes", itoa(j))+"/evidence", b.Evidence)
		}
		c.links(at+"/extensions/evidence", e.Extensions.Evidence)
	}
}

// matrixShape checks that an observed shape is there under one of the entry's
// families.
func (c *crossChecker) matrixShape(at string, e *MatrixEntry, s ObservedShape) {
	for _, f := range e.ProtocolFamilies {
		if _, err := c.r.Shape(ShapePath(f, c.r.ResolveAlias(s.Shape))); err == nil {
			return
		}
	}
	c.report("REF-SHAPE", at+"/shape", "there is no shape %s of %s", s.Shape, joined(e.ProtocolFamilies))
}

func joined(families []ProtocolFamily) string {
	words := make([]string, len(families))
	for i, f := range families {
		words[i] = string(f)
	}
	return cmp.Or(strings.Join(words, " or "), "any family")
}

func (c *crossChecker) links(at string, links []string) {
	for i, l := range links {
		c.link(pointerTo(at, itoa(i)), l)
	}
}

func (c *crossChecker) errorCase(e *ErrorCase) {
	c.agent("/agent", e.Agent)
	c.probe("/probe", e.Probe)
	if !strings.HasPrefix(c.place, "errors/"+e.Agent+"/") || !strings.HasSuffix("."+c.place[strings.LastIndexByte(c.place, '/')+1:], "."+e.Probe+".error.json") {
		c.report("FILE-PLACE", "", "the record belongs under errors/%s/ and its name ends in %s.error.json", e.Agent, e.Probe)
	}
	x := &e.Extensions
	if x.Fixture != "" {
		c.file("/extensions/fixture", x.Fixture, x.FixtureSHA256)
	}
	if x.Observation == "" {
		return
	}
	o, err := c.r.Observation(x.Observation)
	if err != nil {
		c.missing("REF-FILE", "/extensions/observation", x.Observation, err)
		return
	}
	if o.Capture.RawClientTranscriptSHA256 != e.RawShape {
		c.report("REF-FILE-HASH", "/raw_shape", "the observation's raw transcript is %s", o.Capture.RawClientTranscriptSHA256)
	}
}

func (c *crossChecker) policy(p *Policy) {
	for i, a := range p.Agents {
		at := pointerTo("/agents", itoa(i))
		c.agent(at+"/agent", a.Agent)
		for j, t := range a.TooOld {
			c.links(pointerTo(at+"/too_old", itoa(j))+"/evidence", t.Evidence)
		}
		for j, b := range a.KnownBreaking {
			c.links(pointerTo(at+"/known_breaking", itoa(j))+"/evidence", b.Evidence)
		}
		for j, b := range a.KnownBreakingShapes {
			c.link(pointerTo(at+"/known_breaking_shapes", itoa(j))+"/evidence", b.Evidence)
		}
	}
}

// aliases checks that each alias ends at a shape of some family.
func (c *crossChecker) aliases(a *Aliases) {
	for i, alias := range a.Aliases {
		to, found := a.Resolve(alias.To), false
		for _, f := range ProtocolFamilies {
			_, err := c.r.Shape(ShapePath(f, to))
			found = found || err == nil
		}
		if !found {
			c.report("ALIAS-TARGET", pointerTo("/aliases", itoa(i))+"/to", "there is no shape %s", to)
		}
	}
}

func (c *crossChecker) answer(a *Answer) {
	r, err := c.r.Request(a.RequestID)
	if err != nil {
		c.missing("REF-REQUEST", "/request_id", "the request "+a.RequestID.Short(), err)
		return
	}
	c.checkAnswer(r, a)
}
