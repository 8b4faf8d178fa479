package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Probe is one folder of probes/: a static, reproducible question to a CLI.
type Probe struct {
	ID          string
	Prompt      string
	Files       []ProbeFile // the content of fixture-files/
	Scenario    contract.Scenario
	Expectation contract.Expectation
	EnvPolicy   contract.EnvPolicy
	// Before is the probe that is run first in the same place, or nil.
	Before *Probe
	// Revision is the hash over every file of the folder, so that a capture
	// says which question it answered.
	Revision contract.Digest
}

// ProbeFile is one file of a probe's workspace.
type ProbeFile struct {
	Path    string // relative, forward slashes
	Content []byte
}

// ProbeIDs lists the registry's probes, sorted.
func ProbeIDs(reg *store.Registry) ([]string, error) {
	entries, err := fs.ReadDir(reg.FS(), "probes")
	if err != nil {
		return nil, fmt.Errorf("listing probes: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() {
			ids = append(ids, e.Name())
		}
	}
	sort.Strings(ids)
	return ids, nil
}

// LoadProbe reads probes/<id>/.
func LoadProbe(reg *store.Registry, id string) (*Probe, error) {
	if !fs.ValidPath(id) || strings.Contains(id, "/") {
		return nil, fmt.Errorf("%q is not a probe id", id)
	}
	dir := path.Join("probes", id)
	files, err := reg.Walk(dir, "")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, &UnknownProbeError{ID: id}
	}
	p := &Probe{ID: id}
	sums := make(map[string]contract.Digest, len(files))
	for _, f := range files {
		b, err := reg.ReadFile(f)
		if err != nil {
			return nil, err
		}
		rel := strings.TrimPrefix(f, dir+"/")
		sums[rel] = contract.Sum(b)
		if err := p.take(f, rel, b); err != nil {
			return nil, err
		}
	}
	for _, want := range contract.ProbeFiles {
		if sums[want] == "" {
			return nil, &store.BrokenError{File: dir, Err: fmt.Errorf("the probe has no %s", want)}
		}
	}
	if p.Revision, err = contract.Hash(sums); err != nil {
		return nil, err
	}
	if before := p.EnvPolicy.Before; before != "" {
		if p.Before, err = LoadProbe(reg, before); err != nil {
			return nil, &store.BrokenError{File: path.Join(dir, "env-policy.json"), Err: fmt.Errorf("before: %w", err)}
		}
	}
	return p, nil
}

// first is the probe that is run first.
func (p *Probe) first() *Probe {
	if p.Before != nil {
		return p.Before
	}
	return p
}

// take takes in one file of the folder. place is its place in the registry.
func (p *Probe) take(place, rel string, b []byte) error {
	switch rel {
	case "prompt.md":
		p.Prompt = strings.TrimRight(string(b), "\n")
	case "scenario.json":
		if err := store.Decode(place, b, &p.Scenario); err != nil {
			return err
		}
		if err := p.Scenario.Validate(); err != nil {
			return &store.BrokenError{File: place, Err: err}
		}
	case "expected-min-events.json":
		if err := store.Decode(place, b, &p.Expectation); err != nil {
			return err
		}
		if err := p.Expectation.Validate(); err != nil {
			return &store.BrokenError{File: place, Err: err}
		}
	case "env-policy.json":
		if err := store.Decode(place, b, &p.EnvPolicy); err != nil {
			return err
		}
		if p.EnvPolicy.Before == p.ID { // a longer ring is a stack that nobody builds by accident
			return &store.BrokenError{File: place, Err: errors.New("before names the probe itself")}
		}
	default:
		name, ok := strings.CutPrefix(rel, "fixture-files/")
		if !ok {
			return &store.BrokenError{File: place, Err: errors.New("a probe has no such file")}
		}
		p.Files = append(p.Files, ProbeFile{Path: name, Content: b})
	}
	return nil
}

// UnknownProbeError says that the registry has no probe of that name.
type UnknownProbeError struct{ ID string }

// UnknownProfileError says that an agent is never started in that way.
type UnknownProfileError struct {
	Agent, Profile string
	Known          []string
}

// Error implements error.
func (e *UnknownProfileError) Error() string {
	return fmt.Sprintf("no way to start %s is called %q: it has %s", e.Agent, e.Profile, strings.Join(e.Known, ", "))
}

// Error implements error.
func (e *UnknownProbeError) Error() string { return fmt.Sprintf("no probe %q in this registry", e.ID) }
