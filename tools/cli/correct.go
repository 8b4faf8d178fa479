package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
)

type correctFlags struct {
	result, reason, failure, by string
	evidence                    []string
}

func (a *app) correctCommand() *cobra.Command {
	f := &correctFlags{}
	c := &cobra.Command{
		Use:   "correct OBSERVATION --run-result RESULT --reason TEXT",
		Short: "Record that the reading of a run is wrong",
		Long: `Correct writes an evidence record of the kind user_correction beside an
observation: what its run really came to, and why. The observation, its reading,
the matrix and every status stay as they are; health counts the correction and
suggests to capture the probe again.

OBSERVATION is the place of an observation. RESULT is success, failed or
cancelled; --failure adds the cause in the consumer's words. The text of the
correction is published: it passes the leak scan or is refused. A correction
that is there already is not written again.

Exit codes: 0 recorded, or there already; 1 the reading says the same; 2 usage;
3 there is no such file; 4 the leak scan refuses the text.`,
		Example: `  agent-contracts correct observations/codex/0.133.0/linux-x64/….observation.json \
    --run-result failed --failure auth/missing_api_key --reason "It asked for a key and stopped." \
    --evidence https://github.com/openai/codex/issues/1`,
		Args: argsError(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			u, err := f.correction()
			if err != nil {
				return err
			}
			return a.correct(c.Context(), args[0], u)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.result, "run-result", "", "what the run came to: success, failed or cancelled")
	fl.StringVar(&f.reason, "reason", "", "why the reading is wrong")
	fl.StringVar(&f.failure, "failure", "", "CATEGORY/DETAIL of the failure, such as auth/missing_api_key")
	fl.StringArrayVar(&f.evidence, "evidence", nil, "HTTPS URL of a public report; may be given several times")
	fl.StringVar(&f.by, "by", "", "handle of the one who corrects (default: the commit tells)")
	_ = c.RegisterFlagCompletionFunc("run-result", cobra.FixedCompletions(runResults(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func runResults() []string {
	var out []string
	for _, r := range contract.RunResults {
		out = append(out, string(r))
	}
	return out
}

// correction checks the flags, so that a typing mistake is told in their words
// and not in those of a schema.
func (f *correctFlags) correction() (contract.UserCorrection, error) {
	u := contract.UserCorrection{RunResult: contract.RunResult(f.result), Reason: strings.TrimSpace(f.reason), Evidence: f.evidence, By: f.by}
	switch {
	case f.result == "":
		return u, usage("--run-result is missing: say what the run came to, %s", strings.Join(runResults(), ", "))
	case !slices.Contains(runResults(), f.result):
		return u, &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --run-result %q: want %s", f.result, strings.Join(runResults(), ", ")), Hint: didYouMean(f.result, runResults())}
	case u.Reason == "":
		return u, usage("--reason is missing: say why the reading is wrong")
	}
	for _, e := range f.evidence {
		if !strings.HasPrefix(e, "https://") || strings.ContainsAny(e, " \t\n") {
			return u, usage("--evidence %q is no HTTPS URL", e)
		}
	}
	var err error
	if f.failure != "" {
		u.Failure, err = f.cause()
	}
	return u, err
}

// cause reads --failure.
func (f *correctFlags) cause() (*contract.CorrectedFailure, error) {
	category, detail, ok := strings.Cut(f.failure, "/")
	var categories []string
	for _, c := range contract.FailureCategories {
		categories = append(categories, string(c))
	}
	cancelled := category == string(contract.CategoryUserCancel)
	switch {
	case !ok:
		return nil, usage("--failure %q has no cause: write CATEGORY/DETAIL, such as auth/missing_api_key", f.failure)
	case !slices.Contains(categories, category):
		return nil, unknownWord("failure category", category, categories)
	case !slices.Contains(contract.FailureDetails, detail):
		return nil, unknownWord("failure detail", detail, contract.FailureDetails)
	case f.result == string(contract.RunSuccess):
		return nil, usage("a run that succeeded has no failure: leave --failure out")
	case cancelled != (f.result == string(contract.RunCancelled)):
		return nil, usage("user_cancel and --run-result cancelled go together")
	}
	return &contract.CorrectedFailure{Category: contract.FailureCategory(category), Detail: detail}, nil
}

func unknownWord(what, word string, known []string) error {
	hint := didYouMean(word, known)
	if hint == "" {
		hint = "docs/SCHEMA.md lists the words, under Evidence"
	}
	return &Exit{Code: ExitUsage, Err: fmt.Errorf("there is no %s %q", what, word), Hint: hint}
}

func (a *app) correct(ctx context.Context, name string, u contract.UserCorrection) error {
	reg, err := a.openRecords()
	if err != nil {
		return err
	}
	place, err := a.place(reg, name)
	if err != nil {
		return err
	}
	if kind, _ := contract.KindOf(place); kind != contract.KindObservation {
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("%s is not an observation", name), Hint: "name a file below observations/, such as health --format json lists them"}
	}
	path, isNew, err := health.Correct(ctx, reg, place, u, a.env.Now())
	var same *health.NothingToCorrectError
	var leak *health.LeakError
	switch {
	case errors.As(err, &same):
		return &Exit{Code: ExitFindings, Err: err}
	case errors.As(err, &leak):
		return &Exit{Code: ExitRefused, Err: err, Hint: "say it without that value: the record is public"}
	case errors.Is(err, fs.ErrNotExist):
		return &Exit{Code: ExitCannotKnow, Err: err}
	case err != nil:
		return err
	}
	if isNew {
		a.talk("recorded; commit the new file. The observation and every claim stay as they are.")
	} else {
		a.talk("this correction is there already")
	}
	_, err = fmt.Fprintln(a.env.Stdout, path)
	return err
}
