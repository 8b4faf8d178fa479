package report

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// observations returns the registry's observations that still count.
func observations(reg *store.Registry) ([]store.Observed, error) {
	obs, err := reg.Observations("")
	if err != nil {
		return nil, err
	}
	files, err := reg.Walk("evidence", ".evidence.json")
	if err != nil {
		return nil, err
	}
	withdrawn := map[string]bool{}
	for _, f := range files {
		var e contract.Evidence
		if err := reg.ReadJSON(f, &e); err != nil {
			return nil, err
		}
		if e.Withdrawal != nil {
			withdrawn[e.Observation.Path] = true
		}
	}
	return slices.DeleteFunc(obs, func(o store.Observed) bool { return withdrawn[o.Path] }), nil
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
