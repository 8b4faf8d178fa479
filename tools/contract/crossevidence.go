package contract

// evidence checks an evidence record against the observation it is about.
func (c *crossChecker) evidence(e *Evidence) {
	c.recordPlace("evidence", e.Agent, e.CLIVersion, e.Platform, c.evidenceTime(e), e.Probe+".evidence.json")
	if !c.file("/observation/path", e.Observation.Path, e.Observation.SHA256) {
		return
	}
	o, err := c.r.Observation(e.Observation.Path)
	if err != nil {
		c.missing("REF-FILE", "/observation/path", e.Observation.Path, err)
		return
	}
	if o.Agent != e.Agent || o.CLIVersion != e.CLIVersion || o.Platform != e.Platform || o.Probe != e.Probe {
		c.report("EVID-SUBJECT", "/observation/path", "the observation is about %s %s on %s, probe %s", o.Agent, o.CLIVersion, o.Platform, o.Probe)
	}
	raw := o.Capture.RawClientTranscriptSHA256
	switch {
	case e.Capture != nil:
		c.file("/capture/fixture/path", e.Capture.Fixture.Path, e.Capture.Fixture.SHA256)
		if e.Capture.Raw.SHA256 != raw {
			c.report("EVID-RAW", "/capture/raw/sha256", "the observation pins %s", raw)
		}
		if want := o.Extensions.FixtureSHA256; want != "" && e.Capture.Fixture.SHA256 != want {
			c.report("EVID-RAW", "/capture/fixture/sha256", "the observation pins %s", want)
		}
		for _, at := range e.Capture.Unlike(o) {
			c.report("EVID-RAW", at, "the observation says something else")
		}
	case e.Attestation != nil:
		if e.Attestation.RawSHA256 != raw {
			c.report("EVID-RAW", "/attestation/raw_sha256", "the observation pins %s", raw)
		}
	case e.Reproduction != nil:
		if c.r.ResolveAlias(e.Reproduction.Shape) != c.r.ResolveAlias(o.Shape.Signature) {
			c.report("EVID-REPRODUCTION-SHAPE", "/reproduction/shape", "the observation's shape is %s", o.Shape.Signature)
		}
		c.repetition(e, o)
	case e.UserCorrection != nil:
		if after(o.Capture.CapturedAt, e.RecordedAt) {
			c.report("EVID-CORRECTION", "/recorded_at", "the run that is corrected was captured later, at %s", o.Capture.CapturedAt)
		}
	case e.Promotion != nil:
		c.promotion(e, o)
	case e.Withdrawal != nil:
		c.withdrawal(e)
	}
	c.maintainer(e)
}

// repetition checks that a contributor's own observation is another run of what
// it reproduces.
func (c *crossChecker) repetition(e *Evidence, o *Observation) {
	const at = "/reproduction/observation/path"
	ref := e.Reproduction.Observation
	if ref == nil || !c.file(at, ref.Path, ref.SHA256) {
		return
	}
	own, err := c.r.Observation(ref.Path)
	if err != nil {
		c.missing("REF-FILE", at, ref.Path, err)
		return
	}
	why := own.NotAgain(o)
	if why == "" && c.r.ResolveAlias(own.Shape.Signature) != c.r.ResolveAlias(e.Reproduction.Shape) {
		why = "it has another shape"
	}
	if why != "" {
		c.report("EVID-REPRODUCTION-RUN", at, "%s", why)
	}
}

// promotion checks that a promotion rests on a reproduction of the same
// observation.
func (c *crossChecker) promotion(e *Evidence, o *Observation) {
	ref := e.Promotion.Reproduction
	if ref == nil || !c.file("/promotion/reproduction/path", ref.Path, ref.SHA256) {
		return
	}
	const at = "/promotion/reproduction/path"
	r, err := c.r.Evidence(ref.Path)
	switch {
	case err != nil:
		c.missing("REF-FILE", at, ref.Path, err)
	case r.Reproduction == nil || r.Observation.Path != e.Observation.Path:
		c.report("EVID-PROMOTION-REPRODUCTION", at, "it is no reproduction of this observation")
	case c.r.ResolveAlias(r.Reproduction.Shape) != c.r.ResolveAlias(o.Shape.Signature):
		c.report("EVID-PROMOTION-REPRODUCTION", at, "the reproduction got another shape")
	}
}

func (c *crossChecker) withdrawal(e *Evidence) {
	w := e.Withdrawal
	if ref := w.Record; ref != nil && c.file("/withdrawal/record/path", ref.Path, ref.SHA256) {
		r, err := c.r.Evidence(ref.Path)
		switch {
		case err != nil:
			c.missing("REF-FILE", "/withdrawal/record/path", ref.Path, err)
		case r.Observation.Path != e.Observation.Path:
			c.report("EVID-WITHDRAWAL", "/withdrawal/record/path", "the record is about another observation")
		case !r.Kind.Withdrawable():
			c.report("EVID-WITHDRAWAL", "/withdrawal/record/path", "a record of kind %s is not taken back", r.Kind)
		}
	}
	if ref := w.SupersededBy; ref != nil && c.file("/withdrawal/superseded_by/path", ref.Path, ref.SHA256) {
		if _, err := c.r.Observation(ref.Path); err != nil || ref.Path == e.Observation.Path {
			c.report("EVID-WITHDRAWAL", "/withdrawal/superseded_by/path", "it is not another observation")
		}
	}
}

// maintainer checks that those speak who may.
func (c *crossChecker) maintainer(e *Evidence) {
	at, by := e.Decided()
	p := c.r.Policy()
	if by == "" || p == nil {
		return
	}
	may := p.Maintains
	if e.Withdrawal != nil {
		may = p.Decides
	}
	if !may(by) {
		c.report("EVID-MAINTAINER", at, "registry/policy.json does not name %s as a maintainer", quoted(by))
	}
}

// evidenceTime is the time in the file's name: that of the capture for a
// capture's evidence, which lies beside its observation, else the record's own.
func (c *crossChecker) evidenceTime(e *Evidence) string {
	if e.Kind == EvidenceCapture {
		if o, err := c.r.Observation(e.Observation.Path); err == nil {
			return o.Capture.CapturedAt
		}
	}
	return e.RecordedAt
}
