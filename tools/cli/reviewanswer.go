package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

type answerFlags struct {
	grant, reject, decline bool
	data, answers          string
	scope, comment, reason string
	by                     string
	format                 format
}

func (a *app) reviewAnswerCommand() *cobra.Command {
	f := &answerFlags{}
	c := &cobra.Command{
		Use:   "answer REQUEST",
		Short: "Answer a request",
		Long: `Answer records the answer to a Request; the run that asked goes on with it when
its command is run again. How it is answered depends on the kind: --grant and
--reject for permission and approval, --grant for an authorization that is done,
--data for an input, --decline for any. On a terminal it may be left out; then
the question is asked.

--answers takes Answer objects as the typed constructors make them: one object
answers its Request; an array answers a whole step, and what it leaves out is
"unresolved". An answer that does not fit is refused and changes nothing.

Exit codes: 0 recorded; 1 refused, since it does not fit, or the Request has an
answer, expired, or is not asked any more; 2 usage; 3 there is no such Request.`,
		Example: `  agent-contracts review answer 3f2a9c --grant --scope always
  agent-contracts review answer 3f2a9c --reject --comment "it names a customer"
  echo '{"value":"staging"}' | agent-contracts review answer 3f2a9c --data -
  agent-contracts review answer --answers answers.json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeRequests(func(e *requests.Entry) bool { return e.State == requests.StatePending }),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return err
			}
			if f.answers != "" {
				return a.answerFile(c.Context(), f)
			}
			return a.answerOne(c.Context(), f, args[0])
		},
	}
	fl := c.Flags()
	fl.BoolVar(&f.grant, "grant", false, "yes: permission, approval, or a sign-in that is done")
	fl.BoolVar(&f.reject, "reject", false, "no: permission or approval")
	fl.BoolVar(&f.decline, "decline", false, "no answer at all; the step is told so")
	fl.StringVar(&f.data, "data", "", "the answer's data as JSON in this file (- for stdin)")
	fl.StringVar(&f.answers, "answers", "", "Answer objects in this file (- for stdin)")
	fl.StringVar(&f.scope, "scope", "", "how far a permission goes: once or always")
	fl.StringVar(&f.comment, "comment", "", "why, with an approval")
	fl.StringVar(&f.reason, "reason", "", "why, with --decline")
	fl.StringVar(&f.by, "by", "", "who answers (default: the user of this machine)")
	a.formatFlag(c, &f.format, "text", "json")
	_ = c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]string{string(requests.Once), string(requests.Always)}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *answerFlags) check(args []string) error {
	if err := f.format.check("text", "json"); err != nil {
		return err
	}
	ways := 0
	for _, given := range []bool{f.grant, f.reject, f.decline, f.data != "", f.answers != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return usage("give one of --grant, --reject, --decline, --data and --answers")
	case f.answers != "" && len(args) > 0:
		return usage("--answers names its requests itself: leave %s out", args[0])
	case f.answers == "" && len(args) != 1:
		return &Exit{Code: ExitUsage, Err: fmt.Errorf("name one request to answer"), Hint: "agent-contracts review list shows those that wait"}
	case f.scope != "" && !f.grant && !f.reject:
		return usage("--scope goes with --grant or --reject")
	case f.comment != "" && !f.grant && !f.reject:
		return usage("--comment goes with --grant or --reject")
	case f.reason != "" && !f.decline:
		return usage("--reason goes with --decline")
	}
	return nil
}

// waysToAnswer lists the flags that answer a Request.
func waysToAnswer(r *contract.Request) []string {
	switch r.Kind {
	case contract.RequestPermission, contract.RequestApproval:
		return []string{"--grant", "--reject", "--decline"}
	case contract.RequestAuthorization:
		return []string{"--grant", "--decline"}
	}
	return []string{"--data FILE", "--decline"}
}

func (a *app) answerOne(ctx context.Context, f *answerFlags, id string) error {
	s, err := a.requestStore()
	if err != nil {
		return err
	}
	e, err := find(s, id)
	if err != nil {
		return err
	}
	answer, err := a.construct(ctx, f, &e.Request)
	if err != nil {
		return reviewError(err)
	}
	if err := a.mayAnswer(s, *answer); err != nil {
		return err
	}
	if err := s.Answer(ctx, *answer); err != nil {
		return reviewError(err)
	}
	return a.answered(f, s, []contract.Answer{*answer})
}

// mayAnswer refuses answers of strangers to what is asked of maintainers: no step
// would listen to them, and a Request has one answer only.
func (a *app) mayAnswer(s *requests.Store, answers ...contract.Answer) error {
	reg, err := a.open()
	if err != nil {
		return err
	}
	policy, err := reg.Policy()
	if err != nil {
		return err
	}
	for i := range answers {
		e, err := find(s, string(answers[i].RequestID))
		if err != nil {
			return err
		}
		if by := answers[i].AnsweredBy; e.Public && !policy.Decides(by) {
			return &Exit{Code: ExitFindings, Err: fmt.Errorf("request %s is for a maintainer, and registry/policy.json names no %q", shortID(&e.Request), by),
				Hint: "nothing changed; --by HANDLE says who answers"}
		}
	}
	return nil
}

// construct makes the answer with the constructor of the Request's kind.
func (a *app) construct(ctx context.Context, f *answerFlags, r *contract.Request) (*contract.Answer, error) {
	by := requests.By{Name: a.answerer(f.by), At: a.env.Now()}
	switch {
	case f.decline:
		return requests.Decline(r, f.reason, by)
	case f.data != "":
		return a.answerData(f.data, r, by)
	case !f.grant && !f.reject:
		return a.askOne(ctx, r, by)
	case f.scope != "" && r.Kind != contract.RequestPermission:
		return nil, usage("--scope is for permission requests; this one is of kind %s", r.Kind)
	case f.comment != "" && r.Kind != contract.RequestApproval:
		return nil, usage("--comment is for approval requests; this one is of kind %s", r.Kind)
	}
	switch r.Kind {
	case contract.RequestPermission:
		return requests.AnswerPermission(r, requests.Permission{Granted: f.grant, Scope: requests.Scope(f.scope)}, by)
	case contract.RequestApproval:
		return requests.AnswerApproval(r, requests.Approval{Approved: f.grant, Comment: f.comment}, by)
	case contract.RequestAuthorization:
		if f.grant {
			return requests.AnswerAuthorization(r, by)
		}
	}
	word := "--grant"
	if f.reject {
		word = "--reject"
	}
	return nil, &Exit{Code: ExitFindings, Err: fmt.Errorf("%s does not answer request %s, which is of kind %s", word, r.ID.Short(), r.Kind),
		Hint: "nothing changed; give " + strings.Join(waysToAnswer(r), " or ")}
}

// answerer names who answers.
func (a *app) answerer(by string) string {
	for _, name := range []string{by, a.env.Getenv("USER"), a.env.Getenv("LOGNAME"), a.env.Getenv("USERNAME")} {
		if name != "" {
			return name
		}
	}
	return "unknown"
}

func (a *app) answerData(file string, r *contract.Request, by requests.By) (*contract.Answer, error) {
	b, err := a.readInput(file)
	if err != nil {
		return nil, usage("reading --data: %v", err)
	}
	b = bytes.TrimSpace(b)
	if !json.Valid(b) {
		return nil, usage("--data %s is not JSON", file)
	}
	switch r.Kind {
	case contract.RequestPermission, contract.RequestApproval, contract.RequestAuthorization:
		answer := &contract.Answer{
			SchemaVersion: contract.SchemaVersion, RequestID: r.ID, Kind: r.Kind, Status: contract.AnswerAnswered, Data: b,
			AnsweredAt: by.Timestamp(), AnsweredBy: by.Name,
		}
		return answer, requests.Check(r, answer)
	}
	return requests.AnswerInput(r, json.RawMessage(b), by)
}

// answerFile records the answers of a file.
func (a *app) answerFile(ctx context.Context, f *answerFlags) error {
	b, err := a.readInput(f.answers)
	if err != nil {
		return usage("reading --answers: %v", err)
	}
	given, whole, err := parseAnswers(f.answers, b)
	if err != nil {
		return err
	}
	s, err := a.requestStore()
	if err != nil {
		return err
	}
	if err := a.mayAnswer(s, given...); err != nil {
		return err
	}
	if !whole {
		if err := s.Answer(ctx, given...); err != nil {
			return reviewError(err)
		}
		return a.answered(f, s, given)
	}
	e, err := find(s, string(given[0].RequestID))
	if err != nil {
		return err
	}
	all, err := s.AnswerStep(ctx, e.Request.Run, e.Request.Step, given, requests.By{Name: a.answerer(f.by), At: a.env.Now()})
	if err != nil {
		return reviewError(err)
	}
	return a.answered(f, s, all)
}

// parseAnswers reads one Answer, or an array that answers a whole step.
func parseAnswers(file string, b []byte) (out []contract.Answer, whole bool, err error) {
	texts := []json.RawMessage{b}
	if whole = bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")); whole {
		if err := json.Unmarshal(b, &texts); err != nil {
			return nil, false, usage("--answers %s is not JSON", file)
		}
	}
	if len(texts) == 0 {
		return nil, false, &Exit{Code: ExitFindings, Err: fmt.Errorf("--answers %s holds no answer: %w", file, requests.ErrNoAnswer), Hint: "nothing changed"}
	}
	for _, text := range texts {
		answer, problems := contract.Decode[contract.Answer](&contract.Validator{}, file, text)
		if contract.HasErrors(problems) {
			return nil, false, &Exit{Code: ExitFindings, Err: fmt.Errorf("%s holds something that is no answer: %s", file, problems[0]),
				Hint: "nothing changed; the constructors of docs/REQUESTS.md make answers"}
		}
		out = append(out, *answer)
	}
	return out, whole, nil
}

// answered says what was recorded and how to go on.
func (a *app) answered(f *answerFlags, s *requests.Store, answers []contract.Answer) error {
	var entries []requests.Entry
	var runs []string
	for _, answer := range answers {
		e, err := s.Find(string(answer.RequestID))
		if err != nil {
			return err
		}
		entries = append(entries, *e)
		if !slices.Contains(runs, e.Request.Run) {
			runs = append(runs, e.Request.Run)
		}
	}
	for _, run := range runs {
		a.talk("recorded; the command that started run %s goes on with it when it is run again", run)
	}
	if f.format == "json" {
		return a.printJSON(entries)
	}
	for _, e := range entries {
		if _, err := fmt.Fprintf(a.env.Stdout, "%s %s %s\n", shortID(&e.Request), e.Request.Kind, e.Answer.Status); err != nil {
			return err
		}
	}
	return nil
}

func compactJSON(b []byte) string {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return "not JSON"
	}
	return out.String()
}
