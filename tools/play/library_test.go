package play

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// repository is the library of this repository's own records.
func repository(t *testing.T) *Library {
	t.Helper()
	reg, err := store.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &Library{Registry: reg, Dir: dir}
}

// some returns a record of an agent that is no answer to a version probe.
func some(t *testing.T, l *Library, agent string) *store.Observed {
	t.Helper()
	list, err := l.candidates(agent, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	return list[len(list)/2]
}

// A recording is found by every name that it has.
func TestOpen(t *testing.T) {
	l := repository(t)
	o := some(t, l, "codex")
	for _, name := range []string{
		o.Extensions.Fixture, filepath.Join(l.Dir, o.Extensions.Fixture), o.Path,
		string(o.Extensions.FixtureSHA256), o.Extensions.FixtureSHA256.FileName(), o.Extensions.FixtureSHA256.Hex()[:12],
		string(o.Shape.Signature), o.Shape.Signature.FileName(), o.Shape.Signature.Hex()[:16],
	} {
		if got, err := l.Open(name); err != nil || len(got.steps) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"fixtures/none.jsonl":       "there is no such file",
		"fixtures":                  "folder",
		"abc":                       "neither a file nor a signature",
		"sha256:0000000000000":      "no fixture of that signature",
		strings.Repeat("0", 64):     "no fixture of that signature",
		"registry/families.json":    "transcript line 1",
		"../../../../../etc/passwd": "",
	} {
		if _, err := l.Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, key+"="); ok {
				return value
			}
		}
		return ""
	}
}

// The variables narrow the choice and choose, in the order of OpenDesign's
// mocks.
func TestPick(t *testing.T) {
	l := repository(t)
	o := some(t, l, "codex")
	hex := strings.TrimPrefix(id(o), "sha256-")
	question := func() []byte { return []byte("a question") }
	for _, c := range []struct {
		name string
		env  []string
		how  string
		fits func(*store.Observed) bool
		err  string
	}{
		{"a trace", []string{"OD_MOCKS_TRACE=" + hex}, "fixed", func(p *store.Observed) bool { return id(p) == id(o) }, ""},
		{"the beginning of a trace", []string{"OD_MOCKS_TRACE=" + o.Extensions.FixtureSHA256.Hex()[:10]}, "fixed", func(p *store.Observed) bool { return id(p) == id(o) }, ""},
		{"no such trace", []string{"OD_MOCKS_TRACE=zz"}, "", nil, "OD_MOCKS_TRACE=zz"},
		{"a trace before a pool", []string{"OD_MOCKS_TRACE=" + hex, "OD_MOCKS_POOL=nothing"}, "fixed", func(p *store.Observed) bool { return id(p) == id(o) }, ""},
		{"a hash", []string{"OD_MOCKS_BY_PROMPT_HASH=1"}, "hash", nil, ""},
		{"a pool of failures", []string{"OD_MOCKS_POOL=outcome:failed", "OD_MOCKS_SEED=1"}, "pool", func(p *store.Observed) bool { return p.Extensions.RunResult == "failed" }, ""},
		{"a pool of successes", []string{"OD_MOCKS_POOL=outcome:succeeded"}, "pool", func(p *store.Observed) bool { return p.Extensions.RunResult == "success" }, ""},
		{"a probe", []string{"OD_MOCKS_POOL=skill:chat-tool-success"}, "pool", func(p *store.Observed) bool { return p.Probe == "chat-tool-success" }, ""},
		{"another agent's pool", []string{"OD_MOCKS_POOL=agent:claude"}, "", nil, "OD_MOCKS_POOL=agent:claude"},
		{"anything", nil, "random", func(p *store.Observed) bool { return p.Agent == "codex" && p.Extensions.Dialect != "version" }, ""},
		{"a version and a probe", []string{"OD_CONTRACT_SHAPE=codex@0.133.0", "OD_CONTRACT_PROBE=chat-text-success"}, "contract", func(p *store.Observed) bool { return p.CLIVersion == "0.133.0" && p.Probe == "chat-text-success" }, ""},
		{"a shape", []string{"OD_CONTRACT_SHAPE=codex@" + o.CLIVersion + "#" + o.Shape.Signature.FileName()}, "contract", func(p *store.Observed) bool { return p.Shape.Signature == o.Shape.Signature }, ""},
		{"a shape of another agent", []string{"OD_CONTRACT_SHAPE=claude@1.0.0#sha256-00", "OD_CONTRACT_PROBE=auth-failure"}, "contract", func(p *store.Observed) bool { return p.Probe == "auth-failure" }, ""},
		{"an error by its probe", []string{"OD_CONTRACT_ERROR=auth-failure"}, "contract", func(p *store.Observed) bool { return p.Probe == "auth-failure" }, ""},
		{"an error by its category", []string{"OD_CONTRACT_ERROR=upstream_unavailable"}, "contract", func(p *store.Observed) bool { return p.Extensions.RunResult == "failed" }, ""},
		{"no such version", []string{"OD_CONTRACT_SHAPE=codex@0.0.1"}, "", nil, "OD_CONTRACT_SHAPE"},
		{"a pool among those of a version", []string{"OD_CONTRACT_SHAPE=codex@0.133.0", "OD_MOCKS_POOL=outcome:failed"}, "pool", func(p *store.Observed) bool { return p.CLIVersion == "0.133.0" && p.Extensions.RunResult == "failed" }, ""},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			s := SelectionOf(env(c.env...))
			p, err := l.Pick("codex", s, question)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %s", err, c.err)
				}
			case err != nil:
				t.Error(err)
			case p.How != c.how || c.fits != nil && !c.fits(p.Record):
				t.Errorf("picked %s (%s, %s, %s) via %s", id(p.Record), p.Record.CLIVersion, p.Record.Probe, p.Record.Extensions.RunResult, p.How)
			case (p.Announcement("codex") == "") != (c.how == "contract"):
				t.Errorf("announced as %q", p.Announcement("codex"))
			}
		})
	}
	for _, s := range []Selection{SelectionOf(env("OD_MOCKS_SEED=a seed")), SelectionOf(env("OD_MOCKS_BY_PROMPT_HASH=1"))} {
		first, err := l.Pick("codex", s, question)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := l.Pick("codex", s, question); err != nil || id(again.Record) != id(first.Record) {
			t.Error("the same seed or prompt gives another recording")
		}
	}
	if _, err := l.Pick("no-agent", Selection{}, question); err == nil || !strings.Contains(err.Error(), "no recording of no-agent") {
		t.Errorf("an agent without recordings: %v", err)
	}
}

// Reading the prompt for its hash takes nothing away from the child.
func TestPromptIsLeftToTheChild(t *testing.T) {
	for stdin, want := range map[string]string{
		"a prompt\nof two lines": "a prompt\nof two lines",
		user + "\n" + user:       user + "\n",
		initialize + "\nrest":    "",
		"":                       "",
	} {
		prompt, rest := Prompt(strings.NewReader(stdin))
		if got := string(prompt()); got != want {
			t.Errorf("prompt %q, want %q", got, want)
		}
		if all, err := io.ReadAll(rest); err != nil || string(all) != stdin {
			t.Errorf("left %q (%v) of %q", all, err, stdin)
		}
	}
	_, rest := Prompt(strings.NewReader("untouched"))
	if all, err := io.ReadAll(rest); err != nil || string(all) != "untouched" {
		t.Errorf("left %q (%v)", all, err)
	}
}

func TestInstallShims(t *testing.T) {
	l := repository(t)
	dir := filepath.Join(t.TempDir(), "a folder", "shims")
	shims, err := l.InstallShims(dir, "/opt/it's/agent-contracts", []string{"--registry", "/r"})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, s := range shims {
		names[filepath.Base(s.Path)] = true
	}
	for _, want := range []string{"codex", "claude", "opencode-cli", "qodercli"} {
		if !names[want] {
			t.Errorf("no shim %s among %v", want, names)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "codex"))
	if err != nil || !bytes.HasSuffix(text, []byte("exec '/opt/it'\\''s/agent-contracts' play --registry /r --as codex -- \"$@\"\n")) {
		t.Errorf("the shim of codex: %v\n%s", err, text)
	}
	if _, err := l.InstallShims(dir, "/other", nil); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "codex"), []byte("the real one"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := l.InstallShims(dir, "/other", nil); err == nil || !strings.Contains(err.Error(), "no shim of ours") {
		t.Errorf("over a program of somebody else: %v", err)
	}
}

// A host asks for the version and for flags before it runs a turn.
func TestAnswers(t *testing.T) {
	l := repository(t)
	s := SelectionOf(env("OD_CONTRACT_SHAPE=codex@0.133.0"))
	for want, args := range map[string][]string{
		"codex-cli 0.133.0\n": {"--version"},
		"":                    {"exec", "--json"},
	} {
		if got, err := l.Answer("codex", s, args); err != nil || got != want {
			t.Errorf("%v: %q (%v), want %q", args, got, err, want)
		}
	}
	if got, err := l.Answer("codex", s, []string{"exec", "--help"}); err != nil || !strings.Contains(got, "\n  --json\n") {
		t.Errorf("help: %q (%v), want one with --json", got, err)
	}
}
