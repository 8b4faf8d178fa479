package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A call makes the command that it names, under that name, and only this one; a
// call that names none, or something else first, has all of them.
func TestNamedCommands(t *testing.T) {
	a := &app{env: testEnv(t, "")}
	all := a.commands()
	for _, c := range all {
		made := a.named([]string{c.name, "--machine"})
		if len(made) != 1 || made[0].Name() != c.name || len(made[0].Aliases) > 0 {
			t.Errorf("%s makes %d commands, the first %q, other names %q", c.name, len(made), made[0].Name(), made[0].Aliases)
		}
	}
	for _, args := range [][]string{nil, {"help", "capture"}, {"--quiet", "capture"}, {"captures"}, {"__complete", ""}} {
		if made := a.named(args); len(made) != len(all) {
			t.Errorf("%q makes %d commands of %d", args, len(made), len(all))
		}
	}
}

// The manual has a page for every command, although man itself is called alone.
func TestManHasEveryCommand(t *testing.T) {
	dir := t.TempDir()
	env := testEnv(t, "", "man", dir)
	if code := Main(t.Context(), env); code != ExitOK {
		t.Fatalf("exit code %d", code)
	}
	for path := range leaves((&app{env: testEnv(t, "")}).rootCommand()) {
		page, err := os.ReadFile(filepath.Join(dir, "agent-contracts-"+strings.ReplaceAll(path, " ", "-")+".1"))
		if err != nil || !bytes.Contains(page, []byte(".SH SYNOPSIS")) {
			t.Errorf("%s has no page: %v", path, err)
		}
	}
}

// What cannot be added to a registry is the fault of who asked, not ours.
func TestInitRefuses(t *testing.T) {
	for _, args := range [][]string{{"--agent", "../x"}, {"--agent", "codex"}, {"--probe", "A b"}, {"--probe", "chat-text-success"}, {"--family", "json/v9"}, {"--maintainer", "=key"}} {
		env := testEnv(t, "", append([]string{"init", filepath.Join(t.TempDir(), "own")}, args...)...)
		if code := Main(t.Context(), env); code != ExitUsage {
			t.Errorf("%q: exit code %d, %s", args, code, env.Stderr)
		}
	}
}
