package health

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// corrections returns the corrections of an agent, or of all agents when agent
// is "", sorted by place.
func corrections(reg *store.Registry, agent string) ([]store.Stated, error) {
	all, err := reg.Statements(agent)
	return Corrections(all), err
}

// Corrections returns the corrections among statements.
func Corrections(statements []store.Stated) []store.Stated {
	var out []store.Stated
	for _, s := range statements {
		if s.Kind == contract.EvidenceUserCorrection && s.UserCorrection != nil {
			out = append(out, s)
		}
	}
	return out
}

// NothingToCorrectError says that the reading says already what a correction
// would say.
type NothingToCorrectError struct{ Says string }

// Error implements error.
func (e *NothingToCorrectError) Error() string {
	return "nothing to correct: the reading already says " + e.Says
}

// LeakError says that the text of a correction looks like a secret or like
// somebody's data. It never holds that text.
type LeakError struct{ Rules []string }

// Error implements error.
func (e *LeakError) Error() string {
	return "the correction holds what the leak scan takes out of records (" + strings.Join(e.Rules, ", ") + ")"
}

// Correct records, beside an observation, what its run really came to
// (FINE-PRINT 1): a new evidence record, while the observation, the reading
// and every claim stay as they are. The place is that of the observation. A
// correction that is there already is not written again: isNew is false and
// path is the one that is there.
func Correct(ctx context.Context, reg *store.Registry, place string, u contract.UserCorrection, now time.Time) (path string, isNew bool, err error) {
	b, err := reg.ReadFile(place)
	if err != nil {
		return "", false, err
	}
	o := &contract.Observation{}
	if err := store.Decode(place, b, o); err != nil {
		return "", false, err
	}
	if err := contradicts(reg, o, &u); err != nil {
		return "", false, err
	}
	tx, err := reg.Begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer tx.Discard()
	known, err := corrections(reg, o.Agent)
	if err != nil {
		return "", false, err
	}
	for _, k := range known {
		if k.Observation.Path == place && reflect.DeepEqual(*k.UserCorrection, u) {
			return k.Path, false, nil
		}
	}
	e := &contract.Evidence{
		SchemaVersion: contract.SchemaVersion, Kind: contract.EvidenceUserCorrection,
		Agent: o.Agent, CLIVersion: o.CLIVersion, Platform: o.Platform, Probe: o.Probe,
		Observation: contract.FileRef{Path: place, SHA256: contract.Sum(b)},
		RecordedBy:  "agent-contracts " + contract.ToolVersion, UserCorrection: &u,
	}
	if path, err = stage(tx, reg, e, now); err != nil {
		return "", false, err
	}
	return path, true, tx.Commit()
}

// stage writes the record at the first free millisecond from now on.
func stage(tx *store.Transaction, reg *store.Registry, e *contract.Evidence, now time.Time) (string, error) {
	path, record, err := tx.AddStatement(e, now)
	if err != nil {
		return "", err
	}
	return path, Leaks(record)
}

// Leaks scans a record that people wrote text for. Its error is a *LeakError.
func Leaks(record []byte) error {
	var rules []string
	for _, f := range leak.NewScanner(nil).Scan(record) {
		rules = append(rules, f.Rule)
	}
	if len(rules) == 0 {
		return nil
	}
	slices.Sort(rules)
	return &LeakError{slices.Compact(rules)}
}

// contradicts refuses a correction that the reading does not contradict.
func contradicts(reg *store.Registry, o *contract.Observation, u *contract.UserCorrection) error {
	if contract.RunResult(o.Extensions.RunResult) != u.RunResult {
		return nil
	}
	read, err := readFailure(reg, o)
	if err != nil {
		return err
	}
	if u.Failure == nil || read != nil && *read == *u.Failure {
		return &NothingToCorrectError{(contract.UserCorrection{RunResult: u.RunResult, Failure: read}).String()}
	}
	return nil
}

// readFailure is the failure in the reading's golden, or nil.
func readFailure(reg *store.Registry, o *contract.Observation) (*contract.CorrectedFailure, error) {
	if o.Extensions.ReferenceGolden == "" {
		return nil, nil
	}
	var golden struct {
		Reading struct {
			Failure *contract.FailureClassification `json:"failure"`
		} `json:"reading"`
	}
	b, err := reg.ReadFile(o.Extensions.ReferenceGolden)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // validate says so
	}
	if err == nil {
		err = json.Unmarshal(b, &golden)
	}
	if err != nil || golden.Reading.Failure == nil {
		return nil, err
	}
	return &contract.CorrectedFailure{Category: golden.Reading.Failure.Category, Detail: golden.Reading.Failure.Detail}, nil
}
