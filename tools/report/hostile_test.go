package report

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

var inlineCode = regexp.MustCompile("``.*?[^`]``([^`]|$)")

// A CLI chooses the names of its frames and members. No report takes one for
// markup, for a person or for an order to a terminal.
func TestHostileNames(t *testing.T) {
	const name = "x`|<img src=y>@everyone [a](https://example.invalid) \x1b[31m\u202e\rz"
	s := summary(contract.DriftSignal{
		ID: "field_removed", Severity: "warning", EventType: name, Path: name, Kinds: []string{name}, Renamed: name,
		Readers: []contract.DriftReader{{Adapter: "reference", Effect: contract.EffectReads, Paths: []string{name}}},
	})
	issue, err := s.Issue()
	must(t, err)
	card, err := json.Marshal(s.Card())
	must(t, err)
	var annotations strings.Builder
	must(t, Annotations(&annotations, name, s.Changes))
	outside := inlineCode.ReplaceAllString(strings.ReplaceAll(issue.Body, "\\|", ""), "")
	for _, markup := range []string{"<img", "@everyone", "]("} {
		if strings.Contains(outside, markup) {
			t.Errorf("%s is no code in\n%s", markup, issue.Body)
		}
	}
	if text := unquoted(string(card)); strings.Contains(text, "<img") || strings.Contains(text, "`") {
		t.Errorf("a name is markup in %s", text)
	}
	for _, text := range []string{issue.Body, unquoted(string(card)), annotations.String()} {
		if strings.ContainsAny(text, "\x1b\u202e\r") {
			t.Errorf("a control character in %q", text)
		}
	}
}
