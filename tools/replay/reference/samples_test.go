package reference

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSampleStreams reads streams of other projects' tests, most of them what
// a real CLI printed. They lie beside the repository and are not part of it.
func TestSampleStreams(t *testing.T) {
	root := filepath.Join(sharedFolder(t), "sample-streams")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no sample streams beside the repository")
	}
	for _, s := range []struct {
		file, dialect, agent string
		code                 int
		result, reported     string
		texts                int
		tools                string
	}{
		{"amp/amp_stream_success.jsonl", DialectAmp, "amp", 0, "success", "success", 1, "Bash:done"},
		{"amp/amp_stream_error.jsonl", DialectAmp, "amp", 1, "failed auth/auth_required session_init", "error", 0, ""},
		{"copilot/simple_session.jsonl", DialectCopilot, "copilot", 0, "success", "exitCode 0", 1, ""},
		{"copilot/resume_session.jsonl", DialectCopilot, "copilot", 0, "success", "exitCode 0", 1, ""},
		{"copilot/tool_use_session.jsonl", DialectCopilot, "copilot", 0, "success", "exitCode 0", 1, "view:done"},
		{"copilot/malformed_lines.jsonl", DialectCopilot, "copilot", 0, "success", "", 1, ""},
		{"copilot/auth_failure.jsonl", DialectCopilot, "copilot", 1, "failed auth/auth_required session_init", "", 0, ""},
		{"gemini/gemini_stream_success.jsonl", DialectGemini, "gemini", 0, "success", "success", 1, "Bash:done write_file:done"},
		{"gemini/gemini_stream_error.jsonl", DialectGemini, "gemini", 1, "failed auth/invalid_api_key session_init", "", 0, ""},
		{"kimi/gitmoot_kimi.jsonl", DialectKimi, "kimi", 0, "success", "session.resume_hint", 1, ""},
		{"kimi/gitmoot_kimi_tool_run.jsonl", DialectKimi, "kimi", 0, "success", "session.resume_hint", 1, "Bash:done"},
		{"opencode/opencode_stream_success.jsonl", DialectOpenCode, "opencode", 0, "success", "stop", 1, "bash:done"},
		{"opencode/opencode_stream_success_no_reason.jsonl", DialectOpenCode, "opencode", 0, "success", "", 1, ""},
		{"opencode/opencode_stream_error.jsonl", DialectOpenCode, "opencode", 1, "failed rate_limit/rate_limit_429 first_token_wait", "", 0, ""},
		{"opencode/opencode-example-output.jsonl", DialectOpenCode, "opencode", 0, "success", "stop", 1,
			"read:done read:done read:done read:done read:done read:done read:done read:done read:done"},
		{"opencode/fullsend_basic_run.ndjson", DialectOpenCode, "opencode", 0, "failed empty_output/empty_output tool_execution", "tool-calls", 1, "bash:done"},
		{"opencode/fullsend_multi_step.ndjson", DialectOpenCode, "opencode", 0, "success", "stop", 1, "*"},
		{"opencode/fullsend_reasoning_run.ndjson", DialectOpenCode, "opencode", 0, "success", "stop", 1, ""},
		{"opencode/fullsend_error_run.ndjson", DialectOpenCode, "opencode", 1, "failed rate_limit/hard_quota tool_execution", "error", 0, "edit:failed"},
		{"pi/stream-stdout.jsonl", DialectPiJSON, "pi", 0, "success", "stop", 1, ""},
		{"pi/pi_stream_error.jsonl", DialectPiJSON, "pi", 0, "failed process_exit/stream_error child_close", "error", 1, ""},
		{"pi/pi_print_mode_events.jsonl", DialectPiJSON, "pi", 0, "success", "stop", 3, "read:done"},
		{"qoder/qoder_0.2.6_from_od_tests.jsonl", DialectQoder, "qoder", 0, "success", "success", 3, ""},
	} {
		t.Run(s.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.file)))
			if err != nil {
				t.Skipf("no sample %s", s.file)
			}
			r := readAs(t, s.dialect, s.agent, b, nil, exited(s.code), uncut)
			for _, c := range []struct{ what, got, want string }{
				{"result", result(r), s.result}, {"reported", r.ReportedResult, s.reported}, {"tools", tools(r), s.tools},
			} {
				if c.got != c.want && c.want != "*" {
					t.Errorf("%s is %q, want %q", c.what, c.got, c.want)
				}
			}
			if len(r.Texts) != s.texts {
				t.Errorf("%d texts, want %d", len(r.Texts), s.texts)
			}
		})
	}
}
