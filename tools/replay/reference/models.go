package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

// modelID is a model as most CLIs list it: provider and name, nothing else on
// the line but a mark in front.
var modelID = lazyregexp.New(`^(?:[*•-]\s+)?([A-Za-z0-9][\w.-]*/[\w.:@/-]+)$`)

// Models returns the models that a model probe listed, as provider/name in the
// order of the list: the rows of a table with the columns provider and model
// (Pi), and lines that are nothing but such a name (opencode). Prose around
// them, such as warnings and the usage text of a CLI that does not know the
// flag, lists nothing (case 074). An exit code decides nothing: a list that was
// printed is a list.
func Models(stdout string) []string {
	var out []string
	table := false
	for line := range strings.Lines(stdout) {
		line = strings.TrimSpace(string(stripTerminal([]byte(line))))
		cells := strings.Fields(line)
		switch {
		case len(cells) >= 2 && strings.EqualFold(cells[0], "provider") && strings.EqualFold(cells[1], "model"):
			table = true
		case table && len(cells) >= 2:
			out = append(out, cells[0]+"/"+cells[1])
		default:
			table = false
			if m := modelID.Get().FindStringSubmatch(line); m != nil {
				out = append(out, m[1])
			}
		}
	}
	return out
}
