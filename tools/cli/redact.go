package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type redactFlags struct {
	out     string
	check   bool
	dialect dialectFlags
	format  format
}

func (a *app) redactCommand() *cobra.Command {
	f := &redactFlags{}
	c := &cobra.Command{
		Use:   "redact FILE... | redact --check PATH...",
		Short: "Make a transcript fit for publishing, or look for leaks",
		Long: `Redact replaces everything that the rules of the dialect and the public
vocabulary do not name, and prints the sanitized transcript; with --out it
writes one file for each FILE into DIR. FILE is a recording of the private
store, a transcript, or what a CLI printed on stdout; - is stdin. A result that
cannot be proved to be clean and to read the same is refused, and nothing of it
is printed or written.

With --check it changes nothing and looks for secrets in files and in all files
below folders (.git left out): as they stand and as base64, hex, percent, JSON
in JSON, in pieces over several frames and so on. A finding is one line, RULE
FILE:LINE:START-END VIEW, with lines from 1 and bytes of the file from 0; the
secret itself is never shown. Where agent-contracts-gitleaks is installed
(docs/REDACTION.md) gitleaks gives a second opinion, which tells lines only.

Exit codes: 0; 1 --check found something; 2 usage; 3 a FILE cannot be read; 4
redaction refused.`,
		Example: `  agent-contracts redact run.jsonl > run.sanitized.jsonl
  agent-contracts redact captures/*.jsonl --out sanitized
  agent-contracts redact --check fixtures goldens
  agent-contracts redact --check . --format sarif > leaks.sarif`,
		Args: argsError(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.validate(args); err != nil {
				return err
			}
			if f.check {
				return a.scan(f.format, args)
			}
			return a.redact(f, args)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "write into this folder instead of stdout")
	c.Flags().BoolVar(&f.check, "check", false, "look for secrets and change nothing")
	a.dialectFlags(c, &f.dialect)
	a.formatFlag(c, &f.format, "text", "json", "sarif")
	c.Flags().Lookup("format").Usage = "output of --check: text, json or sarif"
	return c
}

func (f *redactFlags) validate(args []string) error {
	if err := f.format.check("text", "json", "sarif"); err != nil {
		return err
	}
	switch {
	case f.check && f.out != "":
		return usage("--check writes nothing: leave out --out")
	case !f.check && f.out == "" && len(args) > 1:
		return &Exit{Code: ExitUsage, Err: errors.New("several transcripts cannot share stdout"), Hint: "name a folder with --out DIR"}
	}
	return nil
}

func (a *app) redact(f *redactFlags, files []string) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	r := &redaction{app: a, flags: f, written: map[string]string{}}
	if err := r.load(reg); err != nil {
		return err
	}
	refused := 0
	for _, name := range files {
		var no *refusal
		err := r.file(name)
		switch {
		case errors.As(err, &no):
			a.warn("%s: %s", name, no)
			refused++
		case err != nil:
			return err
		}
	}
	if refused > 0 {
		return &Exit{Code: ExitRefused, Err: fmt.Errorf("redaction refused for %s", count(refused, "file"))}
	}
	return nil
}

// redaction redacts several files with the same rules.
type redaction struct {
	app      *app
	flags    *redactFlags
	families *contract.Families
	redactor *redact.Redactor
	written  map[string]string // target → input
}

func (r *redaction) load(reg *store.Registry) (err error) {
	if r.families, err = reg.Families(); err != nil {
		return err
	}
	b, err := reg.ReadFile("registry/vocabulary.json")
	if err != nil {
		return err
	}
	v, err := redact.ParseVocabulary(b)
	if err != nil {
		return fmt.Errorf("reading registry/vocabulary.json: %w", err)
	}
	r.redactor, err = redact.New(r.families, v)
	return err
}

// refusal says why a result is not fit for publishing, without a byte of it.
type refusal struct {
	status contract.RedactionStatus
	why    []string
}

// Error implements error.
func (e *refusal) Error() string {
	return string(e.status) + ": " + strings.Join(e.why, "; ")
}

func (r *redaction) file(name string) error {
	in, err := r.app.readTranscript(name)
	if err != nil {
		return err
	}
	d, err := r.app.dialect(r.families, in, r.flags.dialect)
	if err != nil {
		return err
	}
	clean, err := r.clean(in, d)
	if err != nil {
		return err
	}
	if r.flags.out == "" {
		_, err = r.app.env.Stdout.Write(clean)
		return err
	}
	return r.write(name, d, clean)
}

// clean returns the sanitized transcript, or a refusal. As a capture does, it
// proves that every reader sees the same run in it (DESIGN D5).
func (r *redaction) clean(in *input, d *contract.Dialect) ([]byte, error) {
	out, report, err := r.redactor.Redact(in.transcript, redact.Input{Dialect: d.ID})
	if err != nil {
		return nil, &refusal{contract.RedactionFailed, []string{err.Error()}}
	}
	if report.Status != contract.RedactionPassed {
		no := &refusal{report.Status, report.Unsure}
		for _, f := range report.Findings {
			no.why = append(no.why, f.String())
		}
		return nil, no
	}
	before, err := capture.Read(in.transcript, d, d.Parser)
	if err != nil {
		return nil, &refusal{contract.RedactionReview, []string{"it cannot be read: " + err.Error()}}
	}
	after, err := capture.Derive(out, d, d.Parser)
	if err != nil {
		return nil, &refusal{contract.RedactionReview, []string{"what is left cannot be read: " + err.Error()}}
	}
	if why := capture.ReadAlike(before, after); why != "" {
		return nil, &refusal{contract.RedactionReview, []string{why}}
	}
	if found := leak.NewScanner(nil).Scan(after.Fixture); len(found) > 0 {
		return nil, &refusal{contract.RedactionFailed, []string{found[0].String()}}
	}
	return bytes.Clone(after.Fixture), nil
}

// write puts the transcript into the folder under the input's name.
func (r *redaction) write(name string, d *contract.Dialect, clean []byte) error {
	base := filepath.Base(name)
	if name == "-" {
		base = "stdin"
	}
	for _, ending := range []string{".sanitized.jsonl", ".transcript.jsonl", filepath.Ext(base)} {
		base = strings.TrimSuffix(base, ending)
	}
	ending := ".sanitized.jsonl"
	if d.Transport == contract.TransportJSONRPC || d.Transport == contract.TransportPiRPC {
		ending = ".transcript.jsonl" // FINE-PRINT 7
	}
	target := filepath.Join(r.flags.out, base+ending)
	if other, taken := r.written[target]; taken {
		return usage("%s and %s would both become %s", other, name, target)
	}
	r.written[target] = name
	if err := os.MkdirAll(r.flags.out, 0o755); err != nil {
		return err
	}
	if err := store.WriteAtomic(target, clean, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", target, err)
	}
	r.app.talk("wrote %s", target)
	return nil
}
