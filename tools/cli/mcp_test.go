package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexu-io/open-design-agent-contracts/tools/cli"
	"github.com/nexu-io/open-design-agent-contracts/tools/machine"
	"github.com/nexu-io/open-design-agent-contracts/tools/mcp"
)

// inProcess runs commands as the program does, without a process of its own,
// and by a clock that stands still: two answers that name their own second are
// the same only then.
type inProcess struct {
	state string
	now   time.Time
}

func (p inProcess) run(args []string) (stdout []byte, code int) {
	var out bytes.Buffer
	code = cli.Main(context.Background(), cli.Env{
		Args: args, Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: new(bytes.Buffer), Dir: os.TempDir(), Now: func() time.Time { return p.now },
		Getenv: func(k string) string { return map[string]string{"XDG_STATE_HOME": p.state, "HOME": p.state}[k] },
	})
	return out.Bytes(), code
}

// Call implements mcp.Caller.
func (p inProcess) Call(_ context.Context, data any, args ...string) error {
	out, _ := p.run(append([]string{"--machine"}, args...))
	e, err := machine.ParseEnvelope(out)
	switch {
	case err != nil:
		return err
	case !e.OK:
		return e.Error
	}
	return json.Unmarshal(e.Data, data)
}

func session(t *testing.T, call mcp.Caller) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	if _, err := mcp.Server("1", call).Connect(context.Background(), there, nil); err != nil {
		t.Fatal(err)
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// What a tool answers is what its command answers.
func TestToolsEqualCommands(t *testing.T) {
	p := inProcess{t.TempDir(), time.Now()}
	s := session(t, p)
	none := "20260725T175010-97f334"
	tools, err := s.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{"compatibility": true} // it runs programs; see the scripts
	for _, c := range []struct {
		tool    string
		input   map[string]any
		command []string
	}{
		{"can_i_use", map[string]any{"agent": "codex", "version": "0.144.0", "platform": "linux-x64"}, []string{"can-i-use", "codex", "0.144.0", "--platform", "linux-x64"}},
		{"can_i_use", map[string]any{"agent": "--help", "version": "1"}, []string{"can-i-use", "--", "--help", "1"}},
		{"explain_claim", map[string]any{"agent": "codex", "version": "0.144.0"}, []string{"matrix", "--explain", "codex", "0.144.0"}},
		{"compare", map[string]any{"a": "none", "b": "none"}, []string{"compare", "none", "none"}},
		{"explain_code", map[string]any{}, []string{"explain"}},
		{"explain_code", map[string]any{"code": "frobnicate"}, []string{"explain", "frobnicate"}},
		{"health", nil, []string{"health"}},
		{"review_list", nil, []string{"review", "list"}},
		{"plan", map[string]any{"agents": []string{"codex"}}, []string{"plan", "codex"}},
		{"error_cases", map[string]any{"disagree": true}, []string{"errors", "--disagree"}},
		{"evidence_show", map[string]any{"observation": "none"}, []string{"evidence", "show", "none"}},
		{"bisect", map[string]any{"agent": "codx"}, []string{"bisect", "codx", "--detach"}},
		{"discover", map[string]any{"agents": []string{"codx"}}, []string{"discover", "codx", "--detach"}},
		{"campaign", map[string]any{"agents": []string{"codx"}}, []string{"campaign", "codx", "--detach"}},
		{"replay_run", map[string]any{"kind": "none"}, []string{"replay", "--run", "--all", "--kind", "none", "--detach"}},
		{"capture", map[string]any{"agents": []string{"codx"}}, []string{"capture", "codx", "--detach"}},
		{"job_logs", map[string]any{"run_id": none}, []string{"job", "logs", none}},
		{"job_prune", map[string]any{"older_than": "1h", "dry_run": true}, []string{"job", "prune", "--older-than", "1h", "--dry-run"}},
		{"job_list", map[string]any{"limit": 3, "status": "running"}, []string{"job", "list", "--limit", "3", "--status", "running"}},
		{"job_status", map[string]any{"run_id": none}, []string{"job", "status", none}},
		{"job_output", map[string]any{"run_id": none, "tail_chars": 5}, []string{"job", "output", none, "--tail-chars", "5"}},
		{"job_wait", map[string]any{"run_ids": []string{none, "../x"}, "max_wait": 0}, []string{"job", "wait", none, "../x", "--max-wait", "0"}},
		{"job_kill", map[string]any{"run_id": none, "signal": "TERM"}, []string{"job", "kill", none}},
		{"job_resume", map[string]any{"run_id": none}, []string{"job", "resume", none}},
	} {
		tested[c.tool] = true
		var want any
		wantErr := p.Call(context.Background(), &want, c.command...)
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: c.tool, Arguments: c.input})
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		if r.IsError != (wantErr != nil) {
			t.Errorf("%s: error %v, the command's %v", c.tool, r.IsError, wantErr)
		}
		if wantErr == nil && !reflect.DeepEqual(r.StructuredContent, want) {
			t.Errorf("%s: it answers something else than %v", c.tool, c.command)
		}
		if text, err := json.Marshal(wantErr); wantErr != nil && (err != nil || r.Content[0].(*sdk.TextContent).Text != string(text)) {
			t.Errorf("%s: it refuses as %v, the command as %s", c.tool, r.Content, text)
		}
	}
	for _, tool := range tools.Tools {
		if !tested[tool.Name] {
			t.Errorf("tool %s is not compared with its command", tool.Name)
		}
	}
}

func TestToolsRefuseWrongArguments(t *testing.T) {
	s := session(t, inProcess{t.TempDir(), time.Now()})
	for _, c := range []struct {
		tool  string
		input map[string]any
	}{
		{"can_i_use", map[string]any{"agent": "codex"}},
		{"can_i_use", map[string]any{"agent": 5, "version": "1"}},
		{"job_list", map[string]any{"limit": 1.5}},
		{"job_list", map[string]any{"registry": "/etc"}},
		{"job_wait", map[string]any{"run_ids": "a"}},
		{"job_wait", map[string]any{"run_ids": []any{1}}},
	} {
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: c.tool, Arguments: c.input})
		if err != nil || !r.IsError {
			t.Errorf("%s %v: accepted (%v)", c.tool, c.input, err)
		}
	}
}
