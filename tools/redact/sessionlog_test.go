package redact

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Of a session file the lines and words stay that its form names, whatever the
// dialect of the pipes is; what the pipes said reads as it did without it.
func TestSessionLog(t *testing.T) {
	r := newRedactor(t)
	// A frame of the pipe may have the form of a line of the file.
	const printed = `{"role":"assistant","content":"alpha beta"}` + "\n" + `{"type":"agent.message.appended","message":{"message":{"role":"words"},"meta":{"finish":{"finishReason":null}}}}` + "\n"
	key := "sk-" + "ant-api03-" + strings.Repeat("Zq9", 12)
	file := []string{
		`{"type":"profile.bind","systemPrompt":"private words"}`,
		`{"type":"turn.prompt","input":[{"type":"text","text":"alpha beta"}],"newField":"` + key + `","time":1796089636772}`,
		`{"type":"context.append_loop_event","event":{"type":"content.part","part":{"text":"alpha"}}}`,
		`{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn","usage":{"output":0,"inputOther":3},"llmStreamDurationMs":7}}`,
		`{"type":"agent.message.appended","message":{"message":{"role":"assistant"},"meta":{"finish":{"finishReason":null}}}}`,
		`{"type":"agent.message.appended","message":{"message":{"role":"user"}}}`,
		`private words`,
		`{"type":"turn.prompt","` + key + `":`,
	}
	want := []string{
		`{"type":"turn.prompt","input":[{"type":"<text:2>","text":"<text:1>"}],"newField":"<id:1>","time":1}`,
		`{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn","usage":{"output":0,"inputOther":3},"llmStreamDurationMs":1}}`,
		`{"type":"agent.message.appended","message":{"message":{"role":"assistant"},"meta":{"finish":{"finishReason":null}}}}`,
		`<text:3>`,
		`{"type":"turn.prompt","<id:1>":`,
	}
	for _, dialect := range []string{"kimi", "acp", "plain"} {
		raw := stdout(printed)
		for _, line := range file {
			raw.Records = append(raw.Records, transcript.Record{Dir: transcript.CLIToFile, Stream: transcript.Session, Data: []byte(line + "\n")})
		}
		out, rep, err := r.Redact(raw, Input{Dialect: dialect, Hermetic: true, ScenarioTexts: []string{"alpha beta"}})
		if err != nil || rep.Status != contract.RedactionPassed {
			t.Fatalf("%s: %s %v, %v", dialect, rep.Status, rep.Findings, err)
		}
		var got []string
		for i := range out.Records[2:] {
			rec := &out.Records[2+i]
			got = append(got, strings.TrimSuffix(string(rec.Data), "\n"))
			if odd := rec.Deviations != nil; odd != (i > 2) {
				t.Errorf("%s: line %d has deviations %v", dialect, i, rec.Deviations)
			}
		}
		if d := cmp.Diff(want, got); d != "" && dialect == "kimi" {
			t.Error(d)
		}
		if strings.Contains(strings.Join(got, ""), "private") || len(got) != len(want) {
			t.Errorf("%s: %q", dialect, got)
		}
		again, _, err := r.Redact(out, Input{Dialect: dialect, Hermetic: true})
		if err != nil || cmp.Diff(out, again) != "" {
			t.Errorf("%s: redacting again changes it: %v", dialect, err)
		}
	}
}
