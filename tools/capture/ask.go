package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/capture/acpclient"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
)

// askingCell captures a cell that may need a person. The cell is a step: when
// somebody has answered, it runs again from its start, so a run that waited a
// day is recorded as one that did not.
func (c *capturer) askingCell(ctx context.Context, r *run, cell Cell, agent *contract.Agent, version *versionInfo) (*CellResult, error) {
	var res *CellResult
	runner := &requests.Runner{Store: c.requests, Run: r.ID, Inline: c.opts.Ask, By: c.opts.AskBy}
	runner.Note = func(e *requests.ClosedError) { c.tell(e.Error()) }
	err := runner.Do(ctx, cell.ID, func(ctx context.Context, q *requests.Asker) (err error) {
		res, err = c.cell(ctx, r, cell, agent, version, q)
		return err
	})
	var suspended *requests.SuspendedError
	if errors.As(err, &suspended) {
		res = &CellResult{Cell: cell}
		for _, p := range suspended.Pending {
			res.WaitsFor = append(res.WaitsFor, p.ID)
		}
		return res, nil
	}
	if err != nil {
		return nil, err
	}
	// Last: a cell that is kept does not run again, so its answers must be
	// settled by then.
	return res, r.saveCell(cell.ID, res)
}

// waiting reports whether one of the results is none yet.
func waiting(results []*CellResult) bool {
	return slices.ContainsFunc(results, func(r *CellResult) bool { return len(r.WaitsFor) > 0 })
}

// waits names the Requests as people type them.
func (r *CellResult) waits() string {
	var ids []string
	for _, id := range r.WaitsFor {
		ids = append(ids, id.Hex()[:12])
	}
	return strings.Join(ids, ", ")
}

// permission returns what answers the agent's permission questions, nil unless
// a person does: because the probe says so, or because the capture asks all that
// the probe would grant. A question that nobody has answered yet
// ends the run.
func (job *cellJob) permission(how contract.ClientPermission, ws *workspace) func(acpclient.Question) acpclient.Decision {
	granted := how == contract.PermissionGrant || how == ""
	if how != contract.PermissionAsk && !(granted && job.askAll) {
		return nil
	}
	times := map[string]int{}
	return func(asked acpclient.Question) acpclient.Decision {
		prompt := permissionPrompt(asked, ws)
		if times[prompt]++; times[prompt] > 1 {
			prompt += fmt.Sprintf(" (question %d of these words)", times[prompt])
		}
		q := requests.PermissionQuestion(prompt, scopes(asked.Options)...)
		q.WireID, q.Agent, q.Raw = asked.WireID, job.agent.ID, true
		p, err := requests.AskFor[requests.Permission](job.asker, q)
		var told *requests.OutcomeError
		switch {
		case errors.As(err, &told):
			job.tells("a permission question was " + string(told.Status))
			return acpclient.Decision{}
		case err != nil:
			return acpclient.Decision{Wait: true} // the asker knows why
		case p.Granted:
			job.tells("a person granted a permission")
		default:
			job.tells("a person refused a permission")
		}
		return acpclient.Decision{Kinds: optionKinds(p)}
	}
}

// tells notes for the record what a person decided: the run would have gone
// another way without.
func (job *cellJob) tells(what string) { job.reviewed = append(job.reviewed, what) }

// permissionPrompt is the question in words that are the same whenever the cell
// runs: without the folders of this run.
func permissionPrompt(asked acpclient.Question, ws *workspace) string {
	what := asked.Title
	if what == "" {
		what = "something that it does not name"
	}
	if asked.Kind != "" {
		what += " (" + asked.Kind + ")"
	}
	what = strings.NewReplacer(ws.cwd+"/", "", ws.cwd, ".", ws.home, "~", ws.tmp, "TMPDIR").Replace(what)
	return "May it use a tool: " + what + "?"
}

// scopes are how far the offered options go.
func scopes(options []string) []requests.Scope {
	var out []requests.Scope
	for _, s := range []requests.Scope{requests.Once, requests.Always} {
		if slices.ContainsFunc(options, func(o string) bool { return o == "allow_"+string(s) || o == "reject_"+string(s) }) {
			out = append(out, s)
		}
	}
	return out
}

// optionKinds are the kinds of ACP options that a person's answer means, the
// best first.
func optionKinds(p requests.Permission) []string {
	verb := "reject_"
	if p.Granted {
		verb = "allow_"
	}
	if p.Scope == requests.Always {
		return []string{verb + "always", verb + "once"}
	}
	return []string{verb + "once", verb + "always"}
}

// Where a Request keeps what it asks about: words, or why nobody is sure.
const (
	wordsExtension  = "words"
	doubtsExtension = "doubts"
)

// asList returns a list of a record's extensions.
func asList(v any) []any {
	l, _ := v.([]any)
	return l
}
