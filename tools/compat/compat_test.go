//go:build unix

package compat

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/matrix"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

func TestMain(m *testing.M) {
	if harness.SuperviseMain() {
		return
	}
	os.Exit(m.Run())
}

// checker looks at a PATH that holds one program, named codex, of the text.
func checker(t *testing.T, program string) *Checker {
	t.Helper()
	reg, err := store.Open(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	x, err := matrix.LoadIndex(reg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil { // children of root run as another user
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if program != "" {
		if err := os.WriteFile(filepath.Join(bin, "codex"), []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &Checker{Index: x, Registry: reg, StateDir: filepath.Join(dir, "state"), Now: func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) },
		LookupEnv: func(k string) (string, bool) {
			if k == "PATH" {
				return bin + ":relative:/usr/bin:/bin", true
			}
			return "", false
		}}
}

func check(t *testing.T, k *Checker, agent string) *Result {
	t.Helper()
	r, err := k.Check(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	b, err := contract.Encode(r.Response)
	if err != nil {
		t.Fatal(err)
	}
	if problems := contract.Validate(contract.KindCompatibility, "response", b); contract.HasErrors(problems) {
		t.Errorf("the response does not validate: %v", problems)
	}
	return r
}

// The version comes from the program, whatever stands around it, and decides.
func TestCheckByVersion(t *testing.T) {
	for _, c := range []struct{ name, program, version, answer, why string }{
		{"newer than everything", "#!/bin/sh\necho 'codex-cli 99.0.0'", "99.0.0", "cannot_know", "it is newer than"},
		{"a banner around it", "#!/bin/sh\necho Welcome; echo 'codex-cli 99.0.0-alpha.3'", "99.0.0-alpha.3", "cannot_know", "it is newer than"},
		{"on stderr", "#!/bin/sh\necho 'codex-cli 99.0.0' >&2", "99.0.0", "cannot_know", "it is newer than"},
		{"an error that names a version", "#!/bin/sh\necho 'needs node 22.19.0' >&2; exit 1", "", "cannot_know", "it failed with exit code 1"},
		{"another program", "#!/bin/sh\necho 'vim 9.1'", "", "cannot_know", "another program of the same name"},
		{"no version", "#!/bin/sh\nexit 3", "", "cannot_know", "without a version"},
		{"no program", "", "", "cannot_know", "no program of its name is on PATH"},
		{"no interpreter", "#!/nonexistent/interpreter\n", "", "cannot_know", "asking"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, checker(t, c.program), "codex")
			version := ""
			if r.Response.InstalledVersion != nil {
				version = *r.Response.InstalledVersion
			}
			if version != c.version || string(r.Answer()) != c.answer || !strings.Contains(strings.Join(r.Why, "\n"), c.why) {
				t.Errorf("version %q, answer %s, why %q", version, r.Answer(), r.Why)
			}
		})
	}
}

// An answer is made after the program was asked, and dated so.
func TestAnswerIsDatedWhenItIsMade(t *testing.T) {
	k := checker(t, "#!/bin/sh\necho 'codex-cli 99.0.0'")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k.Now = func() time.Time { return now }
	k.Progress = func(string, string) { now = now.Add(time.Hour) }
	if r := check(t, k, "codex"); r.Response.GeneratedAt != "2026-01-01T01:00:00Z" {
		t.Errorf("the answer is of %s", r.Response.GeneratedAt)
	}
}

// A program that asks for its version never sees an account: its HOME is empty
// and no credential of this machine is in its environment.
func TestVersionIsAskedWithoutAnAccount(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "made-up")
	k := checker(t, "#!/bin/sh\n[ -z \"$OPENAI_API_KEY\" ] && [ -z \"$(ls -A \"$HOME\")\" ] && [ \"$1\" = --version ] && echo 'codex-cli 99.0.0'\n")
	if r := check(t, k, "codex"); r.Response.InstalledVersion == nil {
		t.Errorf("the program saw more than it should: %q", r.Why)
	}
}

// A program that hangs is ended, with everything that it started.
func TestVersionProbeThatHangs(t *testing.T) {
	k := checker(t, "#!/bin/sh\nsleep 600 &\nwait\n")
	a, err := k.Index.Agent("codex")
	if err != nil {
		t.Fatal(err)
	}
	a.VersionProbe.TimeoutMS = 200
	if r := check(t, k, "codex"); r.Response.InstalledVersion != nil || r.Response.Status != contract.SupportUnknown {
		t.Errorf("a program that hangs is %v", r.Response)
	}
}

// A local probe that cannot be run says so and changes nothing.
func TestProbeThatCannotRun(t *testing.T) {
	k := checker(t, "#!/bin/sh\necho 'qodercli 99'")
	k.Probe = true
	for _, agent := range []string{"aider", "codex"} {
		r := check(t, k, agent)
		if r.Response.Evidence.Source == contract.EvidenceFromLocalProbe {
			t.Errorf("%s: %v", agent, r.Response)
		}
	}
	left, err := filepath.Glob(filepath.Join(k.StateDir, "local-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"second": 0o755, "first": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	a := &contract.Agent{ID: "x", Commands: []string{"first", "second"}}
	if got := FindProgram(a, dir); got != filepath.Join(dir, "second") {
		t.Errorf("got %q: what is not executable is no program", got)
	}
	if got := FindProgram(a, ".:"); got != "" {
		t.Errorf("got %q from a folder that depends on where one stands", got)
	}
}

func TestUnknownAgent(t *testing.T) {
	if _, err := checker(t, "").Check(t.Context(), "codx"); err == nil {
		t.Error("an unknown agent is classified")
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		dir  string
		want State
	}{{filepath.Join(dir, "missing"), StateOK}, {filepath.Join(dir, "not", "there"), StateOK}, {file, StateRepair}, {open, StateRepair}, {dir, StateOK}}
	if runtime.GOOS == "linux" { // where not even root makes a folder
		cases = append(cases, cases[0])
		cases[len(cases)-1].dir, cases[len(cases)-1].want = "/proc/not/there", StateRepair
	}
	for _, c := range cases {
		if f := folder("x", c.dir, 0o022); f.State != c.want || f.State == StateRepair && f.Next.Text == "" {
			t.Errorf("%s: %+v, want %s", c.dir, f, c.want)
		}
	}
}

// A registry whose newest record is older than what Tier 0 asks for is noted,
// and one without records claims nothing.
func TestRegistryAge(t *testing.T) {
	k := checker(t, "")
	at, err := time.Parse(time.RFC3339, k.Index.GeneratedAt)
	if err != nil {
		t.Fatal(err)
	}
	for days, want := range map[int]State{0: StateOK, 14: StateOK, 15: StateNote, 400: StateNote} {
		k.Now = func() time.Time { return at.AddDate(0, 0, days) }
		if f := k.registry(Places{}); f.State != want || (want == StateNote) != strings.Contains(f.Next.Text, "stale") {
			t.Errorf("after %d days: %+v", days, f)
		}
	}
	k.Index.GeneratedAt = "1970-01-01T00:00:00Z"
	if f := k.registry(Places{}); f.State != StateNote || !strings.Contains(f.Detail, "no observations") {
		t.Errorf("without records: %+v", f)
	}
}
