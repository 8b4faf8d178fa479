//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A broken file of the registry ends a capture before it starts, with one
// message that names the file and the place.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeTurn)
	const scenario = "probes/chat-text-success/scenario.json"
	for _, c := range []struct {
		name, file, from, to string
		says                 []string
	}{
		{"agents syntax", "registry/agents.json", `"tier": 0,`, `"tier": 0`, []string{"registry/agents.json:8"}},
		{"agents type", "registry/agents.json", `"tier": 0,`, `"tier": "zero",`, []string{"registry/agents.json", "tier"}},
		{"agents unknown member", "registry/agents.json", `"tier": 0,`, `"tire": 0,`, []string{"registry/agents.json", "tire"}},
		{"agents id that is a path", "registry/agents.json", `"id": "codex"`, `"id": "../codex"`, []string{"registry/agents.json", "../codex", "id"}},
		{"agents id twice", "registry/agents.json", `"id": "claude"`, `"id": "codex"`, []string{"registry/agents.json", "codex"}},
		{"agents version pattern", "registry/agents.json", `^codex-cli v?[0-9]`, `^codex-cli (`, []string{"registry/agents.json", "pattern"}},
		{"agents range", "registry/agents.json", `"versions": ">=0.44.0"`, `"versions": "newer"`, []string{"registry/agents.json", "newer"}},
		{"agents HOME file outside", "registry/agents.json", `".codex/config.toml"`, `"../../config.toml"`, []string{"registry/agents.json", "home_files"}},
		{"agents schema version", "registry/agents.json", `"schema_version": 1`, `"schema_version": 2`, []string{"registry/agents.json", "schema_version"}},
		{"families syntax", "registry/families.json", `"schema_version": 1,`, `"schema_version": 1`, []string{"registry/families.json:3"}},
		{"families type", "registry/families.json", `"dialects": [`, `"dialects": {}, "x": [`, []string{"registry/families.json:", "dialects"}},
		{"vocabulary syntax", "registry/vocabulary.json", `{`, `[`, []string{"registry/vocabulary.json"}},
		{"scenario syntax", scenario, `"turns": [`, `"turns": `, []string{scenario + ":"}},
		{"scenario type", scenario, `"wall_ms": 120000`, `"wall_ms": "long"`, []string{scenario + ":8", "wall_ms"}},
		{"scenario kind", scenario, `"kind": "answer"`, `"kind": "shrug"`, []string{scenario, "shrug"}},
		{"scenario endless", scenario, `"wall_ms": 120000`, `"wall_ms": 0`, []string{scenario, "wall_ms"}},
		{"expectation syntax", "probes/chat-text-success/expected-min-events.json", `"must_see": [`, `"must_see": `, []string{"expected-min-events.json:"}},
		{"env policy", "probes/chat-text-success/env-policy.json", `"dummy"`, `7`, []string{"env-policy.json:3"}},
		{"probe misses a file", "probes/chat-text-success/env-policy.json", "", "", []string{"chat-text-success", "env-policy.json"}},
		{"probe has another file", "probes/chat-text-success/notes.txt", "", "text", []string{"probes/chat-text-success/notes.txt"}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			file := filepath.Join(w.reg, c.file)
			whole, err := os.ReadFile(file)
			switch {
			case c.from != "":
				w.edit(c.file, c.from, c.to)
			case c.to != "":
				w.write(file, c.to, 0o644)
			default:
				must(t, os.Remove(file))
			}
			before := w.tree(w.reg)
			stdout, stderr := w.capture("--probe", crashProbes).run(2)
			if !strings.HasPrefix(stderr, "error: ") || strings.Count(stderr, "\n") > 2 || stdout != "" {
				t.Errorf("want one message, a hint, and no result:\n%s%s", stdout, stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(stderr, s) {
					t.Errorf("the message does not name %q:\n%s", s, stderr)
				}
			}
			if after := w.tree(w.reg); after != before {
				t.Errorf("the registry changed:\n%s\nbefore:\n%s", after, before)
			}
			if n, _ := w.runs(); n != 0 {
				t.Errorf("%d runs were begun", n)
			}
			if err != nil {
				must(t, os.Remove(file))
			} else {
				must(t, os.WriteFile(file, whole, 0o644))
			}
		})
	}
	w.leavesNobody()
}

// What a user may mistype ends with a usage error and nothing else.
func TestHostileArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeTurn)
	w.write(filepath.Join(w.dir, "secret.json"), "{}", 0o644)
	before := w.tree(w.reg)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"capture", "codxe"}, 2, "did you mean codex"},
		{[]string{"capture", "../codex"}, 2, "unknown agent"},
		{[]string{"capture", "codex\n::error::x"}, 2, "unknown agent"},
		{[]string{"capture", strings.Repeat("x", 100_000)}, 2, "unknown agent"},
		{[]string{"capture", "codex", "--bin", w.fake, "--probe", "../../secret.json"}, 2, "no probe"},
		{[]string{"capture", "codex", "--bin", w.fake, "--probe", ".."}, 2, "no probe"},
		{[]string{"capture", "codex", "--bin", w.fake, "--probe", ""}, 2, "no probe"},
		{[]string{"capture", "codex", "--bin", w.fake, "--probe", "chat-text-sucess"}, 2, "did you mean chat-text-success"},
		{[]string{"capture", "codex@", "--probe", "all"}, 2, "AGENT@VERSION"},
		{[]string{"capture", "@1.0.0"}, 2, "AGENT@VERSION"},
		{[]string{"capture", "codex", "--bin", ""}, 2, "--bin names no program"},
		{[]string{"capture", "codex", "--bin", w.dir}, 3, "not a file"},
		{[]string{"capture", "codex", "--bin", w.fake + "x"}, 3, "cannot be read"},
		{[]string{"capture", "codex", "--bin", filepath.Join(w.dir, "secret.json")}, 3, "not executable"},
		{[]string{"capture", "codex", "--bin", w.fake, "--repeat", "-1"}, 2, "--repeat"},
		{[]string{"capture", "codex", "--bin", w.fake, "--repeat", "99999999999999999999"}, 2, "--repeat"},
		{[]string{"capture", "--like", "../../etc/passwd"}, 2, "not an observation"},
		{[]string{"capture", "--like", "observations/../registry/agents.json"}, 2, "not an observation"},
		{[]string{"capture", "--like", "observations/none.observation.json"}, 2, "none.observation.json"},
		{[]string{"capture", "--input", filepath.Join(w.dir, "none.json")}, 2, "none.json"},
		{[]string{"capture", "--input", filepath.Join(w.dir, "secret.json")}, 2, "secret.json"},
	} {
		cmd := w.command(c.args...)
		must(t, cmd.Start())
		code, stdout, stderr := cmd.finish()
		if code != c.code || !strings.HasPrefix(lastMessage(stderr), "error: ") || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("%.200q: exit code %d, want %d and %q; it said\n%.2000s", c.args, code, c.code, c.says, stdout+stderr)
		}
		if strings.Contains(stderr, "\n::") || len(stderr) > 4000 {
			t.Errorf("%.200q: the message has %d bytes and may forge lines", c.args, len(stderr))
		}
	}
	if w.tree(w.reg) != before {
		t.Error("the registry changed")
	}
	w.leavesNobody()
}

// lastMessage returns what a command says after its progress.
func lastMessage(stderr string) string {
	for strings.HasPrefix(stderr, "[") {
		_, stderr, _ = strings.Cut(stderr, "\n")
	}
	return stderr
}
