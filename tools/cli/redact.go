package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type redactFlags struct {
	out     string
	check   bool
	dialect dialectFlags
	format  format
	ask     string
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
is printed or written. Where a person can know better it leaves a Request (see
review); after review answer the same command goes on with the answer. With --ask
it asks at the terminal, or waits with exit code 5 instead of 4.

With --check it changes nothing and looks for secrets in files and in all files
below folders (.git left out): as they stand, in gzip, and as base64, hex, percent,
JSON in JSON, in pieces over several frames and so on. Links below a folder are not
followed; where they lead is looked at. What cannot be read is named at the end. A
finding is one line, RULE FILE:LINE:START-END VIEW, with lines from 1 and bytes of
the file from 0; the secret itself is never shown. Where agent-contracts-gitleaks is
installed (docs/REDACTION.md) gitleaks gives a second opinion, which tells lines only.

Exit codes: 0; 1 --check found something; 2 usage; 3 a FILE cannot be read, and
--check found nothing in the others; 4 redaction refused; 5 waits for an answer.`,
		Example: `  agent-contracts redact run.jsonl > run.sanitized.jsonl
  agent-contracts redact captures/*.jsonl --out sanitized
  agent-contracts redact --check fixtures goldens
  agent-contracts redact --check . --format sarif > leaks.sarif`,
		Args: argsError(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.validate(args); err != nil {
				return err
			}
			if f.check {
				return a.scan(c.Context(), f.format, args)
			}
			return a.redact(c.Context(), f, args)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "write into this folder instead of stdout")
	c.Flags().BoolVar(&f.check, "check", false, "look for secrets and change nothing")
	a.askFlag(c, &f.ask)
	c.Flags().Lookup("ask").Usage = "ask a person about doubts: inline here, or durable with review answer (default: refuse, and leave the question for review answer)"
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
	case f.check && f.ask != "":
		return usage("--check asks nobody: leave out --ask")
	case !f.check && f.out == "" && len(args) > 1:
		return &Exit{Code: ExitUsage, Err: errors.New("several transcripts cannot share stdout"), Hint: "name a folder with --out DIR"}
	}
	return nil
}

func (a *app) redact(ctx context.Context, f *redactFlags, files []string) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	r := &redaction{app: a, flags: f, registry: reg, written: map[string]string{}}
	if r.families, err = reg.Families(); err != nil {
		return err
	}
	s, err := a.requestStore()
	if err != nil {
		return err
	}
	r.asks = &requests.Runner{Store: s, By: a.answerer(""), Note: func(e *requests.ClosedError) { a.talk("%s", e) }}
	if f.ask != "" {
		if r.asks.Inline, err = a.prompter(f.ask); err != nil {
			return err
		}
	}
	refused := 0
	var waiting error
	for _, name := range files {
		var no *refusal
		var suspended *requests.SuspendedError
		err := r.file(ctx, name)
		switch {
		case errors.As(err, &no):
			a.warn("%s: %s", name, no)
			refused++
		case errors.As(err, &suspended):
			if waiting != nil {
				a.warn("%s", waiting)
			}
			waiting = waits(err)
		case err != nil:
			return err
		}
	}
	if refused > 0 {
		return &Exit{Code: ExitRefused, Err: fmt.Errorf("redaction refused for %s", count(refused, "file"))}
	}
	return waiting
}

// redaction redacts several files with the same rules.
type redaction struct {
	app      *app
	flags    *redactFlags
	registry *store.Registry
	families *contract.Families
	asks     *requests.Runner  // without a run
	written  map[string]string // target → input
}

// refusal says why a result is not fit for publishing, without a byte of it.
type refusal struct {
	status contract.RedactionStatus
	why    string
}

// Error implements error.
func (e *refusal) Error() string {
	return string(e.status) + ": " + e.why
}

func (r *redaction) file(ctx context.Context, name string) error {
	in, err := r.app.readTranscript(name)
	if err != nil {
		return err
	}
	d, err := r.app.dialect(r.families, in, r.flags.dialect)
	if err != nil {
		return err
	}
	clean, err := r.clean(ctx, in, d)
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
// proves that every reader sees the same run in it (DESIGN D5), and with --ask it
// asks a person about what it cannot tell.
func (r *redaction) clean(ctx context.Context, in *input, d *contract.Dialect) ([]byte, error) {
	what := filepath.Base(in.name)
	if in.name == "-" {
		what = "the transcript on stdin"
	}
	sanitize := func(q *requests.Asker) ([]byte, error) {
		z := &capture.Sanitizing{Registry: r.registry, Dialect: d, Agent: d.Parser, What: what, Input: redact.Input{Dialect: d.ID}}
		out, err := z.Do(in.transcript, q)
		if err != nil {
			return nil, err
		}
		if out.Status != contract.RedactionPassed {
			return nil, &refusal{out.Status, out.Why}
		}
		return bytes.Clone(out.Public.Fixture), nil
	}
	var clean []byte
	var err error
	var no *refusal
	if r.flags.ask == "" { // a person is asked about what only a person can know
		if clean, err = sanitize(nil); !errors.As(err, &no) || no.status != contract.RedactionReview {
			return clean, err
		}
	}
	run := *r.asks
	run.Run = capture.RunOf(in.transcript, d)
	var still error // what refuses it with the answers
	asked := run.Do(ctx, "redact", func(_ context.Context, q *requests.Asker) (err error) {
		clean, err = sanitize(q)
		var no *refusal
		if errors.As(err, &no) { // a step that comes to its end settles its answers
			still = no
			return nil
		}
		return err
	})
	var suspended *requests.SuspendedError
	switch {
	case asked == nil && clean != nil:
		return clean, nil
	case asked == nil:
		return nil, still
	case no == nil:
		return clean, asked
	case errors.As(asked, &suspended):
		id := shortID(&suspended.Pending[0])
		no.why += "; request " + id + " waits for a maintainer: agent-contracts review show " + id + ", answer it, and run the same command again"
	default:
		no.why += "; the question to a maintainer could not be kept: " + asked.Error()
	}
	return nil, no
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
