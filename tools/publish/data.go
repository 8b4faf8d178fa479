// Package publish makes the npm package: the records as they lie in the
// registry, what follows from them for a consumer's tests, a manifest of every
// file's hash, signed, and the gates before anything leaves (specification,
// "Publish" and "Security").
package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/consume"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// folders are the records that go into the package. Requests and the private
// side never do.
var folders = []string{"observations", "shapes", "fixtures", "evidence", "errors", "goldens", "probes", "schemas"}

// registryFiles are the data files that do; those that are missing are left
// out. registry/agents.json is not among them: a part of it is (agentFacts).
var registryFiles = []string{store.FamiliesFile, "registry/vocabulary.json", matrix.Path, matrix.PolicyPath, matrix.LatestSeenPath}

// ContractsFile has one consume.Contract a line, AnswersFile what is claimed
// about versions (Answer).
const (
	ContractsFile = "contracts.jsonl"
	AnswersFile   = "answers.jsonl"
)

// Answer is what the Go package says of one version. The package in another
// language has to say the same.
type Answer struct {
	Agent    string                         `json:"agent"`
	Version  string                         `json:"version"`
	Platform contract.Platform              `json:"platform"`
	Status   contract.SupportStatus         `json:"status"`
	Policy   contract.CompatibilityPolicy   `json:"policy"`
	Evidence contract.CompatibilityEvidence `json:"evidence"`
}

// Data writes the data folder of the package to dir, which must be empty or
// not there, or hold what an earlier call wrote.
func Data(ctx context.Context, reg *store.Registry, dir string) error {
	if err := clear(dir); err != nil {
		return err
	}
	places, err := places(reg)
	if err != nil {
		return err
	}
	for _, rel := range places {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := reg.ReadFile(rel)
		if err != nil {
			return err
		}
		if err := write(dir, rel, b); err != nil {
			return err
		}
	}
	if err := writeAgents(reg, dir); err != nil {
		return err
	}
	contracts, err := consume.Contracts(reg)
	if err != nil {
		return err
	}
	if err := writeLines(dir, ContractsFile, contracts); err != nil {
		return err
	}
	answers, err := Answers(reg)
	if err != nil {
		return err
	}
	return writeLines(dir, AnswersFile, answers)
}

// agentFacts are what of an agent's definition claims follow from or a person
// wants to know. How it is started stays here: it is nobody's contract.
type agentFacts struct {
	ID                  string                    `json:"id"`
	Name                string                    `json:"name"`
	Tier                int                       `json:"tier"`
	ProtocolFamilies    []contract.ProtocolFamily `json:"protocol_families"`
	FreshnessDays       int                       `json:"freshness_days,omitempty"`
	RepresentativeProbe string                    `json:"representative_probe,omitempty"`
	VersionProbe        *versionScheme            `json:"version_probe,omitempty"`
	Exemption           string                    `json:"exemption,omitempty"`
}

type versionScheme struct {
	Scheme contract.VersionScheme `json:"scheme"`
}

func writeAgents(reg *store.Registry, dir string) error {
	var f contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &f); err != nil {
		return err
	}
	out := struct {
		SchemaVersion int          `json:"schema_version"`
		Agents        []agentFacts `json:"agents"`
	}{f.SchemaVersion, []agentFacts{}}
	for i := range f.Agents {
		a := &f.Agents[i]
		facts := agentFacts{a.ID, a.Name, a.Tier, a.ProtocolFamilies, a.FreshnessDays, a.RepresentativeProbe, nil, a.Exemption}
		if a.VersionProbe != nil {
			facts.VersionProbe = &versionScheme{a.VersionProbe.Scheme}
		}
		out.Agents = append(out.Agents, facts)
	}
	b, err := contract.Encode(out)
	if err != nil {
		return err
	}
	return write(dir, store.AgentsFile, b)
}

// marker says that a folder is one of Data's, so that it may be emptied.
const marker = ".agent-contracts-data"

func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return fmt.Errorf("%s is not empty, and not a folder that this command wrote", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, marker), nil, 0o644)
}

// places lists the registry's files that are published, sorted.
func places(reg *store.Registry) ([]string, error) {
	var out []string
	for _, folder := range folders {
		files, err := reg.Walk(folder, "")
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasSuffix(f, ".go") || strings.HasPrefix(path.Base(f), ".") {
				continue // schemas/ is a Go package too
			}
			out = append(out, f)
		}
	}
	for _, f := range registryFiles {
		if reg.Exists(f) {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out, nil
}

func write(dir, rel string, b []byte) error {
	to := filepath.Join(dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func writeLines[T any](dir, name string, list []T) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("encoding %s: %w", name, err)
		}
	}
	return write(dir, name, b.Bytes())
}

// Answers returns what is claimed about every version that the matrix names,
// and about versions beside them.
func Answers(reg *store.Registry) ([]Answer, error) {
	x, err := matrix.LoadIndex(reg)
	if err != nil {
		return nil, err
	}
	out := []Answer{}
	for _, a := range x.Agents() {
		asked := map[string]bool{"0.0.1": true, "9999.0.0": true}
		for _, v := range x.Versions(a.ID) {
			asked[v], asked[v+"-rc.1"], asked["v"+v] = true, true, true
			if i := strings.LastIndexByte(v, '.'); i > 0 {
				asked[v[:i]+".9999"] = true
			}
		}
		versions := make([]string, 0, len(asked))
		for v := range asked {
			versions = append(versions, v)
		}
		slices.Sort(versions)
		for _, v := range versions {
			for _, p := range []contract.Platform{"linux-x64", "darwin-arm64"} {
				c, err := x.Find(a.ID, v, p)
				if err != nil {
					continue // no version for this agent's scheme
				}
				out = append(out, Answer{a.ID, v, p, c.Status, c.Policy, c.Evidence})
			}
		}
	}
	return out, nil
}
