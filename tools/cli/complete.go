package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// completeAgents offers agents and, after AGENT@ where the command takes that,
// captured versions of it.
func (a *app) completeAgents(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	reg, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if agent, _, found := strings.Cut(word, "@"); found && strings.Contains(c.Use, "@VERSION") {
		return versionsOf(reg, agent, agent+"@")
	}
	var file contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &file); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, ag := range file.Agents {
		ids = append(ids, ag.ID+"\t"+ag.Name)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeVersions offers agents, then the versions of the one that was given.
func (a *app) completeVersions(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeAgents(c, args, word)
	}
	reg, err := a.open()
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return versionsOf(reg, args[0], "")
}

// versionsOf offers the captured versions of an agent, newest first.
func versionsOf(reg *store.Registry, agent, prefix string) ([]string, cobra.ShellCompDirective) {
	x, err := matrix.LoadIndex(reg)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	versions := x.Versions(agent)
	for i, v := range versions {
		versions[i] = prefix + v
	}
	return versions, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeProbes offers the registry's probes and, where the flag takes several,
// a further one after each comma; the names for many where those are a default.
func (a *app) completeProbes(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	reg, err := a.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ids, err := capture.ProbeIDs(reg)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	flag := c.Flags().Lookup("probe")
	if flag.Value.Type() != "stringSlice" {
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
	given := word[:strings.LastIndexByte(word, ',')+1]
	if given == "" && flag.DefValue == "[basic]" {
		ids = append([]string{"basic", "all"}, ids...)
	}
	for i, id := range ids {
		ids[i] = given + id
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
