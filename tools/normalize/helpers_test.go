package normalize_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/normalize"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// root returns the repository's root folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

func families(t testing.TB) *contract.Families {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), "registry", "families.json"))
	if err != nil {
		t.Fatal(err)
	}
	var f contract.Families
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func dialect(t testing.TB, id string) *contract.Dialect {
	t.Helper()
	d := families(t).Dialect(id)
	if d == nil {
		t.Fatalf("no dialect %q", id)
	}
	return d
}

// stdout makes a transcript of a child that printed text and exited with 0.
func stdout(text string) *transcript.Transcript {
	t := &transcript.Transcript{Records: []transcript.Record{{Dir: transcript.Process, Event: transcript.EventSpawn}}}
	for line := range strings.SplitAfterSeq(text, "\n") {
		if line != "" {
			add(t, transcript.CLIToServer, transcript.Stdout, line)
		}
	}
	return exit(t, 0)
}

func add(t *transcript.Transcript, dir transcript.Dir, s transcript.Stream, line string) {
	t.Records = append(t.Records, transcript.Record{
		Dir: dir, Stream: s, Data: []byte(line), At: time.Duration(len(t.Records)) * time.Millisecond,
	})
}

func exit(t *transcript.Transcript, code int) *transcript.Transcript {
	t.Records = append(t.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &code})
	return t
}

func shape(t testing.TB, tr *transcript.Transcript, d *contract.Dialect) (*contract.Shape, normalize.Notes) {
	t.Helper()
	s, notes, err := normalize.Shape(tr, d, contract.LevelRuntimeObserved)
	if err != nil {
		t.Fatal(err)
	}
	return s, notes
}

func signature(t testing.TB, text string, d *contract.Dialect) contract.Digest {
	t.Helper()
	s, _ := shape(t, stdout(text), d)
	return s.Signature
}

// sequence spells a shape's sequence as JSON.
func sequence(t testing.TB, s *contract.Shape) string {
	t.Helper()
	b, err := json.Marshal(s.Extensions.Sequence)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sample is a stream of another project that the dialect reads.
type sample struct {
	name string
	text string
	d    *contract.Dialect
}

// samples returns the sample streams of Codex and Claude, and streams of this
// package that have what those lack.
func samples(t testing.TB) []sample {
	t.Helper()
	f := families(t)
	out := []sample{
		{"codex", codexTool, f.Dialect("codex")},
		{"codex-msg", codexMsg, f.Dialect("codex-msg")},
		{"claude", claudePartial, f.Dialect("claude")},
	}
	for _, glob := range []string{"codex/*.jsonl", "claude/*.jsonl", "claude-2.1.259-sanitized/*.jsonl"} {
		names, err := filepath.Glob(filepath.Join(root(t), "..", "shared", "sample-streams", glob))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			d, err := normalize.DetectDialect(f, stdout(string(b)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out = append(out, sample{filepath.Base(name), string(bytes.TrimRight(b, "\n")) + "\n", d})
		}
	}
	return out
}

const codexTool = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
`

const codexMsg = `{"workdir":"/w","model":"m","provider":"p","approval":"never","sandbox":"read-only"}
{"prompt":"hello"}
{"id":"0","msg":{"type":"task_started"}}
{"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["ls"],"cwd":"/w"}}
{"id":"0","msg":{"type":"exec_command_output_delta","call_id":"c1","stream":"stdout","chunk":"YQ=="}}
{"id":"0","msg":{"type":"exec_command_output_delta","call_id":"c1","stream":"stdout","chunk":"Yg=="}}
{"id":"0","msg":{"type":"exec_command_end","call_id":"c1","exit_code":0}}
{"id":"0","msg":{"type":"agent_message","message":"OK"}}
{"id":"0","msg":{"type":"token_count","info":null}}
`

const claudePartial = `{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"model":"m","permissionMode":"default","apiKeySource":"none"}
{"type":"stream_event","event":{"type":"message_start","message":{"type":"message","role":"assistant","content":[]}},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}},"parent_tool_use_id":null}
{"type":"assistant","message":{"type":"message","role":"assistant","content":[{"type":"text","text":"ab"}],"stop_reason":null},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_stop","index":0},"parent_tool_use_id":null}
{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"}},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"result":"ab","modelUsage":{"m-1":{"costUSD":0.1}}}
`
