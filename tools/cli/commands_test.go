package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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

// A misspelt command is refused at every level: report dffs --check must not pass.
func TestMisspeltCommands(t *testing.T) {
	groups := 0
	for _, c := range (&app{env: testEnv(t, "")}).rootCommand().Commands() {
		if !c.HasSubCommands() {
			continue
		}
		groups++
		below := slices.DeleteFunc(slices.Clone(c.Commands()), func(c *cobra.Command) bool { return c.Hidden })
		env := testEnv(t, "", c.Name(), below[0].Name()+"x")
		if code := Main(t.Context(), env); code != ExitUsage || env.Stdout.(*bytes.Buffer).Len() > 0 || !strings.Contains(env.Stderr.(*bytes.Buffer).String(), "did you mean") {
			t.Errorf("%q: exit code %d, %s%s", env.Args, code, env.Stdout, env.Stderr)
		}
	}
	if groups < 5 {
		t.Errorf("%d commands have others below them", groups)
	}
}

// What a summary is asked for must be an agent, and what it links to a page.
func TestReportRiskRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"codx"}, ExitUsage, "codex"},
		{[]string{"@1"}, ExitUsage, ""},
		{[]string{"codex", "--link", "javascript:alert(1)"}, ExitUsage, "https://"},
		{[]string{"codex@latest"}, ExitCannotKnow, "report risk codex tells"},
	} {
		env := testEnv(t, "", append([]string{"report", "risk"}, c.args...)...)
		if code := Main(t.Context(), env); code != c.code || !strings.Contains(env.Stderr.(*bytes.Buffer).String(), c.says) {
			t.Errorf("%q: exit code %d, %s", c.args, code, env.Stderr)
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
