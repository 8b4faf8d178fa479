package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

const redactVersion = redact.Version

const vocabularyFile = "registry/vocabulary.json"

// loadRedactor compiles the registry's rules, with further public words.
func loadRedactor(reg *store.Registry, f *contract.Families, words ...string) (*redact.Redactor, error) {
	b, err := reg.ReadFile(vocabularyFile)
	if err != nil {
		return nil, err
	}
	v, err := redact.ParseVocabulary(b)
	if err != nil {
		return nil, &store.BrokenError{File: vocabularyFile, Err: err}
	}
	if len(words) > 0 {
		v.Groups = append(v.Groups, redact.VocabularyGroup{ID: "review", Kind: "words", Entries: words})
	}
	return redact.New(f, v)
}

// sanitized is the outcome of redaction with its proof.
type sanitized struct {
	status contract.RedactionStatus
	why    string // in words without any content, unless passed
	// derived is set when the status is passed.
	derived *Derived
	// masked are words that the vocabulary does not have, words the same as the
	// CLI spelled them: what a review is about, if it is about words.
	masked, words []string
	// unsure says what nobody could read, preview its words, masked.
	unsure, preview []string
	// background is what sanitizing the same bytes again takes.
	background *Background
}

// Background is what sanitizing a raw bundle again takes beside its bytes. The
// private store encrypts it with them.
type Background struct {
	Dialect string       `json:"dialect"` // as detected; that of a launch may differ
	Input   redact.Input `json:"input"`
	// Words are those that a person found public, Paths the places in frames
	// whose value is a constant of the protocol.
	Words []string `json:"words,omitempty"`
	Paths []string `json:"paths,omitempty"`
}

// sanitize redacts a raw transcript and proves that every reader sees the same
// run in what is left (DESIGN D5). It fails closed: what cannot be proved is
// for a person to look at, and nothing of it is published.
func (c *capturer) sanitize(ctx context.Context, job *cellJob, rec *recorded, raw *transcript.Transcript, d *contract.Dialect) (sanitized, error) {
	in := redact.Input{
		Dialect: d.ID, Hermetic: !c.opts.Live, ScenarioTexts: job.probe.texts(), Prompt: job.probe.Prompt,
		Secrets: rec.secrets, Cwd: rec.ws.cwd, Home: rec.ws.home, TempDir: rec.ws.tmp,
		PromptOnStdin: rec.launch.StdinMode == contract.StdinText,
	}
	z := &Sanitizing{
		Registry: c.opts.Registry, Dialect: d, Agent: job.agent.ID, Input: in, Tell: job.tells, families: c.families, redactor: c.redactor,
		What: fmt.Sprintf("%s of %s %s", job.cell.Probe, job.agent.ID, job.version.Version.Token),
	}
	var out sanitized
	var err error
	if c.opts.AskAll {
		out, err = z.run(raw, job.asker)
	} else {
		out, err = c.askForLater(ctx, job, z, raw)
	}
	out.background = &Background{Dialect: d.ID, Input: z.Input, Words: z.Words, Paths: z.Paths}
	return out, err
}

// askForLater redacts a run that does not wait for a person: a doubt makes a
// Request all the same, and a later capture of the cell finds the answer.
func (c *capturer) askForLater(ctx context.Context, job *cellJob, z *Sanitizing, raw *transcript.Transcript) (sanitized, error) {
	out, err := z.run(raw, nil)
	if err != nil || out.status != contract.RedactionReview {
		return out, err
	}
	runner := &requests.Runner{Store: c.requests, Run: runOf(job.agent.ID, job.version.Version.Token, string(contract.HostPlatform()))}
	err = runner.Do(ctx, job.cell.ID, func(_ context.Context, q *requests.Asker) (err error) {
		out, err = z.run(raw, q)
		return err
	})
	var suspended *requests.SuspendedError
	switch {
	case errors.As(err, &suspended):
		out.why += fmt.Sprintf("; request %s waits for a maintainer's answer", suspended.Pending[0].ID.Hex()[:12])
	case err != nil: // it is refused either way
		out.why += "; the question to a maintainer could not be kept: " + err.Error()
	}
	return out, nil
}

// sanitizeAs is sanitize for whoever knows what the redactor needs to know.
func sanitizeAs(f *contract.Families, r *redact.Redactor, raw *transcript.Transcript, d *contract.Dialect, agent string, in redact.Input) (sanitized, error) {
	clean, report, err := r.Redact(raw, in)
	if err != nil {
		return sanitized{status: contract.RedactionFailed, why: err.Error()}, nil
	}
	if report.Status == contract.RedactionFailed {
		return review(report, reasons(report)), nil
	}
	before, err := Read(raw, d, agent)
	if err != nil { // no answer of a person changes that, so nobody is asked about the rest
		return sanitized{status: contract.RedactionFailed, why: "the raw transcript cannot be read: " + err.Error()}, nil
	}
	if report.Status != contract.RedactionPassed {
		return review(report, reasons(report)), nil
	}
	after, err := Derive(clean, d, agent)
	if err != nil {
		return review(report, "the sanitized transcript cannot be read: "+err.Error()), nil
	}
	if why := readAlike(before, after); why != "" {
		out := review(report, why)
		out.preview = redact.Replaced(raw, clean)
		return out, nil
	}
	if why, err := leaks(in.Secrets, after); err != nil || why != "" {
		return sanitized{status: contract.RedactionFailed, why: why}, err
	}
	return sanitized{status: contract.RedactionPassed, derived: after}, nil
}

// review is the outcome that a person must look at, unless the report says worse.
func review(r redact.Report, why string) sanitized {
	if r.Status == contract.RedactionPassed {
		r.Status = contract.RedactionReview
	}
	return sanitized{status: r.Status, why: why, masked: r.UnknownWords, words: r.Words(), unsure: r.Unsure, preview: r.Preview}
}

func reasons(r redact.Report) string {
	var why []string
	for _, f := range r.Findings {
		why = append(why, "the leak scan found something ("+f.String()+")")
	}
	why = append(why, r.Unsure...)
	if len(r.UnknownWords) > 0 {
		why = append(why, "words that the vocabulary does not have: "+join(r.UnknownWords))
	}
	return strings.Join(why, "; ")
}

// leaks scans the bytes that would be published once more, the goldens too.
func leaks(secrets []string, d *Derived) (string, error) {
	scanner := leak.NewScanner(secrets)
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
