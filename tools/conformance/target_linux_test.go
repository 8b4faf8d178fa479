package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script is an executable under judgement that is this shell script. {dir} of
// it is the folder of the requirement.
func script(t *testing.T, text string) *executable {
	t.Helper()
	path := filepath.Join(t.TempDir(), "executable")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JUDGED", "the judge's own")
	target, done, err := Executables(&Profile{Name: "script", Env: map[string]string{"JUDGED": "{dir}"}}, path)(Requirement{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return target.(*executable)
}

func notBlocked(t *testing.T, err error) {
	t.Helper()
	var blocked *BlockedError
	if errors.As(err, &blocked) {
		t.Skipf("this machine cannot make the situation: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// On a terminal both ends are one, and a pager that is found there is told of.
func TestCallOnATerminal(t *testing.T) {
	x := script(t, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && [ "$TERM" = xterm-256color ] && echo '{"ok":true}'; less </dev/null >/dev/null 2>&1`+"\n")
	a := x.Run(context.Background(), Call{Terminal: true})
	notBlocked(t, a.Err)
	if string(a.Stdout) != "{\"ok\":true}\n" {
		t.Errorf("stdout is %q", a.Stdout)
	}
	if !x.Trapped("less") || x.Trapped("more") {
		t.Errorf("less %v, more %v", x.Trapped("less"), x.Trapped("more"))
	}
}

// An executable that is stopped at what it starts goes no further, and neither
// does what it started.
func TestPrepared(t *testing.T) {
	x := script(t, ": >\"$JUDGED/record\"\n/bin/sh -c ': >\"$JUDGED/child\"'\n: >\"$JUDGED/after\"\n")
	found, err := x.Prepared(context.Background(), Call{}, func() bool { return x.There(filepath.Join(x.dir, "record")) })
	notBlocked(t, err)
	if !found || x.There(filepath.Join(x.dir, "child")) || x.There(filepath.Join(x.dir, "after")) {
		t.Errorf("found %v", found)
	}
	if found, err = x.Prepared(context.Background(), Call{}, func() bool { return false }); err != nil || found {
		t.Errorf("nothing was looked for: found %v, %v", found, err)
	}
	if !x.There(filepath.Join(x.dir, "child")) || !x.There(filepath.Join(x.dir, "after")) {
		t.Error("an executable that is not stopped does not come to its end")
	}
}

// What an executable starts is held until the caller has done its part, and has
// the environment of every other call.
func TestHeld(t *testing.T) {
	x := script(t, `env >"$JUDGED/waited"; setsid /bin/sh -c 'env >"$JUDGED/env"; cat "$JUDGED/input" >"$JUDGED/read"; : >"$JUDGED/done"' & echo started; exit 3`+"\n")
	if err := x.Write("input", "first"); err != nil {
		t.Fatal(err)
	}
	a, err := x.Held(context.Background(), Call{}, func() {
		if !x.There(filepath.Join(x.dir, "waited")) || x.There(filepath.Join(x.dir, "env")) {
			t.Error("what was started is not held")
		}
		if err := x.Write("input", "second"); err != nil {
			t.Error(err)
		}
	})
	notBlocked(t, err)
	if string(a.Stdout) != "started\n" || a.Code != 3 {
		t.Errorf("stdout %q, exit code %d", a.Stdout, a.Code)
	}
	if err := x.Wait(context.Background(), filepath.Join(x.dir, "done")); err != nil {
		t.Fatal(err)
	}
	read, err := os.ReadFile(filepath.Join(x.dir, "read"))
	env, err2 := os.ReadFile(filepath.Join(x.dir, "env"))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if string(read) != "second" {
		t.Errorf("it read %q", read)
	}
	if n := strings.Count("\n"+string(env), "\nJUDGED="); n != 1 || !strings.Contains(string(env), "JUDGED="+x.dir+"\n") {
		t.Errorf("JUDGED is in its environment %d times", n)
	}
}

// A record is made older in as many bytes, whatever it is written in.
func TestAge(t *testing.T) {
	x := script(t, "")
	if err := x.Write("record", `{"at":"2026-12-01T00:30:00.125000Z","other":"2026-12-01T00:30:01Z"}`); err != nil {
		t.Fatal(err)
	}
	for _, stamp := range []string{"2026-12-01T00:30:00.125000Z", "yesterday", ""} {
		if err := x.Age(stamp); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(x.dir, "record"))
	if err != nil || string(b) != `{"at":"2026-11-30T23:30:00.125000Z","other":"2026-12-01T00:30:01Z"}` {
		t.Errorf("%s %v", b, err)
	}
}
