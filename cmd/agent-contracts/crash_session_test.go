//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

const (
	// What kimi prints whether its answer was cut or not.
	fakeKimi = `if [ "$1" = --version ]; then echo 2.1.0; exit 0; fi
echo '{"role":"meta","type":"system.version","version":"2.1.0"}'
echo '{"role":"assistant","content":"It has a name"}'
echo '{"role":"meta","type":"session.resume_hint","session_id":"0199a213-81c0-7800-8aa1-bbab2a035a53","content":"To resume this session: kimi -r x"}'
d="$HOME/.kimi-code/sessions/wd_x/session_y/agents"
mkdir -p "$d/main"
f="$d/main/wire.jsonl"
`
	// The rest of the script writes $f.
	fakeWire = `echo '{"type":"profile.bind","systemPrompt":"MARKER"}' >"$f"
echo '{"type":"turn.prompt","input":[{"type":"text","text":"MARKER"}],"new":{"field":"sk-ant-MARKER"},"time":1796089636772}' >>"$f"
`
)

func wireMessage(reason string) string {
	return `echo '{"type":"agent.message.appended","message":{"message":{"role":"assistant","content":[{"type":"text","text":"MARKER"}]},"meta":{"finish":{"finishReason":` + reason + `}}}}' >>"$f"` + "\n"
}

// TestSessionLog captures programs that leave this or that where kimi keeps its
// session: what the pipes say is the same each time.
func TestSessionLog(t *testing.T) {
	t.Parallel()
	const signature = "sha256:5a6e7a6846c214694ad1fcc01e5a34ac4b92fc89b1aef9dfa9e276096f379b81"
	for _, c := range []struct {
		name, script string
		result       string
		finding      string // the end of the one about the session file
		records      int    // of the session file in the fixture
		holds        string // a part of the fixture
	}{
		{name: "a whole answer", script: fakeWire + wireMessage(`"completed"`), result: "success", records: 2},
		{name: "a cut answer", script: fakeWire + wireMessage("null"), result: "failed", records: 2, holds: `\"finishReason\":null`},
		{name: "absent", result: "success", finding: "0 files fit its pattern"},
		{name: "two of them", script: fakeWire + `cp -r "$HOME/.kimi-code/sessions/wd_x" "$HOME/.kimi-code/sessions/wd_z"`, result: "success", finding: "2 files fit its pattern"},
		{name: "huge", script: `head -c 9000000 /dev/zero | tr '\0' x >"$f"`, result: "success", finding: "it is larger than 8388608 bytes"},
		{name: "no JSON", script: `printf 'MARKER sees\n{"type":"turn.prompt","x":"MARKER\n\377\n{"type":"agent.message.app' >"$f"`, result: "success", records: 4, holds: `"deviations":["not_json"]`},
		{name: "empty", script: `: >"$f"`, result: "success"},
		{name: "a link out of HOME", script: `ln -s /etc/hostname "$f"`, result: "success", finding: "it is no regular file"},
		{name: "a folder that is a link", script: `mkdir -p "$TMPDIR/main"; rmdir "$d/main"; ln -s "$TMPDIR/main" "$d/main"; echo '{}' >"$f"`, result: "success", finding: "0 files fit its pattern"},
		{name: "a pipe", script: `mkfifo "$f"`, result: "success", finding: "it is no regular file"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.write(w.fake, "#!/bin/sh\n"+fakeKimi+c.script, 0o755)
			w.command("capture", "kimi", "--bin", w.fake, "--probe", "truncated-stream", "--profile", "compatible").run(1) // a failure, or none where the probe wants one
			reg, err := store.Open(w.reg)
			must(t, err)
			all, err := reg.Observations("")
			must(t, err)
			if len(all) != 1 {
				t.Fatalf("%d observations", len(all))
			}
			x := all[0].Extensions
			if x.RunResult != c.result {
				t.Errorf("the run is a %s, want %s", x.RunResult, c.result)
			}
			found := ""
			for _, f := range x.Findings {
				if why, ok := strings.CutPrefix(f, "the session file was not recorded: "); ok {
					found = why
				}
			}
			if found != c.finding {
				t.Errorf("the finding is %q, want %q", found, c.finding)
			}
			b, err := os.ReadFile(filepath.Join(w.reg, x.Fixture))
			must(t, err)
			if n := strings.Count(string(b), `{"dir":"cli->file","stream":"session",`); n != c.records || !strings.Contains(string(b), c.holds) {
				t.Errorf("the fixture has %d lines of the file, want %d with %s:\n%s", n, c.records, c.holds, b)
			}
			w.validates()
			w.keepsSecret(w.marker)
			if got := all[0].Shape.Signature; got != signature {
				t.Errorf("the shape is %s, want that of the pipes, %s", got, signature)
			}
		})
	}
}
