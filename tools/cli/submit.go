package cli

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/evidence"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) submitCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "submit OBSERVATION",
		Short: "Pack one observation for the maintainers",
		Long: `Submit packs exactly the files of one observation: record, evidence, shape,
sanitized transcript, readings, error case. The raw bundle stays with you; only its
hash goes along. Everything is checked as accept checks it, so that what is packed
is not refused there. The same observation always gives the same bundle.

Exit codes: 0 packed; 1 refused; 2 usage; 3 there is no such observation.`,
		Example:           `  agent-contracts submit observations/codex/0.133.0/linux-x64/….observation.json`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(_ *cobra.Command, args []string) error {
			reg, place, err := a.recordAt(args[0])
			if err != nil {
				return err
			}
			bundle, err := evidence.Submit(reg, place)
			if err != nil {
				return evidenceError(err)
			}
			b, err := bundle.Encode()
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.TrimSuffix(path.Base(place), ".observation.json") + ".bundle.tar.gz"
			}
			file := out
			if !filepath.IsAbs(file) {
				file = filepath.Join(a.env.Dir, file)
			}
			if err := store.WriteAtomic(file, b, 0o644); err != nil {
				return &Exit{Code: ExitUsage, Err: fmt.Errorf("writing the bundle: %w", err)}
			}
			a.talk("send this file to the maintainers, or attach it to a pull request; keep the raw bundle, whose hash is in it")
			_, err = fmt.Fprintln(a.env.Stdout, out)
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default: named like the observation, in this folder)")
	_ = c.MarkFlagFilename("out")
	return c
}

func (a *app) acceptCommand() *cobra.Command {
	var f format
	var who evidence.Contributor
	var ask string
	var unasked bool
	c := &cobra.Command{
		Use:   "accept BUNDLE",
		Short: "Check a submitted observation and publish it when a maintainer agrees",
		Long: `Accept takes a bundle from anybody and believes nothing of it: its form, every
hash, every record and reference, and its level are checked, shape and readings are
derived again, redaction must have nothing left to do, and the leak scan sees every
file. What passes becomes a Request; when a maintainer has said yes, the same
command publishes it. Where registry/policy.json names nobody, anybody's yes counts.

--contributor and --url also record it as a reproduction, if this registry has an
observation of the same run with the same shape; promote then takes it further.

With --unasked what passes is published at once. That is for a registry which
people see before it counts, such as the branch of a pull request.

Exit codes: 0 published, or there already; 1 refused; 2 usage; 5 waits for an answer.`,
		Example: `  agent-contracts accept 2026-06-27T100000.123Z.chat-tool-success.bundle.tar.gz
  agent-contracts review answer 3f2a9c --grant --by jo
  agent-contracts accept --unasked --registry ../proposed linux-x64-2.bundle.tar.gz`,
		Args: argsError(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			if (who.Handle == "") != (who.URL == "") {
				return usage("--contributor and --url go together: say who published it where")
			}
			if who.URL != "" && !strings.HasPrefix(who.URL, "https://") {
				return usage("--url is not HTTPS: say where the contributor published it")
			}
			if unasked && ask != "" {
				return usage("--unasked asks nobody: leave --ask out")
			}
			bundle, err := a.readBundle(args[0])
			if err != nil {
				return err
			}
			reg, err := a.openToWrite()
			if err != nil {
				return err
			}
			s, err := a.requestStore()
			if err != nil {
				return err
			}
			acceptor := &evidence.Acceptor{Registry: reg, Requests: s, By: a.answerer(""), Unasked: unasked, Now: a.env.Now}
			acceptor.Note = func(texts []string) {
				for _, t := range texts {
					a.talk("the bundle says: %s", shortened(strings.Join(strings.Fields(oneLine(t)), " ")))
				}
			}
			if acceptor.Inline, err = a.prompter(ask); err != nil {
				return err
			}
			out, err := acceptor.Accept(c.Context(), bundle, who)
			if err != nil {
				return evidenceError(err)
			}
			if f == "json" {
				return a.printJSON(out)
			}
			a.recorded(out.Observation, out.IsNew)
			switch {
			case out.Reproduction != "":
				a.talk("it reproduces another observation: %s", out.Reproduction)
			case who.Handle != "":
				a.talk("no reproduction is recorded: this registry has no other observation of the same run with its shape")
			}
			_, err = fmt.Fprintln(a.env.Stdout, out.Observation)
			return err
		},
	}
	c.Flags().StringVar(&who.Handle, "contributor", "", "handle of the contributor")
	c.Flags().StringVar(&who.URL, "url", "", "where the contributor published it, HTTPS")
	c.Flags().BoolVar(&unasked, "unasked", false, "publish what passes without a maintainer's answer")
	c.Flags().StringVar(&ask, "ask", "", "how to ask: inline or durable (default: inline on a terminal, else durable)")
	a.formatFlag(c, &f, "text", "json")
	_ = c.RegisterFlagCompletionFunc("ask", cobra.FixedCompletions([]string{"inline", "durable"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// readBundle reads a foreign file, however large it is, as far as a bundle goes.
func (a *app) readBundle(name string) (*evidence.Bundle, error) {
	in := io.NopCloser(a.env.Stdin)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usage("reading the bundle: %v", err)
		}
		in = f
	}
	defer func() { _ = in.Close() }()
	b, err := evidence.ReadBundle(in)
	return b, evidenceError(err)
}
