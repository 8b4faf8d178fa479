package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) reviewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "review",
		Short: "Questions that wait for a person, and their answers",
		Long: `A step that cannot go on without a person makes a Request: leave to use a tool
(permission), a maintainer's yes or no (approval), a value (input), a sign-in
elsewhere (authorization). Review lists them, shows one, and answers it. The run
that asked goes on with the answer when the same command is run again.

Requests live in the private state folder, public ones in registry/requests/.
docs/REQUESTS.md says what answers each kind.`,
		Example: `  agent-contracts review list
  agent-contracts review show 3f2a9c
  agent-contracts review answer 3f2a9c --grant`,
		Args: cobra.ArbitraryArgs,
		RunE: helpOrUnknown,
	}
	c.AddCommand(a.reviewListCommand(), a.reviewShowCommand(), a.reviewAnswerCommand())
	return c
}

// requestStore opens the Requests of this machine and of the registry.
func (a *app) requestStore() (*requests.Store, error) {
	reg, err := a.open()
	if err != nil {
		return nil, err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	return requests.Open(state, reg, a.env.Now), nil
}

func (a *app) reviewListCommand() *cobra.Command {
	var f format
	var all bool
	var run string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the requests that wait for an answer",
		Long: `List prints one line a Request, the oldest first: those that wait, or with --all
also those that were answered, expired, or are not asked any more.

Exit codes: 0, also when nothing waits; 2 usage.`,
		Example: `  agent-contracts review list
  agent-contracts review list --all --format json`,
		Args: argsError(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.reviewList(f, all, run)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "also those that wait no more")
	c.Flags().StringVar(&run, "run", "", "only those of this run")
	a.formatFlag(c, &f, "text", "json")
	return c
}

func (a *app) reviewList(f format, all bool, run string) error {
	s, err := a.requestStore()
	if err != nil {
		return err
	}
	entries, err := s.List()
	if err != nil {
		return err
	}
	shown := []requests.Entry{}
	for _, e := range entries {
		if (all || e.State == requests.StatePending) && (run == "" || e.Request.Run == run) {
			e.Request.Extensions = nil // lists end up in logs; show has them
			shown = append(shown, e)
		}
	}
	if f == "json" {
		return a.printJSON(shown)
	}
	if len(shown) == 0 {
		a.talk("nothing waits for an answer")
		return nil
	}
	rows := [][]string{{"request", "kind", "state", "asked", "run", "question"}}
	for _, e := range shown {
		r := &e.Request
		rows = append(rows, []string{shortID(r), string(r.Kind), e.State, r.CreatedAt, r.Run, brief(r.Prompt)})
	}
	return table(a.env.Stdout, rows)
}

// shortID is the part of an id that people type.
func shortID(r *contract.Request) string { return r.ID.Hex()[:12] }

// brief is a prompt as one cell of a table.
func brief(prompt string) string {
	const most = 70
	line := []rune(strings.Join(strings.Fields(oneLine(prompt)), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}

func (a *app) reviewShowCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "show REQUEST",
		Short: "Show a request, what answers it, and its answer",
		Long: `Show prints a Request with the schema of its answer's data and the commands that
answer it, or the answer that it has. REQUEST is an id or enough of its beginning.

Exit codes: 0; 2 usage, or REQUEST fits several; 3 there is no such Request.`,
		Example:           `  agent-contracts review show 3f2a9c`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeRequests(func(e *requests.Entry) bool { return true }),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			s, err := a.requestStore()
			if err != nil {
				return err
			}
			e, err := find(s, args[0])
			if err != nil {
				return err
			}
			if f == "json" {
				return a.printJSON(e)
			}
			_, err = fmt.Fprint(a.env.Stdout, describeRequest(e))
			return err
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

// find returns the Request that an argument means.
func find(s *requests.Store, text string) (*requests.Entry, error) {
	e, err := s.Find(text)
	return e, reviewError(err)
}

// reviewError gives the errors of package requests their exit codes and hints.
func reviewError(err error) error {
	var missing *requests.NotFoundError
	var refused *requests.RefusedError
	var closed *requests.ClosedError
	switch {
	case errors.As(err, &missing) && len(missing.Several) > 0:
		return &Exit{Code: ExitUsage, Err: err}
	case errors.As(err, &missing):
		return &Exit{Code: ExitCannotKnow, Err: err, Hint: "agent-contracts review list --all shows every request of this machine and registry"}
	case errors.As(err, &refused):
		return &Exit{Code: ExitFindings, Err: err, Hint: "nothing changed; agent-contracts review show " + shortID(&refused.Request) + " says what fits"}
	case errors.As(err, &closed):
		return &Exit{Code: ExitFindings, Err: err}
	case errors.Is(err, requests.ErrNoAnswer):
		return &Exit{Code: ExitFindings, Err: err, Hint: "nothing changed; a partial answer needs data for at least one request"}
	}
	return err
}

func describeRequest(e *requests.Entry) string {
	r := &e.Request
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-9s %s\n", name, oneLine(value)) }
	line("request", string(r.ID))
	line("kind", string(r.Kind))
	line("state", e.State)
	line("run", fmt.Sprintf("%s, step %s, question %d", r.Run, r.Step, r.Ordinal+1))
	if r.Agent != "" {
		line("agent", r.Agent)
	}
	if r.Subject != nil {
		line("about", *r.Subject)
	}
	line("asked", r.CreatedAt)
	if r.ExpiresAt != nil {
		line("expires", *r.ExpiresAt)
	}
	line("question", r.Prompt)
	if words, ok := r.Extensions["words"].([]any); ok && len(words) > 0 { // nobody can judge a masked word
		line("words", strings.Trim(fmt.Sprintf("%q", words), "[]"))
	}
	if e.Answer != nil {
		line("answer", fmt.Sprintf("%s by %s at %s", e.Answer.Status, e.Answer.AnsweredBy, e.Answer.AnsweredAt))
		if e.Answer.Reason != "" {
			line("reason", e.Answer.Reason)
		}
		if len(e.Answer.Data) > 0 {
			line("data", compactJSON(e.Answer.Data))
		}
		return b.String()
	}
	line("wants", compactJSON(r.DataSchema))
	if e.State == requests.StatePending {
		b.WriteString("\nAnswer it with one of:\n")
		for _, flags := range waysToAnswer(r) {
			fmt.Fprintf(&b, "  agent-contracts review answer %s %s\n", shortID(r), flags)
		}
	}
	return b.String()
}

func (a *app) completeRequests(fits func(*requests.Entry) bool) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := a.requestStore()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		entries, err := s.List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var out []string
		for i := range entries {
			if fits(&entries[i]) {
				out = append(out, shortID(&entries[i].Request)+"\t"+brief(entries[i].Request.Prompt))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}
