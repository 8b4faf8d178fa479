package evidence

import (
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Chain is what is on record about one observation.
type Chain struct {
	SchemaVersion int                    `json:"schema_version"`
	Observation   contract.FileRef       `json:"observation"`
	Level         contract.ValidityLevel `json:"validity_level"` // of its shape, from all records
	Shape         contract.ShapeRef      `json:"shape"`
	// Capture is null where no evidence record pins the observation.
	Capture *contract.CaptureEvidence `json:"capture"`
	// Statements came later, sorted by place; also those that were taken back.
	Statements []ChainStatement `json:"statements"`
	// Unknown says, in words, what nobody has recorded.
	Unknown []string `json:"unknown"`
}

// ChainStatement is one statement with its place.
type ChainStatement struct {
	Path string `json:"path"`
	contract.Evidence
}

// Show collects what is on record about an observation.
func Show(reg *store.Registry, place string) (*Chain, error) {
	s, err := load(reg, place)
	if err != nil {
		return nil, err
	}
	c := &Chain{SchemaVersion: contract.SchemaVersion, Observation: s.ref, Level: s.level, Shape: s.Observation.Shape, Statements: []ChainStatement{}, Unknown: []string{}}
	e := &contract.Evidence{}
	if reg.Exists(store.EvidenceOf(place)) {
		if err := reg.ReadJSON(store.EvidenceOf(place), e); err != nil {
			return nil, err
		}
		c.Capture = e.Capture
	}
	attested, reproduced := false, false
	for _, st := range s.records.Statements {
		if st.Observation.Path != place {
			continue
		}
		attested, reproduced = attested || st.Attestation != nil, reproduced || st.Reproduction != nil
		c.Statements = append(c.Statements, ChainStatement{st.Path, st.Evidence})
	}
	for _, u := range []struct {
		unknown bool
		what    string
	}{
		{c.Capture == nil, "no evidence record pins this observation"},
		{c.Capture != nil && c.Capture.WorkflowRunURL == nil, "workflow: it was captured by hand, or by a workflow that did not say so"},
		{c.Capture != nil && c.Capture.BinarySHA256 == nil, "binary: no hash was recorded"},
		{!attested, "attestation: no maintainer has attested the redaction"},
		{!reproduced, "reproduction: nobody independent has repeated it"},
	} {
		if u.unknown {
			c.Unknown = append(c.Unknown, u.what)
		}
	}
	return c, nil
}

// Text renders the chain for people.
func (c *Chain) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("observation", "%s %s", c.Observation.Path, c.Observation.SHA256)
	line("shape", "%s, %s", c.Shape.Signature, c.Level)
	if x := c.Capture; x != nil {
		line("sanitized", "%s %s", x.Fixture.Path, x.Fixture.SHA256)
		kept := x.Raw.Visibility
		if x.Raw.RetainedUntil != nil {
			kept += ", kept until " + *x.Raw.RetainedUntil
		}
		line("raw", "%s, %d bytes, %s", x.Raw.SHA256, x.Raw.Bytes, kept)
		line("runner", "%s", x.Runner)
		if x.WorkflowRunURL != nil {
			line("workflow", "%s", *x.WorkflowRunURL)
		}
		if x.BinarySHA256 != nil {
			line("binary", "%s", *x.BinarySHA256)
		}
		line("captured by", "agent-contracts %s", x.ToolVersion)
	}
	for i := range c.Statements {
		line(string(c.Statements[i].Kind), "%s (%s)", says(&c.Statements[i].Evidence), c.Statements[i].Path)
	}
	for _, u := range c.Unknown {
		line("not known", "%s", u)
	}
	return b.String()
}

func says(e *contract.Evidence) string {
	switch {
	case e.Attestation != nil:
		return fmt.Sprintf("by %s, %s: %s", e.Attestation.By, e.Attestation.Audited, e.Attestation.Statement)
	case e.Reproduction != nil:
		return fmt.Sprintf("by %s, %s", e.Reproduction.By, e.Reproduction.URL)
	case e.Promotion != nil:
		return fmt.Sprintf("by %s, from %s to %s: %s", e.Promotion.By, e.Promotion.From, e.Promotion.To, e.Promotion.Reason)
	case e.Withdrawal != nil && e.Withdrawal.Record != nil:
		return fmt.Sprintf("by %s, of %s: %s", e.Withdrawal.By, e.Withdrawal.Record.Path, e.Withdrawal.Reason)
	case e.Withdrawal != nil:
		return fmt.Sprintf("by %s: %s", e.Withdrawal.By, e.Withdrawal.Reason)
	case e.UserCorrection != nil:
		return fmt.Sprintf("it came to %s: %s", e.UserCorrection, e.UserCorrection.Reason)
	}
	return ""
}

// Text renders an audit for people.
func (a *Audit) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", a.Observation, strings.ReplaceAll(a.Verdict, "_", " "))
	for _, c := range a.Checks {
		if c.Same {
			fmt.Fprintf(&b, "  same     %s\n", c.What)
		} else {
			fmt.Fprintf(&b, "  differs  %s: %s\n", c.What, c.Where)
		}
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "  note     %s\n", n)
	}
	return b.String()
}
