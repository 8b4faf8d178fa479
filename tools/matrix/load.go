package matrix

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// LoadIndex reads the committed matrix of a registry, or of the one in the
// binary. A registry without one claims nothing.
func LoadIndex(reg *store.Registry) (*Index, error) {
	m, file, policy := &contract.SupportMatrix{}, &contract.AgentsFile{}, &contract.Policy{}
	if err := reg.ReadJSON(store.AgentsFile, file); err != nil {
		return nil, err
	}
	for rel, v := range map[string]any{Path: m, PolicyPath: policy} {
		if reg.Exists(rel) {
			if err := reg.ReadJSON(rel, v); err != nil {
				return nil, err
			}
		}
	}
	return NewIndex(m, file, policy)
}

// LoadIndexOf is LoadIndex for questions about one agent: decoding all others
// would take most of the time of a cold command. Where the agent is none, or a
// file cannot be read so, it reads everything, which knows what there is and says
// what is wrong.
func LoadIndexOf(reg *store.Registry, agent string) (*Index, error) {
	m, file, policy := &contract.SupportMatrix{}, &contract.AgentsFile{}, &contract.Policy{}
	if readListed(reg, store.AgentsFile, "id", agent, file) != nil || len(file.Agents) != 1 ||
		readListed(reg, Path, "agent", agent, m) != nil || reg.Exists(PolicyPath) && reg.ReadJSON(PolicyPath, policy) != nil {
		return LoadIndex(reg)
	}
	x, err := NewIndex(m, file, policy)
	if err != nil {
		return LoadIndex(reg)
	}
	return x, nil
}

// readListed decodes a file with a list called agents into v, leaving out those
// whose member key is not agent.
func readListed(reg *store.Registry, rel, key, agent string, v any) error {
	f, err := reg.FS().Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := listed(f, key, agent)
	if err != nil {
		return err
	}
	return store.Decode(rel, b, v)
}
