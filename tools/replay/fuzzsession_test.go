package replay_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// FuzzKimiSession: whatever kimi leaves in its session file, the pipes keep
// their shape and the consumer its reading, the reference says success or that
// the stream broke off, and says the same of what redaction leaves.
func FuzzKimiSession(f *testing.F) {
	const (
		begin = `{"type":"turn.prompt","input":[{"type":"text","text":"x"}],"time":1796089636772}` + "\n"
		step  = `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn","usage":{"inputOther":0,"output":0}}}` + "\n"
		cut   = `{"type":"agent.message.appended","message":{"message":{"role":"assistant","content":[]},"meta":{"finish":{"finishReason":null,"rawFinishReason":null}}}}` + "\n"
		ended = `{"type":"turn.ended","reason":"completed","durationMs":7}` + "\n"
	)
	for _, s := range []string{
		begin + step, begin + step + cut + ended, begin + strings.ReplaceAll(step, "0}", "2}"),
		begin + strings.Replace(cut, "null", `"completed"`, 1), begin + strings.Replace(cut, "null", `"truncated"`, 1),
		begin + strings.Replace(step, "end_turn", "max_tokens", 1), "words\n" + begin[:20], "",
	} {
		f.Add([]byte(s))
	}
	r, families := redactor(f)
	d := families.Dialect("kimi")
	pipes := replay.Input{Agent: "kimi", Dialect: d, Transcript: kimiRun()}
	want, err := replay.OpenDesign(pipes)
	if err != nil {
		f.Fatal(err)
	}
	shape, _, err := normalize.Shape(pipes.Transcript, d, contract.LevelRuntimeObserved)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		raw := kimiRun()
		for line := range bytes.Lines(file) {
			raw.Records = append(raw.Records, transcript.Record{Dir: transcript.CLIToFile, Stream: transcript.Session, Data: line})
		}
		clean, rep, err := r.Redact(raw, redact.Input{Dialect: d.ID, Hermetic: true, ScenarioTexts: []string{"It has a name"}})
		if err != nil || len(rep.Unsure) > 0 {
			t.Fatalf("a person must look: %v, %q", err, rep.Unsure)
		}
		if rep.Status == contract.RedactionPassed {
			if err := clean.WriteSanitized(new(bytes.Buffer)); err != nil {
				t.Error(err)
			}
		}
		var results [2]contract.RunResult
		for i, tr := range []*transcript.Transcript{raw, clean} {
			in := replay.Input{Agent: "kimi", Dialect: d, Transcript: tr}
			out, err := replay.Reference(in)
			if err != nil {
				t.Fatal(err)
			}
			results[i] = out.RunResult
			if broken := out.Failure != nil && out.Failure.Detail == "stream_disconnected"; broken != (out.RunResult == contract.RunFailed) || !broken && out.RunResult != contract.RunSuccess {
				t.Errorf("the run is a %s, %+v", out.RunResult, out.Failure)
			}
			consumer, err := replay.OpenDesign(in)
			if err != nil {
				t.Fatal(err)
			}
			if consumer.RunResult != want.RunResult || len(consumer.Events) != len(want.Events) {
				t.Error("the consumer reads the file")
			}
			s, _, err := normalize.Shape(tr, d, contract.LevelRuntimeObserved)
			if err != nil || s.Signature != shape.Signature {
				t.Errorf("the shape has the file in it: %v", err)
			}
		}
		if results[0] != results[1] {
			t.Errorf("a %s is a %s after redaction", results[0], results[1])
		}
	})
}

// kimiRun is a run that the pipes call a success.
func kimiRun() *transcript.Transcript {
	t := &transcript.Transcript{}
	for _, line := range []string{
		`{"role":"meta","type":"system.version","version":"2.1.0"}`, `{"role":"assistant","content":"It has a name"}`,
		`{"role":"meta","type":"session.resume_hint","session_id":"0199a213-81c0-7800-8aa1-bbab2a035a53","content":"To resume this session: kimi -r x"}`,
	} {
		t.Records = append(t.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(line + "\n")})
	}
	zero := 0
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &zero})
	return t
}
