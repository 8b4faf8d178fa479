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
	case e.Attestation != nil:
		if e.Attestation.RawSHA256 != raw {
			c.report("EVID-RAW", "/attestation/raw_sha256", "the observation pins %s", raw)
		}
	case e.Reproduction != nil:
		if c.r.ResolveAlias(e.Reproduction.Shape) != c.r.ResolveAlias(o.Shape.Signature) {
			c.report("EVID-REPRODUCTION-SHAPE", "/reproduction/shape", "the observation's shape is %s", o.Shape.Signature)
		}
		if other := e.Reproduction.Observation; other != nil {
			c.file("/reproduction/observation/path", other.Path, other.SHA256)
		}
	case e.UserCorrection != nil:
		if after(o.Capture.CapturedAt, e.RecordedAt) {
			c.report("EVID-CORRECTION", "/recorded_at", "the run that is corrected was captured later, at %s", o.Capture.CapturedAt)
		}
	case e.Promotion != nil:
		c.file("/promotion/reproduction/path", e.Promotion.Reproduction.Path, e.Promotion.Reproduction.SHA256)
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
