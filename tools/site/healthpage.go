package site

import (
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/health"
)

// healthPage sums the health report up: a line a version.
type healthPage struct {
	Suggestions     []health.Suggestion
	MoreSuggestions int
	Lines           []healthLine
	MoreLines       int
}

type healthLine struct {
	Agent      string `json:"agent"`
	Version    string `json:"cli_version"`
	Runs       int    `json:"runs"`
	Success    int    `json:"success"`
	Weak       int    `json:"weak_success"` // counted as success too
	Failed     int    `json:"failed"`
	Cancelled  int    `json:"cancelled"`
	Violations int    `json:"violations"`
	Corrected  int    `json:"user_corrections"`
}

// The limits of the page.
const (
	mostSuggestions = 25
	mostLines       = 200
)

// healthPage is about one agent, or all of them for "". It is as of the newest
// record, so that it does not depend on today.
func (s *Site) healthPage(agent string) (*healthPage, error) {
	r, err := health.Build(s.health, health.Options{Agent: agent, Now: s.Made()})
	if err != nil {
		return nil, err
	}
	p := &healthPage{Suggestions: r.Suggestions}
	if len(p.Suggestions) > mostSuggestions {
		p.MoreSuggestions, p.Suggestions = len(p.Suggestions)-mostSuggestions, p.Suggestions[:mostSuggestions]
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		n := len(p.Lines)
		if n == 0 || p.Lines[n-1].Agent != row.Agent || p.Lines[n-1].Version != row.CLIVersion {
			p.Lines = append(p.Lines, healthLine{Agent: row.Agent, Version: row.CLIVersion})
			n++
		}
		l := &p.Lines[n-1]
		l.Runs += row.Runs
		l.Success += row.RunResults[contract.RunSuccess]
		l.Failed += row.RunResults[contract.RunFailed]
		l.Cancelled += row.RunResults[contract.RunCancelled]
		l.Weak += row.WeakSuccess
		l.Corrected += row.UserCorrections
		for _, k := range row.Violations {
			l.Violations += k
		}
	}
	p.MoreLines = max(0, len(p.Lines)-mostLines)
	p.Lines = p.Lines[:len(p.Lines)-p.MoreLines]
	return p, nil
}
