package redact

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// What a tool gave back may be the CLI's own sentence, or somebody's file: only
// a short one keeps public words.
func TestLongOutputsAreNoMessages(t *testing.T) {
	r := newRedactor(t)
	frame := func(output string) string {
		return `{"type":"tool_use","part":{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","output":` + quote(output) + `}}}`
	}
	sentence := "error: file not found by Alice\n"
	for _, c := range []struct {
		name, output string
		keeps        bool
	}{
		{"a sentence", sentence, true},
		{"as long as may be", sentence + strings.Repeat("x", maxOutput-len(sentence)), true},
		{"longer", sentence + strings.Repeat("x", maxOutput-len(sentence)+1), false},
		{"many bytes, but few letters", sentence + strings.Repeat("é", maxOutput-len(sentence)), true},
		{"JSON", `{"message":` + quote(sentence) + `}`, true},
		{"long JSON", `{"message":` + quote(sentence) + `,"more":` + quote(strings.Repeat("x", maxOutput)) + `}`, false},
	} {
		got, rep := redactText(t, r, Input{Dialect: "opencode"}, frame(c.output))
		if rep.Status != contract.RedactionPassed || strings.Contains(got, "Alice") || strings.Contains(got, "file not found") != c.keeps {
			t.Errorf("%s: %s\n%.300s", c.name, rep.Status, got)
		}
		if again, _ := redactText(t, r, Input{Dialect: "opencode"}, got); again != got {
			t.Errorf("%s: redacting it again gives\n%.300s\ninstead of\n%.300s", c.name, again, got)
		}
	}
}
