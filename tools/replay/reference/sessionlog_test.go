package reference

import (
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

const (
	wirePrompt   = `{"type":"turn.prompt","input":[],"origin":{"kind":"user"}}`
	wireCut      = `{"type":"agent.message.appended","message":{"message":{"role":"assistant"},"meta":{"finish":{"finishReason":null}}}}`
	wireStepZero = `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn","usage":{"inputOther":0,"output":0}}}`
	wireStep     = `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn","usage":{"inputOther":3,"output":0}}}`
	wireStepMax  = `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"max_tokens","usage":{"output":3}}}`
)

func wireFinish(reason string) string { return strings.Replace(wireCut, "null", reason, 1) }

// The session file of kimi speaks against a success of the pipes, and for
// nothing.
func TestKimiSession(t *testing.T) {
	const cut = "failed upstream_unavailable/stream_disconnected child_close"
	for _, c := range []struct {
		name    string
		lines   []string
		result  string
		signals string
	}{
		{"no file", nil, "success", ""},
		{"a whole answer", []string{wirePrompt, wireStep, wireFinish(`"completed"`)}, "success", ""},
		{"no reason", []string{wirePrompt, wireStepZero, wireCut}, cut, "session_file"},
		{"a reason, but no counts", []string{wirePrompt, wireStepZero, wireFinish(`"completed"`)}, "success", ""},
		{"an older turn", []string{wirePrompt, wireCut, wirePrompt, wireStep, wireFinish(`"completed"`)}, "success", ""},
		{"an older step", []string{wirePrompt, wireCut, wireFinish(`"tool_calls"`), wireFinish(`"completed"`)}, "success", ""},
		{"0.10: no counts", []string{wirePrompt, wireStepZero}, cut, "session_file"},
		{"0.10: counts", []string{wirePrompt, wireStepZero, wireStep}, "success", ""},
		{"0.10: no usage at all", []string{wirePrompt, `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":"end_turn"}}`}, "success", ""},
		{"0.10: a step that did not end", []string{wirePrompt, `{"type":"context.append_loop_event","event":{"type":"step.end","finishReason":null,"usage":{"output":0}}}`}, "success", ""},
		{"the output limit", []string{wirePrompt, wireStepMax, wireFinish(`"truncated"`)}, "success", "cut_answer session_file"},
		{"0.10: the output limit", []string{wirePrompt, wireStepMax}, "success", "cut_answer session_file"},
		{"nothing that is known", []string{"x", "noise " + wireCut, "[]", "{}", `{"type":7}`, `{"type":"turn.prompt`, `{"type":"agent.message.appended","message":[]}`, wireFinish("7")}, "success", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, dialect := range []string{DialectKimi, DialectPlain} {
				r := kimiRun(t, dialect, exited(0))
				for _, l := range c.lines {
					r.Session([]byte(l + "\n"))
				}
				out := r.Close(exited(0))
				if got := result(out); got != c.result || strings.Join(out.Signals, " ") != c.signals {
					t.Errorf("%s: %s with %q, want %s with %q", dialect, got, out.Signals, c.result, c.signals)
				}
				if last := out.Events[len(out.Events)-1].Type(); (last == "error") != (c.result == cut) {
					t.Errorf("%s: the last event is %s", dialect, last)
				}
			}
		})
	}
	r := kimiRun(t, DialectKimi, exited(1))
	r.Session([]byte(wireFinish(`"completed"`) + "\n"))
	if out := r.Close(exited(1)); out.RunResult == contract.RunSuccess && !out.HasSignal(SignalMissingTerminal) {
		t.Error("a whole answer in the file makes a success")
	}
	other, err := NewReader(&contract.Dialect{ID: DialectKimi}, "codex")
	if err != nil {
		t.Fatal(err)
	}
	other.Session([]byte(wireCut + "\n")) // another agent's file is nobody's
	other.Stdout([]byte(kimiSays("x") + "\n" + kimiHint + "\n"))
	if out := other.Close(exited(0)); out.RunResult != contract.RunSuccess {
		t.Errorf("the file of another agent makes the run a %s", out.RunResult)
	}
}

// kimiRun is a run that the pipes call a success, but for its exit code.
func kimiRun(t *testing.T, dialect string, e Ending) *Reader {
	t.Helper()
	r, err := NewReader(&contract.Dialect{ID: dialect}, "kimi")
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case dialect == DialectPlain:
		r.Stdout([]byte("It has a name\n"))
	case *e.ExitCode == 0:
		r.Stdout([]byte(kimiVersion + "\n" + kimiSays("It has a name") + "\n" + kimiHint + "\n"))
	default:
		r.Stdout([]byte(kimiVersion + "\n"))
	}
	return r
}
