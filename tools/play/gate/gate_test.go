//go:build unix

package gate

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/harness"
	"github.com/nexu-io/open-design-agent-contracts/tools/play"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/transcripttest"
)

var every = flag.Bool("every", false, "play every fixture of the repository, not a sample")

// silence is long enough for a played child to print on a machine under load.
const silence = 5 * time.Second

// TestMain makes the test binary the program that plays, too.
func TestMain(m *testing.M) {
	if harness.SuperviseMain() {
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "play" {
		os.Exit(playMain(os.Args[2]))
	}
	if len(os.Args) == 4 && os.Args[1] == "play-late" {
		os.Exit(lateMain(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func playMain(name string) int {
	lib := play.Library{Dir: "/", Registry: store.Embedded(os.DirFS("/nonexistent"))}
	named, err := lib.Open(name)
	if err != nil {
		return 100
	}
	end, err := play.Play(named.Recording, play.Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	if err == nil {
		err = play.Die(end)
	}
	var v *play.Violation
	if errors.As(err, &v) {
		fmt.Fprintf(os.Stderr, "error: %v\n", v)
		return exitHost
	}
	return 101
}

// lateMain is a child that a loaded machine does not let speak the first time:
// it says nothing until it is ended. The next one plays.
func lateMain(mark, name string) int {
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return playMain(name)
	}
	f.Close()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	return 0
}

func options(t *testing.T, reg *store.Registry) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Registry: reg, Program: []string{self, "play"}, Dir: t.TempDir(), Silence: silence, Parallel: 8}
}

// The committed fixtures play as they were recorded: the round trip and the
// gate over a sample that is another one every day, over all with -every. Under
// the race detector it is a smaller one: its children are raced too.
func TestFixtures(t *testing.T) {
	reg, err := store.Open("../../..")
	if err != nil {
		t.Fatal(err)
	}
	records, err := play.Records(reg, "")
	if err != nil {
		t.Fatal(err)
	}
	if !*every {
		parts := 12
		if raced {
			parts *= 4
		}
		day := time.Now().UTC().YearDay() % parts
		var sample []store.Observed
		for i, o := range records {
			if i%parts == day {
				sample = append(sample, o)
			}
		}
		t.Logf("part %d of %d of the fixtures; -every plays all", day+1, parts)
		records = sample
	}
	r, err := Run(context.Background(), options(t, reg), records)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Status == StatusDiffers {
			t.Errorf("%s as %s: %s", row.Fixture, row.Agent, strings.Join(row.Findings, "; "))
		}
	}
	if len(r.Rows) < 10 {
		t.Errorf("only %d fixtures were played", len(r.Rows))
	}
}

// synthetic is a registry with one fixture, and the record that names it.
func synthetic(t *testing.T, agent, dialect string, tr *transcript.Transcript) (*store.Registry, store.Observed) {
	t.Helper()
	dir := t.TempDir()
	for _, rel := range []string{store.AgentsFile, store.FamiliesFile} {
		copyFile(t, filepath.Join("../../..", rel), filepath.Join(dir, rel))
	}
	if err := os.CopyFS(filepath.Join(dir, "probes"), os.DirFS("../../../probes")); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	reg, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	families, err := reg.Families()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := tr.WriteSanitized(&b); err != nil {
		t.Fatal(err)
	}
	o := store.Observed{Path: "observations/x"}
	o.Agent, o.ProtocolFamily, o.Extensions.Dialect, o.Extensions.Fixture = agent, families.Dialect(dialect).ProtocolFamily, dialect, "fixtures/x/x.jsonl"
	place := filepath.Join(dir, o.Extensions.Fixture)
	if err := errors.Join(os.MkdirAll(filepath.Dir(place), 0o755), os.WriteFile(place, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return reg, o
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, b, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// one plays one synthetic run.
func one(t *testing.T, agent, dialect string, lines ...string) Row {
	t.Helper()
	reg, o := synthetic(t, agent, dialect, recorded(dialect, lines...))
	r, err := Run(context.Background(), options(t, reg), []store.Observed{o})
	if err != nil {
		t.Fatal(err)
	}
	return r.Rows[0]
}

// recorded makes a transcript of lines as a dialect has them.
func recorded(dialect string, lines ...string) *transcript.Transcript {
	if dialect == "acp" || dialect == "pi-rpc" {
		return transcripttest.TwoWay(lines...)
	}
	return transcripttest.Of(lines...)
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":false},"clientInfo":{"name":"open-design","version":"runtime-adapter"}}}`
	initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}`
	newSession  = `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`
	session     = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"<uuid:1>"}}`
	prompt      = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"<uuid:1>","prompt":[{"type":"text","text":"<text:1>"}]}}`
	mayI        = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"<uuid:1>","options":[{"optionId":"a","kind":"allow_once","name":"<text:2>"}],"toolCall":{"toolCallId":"<id:1>"}}}`
	allowed     = `{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"a"}}}`
	chunk       = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"<uuid:1>","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<text:3>"}}}}`
	answered    = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`
	refused     = `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}`
	cancel      = `{"jsonrpc":"2.0","id":4,"method":"session/cancel","params":{"sessionId":"<uuid:1>"}}`
	cancelled   = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`
	piPrompt    = `{"id":1,"type":"prompt","message":"<text:1>"}`
	piAccepted  = `{"id":1,"type":"response","command":"prompt","success":true}`
	piStart     = `{"type":"agent_start"}`
	piText      = `{"type":"message_update","message":{},"assistantMessageEvent":{"type":"text_delta","delta":"<text:2>"}}`
	piEnd       = `{"type":"agent_end","messages":[]}`
	asked       = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<text:1>"}]}}`
	said        = `{"type":"assistant","message":{"id":"<id:1>","role":"assistant","content":[{"type":"text","text":"<text:2>"}],"stop_reason":"end_turn"}}`
	over        = `{"type":"result","subtype":"success","is_error":false,"result":"<text:2>","usage":{"input_tokens":1,"output_tokens":1}}`
)

// Whole runs of each kind of host, with what befell them.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name, agent, dialect string
		lines                []string
		stdin, exit, daemon  string
	}{
		{"ACP", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + mayI, "< " + allowed, "> " + chunk, "> " + answered, "exit 0"}, "line 5", "0", "succeeded (exit_0)"},
		{"ACP, ended by us", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + refused, "kill terminated SIGTERM", "exit SIGTERM"}, "never", "SIGTERM", "failed (fatal_rpc_error)"},
		{"ACP, stays after the end of stdin", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + chunk, "> " + answered, "! bye", "kill terminated SIGTERM", "exit 0"}, "line 4", "0", "succeeded (exit_0)"},
		{"ACP, cancelled by the client", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + chunk, "< " + cancel, "> " + cancelled, "exit 0"}, "line 3", "0", "canceled (cancel_requested)"},
		{"ACP, answers while it is ended", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + chunk, "timeout idle_timeout SIGTERM", "> " + cancelled, "exit SIGTERM"}, "line 4", "SIGTERM", "failed (signal)"},
		{"ACP, dies in the turn", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + newSession, "> " + session, "< " + prompt, "> " + chunk, "exit SIGSEGV"}, "never", "SIGSEGV", "failed (fatal_rpc_error)"},
		{"ACP, never answers", "kimi", "acp", []string{"< " + initialize, "timeout idle_timeout SIGTERM", "exit SIGTERM"}, "never", "SIGTERM", "failed (signal)"},
		{"Pi", "pi", "pi-rpc", []string{"< " + piPrompt, "> " + piAccepted, "> " + piStart, "> " + piText, "> " + piEnd, "exit 0"}, "line 4", "0", "succeeded (exit_0)"},
		{"Pi without text", "pi", "pi-rpc", []string{"< " + piPrompt, "> " + piAccepted, "> " + piStart, "> " + piEnd, "exit 0"}, "line 3", "0", "failed (empty_output)"},
		{"stream-json", "claude", "claude", []string{"< " + asked, "> " + said, "> " + over, "exit 0"}, "line 1", "0", "succeeded (exit_0)"},
		{"stream-json, killed in the turn", "claude", "claude", []string{"< " + asked, "! Error: out of memory", "exit SIGKILL"}, "never", "SIGKILL", "failed (signal)"},
		{"interrupted", "codex", "codex", []string{"< prompt", `> {"type":"thread.started","thread_id":"<uuid:1>"}`, "kill interrupt SIGINT", "exit 130"}, "at once", "130", "canceled (cancel_requested)"},
		{"cancelled", "codex", "codex", []string{"< prompt", `> {"type":"thread.started","thread_id":"<uuid:1>"}`, "kill cancelled SIGTERM", "exit SIGTERM"}, "at once", "SIGTERM", "canceled (cancel_requested)"},
		{"too much output", "codex", "codex", []string{"< prompt", `> {"type":"thread.started","thread_id":"<uuid:1>"}`, "kill output_limit SIGTERM", "exit SIGTERM"}, "at once", "SIGTERM", "failed (signal)"},
		{"killed by the ladder", "codex", "codex", []string{"< prompt", `> {"type":"thread.started","thread_id":"<uuid:1>"}`, "timeout idle_timeout SIGTERM", "exit SIGKILL"}, "at once", "SIGKILL", "failed (signal)"},
		{"silent", "qwen", "plain", []string{"< prompt", "exit 0"}, "at once", "0", "failed (empty_output)"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			row := one(t, c.agent, c.dialect, c.lines...)
			if row.Status != StatusOK {
				t.Errorf("%s: %s", row.Status, strings.Join(row.Findings, "; "))
			}
			if row.Stdin != c.stdin || row.Exit != c.exit || row.Daemon != c.daemon {
				t.Errorf("stdin closed %s, exit %s, daemon %s; want %s, %s, %s", row.Stdin, row.Exit, row.Daemon, c.stdin, c.exit, c.daemon)
			}
		})
	}
}

// A child that was ended for its silence before it could speak is given more
// time once.
func TestStalledIsTriedAgain(t *testing.T) {
	t.Parallel()
	reg, o := synthetic(t, "codex", "codex", recorded("codex", "< prompt", `> {"type":"thread.started","thread_id":"<uuid:1>"}`,
		"timeout idle_timeout SIGTERM", "exit SIGTERM"))
	opts := options(t, reg)
	opts.Silence = time.Second
	mark := filepath.Join(opts.Dir, "mark")
	opts.Program = []string{opts.Program[0], "play-late", mark}
	r, err := Run(context.Background(), opts, []store.Observed{o})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("no first try: %v", err)
	}
	if row := r.Rows[0]; row.Status != StatusOK {
		t.Errorf("%s: %s", row.Status, strings.Join(row.Findings, "; "))
	}
}

// A strict client cancels when the recorded one did, with the question open,
// and refuses a file with the recorded error.
func TestStrictClient(t *testing.T) {
	strict := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true},"clientInfo":{"name":"agent-contracts","version":"0.1.0"}}}`
	reg, o := synthetic(t, "kimi", "acp", transcripttest.TwoWay("< "+strict, "> "+initialized, "< "+newSession, "> "+session, "< "+prompt,
		`> {"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"<uuid:1>","path":"/w/p1.txt"}}`,
		`< {"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"Resource not found"}}`,
		`> {"jsonrpc":"2.0","id":8,"method":"fs/write_text_file","params":{"sessionId":"<uuid:1>","path":"/p1.txt","content":"x"}}`,
		`< {"jsonrpc":"2.0","id":8,"error":{"code":-32603,"message":"Internal error"}}`,
		"> "+mayI, `< {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"<uuid:1>"}}`,
		`< {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}}`, "> "+cancelled, "exit 0"))
	o.Probe = "permission-cancelled"
	r, err := Run(context.Background(), options(t, reg), []store.Observed{o})
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Rows[0]; row.Status != StatusOK || row.Stdin != "line 6" {
		t.Errorf("%s, stdin closed at %s: %s", row.Status, row.Stdin, strings.Join(row.Findings, "; "))
	}
}

// A recording that today's host would not make is found out.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name, agent, dialect string
		lines                []string
		want                 string
	}{
		{"a client that sent something else", "kimi", "acp", []string{"< " + initialize, "> " + initialized, "< " + strings.Replace(newSession, "session/new", "session/other", 1), "> " + session, "exit 0"},
			`the client sent "request session/new" where the recorded one sent "request session/other"`},
		{"a client with other parameters", "kimi", "acp", []string{"< " + strings.Replace(initialize, `"terminal":false`, `"terminal":false,"more":1`, 1), "> " + initialized, "< " + newSession, "exit 1"},
			"another shape"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			row := one(t, c.agent, c.dialect, c.lines...)
			if row.Status != StatusDiffers || !strings.Contains(strings.Join(row.Findings, "; "), c.want) {
				t.Errorf("%s: %q, want %q", row.Status, row.Findings, c.want)
			}
		})
	}
}

// Families without a fixture are named.
func TestFamilies(t *testing.T) {
	r := report([]Row{{Fixture: "b", Family: contract.FamilyPlain}, {Fixture: "a", Family: contract.FamilyACP, Status: StatusNotPlayed}})
	if len(r.Covered) != 1 || len(r.Missing) != 6 || r.Rows[0].Fixture != "a" {
		t.Errorf("covered %v, missing %v", r.Covered, r.Missing)
	}
}
