// Package health says how the runs of a registry fare, by agent, version and
// probe: what the CLIs reported, what the runs came to, which expectations
// they broke, and what people corrected since. It counts and recommends; it
// changes no status, and no claim reads it (specification 002, decision 4).
package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// Records is everything that a report follows from.
type Records struct {
	Agents       *contract.AgentsFile
	Observations []store.Observed
	Corrections  []store.Stated
}

// Load reads the records of a registry.
func Load(reg *store.Registry) (*Records, error) {
	r := &Records{Agents: &contract.AgentsFile{}}
	if err := reg.ReadJSON(store.AgentsFile, r.Agents); err != nil {
		return nil, err
	}
	var err error
	if r.Observations, err = reg.Observations(""); err != nil {
		return nil, err
	}
	r.Corrections, err = corrections(reg, "")
	return r, err
}

// Options say which runs a report is about.
type Options struct {
	Agent string    // an agent's id, or "" for all
	Probe string    // a probe's id, or "" for all
	Since time.Time // runs captured from then on; zero for all
	// Now is the time that staleness is counted to.
	Now time.Time
}

// Report is what health prints. The same records and the same day give the
// same report.
type Report struct {
	SchemaVersion int    `json:"schema_version"`
	AsOf          string `json:"as_of"` // UTC date that staleness is counted to
	// Since is the start of the period, or "" for all runs.
	Since string `json:"since,omitempty"`
	// Rows are sorted by agent, version (oldest first), probe and place.
	Rows        []Row        `json:"rows"`
	Suggestions []Suggestion `json:"suggestions"`
	// Deviations are those from the Agent Client Protocol.
	Deviations []Deviation `json:"deviations,omitempty"`
}

// Row counts the comparable runs of one probe of one version.
type Row struct {
	Agent      string                `json:"agent"`
	CLIVersion string                `json:"cli_version"`
	Probe      string                `json:"probe"`
	Platform   contract.Platform     `json:"platform"`
	Profile    string                `json:"profile"`
	Provider   contract.ProviderKind `json:"provider"`
	Runs       int                   `json:"runs"`
	// Reported counts what the CLI said; RunResults what the runs came to.
	Reported      Reported                   `json:"reported"`
	ReportedWords map[string]int             `json:"reported_words"` // the CLI's words, verbatim; "" where it said nothing
	RunResults    map[contract.RunResult]int `json:"run_results"`
	// Violations counts broken expectations by kind.
	Violations map[string]int `json:"violations"`
	// WeakSuccess counts successes without substance; they count as successes.
	WeakSuccess int `json:"weak_success"`
	// LowUtility and WrongToolBoundary count what CLIs and adapters said of
	// their own work.
	LowUtility        int `json:"low_utility"`
	WrongToolBoundary int `json:"wrong_tool_boundary"`
	// UserCorrections counts the corrections of these runs.
	UserCorrections int    `json:"user_corrections"`
	FirstCaptured   string `json:"first_captured"` // UTC, RFC 3339
	LastCaptured    string `json:"last_captured"`
	// History has the runs, oldest first.
	History []Run `json:"history"`
}

// Reported counts what CLIs said of their runs. Other are words that say
// neither success nor failure; Nothing are runs without a word.
type Reported struct {
	Success int `json:"success"`
	Failed  int `json:"failed"`
	Other   int `json:"other"`
	Nothing int `json:"nothing"`
}

// Run is one observation.
type Run struct {
	CapturedAt     string `json:"captured_at"`
	Observation    string `json:"observation"` // its place
	ReportedResult string `json:"reported_result"`
	RunResult      string `json:"run_result"`
	WeakSuccess    bool   `json:"weak_success"`
	// Violations has the kinds of the broken expectations, in their order.
	Violations []string `json:"violations"`
	// Corrections has the places of the records that correct this reading.
	Corrections []string `json:"corrections"`
}

// Build makes the report.
func Build(r *Records, o Options) (*Report, error) {
	shown, err := shownCells(r, o)
	if err != nil {
		return nil, err
	}
	out := &Report{SchemaVersion: contract.SchemaVersion, AsOf: o.Now.UTC().Format(time.DateOnly), Rows: []Row{}}
	if !o.Since.IsZero() {
		out.Since = o.Since.UTC().Format(time.RFC3339)
	}
	for _, c := range shown {
		out.Rows = append(out.Rows, c.row())
	}
	out.Suggestions = suggestions(r.Agents, shown, o)
	out.Deviations = deviations(shown)
	return out, nil
}

// Suggest returns the suggestions of the report alone.
func Suggest(r *Records, o Options) ([]Suggestion, error) {
	shown, err := shownCells(r, o)
	if err != nil {
		return nil, err
	}
	return suggestions(r.Agents, shown, o), nil
}

// shownCells are the cells that a report is about, sorted.
func shownCells(r *Records, o Options) ([]*cell, error) {
	cells, err := cellsOf(r)
	if err != nil {
		return nil, err
	}
	shown := slices.DeleteFunc(cells, func(c *cell) bool { return !c.within(o) })
	sortCells(shown)
	return shown, nil
}

// track is the same question to one agent, version after version.
type track struct {
	agent, probe string
	platform     contract.Platform
	profile      string
	provider     contract.ProviderKind
}

// cell is a track at one version.
type cell struct {
	track
	version string
	parsed  agents.Version
	runs    []*run // all of them, oldest first
	since   []*run // those that the report is about
	before  *cell  // the version before in the track, or nil
}

type run struct {
	*store.Observed
	corrections []*store.Stated
}

// cellsOf sorts the observations into cells and links those of one track in
// version order.
func cellsOf(r *Records) ([]*cell, error) {
	corrected := map[string][]*store.Stated{}
	for i := range r.Corrections {
		c := &r.Corrections[i]
		corrected[c.Observation.Path] = append(corrected[c.Observation.Path], c)
	}
	byTrack := map[track]map[string]*cell{}
	parsed := versionParser(r.Agents)
	for i := range r.Observations {
		o := &r.Observations[i]
		t := track{o.Agent, o.Probe, o.Platform, o.Extensions.Profile, o.Extensions.Provider}
		if byTrack[t] == nil {
			byTrack[t] = map[string]*cell{}
		}
		c := byTrack[t][o.CLIVersion]
		if c == nil {
			v, err := parsed(o.Agent, o.CLIVersion)
			if err != nil {
				return nil, err
			}
			c = &cell{track: t, version: o.CLIVersion, parsed: v}
			byTrack[t][o.CLIVersion] = c
		}
		c.runs = append(c.runs, &run{o, corrected[o.Path]})
	}
	var out []*cell
	for _, byVersion := range byTrack {
		var cells []*cell
		for _, c := range byVersion {
			slices.SortFunc(c.runs, func(a, b *run) int {
				return cmp.Or(cmp.Compare(a.Capture.CapturedAt, b.Capture.CapturedAt), cmp.Compare(a.Path, b.Path))
			})
			cells = append(cells, c)
		}
		sortCells(cells)
		for i, c := range cells[1:] {
			c.before = cells[i]
		}
		out = append(out, cells...)
	}
	return out, nil
}

// versionParser reads each version of an agent once.
func versionParser(known *contract.AgentsFile) func(agent, version string) (agents.Version, error) {
	type key struct{ agent, version string }
	done := map[key]agents.Version{}
	return func(agent, version string) (agents.Version, error) {
		k := key{agent, version}
		if v, ok := done[k]; ok {
			return v, nil
		}
		def := known.Agent(agent)
		if def == nil {
			return agents.Version{}, fmt.Errorf("counting the runs: %s has observations but no entry in %s", agent, store.AgentsFile)
		}
		v, err := agents.ParseToken(def, version)
		done[k] = v
		return v, err
	}
}

// sortCells sorts by agent, version in its own order, probe and place.
func sortCells(cells []*cell) {
	slices.SortFunc(cells, func(a, b *cell) int {
		if n := cmp.Compare(a.agent, b.agent); n != 0 {
			return n
		}
		n, _ := a.parsed.Compare(b.parsed) // recorded versions have no product to differ in
		return cmp.Or(n, cmp.Compare(a.version, b.version), cmp.Compare(a.probe, b.probe), cmp.Compare(a.platform, b.platform),
			cmp.Compare(a.profile, b.profile), cmp.Compare(a.provider, b.provider))
	})
}

// within finds the runs that the report is about, and says whether there are
// any.
func (c *cell) within(o Options) bool {
	if o.Agent != "" && o.Agent != c.agent || o.Probe != "" && o.Probe != c.probe {
		return false
	}
	for _, r := range c.runs {
		if at := captured(r.Observed); o.Since.IsZero() || !at.Before(o.Since) {
			c.since = append(c.since, r)
		}
	}
	return len(c.since) > 0
}

// captured is the time of a capture; zero for a record without a valid one.
func captured(o *store.Observed) time.Time {
	at, _ := time.Parse(time.RFC3339, o.Capture.CapturedAt)
	return at
}

func (c *cell) row() Row {
	out := Row{
		Agent: c.agent, CLIVersion: c.version, Probe: c.probe, Platform: c.platform, Profile: c.profile, Provider: c.provider,
		Runs: len(c.since), ReportedWords: map[string]int{}, RunResults: map[contract.RunResult]int{}, Violations: map[string]int{},
		FirstCaptured: c.since[0].Capture.CapturedAt, LastCaptured: c.since[len(c.since)-1].Capture.CapturedAt,
	}
	for _, r := range c.since {
		x := &r.Extensions
		out.Reported.add(x.ReportedResult)
		out.ReportedWords[x.ReportedResult]++
		out.RunResults[contract.RunResult(x.RunResult)]++
		one := Run{
			CapturedAt: r.Capture.CapturedAt, Observation: r.Path, ReportedResult: x.ReportedResult, RunResult: x.RunResult,
			WeakSuccess: x.WeakSuccess, Violations: []string{}, Corrections: []string{},
		}
		for _, v := range x.Violations {
			out.Violations[v.Kind]++
			one.Violations = append(one.Violations, v.Kind)
		}
		if x.WeakSuccess {
			out.WeakSuccess++
		}
		if u := x.Usefulness; u != nil {
			out.LowUtility += u.LowUtility
			out.WrongToolBoundary += u.WrongToolBoundary
		}
		for _, k := range r.corrections {
			one.Corrections = append(one.Corrections, k.Path)
		}
		out.UserCorrections += len(r.corrections)
		out.History = append(out.History, one)
	}
	return out
}

// said tells what a CLI's own word means, where it means success or failure:
// the terminal frames and stop reasons of the families (package reference,
// Reading.ReportedResult). Nothing is judged by it; it only sorts a column.
var said = map[string]bool{
	"success": true, "turn.completed": true, "task_complete": true, "completion": true, "stop": true, "end_turn": true, "exitCode 0": true,
	"failed": false, "turn.failed": false, "turn_aborted": false, "aborted": false,
	contract.WordLowUtility: false, contract.WordWrongToolBoundary: false,
}

func (r *Reported) add(word string) {
	ok, known := said[word]
	switch {
	case word == "":
		r.Nothing++
	case ok:
		r.Success++
	case known, strings.HasPrefix(word, "error"), strings.HasPrefix(word, "exitCode "):
		r.Failed++
	default:
		r.Other++
	}
}
