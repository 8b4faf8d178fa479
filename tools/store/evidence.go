package store

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Sourced is a source-evidence record with its place.
type Sourced struct {
	Path string
	contract.SourceEvidence
}

// SourceEvidence returns the source-evidence records of an agent, or of all
// agents when agent is "", sorted by path.
func (r *Registry) SourceEvidence(agent string) ([]Sourced, error) {
	files, err := r.Walk(path.Join("evidence", agent), ".source-evidence.json")
	if err != nil {
		return nil, err
	}
	out := make([]Sourced, len(files))
	for i, f := range files {
		out[i].Path = f
		if err := r.ReadJSON(f, &out[i].SourceEvidence); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ErrorCased is an error case with its place.
type ErrorCased struct {
	Path string
	contract.ErrorCase
}

// ErrorCases returns the error cases of the registry, sorted by path. A record
// that cannot be read is an error.
func (r *Registry) ErrorCases() ([]ErrorCased, error) {
	files, err := r.Walk("errors", ".error.json")
	if err != nil {
		return nil, err
	}
	out := make([]ErrorCased, len(files))
	for i, f := range files {
		out[i].Path = f
		if err := r.ReadJSON(f, &out[i].ErrorCase); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Stated is an evidence record with its place.
type Stated struct {
	Path string
	contract.Evidence
}

// Statements returns the evidence of an agent, or of all agents when agent is
// "", that was added after the captures: attestations, reproductions,
// promotions, withdrawals, corrections; sorted by path. The record that stands
// beside an observation under its name is that of its capture and is not read:
// a registry has as many of those as observations.
func (r *Registry) Statements(agent string) ([]Stated, error) {
	files, err := r.Walk(path.Join("evidence", agent), ".evidence.json")
	if err != nil {
		return nil, err
	}
	captures, err := r.Walk(path.Join("observations", agent), ".observation.json")
	if err != nil {
		return nil, err
	}
	return r.statements(files, captures)
}

// StatementsAround is Statements of all agents for a caller that has read the
// observations.
func (r *Registry) StatementsAround(obs []Observed) ([]Stated, error) {
	files, err := r.Walk("evidence", ".evidence.json")
	if err != nil {
		return nil, err
	}
	captures := make([]string, len(obs))
	for i := range obs {
		captures[i] = obs[i].Path
	}
	return r.statements(files, captures)
}

// NotBeside leaves out of evidence records those that stand beside an
// observation under its name, as Statements does.
func NotBeside(stated []Stated, obs []Observed) []Stated {
	if len(stated) == 0 {
		return nil
	}
	beside := make(map[string]bool, len(obs))
	for i := range obs {
		beside[EvidenceOf(obs[i].Path)] = true
	}
	return slices.DeleteFunc(slices.Clone(stated), func(s Stated) bool { return beside[s.Path] })
}

func (r *Registry) statements(files, captures []string) ([]Stated, error) {
	beside := make(map[string]bool, len(captures))
	for _, o := range captures {
		beside[EvidenceOf(o)] = true
	}
	var out []Stated
	for _, f := range files {
		if beside[f] || strings.HasSuffix(f, ".source-evidence.json") {
			continue
		}
		s := Stated{Path: f}
		if err := r.ReadJSON(f, &s.Evidence); err != nil {
			return nil, err
		}
		if s.Kind != contract.EvidenceCapture {
			out = append(out, s)
		}
	}
	return out, nil
}

// AddStatement stages a statement about an observation at the first free
// millisecond from now on, which becomes the time of the record. It returns its
// place and content.
func (t *Transaction) AddStatement(e *contract.Evidence, now time.Time) (place string, content []byte, err error) {
	for ; ; now = now.Add(time.Millisecond) {
		place = EvidencePath(e.Agent, e.CLIVersion, e.Platform, now, e.Probe)
		if !t.Has(place) {
			break
		}
	}
	e.RecordedAt = now.UTC().Format("2006-01-02T15:04:05.000Z")
	if content, err = contract.Encode(e); err != nil {
		return "", nil, err
	}
	if problems := contract.Validate(contract.KindEvidence, place, content); contract.HasErrors(problems) {
		return "", nil, fmt.Errorf("the statement does not validate: %s", problems[0])
	}
	return place, content, t.Write(place, content)
}
