package errorcase_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/errorcase"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

func registry(t *testing.T) *store.Registry {
	t.Helper()
	reg, err := store.Open(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// read makes the case of a run that printed the lines and ended with the
// records.
func read(t *testing.T, agent, dialect, stderr string, stdout []string, end ...transcript.Record) *contract.ErrorCase {
	t.Helper()
	families, err := registry(t).Families()
	if err != nil {
		t.Fatal(err)
	}
	tr := &transcript.Transcript{}
	for _, l := range stdout {
		tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: []byte(l + "\n")})
	}
	if stderr != "" {
		tr.Records = append(tr.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stderr, Data: []byte(stderr + "\n")})
	}
	tr.Records = append(tr.Records, end...)
	in := replay.Input{Transcript: tr, Agent: agent, Dialect: families.Dialect(dialect)}
	ref, err := replay.Reference(in)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := replay.OpenDesign(in)
	if err != nil {
		t.Fatal(err)
	}
	return errorcase.Read(tr, ref, consumer)
}

func exit(code int) transcript.Record {
	return transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code}
}

func timeout(reason string) transcript.Record {
	return transcript.Record{Dir: transcript.Process, Event: transcript.EventTimeout, Signal: "SIGTERM", Reason: reason}
}

var (
	cancelled = transcript.Record{Dir: transcript.Process, Event: transcript.EventKill, Signal: "SIGTERM", Reason: transcript.ReasonCancelled}
	killed    = transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, Signal: "SIGTERM"}
)

const (
	codexTurn  = `{"type":"turn.started"}`
	codexText  = `{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"hello"}}`
	codexDone  = `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`
	qwenResult = `{"type":"result","subtype":"success","is_error":false,"result":"[API Error: 401 Incorrect API key provided: x.]"}`
)

func words(f *contract.FailureClassification) string {
	if f == nil {
		return "null"
	}
	return string(f.Category) + "/" + f.Detail + "/" + f.CancelOrigin + "/" + f.TerminalTrigger
}

// The input is the daemon's, and what is right stands beside what the consumer
// makes of it.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, agent, dialect, stderr string
		stdout                       []string
		end                          []transcript.Record
		input, right, consumer       string
	}{
		{"both know the cause", "codex", "codex", "", []string{codexTurn, `{"type":"error","message":"stream disconnected before completion"}`}, []transcript.Record{exit(1)},
			"failed failed AGENT_EXECUTION_FAILED", "upstream_unavailable/stream_disconnected//", "upstream_unavailable/stream_disconnected//"},
		{"the consumer takes it for a success", "codex", "codex", "", []string{codexTurn, codexText}, []transcript.Record{exit(0)},
			"success succeeded ", "process_exit/terminated_unknown//", "null"},
		{"plain words of an error", "qwen", "plain", "", []string{"[API Error: 401 Incorrect API key provided: x.]"}, []transcript.Record{exit(0)},
			"success succeeded ", "auth/invalid_api_key//", "null"},
		{"cancelled", "codex", "codex", "", []string{codexTurn}, []transcript.Record{cancelled, killed},
			"cancelled canceled ", "user_cancel/user_cancelled/unknown/unknown", "user_cancel/user_cancelled/unknown/unknown"},
		{"silent too long", "codex", "codex", "", []string{codexTurn}, []transcript.Record{timeout(transcript.ReasonIdleTimeout), killed},
			"failed failed AGENT_EXECUTION_FAILED", "timeout/inactivity_timeout//inactivity_watchdog", "timeout/inactivity_timeout//inactivity_watchdog"},
		{"a format that the consumer does not start", "qwen", "qwen", "", []string{qwenResult}, []transcript.Record{exit(0)},
			"failed failed AGENT_TERMINATED_UNKNOWN", "auth/invalid_api_key//", "unsaid"},
		{"such a format, and silence", "qwen", "qwen", "", nil, []transcript.Record{timeout(transcript.ReasonIdleTimeout), killed},
			"failed failed AGENT_SIGNAL_SIGTERM", "timeout/inactivity_timeout//inactivity_watchdog", "unsaid"},
		{"such a format, and no end", "qwen", "qwen", "", nil, []transcript.Record{timeout(transcript.ReasonWallTimeout), killed},
			"failed failed TIMEOUT", "timeout/timeout//", "unsaid"},
		{"a success", "codex", "codex", "", []string{codexTurn, codexText, codexDone}, []transcript.Record{exit(0)}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := read(t, c.agent, c.dialect, c.stderr, c.stdout, c.end...)
			if e == nil {
				if c.input != "" {
					t.Fatal("the run has no error case")
				}
				return
			}
			in := e.ClassifierInput
			code := ""
			if in.ErrorCode != nil {
				code = *in.ErrorCode
			}
			if got := string(in.Result) + " " + in.Status.Status + " " + code; got != c.input {
				t.Errorf("the input is %q, want %q", got, c.input)
			}
			if got := words(e.Expected); got != c.right {
				t.Errorf("expected is %q, want %q", got, c.right)
			}
			consumer := "unsaid"
			if f, known := e.Extensions.Consumers[contract.ConsumerOpenDesign]; known {
				consumer = words(f)
			}
			if consumer != c.consumer {
				t.Errorf("the consumer says %q, want %q", consumer, c.consumer)
			}
			if got := words(reclassified(t, e)); c.consumer == "unsaid" && got != c.right {
				t.Errorf("the reference says %q of the input, want %q", got, c.right)
			}
			run := errorcase.Run{Agent: c.agent, Probe: "auth-failure", Level: contract.LevelSyntheticMock, RawTranscript: contract.Sum(nil)}
			b, err := contract.Encode(run.Case(e))
			if err != nil {
				t.Fatal(err)
			}
			if p := contract.Validate(contract.KindErrorCase, "errors/x.error.json", b); contract.HasErrors(p) {
				t.Errorf("the record is not valid: %v", p)
			}
		})
	}
}

// reclassified is what the reference says of a case's input.
func reclassified(t *testing.T, e *contract.ErrorCase) *contract.FailureClassification {
	t.Helper()
	in, err := errorcase.Input(e)
	if err != nil {
		t.Fatal(err)
	}
	return classify.Reference(in)
}

// What a committed case holds is all that the consumer's classifier needs: it
// gives what the record says that it gives.
func TestCommittedCasesClassifyAsTheySay(t *testing.T) {
	cases, err := registry(t).ErrorCases()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("the registry has no error case")
	}
	for _, e := range cases {
		in, err := errorcase.Input(&e.ErrorCase)
		if err != nil {
			t.Fatal(err)
		}
		want, known := e.Extensions.Consumers[contract.ConsumerOpenDesign]
		if !known {
			continue
		}
		if diff := cmp.Diff(want, classify.Classify(in)); diff != "" {
			t.Errorf("%s: -record +classifier\n%s", e.Path, diff)
		}
	}
}
