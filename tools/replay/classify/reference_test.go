package classify

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

func spelled(f *contract.FailureClassification) string {
	if f == nil {
		return "null"
	}
	s := fmt.Sprintf("%s/%s %s %s", f.Category, f.Detail, f.Stage, f.UserAction)
	if f.Retryable {
		s += " again"
	}
	return s
}

// differences are the vectors on which the reference and OpenDesign v0.19.2
// part, with the reason. On every other vector they give the same object.
var differences = map[string]struct{ reference, why string }{
	"cancel_user_stop_with_open_tool": {"user_cancel/user_cancelled tool_execution none", stageWords},
	"auth_stale_profile":              {"process_exit/exit_nonzero child_close none", "the sentence is the daemon's own guess from words far apart in the output; the CLI did not say it"},
	"balance_text_any_agent":          {"insufficient_balance/workspace_credits_exhausted first_token_wait recharge", "an account at the agent's provider is not an account at OpenDesign's own service"},
	"workspace_credits":               {"insufficient_balance/workspace_credits_exhausted first_token_wait recharge", "money that is used up is no rate limit"},
	"cli_version_incompatible":        {"process_exit/cli_version_incompatible spawn fix_config", "a refused option has nothing to do with the model"},
	"cli_version_codex":               {"model_unavailable/cli_version_incompatible model_select install_cli", "the text asks for a newer CLI; another model is not what the user wants"},
	"rate_limited_code":               {"rate_limit/rate_limit_429 first_token_wait retry again", limitStage},
	"rate_429":                        {"rate_limit/rate_limit_429 first_token_wait retry again", limitStage},
	"stderr_text_is_used":             {"upstream_unavailable/provider_high_demand first_token_wait retry again", "overloaded_error is high demand; OpenDesign's pattern wants a word boundary before the underscore"},
	"sigterm":                         {"process_exit/signal_killed child_close none", "a run that a signal ended is known to be one"},
	"terminated_unknown":              {"process_exit/terminated_unknown child_close retry again", "nothing says that the same run fails again"},
	"exec_failed_stream_error":        {"process_exit/stream_error first_token_wait retry again", "the stream failed before any text, whenever the child closed"},
	"bare_not_found_other_agent":      {"process_exit/exit_nonzero child_close none", exitCode},
	"exec_failed_no_close_reason":     {"process_exit/exit_nonzero child_close none", exitCode},
	"no_code_no_text":                 {"process_exit/exit_nonzero child_close none", exitCode},
	"unknown_code":                    {"process_exit/exit_nonzero child_close none", exitCode},
	"only_last_attempt_counts":        {"process_exit/exit_nonzero child_close none", exitCode},
	"stdout_text_is_not_used":         {"process_exit/exit_nonzero child_close none", exitCode},
	"terminal_trigger_added":          {"process_exit/exit_nonzero child_close none", exitCode},
	"stage_after_text":                {"process_exit/exit_nonzero child_close none", exitCode},
	"stage_after_tool_done":           {"process_exit/exit_nonzero child_close none", exitCode},
	"stage_artifact":                  {"process_exit/exit_nonzero child_close none", exitCode},
}

const (
	stageWords = "a tool that runs is one stage for the reference; OpenDesign has two further words for it"
	limitStage = "a limit is met when the first token is due, not when the session starts"
	exitCode   = "all that is known is the exit code, and its detail has one name"
)

func TestReferenceOnVectors(t *testing.T) {
	known := 0
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			got := spelled(Reference(v.Input))
			d, differs := differences[v.Name]
			if differs {
				known++
			}
			switch same := spelled(v.Output); {
			case !differs && got != same:
				t.Errorf("the reference says %s, OpenDesign %s, and no reason is given", got, same)
			case differs && got != d.reference:
				t.Errorf("the reference says %s, not %s", got, d.reference)
			case differs && got == same:
				t.Errorf("there is no difference any more")
			}
		})
	}
	if known != len(differences) {
		t.Errorf("%d of the %d differences are about vectors that are not there", len(differences)-known, len(differences))
	}
}

// Words of the CLI beat the daemon's code, its code beats the exit, and a run
// that hangs hangs unless it asked to sign in.
func TestReference(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"a success", `{"result":"success","status":{"status":"succeeded"}}`, "null"},
		{"the error's words beat a wrong code", `{"result":"failed","errorCode":"AGENT_AUTH_REQUIRED","status":{"status":"failed","exitCode":1},"events":[{"event":"error","data":{"message":"HTTP 503 Service Unavailable"}}]}`,
			"upstream_unavailable/upstream_5xx first_token_wait retry again"},
		{"so do words on stderr", `{"result":"failed","errorCode":"RATE_LIMITED","status":{"status":"failed","exitCode":1},"events":[{"event":"stderr","data":{"chunk":"Error loading config.toml: unknown variant\n"}}]}`,
			"process_exit/agent_config_invalid session_init fix_config"},
		{"a chatty stderr decides nothing", `{"result":"failed","errorCode":"RATE_LIMITED","status":{"status":"failed","exitCode":1},"events":[{"event":"stderr","data":{"chunk":"Reading prompt from stdin...\n"}}]}`,
			"rate_limit/rate_limit_429 first_token_wait retry again"},
		{"the daemon's sentence about quota is about silence", `{"result":"failed","errorCode":"AGENT_EXECUTION_FAILED","status":{"status":"failed","exitCode":0,"error":"Agent completed without producing any output. The model or provider may have returned an empty response. Check the agent logs for upstream errors, then try re-authenticating the agent, checking quota, or switching models."}}`,
			"empty_output/empty_output first_token_wait retry again"},
		{"silence that the watchdog ended", `{"result":"failed","status":{"status":"failed","signal":"SIGTERM","error":"Agent stalled without emitting any new output for 600s."},"events":[{"event":"agent","data":{"type":"tool_use","id":"a"}}]}`,
			"timeout/inactivity_timeout tool_execution retry again"},
		{"silence in a sign-in", `{"result":"failed","agentId":"qwen","status":{"status":"failed","signal":"SIGTERM","error":"Agent stalled without emitting any new output for 600s."},"events":[{"event":"stderr","data":{"chunk":"=== Qwen OAuth Device Authorization ===\n"}}]}`,
			"auth/auth_required session_init login"},
		{"a status number with its name", `{"result":"failed","status":{"status":"failed","exitCode":0},"events":[{"event":"agent","data":{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":429}}}}]}`,
			"rate_limit/rate_limit_429 first_token_wait retry again"},
		{"what the model wrote is no evidence", `{"result":"failed","status":{"status":"failed","exitCode":1},"events":[{"event":"agent","data":{"type":"text_delta","delta":"HTTP 429","message":"HTTP 429"}}]}`,
			"process_exit/exit_nonzero child_close none"},
		{"an exit code that only the daemon's code has", `{"result":"failed","errorCode":"AGENT_EXIT_139","status":{"status":"failed"}}`,
			"process_exit/process_crashed child_close none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var in Input
			if err := json.Unmarshal([]byte(c.input), &in); err != nil {
				t.Fatal(err)
			}
			if got := spelled(Reference(in)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func FuzzReference(f *testing.F) {
	f.Add(`{"result":"failed","status":{"status":"failed"},"events":[{"event":"error","data":{"message":"HTTP 429","error":{"data":{"statusCode":404}}}}]}`)
	f.Add(`{"result":"cancelled","events":[{"event":"agent","data":{"type":"tool_use"}},{"event":"stderr","data":"x"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in Input
		if json.Unmarshal([]byte(text), &in) != nil {
			in = Input{Result: "failed", Status: Status{Error: text}, AgentID: "codex"}
		}
		got := Reference(in)
		if (got == nil) != (in.Result == "success") {
			t.Fatal("only a success has no classification")
		}
		if got != nil && in.CancelOrigin == "" && in.TerminalTrigger == "" && !got.Valid() {
			t.Fatalf("a word outside the enumerations: %+v", *got)
		}
	})
}
