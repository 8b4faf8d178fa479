package capture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/acpschema"
)

// Row returns the result as the cells of a table: agent, version, probe,
// shape, known, verdict, run, parser, time.
func (r *CellResult) Row() []string {
	probe := r.Cell.Probe
	if r.Cell.Profile != contract.ProfileProduction {
		probe += " (" + r.Cell.Profile + ")"
	}
	row := []string{r.Cell.Agent, r.Cell.Version, probe, "-", "-", "-", "-", "-", (time.Duration(r.DurationMS) * time.Millisecond).Round(100 * time.Millisecond).String()}
	if r.Verdict != "" {
		row[5] = string(r.Verdict)
	}
	if len(r.WaitsFor) > 0 {
		row[5] = "waits"
	}
	if !r.tells() {
		return row
	}
	row[3] = r.Shape.Signature.Short()
	row[4] = "new"
	if r.Known {
		row[4] = "known"
	}
	result, parser := r.run()
	row[6], row[7] = result, string(parser)
	if r.Source != nil {
		row[2] += " (synthetic)"
	}
	return row
}

// Summary says in a few words how the cell ended.
func (r *CellResult) Summary() string {
	switch {
	case len(r.WaitsFor) > 0:
		return "waits for an answer to " + r.waits()
	case r.Problem != "" && r.Redaction == "":
		return "cannot know: " + r.Problem
	case r.Problem != "":
		return fmt.Sprintf("redaction %s: %s", r.Redaction, r.Problem)
	}
	out, _ := r.run()
	if out = "run " + out; r.Source != nil {
		out += ", synthetic"
	}
	if r.Known {
		return "known shape, " + out
	}
	return fmt.Sprintf("new shape (%s), %s", r.Verdict, out)
}

// Details says, line by line, what a maintainer should look at.
func (r *Report) Details() []string {
	var out []string
	for _, res := range r.Results {
		where := res.Cell.Group + " " + res.Cell.Probe + ": "
		if res.Problem != "" || len(res.WaitsFor) > 0 {
			out = append(out, where+res.Summary())
			continue
		}
		if !res.Known && len(res.Signals) > 0 {
			words := make([]string, len(res.Signals))
			for i, s := range res.Signals {
				words[i] = s.String()
			}
			out = append(out, where+"against "+res.Baseline+": "+join(words))
		}
		if res.Observation != nil && res.Observation.Extensions.EndReason != "" {
			out = append(out, where+ended(res.Observation.Extensions.EndReason))
		}
		if res.Observation != nil && slices.Contains(res.Observation.Extensions.Findings, secondTry) {
			out = append(out, where+secondTry)
		}
		if res.Source != nil {
			out = append(out, where+"synthetic: "+res.Source.Extensions.Origin()+", so it is source evidence and supports no claim")
		}
		if res.Disputed {
			out = append(out, where+"another capture of this version has another shape; capture it again to decide")
		}
		if len(res.Reasons) > 0 {
			out = append(out, where+"the consumer's reading has "+join(res.Reasons))
		}
		if devs := res.deviations(); len(devs) > 0 {
			out = append(out, where+"deviates from ACP: "+join(devs))
		}
		for _, v := range res.violations() {
			out = append(out, fmt.Sprintf("%sexpectation %s: wanted %s, got %s", where, v.Path, v.Expected, v.Actual))
		}
	}
	return slices.Compact(out)
}

// deviations are those of the agent from its protocol, in words.
func (r *CellResult) deviations() (out []string) {
	if r.Observation == nil {
		return nil
	}
	for _, d := range r.Observation.Extensions.ACPDeviations {
		if d.By == acpschema.ByAgent {
			out = append(out, strings.Join(strings.Fields(d.Frame+" "+d.Kind+" "+d.Pointer), " "))
		}
	}
	return out
}

// ExitCode returns the code for the whole capture (FINE-PRINT 13 and 18): 5 it
// is suspended and nothing else is final, 4 a redaction was refused, 3 something is not known, 1 an incompatible new shape
// or an expectation that does not hold, else 0.
func (r *Report) ExitCode(failOnNew bool) int {
	if waiting(r.Results) {
		return 5
	}
	code := 0
	for _, res := range r.Results {
		switch {
		case res.Redaction != "" && res.Redaction != contract.RedactionPassed:
			return 4
		case !res.tells():
			code = 3
		case code == 0 && (res.Verdict == contract.VerdictParserIncompatible ||
			failOnNew && res.Verdict != contract.VerdictSameShape || len(res.violations()) > 0):
			code = 1
		}
	}
	return code
}

// Partial reports that some runs tell something and some nothing.
func (r *Report) Partial() bool {
	told := 0
	for _, res := range r.Results {
		if res.tells() {
			told++
		}
	}
	return told > 0 && told < len(r.Results)
}

// Place is where a report's records went.
type Place struct {
	Versioned bool   // git keeps it
	Flag      string // " --registry DIR" where a command needs it to find the place
}

// NextStep says what the person at the terminal may want to do now.
func (r *Report) NextStep(p Place) string {
	if waiting(r.Results) {
		return "Next: `agent-contracts review list` shows the questions; answer them with `agent-contracts review answer`, then run the same command again."
	}
	fresh := map[string]bool{}
	refused, unknown, explain := false, false, ""
	for _, res := range r.Results {
		explain = fmt.Sprintf("`agent-contracts matrix --explain %s %s%s`", res.Cell.Agent, res.Cell.Version, p.Flag)
		switch {
		case res.Redaction != "" && res.Redaction != contract.RedactionPassed:
			refused = true
		case !res.tells():
			unknown = true
		case !res.Known:
			fresh[string(res.Shape.Signature.Short())] = true
		}
	}
	switch {
	case refused:
		return "Next: add what is public of the words above to registry/vocabulary.json, then run the same command again; or answer the request that is named there (`agent-contracts review show`), for that run alone. Nothing of those runs was published."
	case unknown:
		return "Next: see above why some runs tell nothing; the others are in the registry."
	case len(fresh) > 0:
		names := make([]string, 0, len(fresh))
		for n := range fresh {
			names = append(names, n)
		}
		slices.Sort(names)
		if !p.Versioned {
			return fmt.Sprintf("Next: %d new shape(s) (%s). %s shows what they say of this version, `agent-contracts validate%s` checks the registry.", len(fresh), strings.Join(names, ", "), explain, p.Flag)
		}
		return fmt.Sprintf("Next: %d new shape(s) (%s). Look at them with `git status --short`, check with `agent-contracts validate%s`, and commit.", len(fresh), strings.Join(names, ", "), p.Flag)
	case !p.Versioned:
		return "Next: every shape was known. " + explain + " shows what is known of this version."
	}
	return "Next: every shape was known. Commit the new observations, or drop them with `git restore` and `git clean`."
}
