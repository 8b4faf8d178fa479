package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/evidence"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// promotable are the levels that promote knows; confirmed is one that people
// ask for and that follows by itself.
var promotable = []string{string(contract.LevelCommunityConfirmed), string(contract.LevelServerVariant), string(contract.LevelConfirmed)}

// waits turns a question that nobody has answered into its exit code.
func waits(err error) error {
	var suspended *requests.SuspendedError
	if !errors.As(err, &suspended) {
		return err
	}
	id := shortID(&suspended.Pending[0])
	return &Exit{Code: ExitWaits, Err: fmt.Errorf("request %s waits for a maintainer: %s", id, suspended.Pending[0].Prompt),
		Hint: "agent-contracts review answer " + id + " --grant, then run the same command again"}
}

func (a *app) promoteCommand() *cobra.Command {
	var to, reason, ask string
	c := &cobra.Command{
		Use:   "promote OBSERVATION --to LEVEL",
		Short: "Give an observation, and with it its shape, another level",
		Long: `Promote checks the rules of a level, asks a maintainer to attest through review,
and records attestation and promotion. The shape's level follows; its signature
and every observation stay as they are.

  community_confirmed  needs a reproduction by somebody who is no maintainer
  server_variant       needs another shape of the same version from the live provider
  confirmed            is never given: it follows from two observations of the shape,
                       from different runners or at least an hour apart

Where the raw bundle can be read it is audited first, and the attestation says so.
Only maintainers attest; registry/policy.json names them, and while it names nobody
nothing is promoted (init --maintainer).

Exit codes: 0 promoted, or there already; 1 refused; 2 usage; 3 there is no such
observation; 4 the leak scan refuses the text; 5 waits for an answer.`,
		Example: `  agent-contracts promote observations/codex/0.133.0/linux-x64/….observation.json --to community_confirmed
  agent-contracts review answer 3f2a9c --grant --by jo`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(promotable, to) {
				return &Exit{Code: ExitUsage, Err: fmt.Errorf("--to %q is no level to promote to", to), Hint: "levels: " + strings.Join(promotable, ", ")}
			}
			return a.promote(c.Context(), args[0], evidence.Promotion{To: contract.ValidityLevel(to), Reason: reason}, ask)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the level: "+strings.Join(promotable, ", "))
	c.Flags().StringVar(&reason, "reason", "", "why (default: the rule that allows it)")
	c.Flags().StringVar(&ask, "ask", "", "how to ask: inline or durable (default: inline on a terminal, else durable)")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(promotable, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("ask", cobra.FixedCompletions([]string{"inline", "durable"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) promote(ctx context.Context, name string, ask evidence.Promotion, how string) error {
	reg, place, err := a.recordAt(name)
	if err != nil {
		return err
	}
	ask.Observation = place
	s, err := a.requestStore()
	if err != nil {
		return err
	}
	raw, err := a.privateStore(reg)
	if err != nil {
		return err
	}
	p := &evidence.Promoter{Registry: reg, Requests: s, By: a.answerer(""), Now: a.env.Now}
	if p.Inline, err = a.prompter(how); err != nil {
		return err
	}
	p.Audit = func(ctx context.Context, place string) (*evidence.Audit, error) {
		return evidence.AuditObservation(ctx, reg, raw, place)
	}
	made, isNew, err := p.Promote(ctx, ask)
	if err != nil {
		return evidenceError(err)
	}
	a.recorded(made.Path, isNew)
	if err := a.tellLevel(reg, place, ask.To); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.env.Stdout, made.Path)
	return err
}

// tellLevel says which level a promotion left the shape with: it follows from all
// observations of it.
func (a *app) tellLevel(reg *store.Registry, place string, to contract.ValidityLevel) error {
	o, s := &contract.Observation{}, &contract.Shape{}
	if err := reg.ReadJSON(place, o); err != nil {
		return err
	}
	if err := reg.ReadJSON(o.Shape.Path, s); err != nil {
		return err
	}
	why := ""
	if s.ValidityLevel != to {
		why = ", by its other observations"
	}
	a.talk("its shape %s is %s now%s", o.Shape.Signature.Short(), s.ValidityLevel, why)
	return nil
}

func (a *app) withdrawCommand() *cobra.Command {
	var w evidence.Withdrawal
	c := &cobra.Command{
		Use:   "withdraw RECORD --reason TEXT",
		Short: "Take an observation out of every claim, or take back a statement about it",
		Long: `Withdraw records that an observation counts no more, or that an attestation,
reproduction or promotion does not. What is withdrawn stays where it is. Levels and
matrix follow: a withdrawn observation supports no claim, and what it contradicted
stays open until other captures outvote it, so that nothing is claimed that was not
claimed before.

Exit codes: 0 recorded, or there already; 1 refused; 2 usage; 3 there is no such
record; 4 the leak scan refuses the text.`,
		Example:           `  agent-contracts withdraw observations/codex/0.133.0/linux-x64/….observation.json --reason "The scenario was another one."`,
		Args:              argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: a.completeObservations,
		RunE: func(c *cobra.Command, args []string) error {
			w.Reason = strings.TrimSpace(w.Reason)
			if w.Reason == "" {
				return usage("--reason is missing: say why it counts no more")
			}
			reg, place, err := a.recordAt(args[0])
			if err != nil {
				return err
			}
			w.Record, w.By = place, a.answerer(w.By)
			if w.SupersededBy != "" {
				if w.SupersededBy, err = a.place(reg, w.SupersededBy); err != nil {
					return err
				}
			}
			made, isNew, err := evidence.Withdraw(c.Context(), reg, w, a.env.Now())
			if err != nil {
				return evidenceError(err)
			}
			a.recorded(made.Path, isNew)
			_, err = fmt.Fprintln(a.env.Stdout, made.Path)
			return err
		},
	}
	c.Flags().StringVar(&w.Reason, "reason", "", "why")
	c.Flags().StringVar(&w.By, "by", "", "handle of the maintainer (default: the user of this machine)")
	c.Flags().StringVar(&w.SupersededBy, "superseded-by", "", "the observation that takes its place")
	return c
}
