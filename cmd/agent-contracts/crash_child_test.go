//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// maxMemory bounds a capture whatever its child does: what is kept of a child
// is 32 MiB, of which redaction and the readers hold several forms.
const maxMemory = 600 << 20

// TestHostileChild captures programs that print what no reader wants.
func TestHostileChild(t *testing.T) {
	t.Parallel()
	quick := func(w *world) { // no test waits for a minute of silence
		w.edit("probes/chat-text-success/scenario.json", `"idle_ms": 60000`, `"idle_ms": 400`)
	}
	for _, c := range []struct {
		name, script string
		prepare      func(*world)
		code         int
		says         []string // on stdout or stderr
		reason       string   // end_reason of the observation
		none         bool     // nothing is published
	}{
		{
			// Nobody can stop it before it is killed, so it prints for seconds.
			name: "two gigabytes on one line",
			script: `trap '' TERM
printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"MARKER'
head -c 2147483648 /dev/zero | tr '\0' x
printf '"}}\n'
`,
			code: 1, says: []string{"output_limit of 32 MiB", "wanted success, got failed"}, reason: "output_limit",
		}, {
			name: "invalid UTF-8 and NUL bytes",
			script: `printf '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}\n{"type":"turn.started"}\n'
printf '{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"MARKER \377\376 \303( z"}}\n\0\0\0\n\377\n'
printf '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":5}}\n'
printf '\377\0\355\240\200' >&2
`,
			code: 1, says: []string{"lines that are no frames"},
		}, {
			name: "silence", script: "sleep 600\n", prepare: quick,
			code: 1, says: []string{"idle_timeout"}, reason: "idle_timeout",
		}, {
			name: "silence that ignores signals", prepare: quick,
			script: "trap '' TERM INT HUP\nsetsid sleep 600 &\nsleep 600\nsleep 600\n",
			code:   1, says: []string{"idle_timeout"}, reason: "idle_timeout",
		}, {
			name: "half a frame", script: `printf '{"type":"thread.sta'` + "\nexit 7\n",
			code: 1, says: []string{"wanted success, got failed"},
		}, {
			name: "a request that nobody expects",
			script: `exec 2>/dev/null
url=$(sed -n 's/^base_url = "\(.*\)"/\1/p' "$HOME/.codex/config.toml")
hostport=${url#http://}; hostport=${hostport%%/*}
bash -c 'exec 3<>"/dev/tcp/${0%:*}/${0#*:}"; printf "POST /v1/other?k=MARKER HTTP/1.1\r\nHost: x\r\nX-Key: MARKER\r\nContent-Length: 18\r\nConnection: close\r\n\r\n{\"a\":\"MARKER....\"}" >&3; cat <&3 >/dev/null' "$hostport"
` + fakeTurn,
			code: 3, says: []string{"cannot know", "no answer"}, none: true,
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.script)
			if c.prepare != nil {
				c.prepare(w)
			}
			cmd := w.capture("--probe", "chat-text-success")
			stdout, stderr := cmd.run(c.code)
			for _, s := range c.says {
				if !strings.Contains(stdout+stderr, s) {
					t.Errorf("nothing says %q:\n%s%s", s, stdout, stderr)
				}
			}
			if used := cmd.peak; used == 0 || used > maxMemory {
				t.Errorf("the capture used %d MiB, want at most %d", used>>20, maxMemory>>20)
			} else {
				t.Logf("the capture used %d MiB", used>>20)
			}
			if n := w.observations()["chat-text-success"]; n == 1 == c.none {
				t.Errorf("%d observations", n)
			}
			if got := w.endReason(); got != c.reason {
				t.Errorf("the observation says end_reason %q, want %q", got, c.reason)
			}
			w.validates()
			w.keepsSecret(w.marker)
			w.leavesNobody()
		})
	}
}

// endReason returns end_reason of the only observation, or "".
func (w *world) endReason() string {
	w.t.Helper()
	reg, err := store.Open(w.reg)
	must(w.t, err)
	all, err := reg.Observations("")
	must(w.t, err)
	if len(all) == 0 {
		return ""
	}
	return all[0].Extensions.EndReason
}

// A program may answer anything when it is asked for its version.
func TestHostileVersion(t *testing.T) {
	t.Parallel()
	ok := fakeTurn
	for _, c := range []struct {
		name, answer string
		code         int
		says         string
	}{
		{"ten megabytes before it", "yes MARKER | head -c 10000000; echo codex-cli 0.133.0", 3, "without a version"},
		{"ten megabytes after it", "echo codex-cli 0.133.0; yes MARKER | head -c 10000000", 0, "0.133.0"},
		{"another program", "echo MARKER 0.133.0", 3, "another program of the same name"},
		{"a path", "echo codex-cli 0.133.0/../../../../MARKER", 3, "version"},
		{"a path in the suffix", "echo codex-cli 0.133.0-..MARKER", 0, ""},
		{"control characters", `printf 'codex-cli 0.133.0-\033]0;MARKER\007a\r\n::error::MARKER\n'`, 0, "0.133.0"},
		{"a workflow command", `printf '::set-output name=x::0.133.0\ncodex-cli 0.133.0\n'`, 0, "0.133.0"},
		{"huge numbers", "echo codex-cli 99999999999999999999.1.2", 3, "version"},
		{"nothing", "exit 0", 3, "without a version"},
		{"silence", "sleep 600", 3, "version"},
		{"a crash", "kill -SEGV $$", 3, "version"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			if c.name == "silence" {
				w.edit("registry/agents.json", `"timeout_ms": 15000`, `"timeout_ms": 500`)
			}
			w.write(w.fake, "#!/bin/sh\nif [ \"$1\" = --version ]; then "+c.answer+"; exit 0; fi\ncat >/dev/null\n"+ok, 0o755)
			stdout, stderr := w.capture("--probe", "chat-text-success").run(c.code)
			if !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("nothing says %q:\n%s%s", c.says, stdout, stderr)
			}
			for _, line := range strings.Split(stdout+stderr, "\n") {
				if strings.HasPrefix(line, "::") || strings.ContainsAny(line, "\x1b\x07\r") {
					t.Errorf("the program's output reached a terminal: %q", line)
				}
			}
			if n := w.observations()["chat-text-success"]; n == 1 != (c.code == 0) {
				t.Errorf("%d observations", n)
			}
			w.validates()
			w.leavesNobody()
			w.onlyRecords()
		})
	}
}

// onlyRecords checks that nothing was written beside the folders of the world.
func (w *world) onlyRecords() {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	must(w.t, err)
	for _, e := range entries {
		switch e.Name() {
		case "reg", "bin", "cache", "tmp", "state", "logs":
		default:
			w.t.Errorf("%s was written", e.Name())
		}
	}
	left, err := os.ReadDir(filepath.Join(w.dir, "tmp"))
	must(w.t, err)
	if len(left) > 0 {
		w.t.Errorf("TMPDIR still holds %d files", len(left))
	}
}

// The program may be a symbolic link, and its environment as empty as cron's.
func TestProgramElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeTurn)
	link := filepath.Join(w.dir, "bin", "link")
	must(t, os.Symlink(w.fake, link))
	c := w.command("capture", "codex", "--bin", link, "--probe", "chat-text-success", "--format", "json")
	for i, v := range c.Env {
		if strings.HasPrefix(v, "PATH=") {
			c.Env[i] = "PATH=/usr/bin:/bin"
		}
	}
	stdout, _ := c.run(0)
	var report struct {
		Results []struct {
			Observation struct {
				CLIVersion string `json:"cli_version"`
			} `json:"observation"`
		} `json:"results"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || len(report.Results) != 1 || report.Results[0].Observation.CLIVersion != "0.133.0" {
		t.Errorf("the report is not that of one observation (%v)", err)
	}
	w.validates()
	w.keepsSecret(w.marker)
}

// A program that updates itself is not the one that named its version.
func TestProgramChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fakeTurn+"echo go > \"${0%/*}/../ready\"\necho go > \"${0%/*}/../ready2\"\n")
	ready := w.fifo("ready")
	must(t, unix.Mkfifo(filepath.Join(w.dir, "ready2"), 0o666))
	must(t, os.Chmod(filepath.Join(w.dir, "ready2"), 0o666))
	c := w.capture("--probe", "chat-text-success")
	must(t, c.Start())
	_, err := ready.Read(make([]byte, 1))
	must(t, err)
	must(t, os.Rename(w.fake, w.fake+".old"))
	w.write(w.fake, "#!/bin/sh\n"+fakeVersion+fakeTurn, 0o755)
	goOn, err := os.Open(filepath.Join(w.dir, "ready2")) // waits for the program, which waits for us
	must(t, err)
	must(t, goOn.Close())
	code, stdout, stderr := c.finish()
	if code != 3 || !strings.Contains(stderr, "changed while it was captured") {
		t.Errorf("exit code %d, want 3 and the reason; it said\n%s%s", code, stdout, stderr)
	}
	if n := w.observations(); len(n) > 0 {
		t.Errorf("observations %v", n)
	}
	w.capture("--probe", "chat-text-success").run(0)
	w.validates()
	w.keepsSecret(w.marker)
}
