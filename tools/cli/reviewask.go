package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

// The values of --ask.
const (
	askInline  = "inline"
	askDurable = "durable"
)

// askFlag adds --ask to a command whose steps may need a person.
func (a *app) askFlag(c *cobra.Command, ask *string) {
	c.Flags().StringVar(ask, "ask", "", "ask a person also what a rule would decide: inline here, or durable with review answer (default: inline on a terminal, only what must be asked)")
	_ = c.RegisterFlagCompletionFunc("ask", cobra.FixedCompletions([]string{askInline, askDurable}, cobra.ShellCompDirectiveNoFileComp))
}

// prompter returns who asks at once under --ask, nil for nobody.
func (a *app) prompter(ask string) (requests.Prompter, error) {
	switch {
	case ask == askInline && !a.env.Interactive:
		return nil, &Exit{Code: ExitUsage, Err: errors.New("--ask inline needs a terminal on stdin and stderr"), Hint: "use --ask durable, and answer with agent-contracts review answer"}
	case ask == askInline, ask == "" && a.env.Interactive:
		return a.askHere, nil
	case ask == askDurable, ask == "":
		return nil, nil
	}
	return nil, &Exit{Code: ExitUsage, Err: fmt.Errorf("unknown --ask %q: want inline or durable", ask), Hint: didYouMean(ask, []string{askInline, askDurable})}
}

// askHere asks at the terminal. What the person leaves for later is left out;
// when that is everything, the run is suspended.
func (a *app) askHere(ctx context.Context, pending []contract.Request) ([]contract.Answer, error) {
	d := newDialogue(ctx, a)
	var out []contract.Answer
	for i := range pending {
		answer, err := d.ask(&pending[i], requests.By{Name: a.answerer(""), At: a.env.Now()})
		if errors.Is(err, requests.ErrLater) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, *answer)
	}
	if len(out) == 0 {
		return nil, requests.ErrLater
	}
	return out, nil
}

// askOne asks for the answer to one Request, where there is a terminal.
func (a *app) askOne(ctx context.Context, r *contract.Request, by requests.By) (*contract.Answer, error) {
	if !a.env.Interactive {
		return nil, usage("say how to answer this request of kind %s: %s", r.Kind, strings.Join(waysToAnswer(r), ", "))
	}
	answer, err := newDialogue(ctx, a).ask(r, by)
	if errors.Is(err, requests.ErrLater) {
		return nil, &Exit{Code: ExitFindings, Err: errors.New("the request was left for later; nothing changed")}
	}
	return answer, err
}

// dialogue is questions and answers, a line each.
type dialogue struct {
	ctx   context.Context
	out   io.Writer
	lines <-chan string // closed at the end of stdin
}

// newDialogue starts to read stdin, once for all dialogues of a command: a read
// from a terminal cannot be interrupted, and what it got belongs to the next
// question.
func newDialogue(ctx context.Context, a *app) *dialogue {
	if a.lines == nil {
		lines := make(chan string)
		a.lines = lines
		go func() {
			defer close(lines)
			for in := bufio.NewScanner(a.env.Stdin); in.Scan(); {
				lines <- in.Text()
			}
		}()
	}
	return &dialogue{ctx: ctx, out: a.env.Stderr, lines: a.lines}
}

// line asks for one line. The end of stdin leaves the question for later.
func (d *dialogue) line(question string) (string, error) {
	fmt.Fprint(d.out, question)
	select {
	case s, ok := <-d.lines:
		if !ok {
			fmt.Fprintln(d.out)
			return "", requests.ErrLater
		}
		return strings.TrimSpace(s), nil
	case <-d.ctx.Done():
		fmt.Fprintln(d.out)
		return "", d.ctx.Err()
	}
}

// ask asks until the answer fits.
func (d *dialogue) ask(r *contract.Request, by requests.By) (*contract.Answer, error) {
	who := ""
	if r.Agent != "" {
		who = r.Agent + " "
	}
	fmt.Fprintf(d.out, "\n%sasks (%s, request %s):\n  %s\n", who, r.Kind, shortID(r), oneLine(r.Prompt))
	for {
		answer, err := d.once(r, by)
		var refused *requests.RefusedError
		if errors.As(err, &refused) {
			fmt.Fprintf(d.out, "%s\n", oneLine(err.Error()))
			continue
		}
		if err != nil || answer != nil {
			return answer, err
		}
	}
}

// once asks one time. Both results are nil for a word that means nothing.
func (d *dialogue) once(r *contract.Request, by requests.By) (*contract.Answer, error) {
	if r.Kind == contract.RequestInput {
		return d.input(r, by)
	}
	question := "yes, no, decline or later? "
	if r.Kind == contract.RequestAuthorization {
		question = "done, decline or later? "
	}
	word, err := d.line(question)
	if err != nil {
		return nil, err
	}
	yes := word == "yes" || word == "y" || word == "done"
	switch {
	case word == "later" || word == "l":
		return nil, requests.ErrLater
	case word == "decline" || word == "d":
		return requests.Decline(r, "", by)
	case !yes && (word != "no" && word != "n" || r.Kind == contract.RequestAuthorization):
		return nil, nil
	case r.Kind == contract.RequestPermission:
		return requests.AnswerPermission(r, requests.Permission{Granted: yes}, by)
	case r.Kind == contract.RequestApproval:
		return requests.AnswerApproval(r, requests.Approval{Approved: yes}, by)
	}
	return requests.AnswerAuthorization(r, by)
}

// input asks for each text that the data_schema requires, or for the whole data
// as JSON where it requires anything else.
func (d *dialogue) input(r *contract.Request, by requests.By) (*contract.Answer, error) {
	names := requiredTexts(r.DataSchema)
	if names == nil {
		fmt.Fprintf(d.out, "  data wanted: %s\n", compactJSON(r.DataSchema))
		word, err := d.line("data as JSON, decline or later? ")
		switch {
		case err != nil:
			return nil, err
		case word == "later":
			return nil, requests.ErrLater
		case word == "decline":
			return requests.Decline(r, "", by)
		case !json.Valid([]byte(word)):
			fmt.Fprintln(d.out, "that is not JSON")
			return nil, nil
		}
		return requests.AnswerInput(r, json.RawMessage(word), by)
	}
	data := map[string]string{}
	for _, name := range names {
		word, err := d.line(oneLine(name) + " (empty for later): ")
		if err != nil {
			return nil, err
		}
		if word == "" {
			return nil, requests.ErrLater
		}
		data[name] = word
	}
	return requests.AnswerInput(r, data, by)
}

// requiredTexts returns the members that a schema requires, sorted, if it
// knows nothing but texts; nil otherwise.
func requiredTexts(schema []byte) []string {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	for _, p := range s.Properties {
		if p.Type != "string" {
			return nil
		}
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return nil
		}
	}
	slices.Sort(s.Required)
	return s.Required
}
