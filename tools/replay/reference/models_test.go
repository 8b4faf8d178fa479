package reference

import (
	"slices"
	"testing"
)

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name, stdout string
		want         []string
	}{
		{"table under a warning", "Warning: No models match pattern \"x/y\"\nprovider   model            context\nanthropic  claude-sonnet-4  200K\nopenai     gpt-5            272K\n", []string{"anthropic/claude-sonnet-4", "openai/gpt-5"}},
		{"usage of a CLI that does not know the flag", "Error: unknown flag: --list-models\nRun `omp --help` for available flags.\n", nil},
		{"names", "opencode/big-pickle\n* openrouter/a/b:free\n\nsee https://example.com/models for more\n", []string{"opencode/big-pickle", "openrouter/a/b:free"}},
		{"CRLF and colours", "\x1b[1mprovider  model\x1b[0m\r\nopenai  gpt-5\r\n\r\nnot a/row of it\r\n", []string{"openai/gpt-5"}},
		{"nothing", "", nil},
	} {
		if got := Models(c.stdout); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzModels(f *testing.F) {
	f.Add("provider model\na b\n\x1b[")
	f.Fuzz(func(_ *testing.T, stdout string) { Models(stdout) })
}
