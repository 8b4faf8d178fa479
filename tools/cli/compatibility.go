package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compat"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func (a *app) compatibilityCommand() *cobra.Command {
	var probe, asJSON bool
	var f format
	c := &cobra.Command{
		Use:   "compatibility [AGENT]...",
		Short: "Classify the CLIs installed on this machine",
		Long: `Compatibility finds a CLI on PATH, asks it for its version in an empty HOME, and
looks the version up in the support matrix. It uses no account and no network.
Without an agent it classifies every CLI that it finds.

With --probe it also runs the agent's representative probe once, as a capture
does: the installed program, an empty HOME, a model provider on loopback. The
active shape is compared with the ones that are verified. Nothing is published or
kept. Such a probe proves the CLI's side of the protocol, not the server's.

With --json it prints AgentCliCompatibilityResponse objects
(schemas/agent-cli-compatibility.schema.json): one for one named agent, else a
list.

Exit codes: 0 every CLI may be run; 1 one must not be run; 2 usage; 3 of one it
is not known, or it is not installed.`,
		Example: `  agent-contracts compatibility
  agent-contracts compatibility codex --probe
  agent-contracts compatibility codex claude --json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			k, err := a.checker(probe)
			if err != nil {
				return err
			}
			return a.compatibility(c.Context(), k, args, asJSON || f == "json")
		},
	}
	c.Flags().BoolVar(&probe, "probe", false, "run a local probe of the active shape, too")
	a.formatFlag(c, &f, "text", "json")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json: print AgentCliCompatibilityResponse objects")
	return c
}

func (a *app) checker(probe bool) (*compat.Checker, error) {
	reg, err := a.open()
	if err != nil {
		return nil, err
	}
	x, err := matrix.LoadIndex(reg)
	if err != nil {
		return nil, err
	}
	state, err := store.StateDir(a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	return &compat.Checker{Index: x, Registry: reg, StateDir: state, LookupEnv: a.lookupEnv, Now: a.env.Now, Probe: probe,
		Progress: func(agent, what string) {
			if probe {
				a.talk("%s: %s", agent, oneLine(what))
			}
		}}, nil
}

func (a *app) compatibility(ctx context.Context, k *compat.Checker, ids []string, asJSON bool) error {
	for _, id := range ids { // before anything runs
		if _, err := k.Index.Agent(id); err != nil {
			return err
		}
	}
	one := len(ids) == 1
	if len(ids) == 0 {
		ids = k.Installed()
	}
	results := []*compat.Result{}
	for _, id := range ids {
		r, err := k.Check(ctx, id)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	if err := a.printCompatibility(results, one, asJSON); err != nil {
		return err
	}
	return compatibilityExit(results)
}

func (a *app) printCompatibility(results []*compat.Result, one, asJSON bool) error {
	if asJSON {
		list := []contract.CompatibilityResponse{}
		for _, r := range results {
			list = append(list, r.Response)
		}
		if one {
			return a.printJSON(list[0])
		}
		return a.printJSON(list)
	}
	if len(results) == 0 {
		a.talk("no agent CLI is on PATH")
		return nil
	}
	rows := [][]string{{"agent", "version", "status", "policy", "next action"}}
	for _, r := range results {
		d := &r.Response
		version := "-"
		if d.InstalledVersion != nil {
			version = *d.InstalledVersion
		}
		rows = append(rows, []string{d.Agent, version, string(d.Status), string(d.Policy.AllowRun), string(d.Policy.UserAction)})
	}
	if err := table(a.env.Stdout, rows); err != nil {
		return err
	}
	for _, r := range results {
		for _, w := range r.Why {
			a.talk("%s: %s", r.Response.Agent, oneLine(w))
		}
		if r.Next.Text != "" {
			a.talk("%s: next: %s", r.Response.Agent, a.inPlace(r.Next))
		}
	}
	return nil
}

// compatibilityExit is the answer about all of them: no before cannot know.
func compatibilityExit(results []*compat.Result) error {
	code := ExitOK
	if len(results) == 0 {
		code = ExitCannotKnow
	}
	for _, r := range results {
		switch c := answerCode(r.Answer()); {
		case c == ExitFindings:
			code = ExitFindings
		case c == ExitCannotKnow && code == ExitOK:
			code = ExitCannotKnow
		}
	}
	if code == ExitOK {
		return nil
	}
	return &Exit{Code: code}
}
