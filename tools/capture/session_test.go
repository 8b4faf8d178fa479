package capture

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// A client of a two-way protocol asks for the session that is to be resumed,
// known or not, and for none in any other probe.
func TestResumeOverRPC(t *testing.T) {
	reg := newRegistry(t)
	for _, c := range []struct{ agent, version, profile, probe, wants string }{
		{"pi", "1.6.0", contract.ProfileProduction, "resume-session", `{"id":1,"type":"new_session","parentSession":"session-7"}`},
		{"pi", "1.6.0", contract.ProfileProduction, "resume-missing", `{"id":1,"type":"new_session","parentSession":"session-7"}`},
		{"pi", "1.6.0", contract.ProfileProduction, "chat-text-success", `{"id":1,"type":"prompt",`},
		{"qwen", "0.24.4", "acp", "resume-session", `"method":"session/load","params":{"sessionId":"session-7",`},
		{"qwen", "0.24.4", "acp", "resume-missing", `"method":"session/load","params":{"sessionId":"session-7",`},
		{"qwen", "0.24.4", "strict", "resume-missing", `"method":"session/load","params":{"sessionId":"session-7",`},
		{"qwen", "0.24.4", "acp", "chat-text-success", `"method":"session/new"`},
	} {
		t.Run(c.agent+" "+c.profile+" "+c.probe, func(t *testing.T) {
			a := agent(t, reg, c.agent)
			v, err := agents.ParseToken(a, c.version)
			must(t, err)
			probe, err := LoadProbe(reg, c.probe)
			must(t, err)
			dir := t.TempDir()
			ws := &workspace{home: filepath.Join(dir, "h"), tmp: filepath.Join(dir, "t"), cwd: filepath.Join(dir, "w")}
			must(t, errors.Join(os.Mkdir(ws.home, 0o755), os.Mkdir(ws.tmp, 0o755), os.Mkdir(ws.cwd, 0o755)))
			job := &cellJob{cell: Cell{Agent: c.agent, Probe: c.probe, Profile: c.profile}, agent: a, probe: probe, version: &versionInfo{Version: v}}
			rec := &recorded{ws: ws, baseURL: "http://127.0.0.1:1"}
			must(t, (&capturer{}).prepare(job, rec, agents.NewUUID(), "session-7"))
			in, script := newRPC(rec.launch, job, ws, rec.resume)
			sent := string(in.Data)
			for _, action := range script.Output(transcript.Stdout, []byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`+"\n")) {
				sent += string(action.Write)
			}
			if !strings.Contains(sent, c.wants) {
				t.Errorf("the client sent\n%s, want a frame with %s", sent, c.wants)
			}
		})
	}
}

// A session that is a file is the one file that the run before left.
func TestLeftSession(t *testing.T) {
	const pattern = ".pi/agent/sessions/*/*.jsonl"
	for _, c := range []struct {
		left []string
		want string
	}{
		{nil, ""},
		{[]string{".pi/agent/sessions/--w--/one.jsonl", ".pi/agent/settings.json"}, ".pi/agent/sessions/--w--/one.jsonl"},
		{[]string{".pi/agent/sessions/--w--/one.jsonl", ".pi/agent/sessions/--v--/two.jsonl"}, ""},
	} {
		home := t.TempDir()
		for _, f := range c.left {
			p := filepath.Join(home, f)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, nil, 0o644)))
		}
		got := strings.TrimPrefix(leftSession(home, pattern), home+"/")
		if got != c.want {
			t.Errorf("of %q it takes %q, want %q", c.left, got, c.want)
		}
	}
}
