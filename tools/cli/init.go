package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/scaffold"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

type initFlags struct {
	agent       scaffold.Agent
	family      string
	probes      []string
	maintainers []string
}

func (a *app) initCommand() *cobra.Command {
	f := &initFlags{}
	c := &cobra.Command{
		Use:   "init DIR",
		Short: "Start a registry of your own, with private agents and probes",
		Long: `Init makes a registry in DIR: the agents, protocol families and probes of this
program, and no records. With --agent it adds the skeleton of a private agent,
with --probe a probe to be changed, with --maintainer somebody who may attest and
promote, each also to a registry that is there. Nothing of it is ever sent anywhere.

A maintainer is HANDLE or HANDLE=KEY: KEY is the public age key (age-keygen makes
one) that raw bundles are encrypted to from then on. docs/EVIDENCE.md says more.

Exit codes: 0; 2 usage, or something of that name is there already.`,
		Example: `  agent-contracts init contracts
  agent-contracts init contracts --agent in-house --family json-event-stream/v1
  agent-contracts init contracts --probe house-rules
  agent-contracts init contracts --maintainer jo=age1…`,
		Args: argsError(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.init(f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.agent.ID, "agent", "", "id of a private agent to add")
	fl.StringVar(&f.agent.Name, "name", "", "its name (default: its id)")
	fl.StringVar(&f.family, "family", string(contract.FamilyEvents), "its protocol family")
	fl.StringSliceVar(&f.probes, "probe", nil, "id of a probe to add, as a copy of "+scaffold.Template)
	fl.StringSliceVar(&f.maintainers, "maintainer", nil, "HANDLE or HANDLE=KEY of a maintainer to name")
	families := make([]string, len(contract.ProtocolFamilies))
	for i, family := range contract.ProtocolFamilies {
		families[i] = string(family)
	}
	_ = c.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(families, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) init(f *initFlags, dir string) error {
	f.agent.Family = contract.ProtocolFamily(f.family)
	if !slices.Contains(contract.ProtocolFamilies, f.agent.Family) {
		return usage("unknown --family %q: want one of %s", f.family, fmt.Sprint(contract.ProtocolFamilies))
	}
	reg, err := scaffold.Registry(a.absolute(dir), store.Embedded(agentcontracts.Files()))
	if err == nil && f.agent.ID != "" {
		err = scaffold.AddAgent(reg, f.agent)
	}
	for i := 0; err == nil && i < len(f.probes); i++ {
		err = scaffold.AddProbe(reg, f.probes[i])
	}
	for i := 0; err == nil && i < len(f.maintainers); i++ {
		handle, key, _ := strings.Cut(f.maintainers[i], "=")
		if err := scaffold.AddMaintainer(reg, handle, key); err != nil {
			return &Exit{Code: ExitUsage, Err: err, Hint: "give HANDLE=KEY, with the line public key: age1… of age-keygen"}
		}
	}
	var exists *scaffold.ExistsError
	if errors.As(err, &exists) {
		return &Exit{Code: ExitUsage, Err: err, Hint: "choose another name, or change it where it is"}
	}
	var input *scaffold.InputError
	if errors.As(err, &input) {
		return &Exit{Code: ExitUsage, Err: err}
	}
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.env.Stdout, reg.Dir()); err != nil {
		return err
	}
	if f.agent.ID != "" {
		a.talk("next: say how %s is installed and started, in %s; then: agent-contracts validate --registry %s", f.agent.ID, store.AgentsFile, dir)
	} else {
		a.talk("next: agent-contracts capture codex --registry %s", dir)
	}
	if p, err := reg.Policy(); err == nil && len(p.Maintainers) == 0 {
		a.talk("nobody may attest or promote yet: agent-contracts init %s --maintainer HANDLE=KEY names somebody", dir)
	}
	return nil
}
