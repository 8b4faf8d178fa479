package normalize_test

import (
	"slices"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
)

var stderrLines = []struct {
	line string
	want contract.StderrClass
}{
	{"", "none"},
	{"   ", "none"},
	{"Reading prompt from stdin...", "diagnostic"},
	{"Reading additional input from stdin...", "diagnostic"},
	{"Loaded cached credentials.", "diagnostic"},
	{"WARNING: proceeding, even though we could not update PATH", "diagnostic"},
	{"2026-05-21T09:18:12.446963Z ERROR codex_core::codex: failed to load skill", "diagnostic"},
	{"2026-05-21T09:18:12.446963Z ERROR codex_core: failed to refresh OAuth tokens for server x: invalid_grant", "diagnostic"},
	{"2026-05-21T09:18:12.446963Z DEBUG codex_core: request", "debug"},
	{"[DEBUG] rate limit check", "debug"},
	{"ERROR 2026-05-29T10:00:00 +5ms service=llm", "diagnostic"},
	{"\x1b[31mNot logged in\x1b[0m. Run `codex login`.", "auth"},
	{"Error: 401 {\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}", "auth"},
	{"Missing environment variable: `OPENAI_API_KEY`.", "auth"},
	{"429 Too Many Requests", "quota"},
	{"You've hit your usage limit.", "quota"},
	{"stream disconnected before completion", "upstream"},
	{"Error: 529 {\"type\":\"overloaded_error\"}", "upstream"},
	{"error: unknown option '-X'", "protocol"},
	{"error: unexpected argument '--foo' found", "protocol"},
	{"Error: When using --print, --output-format=stream-json requires --verbose", "protocol"},
	{"No conversation found with session ID: 7", "protocol"},
	{"Error loading config.toml: unknown variant `priority`, expected `fast`", "protocol"},
	{"Something else went wrong", "unknown"},
	{"thread 'main' panicked at src/main.rs:7:5", "unknown"},
	{"/home/user/quotation/authored.txt", "unknown"},
	{"warningless", "unknown"},
}

func TestStderrClass(t *testing.T) {
	for _, tt := range stderrLines {
		if got := classOf(tt.line); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.line, got, tt.want)
		}
	}
	several := []struct {
		lines []string
		want  contract.StderrClass
	}{
		{[]string{"Reading prompt from stdin...", "Not logged in."}, "auth"},
		{[]string{"Not logged in.", "429 Too Many Requests"}, "quota"},
		{[]string{"[DEBUG] a", "Reading prompt from stdin..."}, "diagnostic"},
		{[]string{"[DEBUG] a", "what is this"}, "unknown"},
	}
	for _, tt := range several {
		if got := classOf(tt.lines...); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.lines, got, tt.want)
		}
		slices.Reverse(tt.lines)
		if got := classOf(tt.lines...); got != tt.want {
			t.Errorf("%q is %s, want %s", tt.lines, got, tt.want)
		}
	}
}

func classOf(lines ...string) contract.StderrClass {
	return normalize.StderrClass(func(yield func([]byte) bool) {
		for _, l := range lines {
			if !yield([]byte(l + "\n")) {
				return
			}
		}
	})
}
