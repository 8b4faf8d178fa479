package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/requests"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// A difference that no unknown word explains is a question too: a person names
// the place whose value belongs to the protocol, and the redaction is done again.
func TestDifferenceWithoutWords(t *testing.T) {
	reg := newRegistry(t)
	file := filepath.Join(reg.Dir(), "registry", "families.json")
	b, err := os.ReadFile(file)
	must(t, err)
	without := strings.ReplaceAll(string(b), `"item.status"`, `"item.former_status"`)
	if without == string(b) {
		t.Fatal("no dialect has item.status: the test proves nothing")
	}
	must(t, os.WriteFile(file, []byte(without), 0o644))
	reg, err = store.Open(reg.Dir())
	must(t, err)
	f, err := reg.Families()
	must(t, err)
	raw := &transcript.Transcript{}
	for _, line := range []string{
		`{"type":"turn.started"}`,
		`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"zebra","exit_code":null,"status":"failed"}}`,
		`{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":5}}`,
	} {
		raw.Records = append(raw.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line + "\n")})
	}
	d := f.Dialect("codex")
	requested := requests.Open(t.TempDir(), reg, time.Now)
	do := func() (Outcome, error) {
		var out Outcome
		runner := &requests.Runner{Store: requested, Run: RunOf(raw, d)}
		err := runner.Do(t.Context(), "redact", func(_ context.Context, q *requests.Asker) (err error) {
			z := &Sanitizing{Registry: reg, Dialect: d, Agent: "codex", What: "run.jsonl", Input: redact.Input{Dialect: d.ID}}
			out, err = z.Do(raw, q)
			return err
		})
		return out, err
	}
	_, err = do()
	var waits *requests.SuspendedError
	if !errors.As(err, &waits) {
		t.Fatalf("nobody is asked: %v", err)
	}
	r := &waits.Pending[0]
	if r.Kind != contract.RequestInput || strings.Contains(r.Prompt, "zebra") || !strings.Contains(r.Prompt, "z**** (5)") {
		t.Errorf("%s: %s", r.Kind, r.Prompt)
	}
	answer, err := requests.AnswerInput(r, map[string][]string{"paths": {"item.status"}}, requests.By{Name: "jo", At: time.Now()})
	must(t, err)
	must(t, requested.Answer(t.Context(), *answer))
	out, err := do()
	must(t, err)
	if out.Status != contract.RedactionPassed || !strings.Contains(string(out.Public.Fixture), `\"status\":\"failed\"`) || strings.Contains(string(out.Public.Fixture), "zebra") {
		t.Errorf("after the answer: %s %s", out.Status, out.Why)
	}
}
