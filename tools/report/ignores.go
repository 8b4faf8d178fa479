package report

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// IgnoresPath is where a registry keeps its ignore list; it may be absent.
const IgnoresPath = "registry/drift-ignores.json"

// Ignores is the ignore list in use: which entries hold and which were needed.
type Ignores struct {
	list *contract.DriftIgnores
	now  time.Time
	used map[int]bool
}

// ReadIgnores reads the registry's ignore list, and refuses one that breaks its
// schema: an entry with a misspelt member or date would silently do something
// else than its author meant. now decides what has expired.
func ReadIgnores(reg *store.Registry, now time.Time) (*Ignores, error) {
	out := &Ignores{list: &contract.DriftIgnores{}, now: now, used: map[int]bool{}}
	b, err := reg.ReadFile(IgnoresPath)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	var v contract.Validator
	list, problems := contract.Decode[contract.DriftIgnores](&v, IgnoresPath, b)
	for _, p := range problems {
		if p.Severity == contract.SeverityError {
			return nil, &store.BrokenError{File: IgnoresPath, Err: errors.New(strings.TrimSpace(p.Pointer + " " + p.Message))}
		}
	}
	out.list = list
	return out, nil
}

// Apply writes the reason into each signal that an entry in force covers. An
// expired entry covers nothing. agent is "" where none is known; then only
// entries for every agent count.
func (i *Ignores) Apply(signals []contract.DriftSignal, agent string) {
	for k := range signals {
		for n, e := range i.list.Ignored {
			if e.Fingerprint != signals[k].Fingerprint || e.Agent != "" && e.Agent != agent {
				continue
			}
			i.used[n] = true
			if !i.expired(e) {
				signals[k].Ignored = e.Reason
			}
		}
	}
}

func (i *Ignores) expired(e contract.DriftIgnore) bool {
	at, err := time.Parse(time.RFC3339Nano, e.ExpiresAt)
	return err != nil || !i.now.Before(at)
}

// Stale says what is wrong with entries: expired, or, once Apply has seen every
// change that there is, matching none. One line an entry.
func (i *Ignores) Stale() []string {
	var out []string
	for n, e := range i.list.Ignored {
		switch {
		case i.expired(e):
			out = append(out, fmt.Sprintf("%s: the entry for %s expired at %s: look at the change again, then renew or remove it", IgnoresPath, e.Fingerprint.Short(), e.ExpiresAt))
		case !i.used[n]:
			out = append(out, fmt.Sprintf("%s: the entry for %s matches no change of the registry: remove it", IgnoresPath, e.Fingerprint.Short()))
		}
	}
	return out
}

// Judge is the verdict with ignored changes left out. What the consumer's
// parser makes of the run still counts.
func Judge(r compare.Result, signals []contract.DriftSignal, e compare.Evidence) contract.Verdict {
	counted := r
	counted.Signals = slices.Clone(r.Signals)
	counted.Signals = slices.DeleteFunc(counted.Signals, func(s compare.Signal) bool {
		return slices.ContainsFunc(signals, func(d contract.DriftSignal) bool { return d.Fingerprint == s.Fingerprint && d.Ignored != "" })
	})
	return counted.Judge(e)
}
