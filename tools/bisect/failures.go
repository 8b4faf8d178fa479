package bisect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// failuresWindow is how long a failure counts: afterwards the release may have
// become installable, and an attempt costs little.
const failuresWindow = 24 * time.Hour

// Failures is what could not be captured, kept in the private state folder so
// that a second attempt does not try it again. Success needs no such memory: it
// is in the registry.
type Failures struct {
	path string
	now  func() time.Time
	list []failure
}

type failure struct {
	Version string    `json:"version"`
	Track   *Track    `json:"track,omitempty"` // nil for the release as a whole
	Reason  Reason    `json:"reason"`
	At      time.Time `json:"at"`
}

// OpenFailures opens the memory of an agent's failures under the rules of the
// registry: with other agents, families or vocabulary everything is tried anew.
func OpenFailures(stateDir string, reg *store.Registry, agent string, now func() time.Time) (*Failures, error) {
	rules := map[string]string{"registry": reg.Dir(), "tool": contract.ToolVersion}
	for _, f := range []string{store.AgentsFile, store.FamiliesFile, "registry/vocabulary.json"} {
		b, err := reg.ReadFile(f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		rules[f] = string(contract.Sum(b))
	}
	id, err := contract.Hash(rules)
	if err != nil {
		return nil, err
	}
	f := &Failures{path: filepath.Join(stateDir, "bisect", agent+"-"+id.Hex()[:12]+".json"), now: now}
	if err := store.MakePrivateDir(filepath.Dir(f.path)); err != nil {
		return nil, fmt.Errorf("keeping the state of the bisection: %w", err)
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		return nil, fmt.Errorf("reading the state of the bisection: %w", err)
	}
	if json.Unmarshal(b, &f.list) != nil {
		f.list = nil // what cannot be read is tried again
	}
	f.list = slices.DeleteFunc(f.list, func(x failure) bool { return x.Reason == ReasonNoAnswer }) // it may have been the machine
	return f, nil
}

// tell adds the failures that still count to what is known.
func (f *Failures) tell(k *known) {
	for _, x := range f.list {
		switch {
		case f.now().Sub(x.At) > failuresWindow:
		case x.Track == nil:
			k.unavailable[x.Version] = x.Reason
		default:
			k.missing[cell{x.Version, *x.Track}] = x.Reason
		}
	}
}

// add remembers what a capture did not give.
func (f *Failures) add(version string, got *Captured) error {
	n := len(f.list)
	if got.Unavailable != "" {
		f.list = append(f.list, failure{Version: version, Reason: got.Unavailable, At: f.now().UTC()})
	}
	for t, why := range got.Missing {
		f.list = append(f.list, failure{Version: version, Track: &t, Reason: why, At: f.now().UTC()})
	}
	if len(f.list) == n {
		return nil
	}
	b, err := json.Marshal(f.list)
	if err == nil {
		err = store.WritePrivate(f.path, b)
	}
	if err != nil {
		return fmt.Errorf("keeping the state of the bisection: %w", err)
	}
	return nil
}
