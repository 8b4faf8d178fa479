package replay

import (
	"slices"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Lost names what a consumer showed of an older run and does not show of a newer
// one: "success" of a run that fails now, or else, of a run that is still called a
// success, text, tool uses, tool results and token counts that are all gone. Such
// a reading loses nothing against the reference, which cannot find them either;
// it loses what the release before gave. fails says that the newer run was to
// succeed: some probes ask for a failure, and then it is none. Readings that were
// not run tell nothing.
func Lost(older, newer *Golden, fails bool) []string {
	if older == nil || newer == nil || older.Status != StatusOK || newer.Status != StatusOK || older.Reading.RunResult != contract.RunSuccess {
		return nil
	}
	if newer.Reading.RunResult != contract.RunSuccess {
		if !fails {
			return nil
		}
		return []string{"success"}
	}
	var out []string
	for _, x := range []struct{ event, word string }{{"text_delta", "text"}, {"tool_use", "tool uses"}, {"tool_result", "tool results"}} {
		if older.has(x.event) && !newer.has(x.event) {
			out = append(out, x.word)
		}
	}
	for _, name := range []string{"input_tokens", "output_tokens"} {
		if older.Reading.Usage[name] > 0 && newer.Reading.Usage[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}

func (g *Golden) has(event string) bool {
	return slices.ContainsFunc(g.Events, func(e Event) bool { return e.Type() == event })
}

// Fails reports by their violations whether the newer of two runs of a probe does
// not end as the probe asks for, and the older one did.
func Fails(older, newer []contract.ContractViolation) bool {
	return !endsWrong(older) && endsWrong(newer)
}

func endsWrong(vs []contract.ContractViolation) bool {
	return slices.ContainsFunc(vs, func(v contract.ContractViolation) bool { return v.Kind == string(contract.ConstraintRunResult) })
}
