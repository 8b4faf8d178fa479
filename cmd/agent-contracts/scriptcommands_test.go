//go:build unix

package main

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE COMMAND ARGS... runs a command and asserts its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// secret FILE puts a token of real grammar, made up now, for the word SECRET
// in a file and into $SECRET.
func writeSecret(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: secret FILE")
	}
	token := "ghp_" + rand.Text() + rand.Text()[:10]
	ts.Check(replaceIn(ts.MkAbs(args[0]), "SECRET", token))
	ts.Setenv("SECRET", token)
}

// edit FILE FROM TO replaces a text that must be there.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE FROM TO")
	}
	if !strings.Contains(ts.ReadFile(args[0]), args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(replaceIn(ts.MkAbs(args[0]), args[1], args[2]))
}

// fake MODE [FILE] installs the fake CLI as $FAKE. It behaves as MODE says and
// prints FILE. A capture gives its child a new environment, so both are told by
// files beside the program.
func installFake(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fake MODE [FILE]")
	}
	dir := ts.MkAbs("fake-" + args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	fake := filepath.Join(dir, "fake-codex")
	ts.Check(install(program, fake))
	ts.Check(os.WriteFile(filepath.Join(dir, "mode"), []byte(args[0]), 0o644))
	if len(args) == 2 {
		ts.Check(copyFile(ts.MkAbs(args[1]), filepath.Join(dir, "stdout")))
	}
	ts.Setenv("FAKE", fake)
}

// onpath [NAME] gives the script a PATH of its own, which holds this program,
// the system's tools and the fake CLI under that name, if one is given.
func putOnPath(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: onpath [NAME]")
	}
	dir := ts.MkAbs("bin")
	ts.Check(os.MkdirAll(dir, 0o755))
	if len(args) == 1 {
		wrapper := "#!/bin/sh\nexec '" + ts.Getenv("FAKE") + "' \"$@\"\n"
		ts.Check(os.WriteFile(filepath.Join(dir, args[0]), []byte(wrapper), 0o755))
	}
	ours, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator)) // package testscript puts its commands first
	ts.Setenv("PATH", strings.Join([]string{dir, ours, "/usr/bin", "/bin"}, string(os.PathListSeparator)))
}
