package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/report"
)

// The variables that hold the bot's address and secret. They are secrets, so
// that no flag takes them.
const (
	webhookURLVar    = "AGENT_CONTRACTS_FEISHU_URL"
	webhookSecretVar = "AGENT_CONTRACTS_FEISHU_SECRET"
)

type sendFlags struct {
	link string
	skip []string
}

func (a *app) reportSendCommand() *cobra.Command {
	f := &sendFlags{}
	c := &cobra.Command{
		Use:   "send AGENT[@VERSION]",
		Short: "Send the changes of a version to a Feishu bot",
		Long: `Send makes one card for each change, as report risk --format feishu prints it,
signs it and hands it to a custom bot. The bot's address is in ` + webhookURLVar + `,
its secret, if it has one, in ` + webhookSecretVar + `. It tries again when the
bot does not answer or is busy. When one card holds anything like a secret, none is
sent.

When some cards were sent and one was not, the hint has the command that sends the
rest: --skip leaves out those that were sent. A card whose answer got lost may have
arrived, and arrives twice then.

Exit codes: 0; 1 the bot did not take a card; 2 usage; 3 no change is on record;
4 a card holds something like a secret.`,
		Example:           `  agent-contracts report send codex@0.134.0`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeAgents,
		RunE:              func(c *cobra.Command, args []string) error { return a.reportSend(c.Context(), f, args[0]) },
	}
	c.Flags().StringVar(&f.link, "link", "", "URL of the contract's pull request or issue")
	c.Flags().StringSliceVar(&f.skip, "skip", nil, "leave out these cards (ids, as a send that failed names them)")
	return c
}

func (a *app) reportSend(ctx context.Context, f *sendFlags, what string) error {
	hook := &report.Webhook{URL: a.env.Getenv(webhookURLVar), Secret: a.env.Getenv(webhookSecretVar), Now: a.env.Now}
	if hook.URL == "" {
		return &Exit{Code: ExitUsage, Err: errors.New("there is no address to send to"), Hint: "set " + webhookURLVar}
	}
	list, err := a.summaries(ctx, what, f.link)
	if err != nil {
		return err
	}
	for _, id := range f.skip {
		if !slices.ContainsFunc(list, func(s *report.Summary) bool { return s.ID() == id }) {
			return usage("--skip %s: no change of %s has this id", id, what)
		}
	}
	var cards []*report.Card
	left := []*report.Summary{}
	for _, s := range list {
		if !slices.Contains(f.skip, s.ID()) {
			left, cards = append(left, s), append(cards, s.Card())
		}
	}
	hook.Scanner = leak.NewScanner([]string{hook.URL, hook.Secret})
	if err := hook.SendAll(ctx, cards); err != nil {
		return a.notSent(f, left, err)
	}
	a.talk("%s sent", count(len(cards), "card"))
	return nil
}

// notSent says how to send the cards that were not, so that nobody sends the
// others twice.
func (a *app) notSent(f *sendFlags, left []*report.Summary, err error) error {
	var failed *report.CardsError
	interrupted := errors.Is(err, context.Canceled)
	if !errors.As(err, &failed) || errors.Is(err, report.ErrAddress) || interrupted && failed.Sent == 0 {
		return err
	}
	rest := func(done []*report.Summary) string {
		skip := slices.Clone(f.skip)
		for _, s := range done {
			skip = append(skip, s.ID())
		}
		command := fmt.Sprintf("agent-contracts report send %s --skip %s", play.Quote(left[0].Agent+"@"+left[0].CLIVersion), strings.Join(skip, ","))
		if f.link != "" {
			command += " --link " + play.Quote(f.link)
		}
		return command + a.registryFlag()
	}
	out := &Exit{Code: ExitFindings, Err: err}
	var leaked *report.LeakError
	switch {
	case errors.As(err, &leaked):
		out.Code = ExitRefused
		if len(left) > 1 {
			out.Hint = "to send the others: " + rest(left[failed.Card:failed.Card+1])
		}
	case failed.Sent > 0:
		out.Hint = fmt.Sprintf("%d of %s were sent; the rest: %s", failed.Sent, count(len(left), "card"), rest(left[:failed.Sent]))
	}
	if interrupted {
		out.Code = 130
	}
	return out
}
