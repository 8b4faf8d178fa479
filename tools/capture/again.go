package capture

import (
	"bytes"
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Again sanitizes the raw transcript of an agent as its capture did, with the
// rules of today. why says, in words without any content, what keeps the result
// from being published; then there is none.
func Again(reg *store.Registry, agent string, raw *transcript.Transcript, b *Background) (d *Derived, why string, err error) {
	families, err := reg.Families()
	if err != nil {
		return nil, "", err
	}
	dialect := families.Dialect(b.Dialect)
	if dialect == nil {
		return nil, fmt.Sprintf("registry/families.json has no dialect %q any more", b.Dialect), nil
	}
	families = withPaths(families, dialect.ID, b.Paths)
	r, err := loadRedactor(reg, families, b.Words...)
	if err != nil {
		return nil, "", err
	}
	out, err := sanitizeAs(families, r, raw, dialect, agent, b.Input)
	return out.derived, out.why, err
}

// Publishable says why a transcript that claims to be sanitized, with what is
// derived from it, must not be published; "" if nothing speaks against it.
// Placeholders are inert, so redacting it once more changes nothing unless
// something in it was never redacted. hermetic says that the model provider
// was played, so that public words may stand where a model speaks.
func Publishable(reg *store.Registry, t *transcript.Transcript, d *Derived, hermetic bool) (why string, err error) {
	families, err := reg.Families()
	if err != nil {
		return "", err
	}
	r, err := loadRedactor(reg, families)
	if err != nil {
		return "", err
	}
	again, report, err := r.Redact(t, redact.Input{Dialect: d.Dialect.ID, Hermetic: hermetic})
	if err != nil {
		return "the transcript cannot be redacted", nil // its text may quote it
	}
	if report.Status == contract.RedactionFailed {
		return "redaction refuses the transcript: " + reasons(report), nil
	}
	var b bytes.Buffer
	if err := again.WriteSanitized(&b); err != nil {
		return "the transcript cannot be redacted", nil
	}
	if line := DifferingLine(d.Fixture, b.Bytes()); line > 0 {
		return fmt.Sprintf("line %d of the transcript holds something that redaction takes out", line), nil
	}
	return leaks(nil, d)
}

// DifferingLine returns the first line, from 1, at which two texts part; 0 if
// they do not.
func DifferingLine(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}
