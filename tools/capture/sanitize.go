package capture

import (
	"fmt"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

const redactVersion = redact.Version

const vocabularyFile = "registry/vocabulary.json"

func loadRedactor(reg *store.Registry, f *contract.Families) (*redact.Redactor, error) {
	b, err := reg.ReadFile(vocabularyFile)
	if err != nil {
		return nil, err
	}
	v, err := redact.ParseVocabulary(b)
	if err != nil {
		return nil, &store.BrokenError{File: vocabularyFile, Err: err}
	}
	return redact.New(f, v)
}

// sanitized is the outcome of redaction with its proof.
type sanitized struct {
	status contract.RedactionStatus
	why    string // in words without any content, unless passed
	// derived is set when the status is passed.
	derived *Derived
}

// sanitize redacts a raw transcript and proves that every reader sees the same
// run in what is left (DESIGN D5). It fails closed: what cannot be proved is
// for a person to look at, and nothing of it is published.
func (c *capturer) sanitize(job *cellJob, rec *recorded, raw *transcript.Transcript, d *contract.Dialect) (sanitized, error) {
	return sanitizeAs(c.families, c.redactor, raw, d, job.agent.ID, redact.Input{
		Dialect: d.ID, Hermetic: !c.opts.Live, ScenarioTexts: job.probe.texts(), Prompt: job.probe.Prompt,
		Secrets: rec.secrets, Cwd: rec.ws.cwd, Home: rec.ws.home, TempDir: rec.ws.tmp,
		PromptOnStdin: rec.launch.StdinMode == contract.StdinText,
	})
}

// sanitizeAs is sanitize for whoever knows what the redactor needs to know.
func sanitizeAs(f *contract.Families, r *redact.Redactor, raw *transcript.Transcript, d *contract.Dialect, agent string, in redact.Input) (sanitized, error) {
	clean, report, err := r.Redact(raw, in)
	if err != nil {
		return sanitized{status: contract.RedactionFailed, why: err.Error()}, nil
	}
	if report.Status != contract.RedactionPassed {
		return sanitized{status: report.Status, why: reasons(report)}, nil
	}
	before, err := Read(raw, d, agent)
	if err != nil {
		return sanitized{status: contract.RedactionReview, why: "the raw transcript cannot be read: " + err.Error()}, nil
	}
	after, err := Derive(clean, d, agent)
	if err != nil {
		return sanitized{status: contract.RedactionReview, why: "the sanitized transcript cannot be read: " + err.Error()}, nil
	}
	if why := readAlike(before, after); why != "" {
		return sanitized{status: contract.RedactionReview, why: why}, nil
	}
	if why, err := leaks(f, in.Secrets, after); err != nil || why != "" {
		return sanitized{status: contract.RedactionFailed, why: why}, err
	}
	return sanitized{status: contract.RedactionPassed, derived: after}, nil
}

func reasons(r redact.Report) string {
	why := ""
	if len(r.Findings) > 0 {
		why = fmt.Sprintf("the leak scan found something (%s)", r.Findings[0].Rule)
	}
	if len(r.Unsure) > 0 {
		why = join(r.Unsure)
	}
	if len(r.UnknownWords) > 0 {
		why = "words that the vocabulary does not have: " + join(r.UnknownWords)
	}
	return why
}

// leaks scans the bytes that would be published once more, the goldens too.
func leaks(f *contract.Families, secrets []string, d *Derived) (string, error) {
	scanner, err := redact.NewScanner(f, secrets)
	if err != nil {
		return "", err
	}
	for adapter, b := range d.Goldens {
		if found := scanner.Scan(b); len(found) > 0 {
			return fmt.Sprintf("the leak scan found something (%s) in the %s golden", found[0].Rule, adapter), nil
		}
	}
	if found := scanner.Scan(d.Fixture); len(found) > 0 {
		return fmt.Sprintf("the leak scan found something (%s) in the fixture", found[0].Rule), nil
	}
	if d.ErrorCase == nil {
		return "", nil
	}
	b, err := contract.Encode(d.ErrorCase)
	if err != nil {
		return "", err
	}
	if found := scanner.Scan(b); len(found) > 0 {
		return fmt.Sprintf("the leak scan found something (%s) in the error case", found[0].Rule), nil
	}
	return "", nil
}

func eventsAlike(a, b *replay.Reading) error {
	if a.Status != b.Status {
		return fmt.Errorf("status %s became %s", a.Status, b.Status)
	}
	lines := func(r *replay.Reading) [][]byte {
		out := make([][]byte, len(r.Events))
		for i, e := range r.Events {
			out[i] = e.JSON()
		}
		return out
	}
	return redact.EventsEquivalent(lines(a), lines(b))
}
