package contract

// EvidenceKind says what an evidence record adds to an observation.
type EvidenceKind string

// The kinds of evidence (spec "Validity Levels", FINE-PRINT 1).
const (
	EvidenceCapture      EvidenceKind = "capture"      // what was captured, and where the raw bytes are
	EvidenceAttestation  EvidenceKind = "attestation"  // a maintainer checked the redaction of the raw artifact
	EvidenceReproduction EvidenceKind = "reproduction" // somebody else got the same shape
	EvidencePromotion    EvidenceKind = "promotion"    // a maintainer accepts a reproduction
	EvidenceWithdrawal   EvidenceKind = "withdrawal"   // the observation no longer counts

	// EvidenceUserCorrection: a maintainer says what the run really came to
	// (specification 002, decision 4). It changes no status anywhere.
	EvidenceUserCorrection EvidenceKind = "user_correction"
)

// EvidenceKinds lists every kind.
var EvidenceKinds = []EvidenceKind{EvidenceCapture, EvidenceAttestation, EvidenceReproduction, EvidencePromotion, EvidenceWithdrawal, EvidenceUserCorrection}

// Withdrawable reports whether a record of this kind can be taken back. What a
// capture saw stays, and what was withdrawn is captured again instead.
func (k EvidenceKind) Withdrawable() bool {
	return k == EvidenceAttestation || k == EvidenceReproduction || k == EvidencePromotion
}

// Withdraws reports whether the observation itself counts no more: a withdrawal
// may also be of one statement about it.
func (e *Evidence) Withdraws() bool { return e.Withdrawal != nil && e.Withdrawal.Record == nil }

// Decided returns who made a decision that only a maintainer makes, and the
// pointer to it; "" for other records.
func (e *Evidence) Decided() (pointer, by string) {
	switch {
	case e.Attestation != nil:
		return "/attestation/by", e.Attestation.By
	case e.Promotion != nil:
		return "/promotion/by", e.Promotion.By
	case e.Withdrawal != nil:
		return "/withdrawal/by", e.Withdrawal.By
	}
	return "", ""
}

// Evidence is a statement about one observation, made at capture time or
// later. Observations are never edited, so what comes later is a record of its
// own (FINE-PRINT 1). Exactly the member named like Kind is set.
type Evidence struct {
	SchemaVersion int          `json:"schema_version"`
	Kind          EvidenceKind `json:"kind"`
	Agent         string       `json:"agent"`
	CLIVersion    string       `json:"cli_version"`
	Platform      Platform     `json:"platform"`
	Probe         string       `json:"probe"`
	Observation   FileRef      `json:"observation"`
	RecordedAt    string       `json:"recorded_at"` // UTC, RFC 3339 with Z
	// RecordedBy names the program with its version, or the person.
	RecordedBy     string           `json:"recorded_by"`
	Capture        *CaptureEvidence `json:"capture,omitempty"`
	Attestation    *Attestation     `json:"attestation,omitempty"`
	Reproduction   *Reproduction    `json:"reproduction,omitempty"`
	Promotion      *Promotion       `json:"promotion,omitempty"`
	Withdrawal     *Withdrawal      `json:"withdrawal,omitempty"`
	UserCorrection *UserCorrection  `json:"user_correction,omitempty"`
	Extensions     map[string]any   `json:"extensions,omitempty"`
}

// FileRef names a file of the registry by place and content.
type FileRef struct {
	Path   string `json:"path"` // relative, with forward slashes
	SHA256 Digest `json:"sha256"`
}

// CaptureEvidence lets a maintainer trace a sanitized fixture back to the
// retained raw bytes.
type CaptureEvidence struct {
	// Fixture is the public sanitized transcript.
	Fixture FileRef `json:"fixture"`
	// Raw is the private artifact: the raw bundle.
	Raw            RawArtifact `json:"raw"`
	WorkflowRunURL *string     `json:"workflow_run_url"` // HTTPS, null for a capture by hand
	Runner         string      `json:"runner"`
	BinarySHA256   *Digest     `json:"binary_sha256"`
	ToolVersion    string      `json:"tool_version"` // of this program
}

// Unlike returns the members, as JSON pointers, that a capture's evidence has from
// its observation and has otherwise, its hashes apart.
func (c *CaptureEvidence) Unlike(o *Observation) (pointers []string) {
	for _, m := range []struct {
		pointer string
		same    bool
	}{
		{"/capture/fixture/path", c.Fixture.Path == o.Extensions.Fixture},
		{"/capture/raw/visibility", c.Raw.Visibility == o.Capture.RawArtifactVisibility},
		{"/capture/workflow_run_url", equal(c.WorkflowRunURL, o.Capture.WorkflowRunURL)},
		{"/capture/runner", c.Runner == o.Capture.Runner},
		{"/capture/binary_sha256", equal(c.BinarySHA256, o.Install.BinarySHA256)},
	} {
		if !m.same {
			pointers = append(pointers, m.pointer)
		}
	}
	return pointers
}

func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// What happens to a raw artifact (spec capture.raw_artifact_visibility).
const (
	VisibilityPrivate   = "private"
	VisibilityPublic    = "public"
	VisibilityDiscarded = "discarded_after_redaction"
)

// RawArtifact is a file of the private store.
type RawArtifact struct {
	SHA256     Digest `json:"sha256"`
	Visibility string `json:"visibility"` // private, public or discarded_after_redaction
	Bytes      int64  `json:"bytes"`
	// RetainedUntil is the UTC time until which the artifact is kept; null
	// when it was discarded after redaction.
	RetainedUntil *string `json:"retained_until"`
}

// Attestation says that a maintainer checked the redaction against the raw
// artifact before publication.
type Attestation struct {
	By        string `json:"by"`
	Statement string `json:"statement"`
	// Audited says how: re_derived (evidence audit redacted the raw artifact
	// again and got the fixture) or read (a person read both).
	Audited string `json:"audited"`
	// RawSHA256 is the artifact that was looked at.
	RawSHA256 Digest `json:"raw_sha256"`
}

// Reproduction says that a contributor got the same shape independently.
type Reproduction struct {
	By string `json:"by"`
	// URL points to where the contributor published it; HTTPS.
	URL string `json:"url"`
	// Shape is the signature that the contributor got.
	Shape Digest `json:"shape"`
	// Observation is the contributor's own, null if it was not submitted.
	Observation *FileRef `json:"observation"`
}

// Promotion changes the level that an observation counts with.
type Promotion struct {
	By string `json:"by"`
	// From and To are levels. To is above From (FINE-PRINT 1, level order), or
	// server_variant; confirmed is derived and cannot be given.
	From ValidityLevel `json:"from"`
	To   ValidityLevel `json:"to"`
	// Reproduction is the record that justifies community_confirmed; nil for a
	// server variant.
	Reproduction *FileRef `json:"reproduction"`
	Reason       string   `json:"reason"`
}

// Withdrawal takes an observation out of every claim, or takes back one
// statement about it. What it names stays where it is.
type Withdrawal struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
	// Record is the evidence record that is withdrawn; nil for the observation.
	Record *FileRef `json:"record,omitempty"`
	// SupersededBy is the observation that takes the place of a withdrawn one.
	SupersededBy *FileRef `json:"superseded_by,omitempty"`
}

// UserCorrection says what a run really came to where our reading of it is
// wrong. Reading, observation and claims stay as they are; health counts it.
type UserCorrection struct {
	RunResult RunResult `json:"run_result"`
	// Failure says why the run did not succeed, if that is known.
	Failure *CorrectedFailure `json:"failure,omitempty"`
	Reason  string            `json:"reason"`
	// Evidence are HTTPS URLs of public reports.
	Evidence []string `json:"evidence,omitempty"`
	// By is a handle; without it the commit that added the record tells.
	By string `json:"by,omitempty"`
}

// CorrectedFailure is the part of a classification that a person can name.
type CorrectedFailure struct {
	Category FailureCategory `json:"failure_category"`
	Detail   string          `json:"failure_detail"` // one of FailureDetails
}

// String returns the result and its cause for people: failed (auth/missing_api_key).
func (u UserCorrection) String() string {
	if u.Failure == nil {
		return string(u.RunResult)
	}
	return string(u.RunResult) + " (" + string(u.Failure.Category) + "/" + u.Failure.Detail + ")"
}

func checkCorrection(c *checker, u *UserCorrection) {
	switch {
	case u.Failure == nil:
	case u.RunResult == RunSuccess:
		c.report("EVID-CORRECTION", "/user_correction/failure", "a run that succeeded has no failure, leave it out")
	case (u.RunResult == RunCancelled) != (u.Failure.Category == CategoryUserCancel):
		c.report("EVID-CORRECTION", "/user_correction/failure/failure_category", "user_cancel and the result cancelled go together")
	}
}

func checkPromotion(c *checker, p *Promotion) {
	variant := p.To == LevelServerVariant
	if p.To.Rank() >= 0 && p.From.Rank() >= 0 && !variant && p.To.Rank() <= p.From.Rank() || variant && p.From == p.To {
		c.report("EVID-PROMOTION-LEVEL", "/promotion/to", "%s is not above %s", p.To, p.From)
	}
	switch {
	case variant && p.Reproduction != nil:
		c.report("EVID-PROMOTION-REPRODUCTION", "/promotion/reproduction", "a server variant rests on no reproduction, write null")
	case p.To == LevelCommunityConfirmed && p.Reproduction == nil:
		c.report("EVID-PROMOTION-REPRODUCTION", "/promotion/reproduction", "%s needs the reproduction that it rests on", p.To)
	}
}

func checkEvidence(c *checker, e *Evidence) {
	if e.UserCorrection != nil {
		checkCorrection(c, e.UserCorrection)
	}
	if e.Promotion != nil {
		checkPromotion(c, e.Promotion)
	}
	if e.Capture == nil {
		return
	}
	raw := e.Capture.Raw
	discarded := raw.Visibility == VisibilityDiscarded
	if discarded && raw.RetainedUntil != nil {
		c.report("EVID-RETENTION", "/capture/raw/retained_until", "a discarded artifact has no retention date, write null")
	}
	if !discarded && raw.RetainedUntil == nil {
		c.report("EVID-RETENTION", "/capture/raw/retained_until", "an artifact that is kept needs the date until which it is kept")
	}
	if raw.RetainedUntil != nil && !after(*raw.RetainedUntil, e.RecordedAt) {
		c.report("EVID-RETENTION", "/capture/raw/retained_until", "the date is not after recorded_at")
	}
}
