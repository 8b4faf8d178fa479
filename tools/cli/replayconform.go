package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/external"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// conformed is what a command makes of one fixture.
type conformed struct {
	Fixture string `json:"fixture"`
	Agent   string `json:"agent"`
	Version string `json:"version"` // of one capture that gave the fixture
	Dialect string `json:"dialect"`
	// Status is compatible, incompatible, not_run or failed: the command broke
	// the protocol.
	Status string `json:"status"`
	// Findings say what breaks, or what went wrong.
	Findings []string `json:"findings,omitempty"`
}

// statusFailed is the status of a fixture on which a command broke the protocol.
const statusFailed = "failed"

// mostFailures in a row end a run: it is the command, not a fixture.
const mostFailures = 5

// conform reads every fixture with a command and holds it against the
// reference.
func (a *app) conform(ctx context.Context, f *replayFlags, reg *store.Registry) error {
	who, err := a.consumer(f)
	if err != nil {
		return err
	}
	rows, failures := []conformed{}, 0
	err = eachFixture(reg, f.dialect, func(d *contract.Dialect, o *contract.Observation) error {
		row := conformed{Fixture: o.Extensions.Fixture, Agent: o.Agent, Version: o.CLIVersion, Dialect: d.ID}
		err := row.read(ctx, who, reg, d, o)
		if err == nil {
			rows, failures = append(rows, row), 0
			return nil
		}
		var broken *external.Error
		failures++
		if !errors.As(err, &broken) || ctx.Err() != nil || failures >= mostFailures || errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return err
		}
		row.Status, row.Findings = statusFailed, []string{oneLine(err.Error())}
		rows = append(rows, row)
		return nil
	})
	if closing := who.close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return a.printConformed(f.format, rows)
}

// read fills in what the consumer makes of the fixture.
func (c *conformed) read(ctx context.Context, who *consumer, reg *store.Registry, d *contract.Dialect, o *contract.Observation) error {
	t, err := fixtureOf(reg, o)
	if err != nil {
		return err
	}
	in := replay.Input{Transcript: t, Agent: o.Agent, Dialect: d, Version: o.CLIVersion}
	ref, err := replay.Reference(in)
	if err != nil {
		return err
	}
	reading, err := who.read(ctx, in)
	if err != nil {
		return err
	}
	held := replay.Compatible(ref, reading)
	c.Status = string(held.Status)
	for _, f := range held.Breaking() {
		c.Findings = append(c.Findings, f.String())
	}
	return nil
}

func (a *app) printConformed(f format, rows []conformed) error {
	slices.SortStableFunc(rows, func(x, y conformed) int { return cmp.Compare(x.Agent, y.Agent) })
	total := tallyConformed(rows)
	var err error
	if f == "json" {
		err = a.printJSON(rows)
	} else {
		err = a.conformedTables(rows)
	}
	if err != nil {
		return err
	}
	a.talk("%s read: %d compatible, %d incompatible, %d not run, %d failed", count(len(rows), "fixture"),
		total["compatible"], total["incompatible"], total["not_run"], total[statusFailed])
	switch {
	case total["incompatible"] > 0:
		return &Exit{Code: ExitFindings}
	case total["not_run"]+total[statusFailed] > 0:
		return &Exit{Code: ExitCannotKnow}
	}
	return nil
}

func tallyConformed(rows []conformed) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[r.Status]++
	}
	return out
}

// conformedTables prints the counts by agent and dialect, then each fixture
// that is not compatible.
func (a *app) conformedTables(rows []conformed) error {
	groups := map[string][]conformed{}
	bad := [][]string{{"status", "agent", "version", "fixture", "findings"}}
	for _, r := range rows {
		key := r.Agent + " " + r.Dialect
		groups[key] = append(groups[key], r)
		if r.Status == "incompatible" || r.Status == statusFailed {
			bad = append(bad, []string{r.Status, r.Agent, r.Version, r.Fixture, strings.Join(r.Findings, "; ")})
		}
	}
	cells := [][]string{{"agent", "dialect", "compatible", "incompatible", "not run", "failed"}}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		n := tallyConformed(groups[key])
		row := []string{groups[key][0].Agent, groups[key][0].Dialect}
		for _, s := range []string{"compatible", "incompatible", "not_run", statusFailed} {
			row = append(row, strconv.Itoa(n[s]))
		}
		cells = append(cells, row)
	}
	if err := table(a.env.Stdout, cells); err != nil || len(bad) == 1 {
		return err
	}
	if _, err := fmt.Fprintln(a.env.Stdout); err != nil {
		return err
	}
	return table(a.env.Stdout, bad)
}
