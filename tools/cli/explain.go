package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/expect"
)

// explanation is what there is to say about a code: a rule of validate, a
// signal of compare, a kind of violation of a probe's expectation, or a word of
// an answer.
type explanation struct {
	Code     string `json:"code"`
	Of       string `json:"of"`       // validate, compare or probe; of words status, verdict, plan or acp
	Severity string `json:"severity"` // "" of a word
	Meaning  string `json:"meaning"`
	Action   string `json:"action,omitempty"`
	Source   string `json:"source,omitempty"`
}

func explanations() []explanation {
	var out []explanation
	for _, r := range contract.Rules() {
		out = append(out, explanation{r.ID, "validate", string(r.Severity), r.Meaning, r.Action, r.Source})
	}
	for _, r := range compare.Rules() {
		out = append(out, explanation{Code: r.ID, Of: "compare", Severity: string(r.Severity), Meaning: r.Meaning})
	}
	for _, r := range expect.Rules() {
		e := explanation{Code: r.Kind, Of: "probe", Severity: "violation", Meaning: r.Meaning, Source: "docs/EXPECTATIONS.md",
			Action: "Look at the run: agent-contracts replay FIXTURE --adapter reference. The run is stored all the same; a probe that asks too much is changed in its expected-min-events.json."}
		if r.Thin {
			e.Meaning += " A success without it is a weak success."
		}
		out = append(out, e)
	}
	for _, w := range words {
		out = append(out, explanation{Code: w.code, Of: w.of, Meaning: w.meaning, Source: wordSources[w.of]})
	}
	return out
}

func (a *app) explainCommand() *cobra.Command {
	var f format
	c := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a code that this program prints means",
		Long: `Explain says what a rule of validate asks for and what to do when it is broken,
what a signal of compare means for a reader of the stream, what a probe's
expectation asks of a run, and what the words of answers mean: statuses, verdicts,
reasons of plan and health, deviations from ACP. Without CODE it lists all codes.

Exit codes: 0; 2 there is no such code.`,
		Example: `  agent-contracts explain event_removed
  agent-contracts explain MATRIX-DERIVED
  agent-contracts explain must_see
  agent-contracts explain newer_than_verified`,
		Args: argsError(cobra.MaximumNArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codes(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := f.check("text", "json"); err != nil {
				return err
			}
			return a.explain(f, args)
		},
	}
	a.formatFlag(c, &f, "text", "json")
	return c
}

func codes() []string {
	var out []string
	for _, e := range explanations() {
		out = append(out, e.Code)
	}
	return out
}

func (a *app) explain(f format, args []string) error {
	if len(args) == 0 {
		return a.listCodes(f)
	}
	for _, e := range explanations() {
		if !strings.EqualFold(e.Code, args[0]) {
			continue
		}
		if f == "json" {
			return a.printJSON(e)
		}
		return a.printExplanation(e)
	}
	hint := "agent-contracts explain lists every code"
	if near := nearest(strings.ToLower(args[0]), lower(codes())); near != "" {
		hint = "did you mean " + spelled(near) + "?"
	}
	return &Exit{Code: ExitUsage, Err: fmt.Errorf("there is no code %q", args[0]), Hint: hint}
}

func (a *app) printExplanation(e explanation) error {
	of := e.Of
	if e.Severity != "" {
		of += ", " + e.Severity
	}
	lines := []string{e.Code + " (" + of + ")", "", e.Meaning}
	if e.Action != "" {
		lines = append(lines, "", "What to do: "+e.Action)
	}
	if e.Source != "" {
		lines = append(lines, "Source: "+e.Source)
	}
	_, err := fmt.Fprintln(a.env.Stdout, strings.Join(lines, "\n"))
	return err
}

func (a *app) listCodes(f format) error {
	if f == "json" {
		return a.printJSON(explanations())
	}
	rows := [][]string{{"code", "of", "severity", "meaning"}}
	for _, e := range explanations() {
		rows = append(rows, []string{e.Code, e.Of, e.Severity, e.Meaning})
	}
	return table(a.env.Stdout, rows)
}

func lower(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// spelled returns the code that a lower-case word stands for.
func spelled(word string) string {
	for _, c := range codes() {
		if strings.EqualFold(c, word) {
			return c
		}
	}
	return word
}
