package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/classify"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/rpc"
)

func exit(code int) Ending { return Ending{Code: &code} }

func out(lines ...string) Step { return Step{Stdout, []byte(strings.Join(lines, "\n") + "\n")} }

func errs(text string) Step { return Step{Stderr, []byte(text)} }

const (
	codexStart = `{"type":"thread.started","thread_id":"t"}`
	codexTool  = `{"type":"item.started","item":{"id":"i","type":"command_execution","command":"ls"}}`
	codexText  = `{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"hello"}}`
	claudeText = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hello"}]}}`
	claudeDone = `{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn"}`
	claude401  = `{"type":"result","subtype":"success","is_error":true,"result":"Failed to authenticate. API Error: 401 revoked"}`
	claudeHTML = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"a.HTML","content":"x"}}]}}`
	claudeWrit = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"w","content":"ok"}]}}`
)

// Each run ends with a status and a code, and its classification is what
// OpenDesign's classifier makes of that: category/detail/stage.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		steps  []Step
		end    Ending
		want   string // status code reason classification
	}{
		{"codex succeeds", Config{Agent: "codex"}, []Step{out(codexStart, codexText)}, exit(0), "succeeded  exit_0"},
		{"codex without text fails, and the sentence speaks of quota", Config{Agent: "codex"}, []Step{out(codexStart, codexTool)}, exit(0),
			"failed AGENT_EXECUTION_FAILED empty_output rate_limit/hard_quota/session_init"},
		{"the first stream error decides, the exit code does not", Config{Agent: "codex"},
			[]Step{out(codexStart, codexText, `{"type":"error","message":"boom"}`)}, exit(0),
			"failed AGENT_EXECUTION_FAILED stream_error process_exit/stream_error/child_close"},
		{"an open tool is the stage", Config{Agent: "codex"}, []Step{out(codexStart, codexTool, `{"type":"turn.failed"}`)}, exit(1),
			"failed AGENT_EXECUTION_FAILED stream_error process_exit/stream_error/tool_outstanding"},
		{"a service code comes from the error's text", Config{Agent: "codex"},
			[]Step{out(`{"type":"error","message":"stream error: HTTP 503"}`)}, exit(1),
			"failed UPSTREAM_UNAVAILABLE stream_error upstream_unavailable/upstream_5xx/first_token_wait"},
		{"stderr is read", Config{Agent: "codex"}, []Step{errs("Error loading config.toml: unknown variant `x`\n")}, exit(1),
			"failed AGENT_EXECUTION_FAILED exit_nonzero process_exit/agent_config_invalid/session_init"},
		{"an exit without a word", Config{Agent: "codex"}, nil, exit(3), "failed AGENT_EXIT_3 exit_nonzero process_exit/exit_code/child_close"},
		{"a signal without a word", Config{Agent: "codex"}, nil, Ending{Signal: "SIGSEGV"},
			"failed AGENT_SIGNAL_SIGSEGV signal process_exit/process_crashed/child_close"},
		{"opencode exits 0 after an error", Config{Agent: "opencode"},
			[]Step{out(`{"type":"error","error":{"name":"APIError","data":{"message":"Rate limit exceeded"}}}`)}, exit(0),
			"failed RATE_LIMITED stream_error rate_limit/rate_limit_429/session_init"},
		{"thinking and tools are no output", Config{Agent: "qoder"},
			[]Step{out(`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"h"}]}}`)}, exit(0),
			"failed AGENT_EXECUTION_FAILED empty_output rate_limit/hard_quota/session_init"},
		{"claude succeeds", Config{Agent: "claude"}, []Step{out(claudeText, claudeDone)}, exit(0), "succeeded  exit_0"},
		{"a clean turn outlives the kill", Config{Agent: "claude"}, []Step{out(claudeText, claudeDone)}, Ending{Signal: "SIGKILL"}, "succeeded  signal"},
		{"an artifact outlives the exit code", Config{Agent: "claude"}, []Step{out(claudeHTML, claudeWrit)}, exit(1), "succeeded  exit_nonzero"},
		{"claude without sign-in", Config{Agent: "claude"}, []Step{out(claude401)}, exit(1),
			"failed AGENT_AUTH_REQUIRED stream_error auth/auth_required/session_init"},
		{"claude cut off by the provider", Config{Agent: "claude", ClaudeBaseURL: true},
			[]Step{out(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"API Error: The socket connection was closed unexpectedly."}]},"error":"unknown"}`)}, exit(1),
			"failed AGENT_CONNECTION_DROPPED stream_error upstream_unavailable/stream_disconnected/child_close"},
		{"claude without a word", Config{Agent: "claude"}, nil, exit(1),
			"failed AGENT_EXECUTION_FAILED exit_nonzero process_exit/exit_nonzero/child_close"},
		{"exit 0 with words of sign-in in the output", Config{Agent: "claude"}, []Step{out(`{"type":"x"}`, "Not logged in")}, exit(0),
			"failed AGENT_AUTH_REQUIRED exit_0 auth/auth_required/session_init"},
		{"a role marker kills the child", Config{Agent: "codex"},
			[]Step{out(codexStart, `{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"hi\n## user\nmore"}}`, codexText)}, exit(0),
			"failed AGENT_EXECUTION_FAILED signal process_exit/fabricated_role_marker/child_close"},
		{"cancelled", Config{Agent: "codex"}, []Step{out(codexStart, codexTool), {Kind: Cancel}, out(`{"type":"error","message":"late"}`)},
			Ending{Signal: "SIGTERM", CancelOrigin: "user_stop"}, "canceled  cancel_requested user_cancel/user_cancelled/tool_outstanding"},
		{"an error before the cancel stays one", Config{Agent: "codex"}, []Step{out(`{"type":"error","message":"boom"}`), {Kind: Cancel}},
			Ending{Signal: "SIGTERM"}, "failed AGENT_EXECUTION_FAILED stream_error process_exit/stream_error/child_close"},
		{"stalled", Config{Agent: "codex"}, []Step{out(codexStart)}, Ending{Signal: "SIGTERM", StalledSeconds: 600},
			"failed AGENT_EXECUTION_FAILED signal timeout/inactivity_timeout/first_token_wait"},
		{"plain output", Config{Agent: "qwen"}, []Step{out("hi")}, exit(0), "succeeded  exit_0"},
		{"plain silence", Config{Agent: "qwen"}, nil, exit(0), "failed AGENT_EXECUTION_FAILED empty_output empty_output/empty_output/first_token_wait"},
		{"antigravity's silence means no sign-in", Config{Agent: "antigravity"}, nil, exit(0),
			"failed AGENT_AUTH_REQUIRED empty_output auth/auth_required/session_init"},
		{"antigravity speaks gemini", Config{Agent: "antigravity"},
			[]Step{out(`{"type":"init","session_id":"s","model":"m"}`, `{"type":"error","message":"boom"}`)}, exit(0),
			"failed AGENT_EXECUTION_FAILED stream_error process_exit/stream_error/child_close"},
		{"cursor asks to sign in", Config{Agent: "cursor-agent"}, []Step{errs("Authentication required. Run agent login")}, exit(1),
			"failed AGENT_AUTH_REQUIRED exit_nonzero auth/auth_required/session_init"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := Close(Input{c.config, c.steps, c.end})
			if err != nil {
				t.Fatal(err)
			}
			got := o.Status + " " + o.ErrorCode + " " + o.CloseReason
			if f := classify.Classify(o.Classifier); f != nil {
				got += " " + string(f.Category) + "/" + f.Detail + "/" + string(f.Stage)
			}
			if got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What agent amr prints while it starts is shown to nobody, however it is cut;
// of other agents everything is shown as it comes.
func TestStderrOfTheStartIsNotShown(t *testing.T) {
	chunks := []string{"Performing one time database migration, may take a few minutes...\nsqlite-migr", "ation:12.5%\r", "\nkept\r\n \ufeffDatabase Migration complete\n",
		"Warning: OPENCODE_SERVER_PASSWORD is not set; server is unsecured.\rsqlite-migration:x\n", "opencode server listening on http://127.0.0.1:4096/\nopencode server listening on http://127.0.0.1:4096/x\nsqlite-migration:done"}
	var steps []Step
	for _, c := range chunks {
		steps = append(steps, errs(c))
	}
	for agent, want := range map[string][]string{
		"amr":    {"\nkept\r\n", "sqlite-migration:x\n", "opencode server listening on http://127.0.0.1:4096/x\n"},
		"hermes": chunks,
	} {
		o, err := Close(Input{Config{Agent: agent}, steps, exit(0)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range o.Classifier.Events {
			var d struct{ Chunk string }
			if e.Event == "stderr" && json.Unmarshal(e.Data, &d) == nil {
				got = append(got, d.Chunk)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", agent, diff)
		}
	}
}

// A retry that the account is the reason for ends a run of agent amr, also if
// only its log tells of it.
func TestStderrOfAnAccountEndsTheRun(t *testing.T) {
	steps := []Step{errs("opencode_event_stream_failure: ret"), errs("ry, session expired\n")}
	amr := Config{Agent: "amr", Session: rpc.Options{ModelUnavailableCode: "AMR_MODEL_UNAVAILABLE"}}
	for agent, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"amr":    {amr, "AMR_AUTH_REQUIRED fatal_rpc_error"},
		"hermes": {Config{Agent: "hermes"}, "AGENT_AUTH_REQUIRED fatal_rpc_error"},
	} {
		o, err := Close(Input{c.cfg, steps, exit(1)})
		if got := o.ErrorCode + " " + o.CloseReason; err != nil || got != c.want {
			t.Errorf("%s: got %s, %v", agent, got, err)
		}
	}
}

func TestResumeTargetGoneRunsAgain(t *testing.T) {
	in := Input{Config{Agent: "codex", Resuming: true}, []Step{errs("Error: thread/resume failed: no rollout found for thread id x")}, exit(1)}
	o, err := Close(in)
	if err != nil || !o.Rerun || o.Status != "" {
		t.Errorf("got %+v, %v: the run must start again silently", o, err)
	}
	in.Config.Resuming = false
	if o, _ := Close(in); o.Rerun {
		t.Error("a fresh run has nothing to resume")
	}
}

// The tail of stdout holds the rest of the chunk when an error event is
// judged: OpenDesign's verdict may depend on chunk borders.
func TestErrorSeesTheRestOfItsChunk(t *testing.T) {
	failure := `{"type":"error","message":"boom"}`
	after := `{"type":"x","note":"HTTP 429"}`
	one, _ := Close(Input{Config{Agent: "codex"}, []Step{out(failure, after)}, exit(1)})
	two, _ := Close(Input{Config{Agent: "codex"}, []Step{out(failure), out(after)}, exit(1)})
	if one.ErrorCode != "RATE_LIMITED" || two.ErrorCode != "AGENT_EXECUTION_FAILED" {
		t.Errorf("got %s and %s", one.ErrorCode, two.ErrorCode)
	}
}

// Only the last 2,000 events are kept: a tool call before them is forgotten.
func TestOldEventsAreForgotten(t *testing.T) {
	steps := []Step{out(codexTool)}
	for range KeptEvents {
		steps = append(steps, out(codexText))
	}
	o, err := Close(Input{Config{Agent: "codex"}, steps, exit(1)})
	if err != nil {
		t.Fatal(err)
	}
	want := &contract.FailureClassification{Category: "process_exit", Detail: "exit_nonzero", Stage: "child_close", Retryable: true, UserAction: "retry"}
	if diff := cmp.Diff(want, classify.Classify(o.Classifier)); diff != "" || len(o.Classifier.Events) != KeptEvents {
		t.Errorf("%d events, -want +got\n%s", len(o.Classifier.Events), diff)
	}
}

func TestUnknownAgentsAreRefused(t *testing.T) {
	for _, agent := range []string{"", "gemini", "deepseek-harness"} {
		if _, err := Close(Input{Config: Config{Agent: agent}}); err == nil {
			t.Errorf("agent %q is not followed as v%s does", agent, opendesign.Version)
		}
	}
}

// Sessions: the answer to the prompt counts although the child is then
// terminated; an error answer ends the run; so does an early exit.
func TestSessionsAreFollowed(t *testing.T) {
	const ready, session = `{"id":1,"result":{}}`, `{"id":2,"result":{"sessionId":"S"}}`
	const said = `{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`
	terminated := Ending{Signal: "SIGTERM"}
	for _, tt := range []struct {
		name, agent         string
		steps               []Step
		end                 Ending
		status, code, close string
	}{
		{"answered, then terminated", "kimi", []Step{out(ready, session, said, `{"id":3,"result":{}}`)}, terminated, opendesign.Succeeded, "", "signal"},
		{"terminated without an answer", "kimi", []Step{out(ready, session, said)}, terminated, opendesign.Failed, "AGENT_EXECUTION_FAILED", "fatal_rpc_error"},
		{"an error answer", "kimi", []Step{out(ready, `{"id":2,"error":{"code":-32000,"message":"Too many requests: HTTP 429"}}`)}, terminated, opendesign.Failed, "RATE_LIMITED", "fatal_rpc_error"},
		{"cancelled", "kimi", []Step{out(ready, session, said), {Kind: Cancel}}, terminated, opendesign.Canceled, "", "cancel_requested"},
		{"pi without text", "pi", []Step{out(`{"type":"agent_end"}`)}, exit(0), opendesign.Failed, "AGENT_EXECUTION_FAILED", "empty_output"},
		{"pi refuses the prompt", "pi", []Step{out(`{"type":"response","id":1,"success":false,"error":"no"}`)}, exit(0), opendesign.Failed, "AGENT_EXECUTION_FAILED", "fatal_rpc_error"},
	} {
		o, err := Close(Input{Config{Agent: tt.agent}, tt.steps, tt.end})
		if err != nil {
			t.Fatal(err)
		}
		if o.Status != tt.status || o.ErrorCode != tt.code || o.CloseReason != tt.close {
			t.Errorf("%s: got %s, %s, %s", tt.name, o.Status, o.ErrorCode, o.CloseReason)
		}
	}
}

func FuzzClose(f *testing.F) {
	f.Add("codex", []byte(codexText+"\n"), []byte("HTTP 401"), 1)
	f.Add("claude", []byte(claude401), []byte("\xff"), 0)
	f.Add("kimi", []byte(`{"id":1,"result":{}}`+"\n"), []byte(""), 0)
	f.Add("antigravity", []byte(`{"type":"init","session_id":"s","model":"m"}`), []byte(""), 0)
	f.Fuzz(func(t *testing.T, agent string, stdout, stderr []byte, code int) {
		o, err := Close(Input{Config{Agent: agent}, []Step{{Stdout, stdout}, {Stderr, stderr}}, exit(code)})
		if err != nil || o.Rerun {
			return
		}
		f := classify.Classify(o.Classifier)
		if (f == nil) != (o.Status == opendesign.Succeeded) {
			t.Fatal("every run but a success has a classification")
		}
		if f != nil && !f.Valid() {
			t.Fatalf("a word outside the enumerations: %+v", *f)
		}
	})
}
