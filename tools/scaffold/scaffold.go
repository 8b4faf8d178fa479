// Package scaffold starts a registry of one's own: the public agents and probes
// without their records, and skeletons of private ones.
package scaffold

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Template is the probe that a new one starts as.
const Template = "chat-text-success"

// Unfinished is the exemption of an agent that was only just added.
const Unfinished = "Not set up yet: say how it is installed and started (docs/HOW_TO_CAPTURE.md), then remove this line."

var idPattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Agent is a private agent.
type Agent struct {
	ID, Name string
	Family   contract.ProtocolFamily
}

// ExistsError says that something of that name is there already.
type ExistsError struct{ What string }

// InputError says that what was asked for cannot be added.
type InputError struct{ Text string }

// Error implements error.
func (e *InputError) Error() string { return e.Text }

// Error implements error.
func (e *ExistsError) Error() string { return e.What + " is there already" }

// Registry makes a registry without records in dir, with what is public in
// from. A folder that is a registry already stays as it is; one that holds
// something else is an error.
func Registry(dir string, from *store.Registry) (*store.Registry, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		if reg, err := store.Open(dir); err == nil {
			return reg, nil
		}
		return nil, &ExistsError{dir}
	} else if err == nil {
		if err := os.Remove(dir); err != nil { // empty: a rename puts the registry there at once
			return nil, err
		}
	}
	if err := store.Create(dir, from); err != nil {
		return nil, err
	}
	reg, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	b, _, err := matrix.Check(reg) // the matrix of no records claims nothing, and is there
	if err != nil {
		return nil, err
	}
	return reg, store.WriteAtomic(filepath.Join(reg.Dir(), filepath.FromSlash(matrix.Path)), b, 0o644)
}

// AddAgent puts the skeleton of an agent at the end of registry/agents.json,
// which is otherwise left byte for byte.
func AddAgent(reg *store.Registry, a Agent) error {
	if !idPattern.Get().MatchString(a.ID) {
		return &InputError{fmt.Sprintf("%.80q is no id of an agent: want lower-case words joined by -", a.ID)}
	}
	old, err := reg.ReadFile(store.AgentsFile)
	if err != nil {
		return err
	}
	file, err := agents.Read(bytes.NewReader(old), store.AgentsFile)
	if err != nil {
		return err
	}
	if file.Agent(a.ID) != nil {
		return &ExistsError{"agent " + a.ID}
	}
	if a.Name == "" {
		a.Name = a.ID
	}
	skeleton := map[string]any{
		"id": a.ID, "name": a.Name, "tier": 2, "protocol_families": []contract.ProtocolFamily{a.Family}, "exemption": Unfinished,
		"version_probe": map[string]any{"args": []string{"--version"}, "timeout_ms": 15000, "scheme": contract.SchemePrerelease,
			"products": []any{map[string]string{"id": a.ID, "pattern": "^v?[0-9]"}}},
	}
	b, err := json.MarshalIndent(skeleton, "    ", "  ")
	if err != nil {
		return err
	}
	end := bytes.LastIndex(old, []byte("\n  ]"))
	if end < 0 {
		return &InputError{store.AgentsFile + " is not laid out as this program lays it out; add the agent by hand"}
	}
	changed := append(append(append([]byte{}, old[:end]...), ",\n    "...), append(b, old[end:]...)...)
	if len(file.Agents) == 0 {
		changed = bytes.Replace(changed, []byte("[,"), []byte("["), 1)
	}
	if _, err := agents.Read(bytes.NewReader(changed), store.AgentsFile); err != nil {
		return err
	}
	return store.WriteAtomic(filepath.Join(reg.Dir(), filepath.FromSlash(store.AgentsFile)), changed, 0o644)
}

// AddMaintainer names a maintainer, with the public age key that raw bundles are
// encrypted to, "" for none.
func AddMaintainer(reg *store.Registry, handle, recipient string) error {
	p, err := reg.Policy()
	if err != nil {
		return err
	}
	if p.Maintains(handle) {
		return &ExistsError{"maintainer " + handle}
	}
	m := contract.Maintainer{Handle: handle}
	if recipient != "" {
		m.AgeRecipients = []string{recipient}
	}
	p.SchemaVersion, p.Agents = contract.SchemaVersion, append([]contract.AgentPolicy{}, p.Agents...)
	p.Maintainers = append(p.Maintainers, m)
	slices.SortFunc(p.Maintainers, func(a, b contract.Maintainer) int { return strings.Compare(a.Handle, b.Handle) })
	b, err := contract.Encode(p)
	if err != nil {
		return err
	}
	if _, problems := contract.Decode[contract.Policy](&contract.Validator{}, store.PolicyFile, b); contract.HasErrors(problems) {
		// A problem quotes the value, which may be a private key by mistake.
		return fmt.Errorf("naming a maintainer: %.80q is no handle, or what goes with it is no public age key", handle)
	}
	return store.WriteAtomic(filepath.Join(reg.Dir(), filepath.FromSlash(store.PolicyFile)), b, 0o644)
}

// AddProbe makes a probe of that name, a copy of Template to be changed. It
// appears all at once.
func AddProbe(reg *store.Registry, id string) error {
	if !idPattern.Get().MatchString(id) {
		return &InputError{fmt.Sprintf("%.80q is no id of a probe: want lower-case words joined by -", id)}
	}
	to := filepath.Join(reg.Dir(), "probes", id)
	if _, err := os.Stat(to); err == nil {
		return &ExistsError{"probe " + id}
	}
	files, err := reg.Walk("probes/"+Template, "")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return &InputError{"the registry has no probe " + Template + " to start from"}
	}
	tmp, err := os.MkdirTemp(reg.Dir(), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, f := range files {
		b, err := reg.ReadFile(f)
		if err != nil {
			return err
		}
		at := filepath.Join(tmp, filepath.FromSlash(f[len("probes/"+Template+"/"):]))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, b, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}
