package report

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// observations returns the registry's observations that still count.
func observations(reg *store.Registry) ([]store.Observed, error) {
	obs, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	statements, err := reg.StatementsAround(obs)
	if err != nil {
		return nil, err
	}
	standing := matrix.NewStanding(statements)
	return slices.DeleteFunc(obs, func(o store.Observed) bool {
		_, gone := standing.Withdrawn(o.Path)
		return gone
	}), nil
}

func readAgents(reg *store.Registry) (*contract.AgentsFile, error) {
	b, err := reg.ReadFile(store.AgentsFile)
	if err != nil {
		return nil, err
	}
	return agents.Read(bytes.NewReader(b), store.AgentsFile)
}

func (b *builder) readAliases() error {
	err := b.reg.ReadJSON("shapes/aliases.json", &b.aliases)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
