package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// A shell is offered agents, versions and probes; behind AGENT@ versions of that
// agent, behind a comma one more probe.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		line []string
		want string
		not  string
	}{
		{[]string{"capture", ""}, "codex\tCodex CLI", "codex@0.144.0"},
		{[]string{"capture", "codex@"}, "codex@0.144.0", "codex\tCodex CLI"},
		{[]string{"can-i-use", "codex", ""}, "0.144.0", "codex\tCodex CLI"},
		{[]string{"capture", "codex", "--probe", ""}, "basic", "chat-text-success,basic"},
		{[]string{"capture", "codex", "--probe", "chat-text-success,"}, "chat-text-success,chat-tool-success", "chat-text-success,basic"},
		{[]string{"health", "--probe", ""}, "chat-tool-success", "basic"},
		{[]string{"explain", ""}, "MATRIX-DERIVED", "codex\tCodex CLI"},
	} {
		env := testEnv(t, "", append([]string{"__complete"}, c.line...)...)
		if code := Main(t.Context(), env); code != ExitOK {
			t.Fatalf("%q: exit code %d", c.line, code)
		}
		offered := strings.Split(env.Stdout.(*bytes.Buffer).String(), "\n")
		if !slices.Contains(offered, c.want) || slices.Contains(offered, c.not) {
			t.Errorf("%q: offered %.200q, want %q and not %q", c.line, offered, c.want, c.not)
		}
	}
}
