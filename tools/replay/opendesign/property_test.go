package opendesign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/vectortest"
	"pgregory.net/rapid"
)

// lineKinds are the kinds whose events do not depend on chunk borders.
var lineKinds = []string{"claude", "codex", "opencode", "gemini", "cursor-agent", "kimi", "qoder", "copilot"}

func parser(t testing.TB, kind string) Parser {
	t.Helper()
	p, err := New(kind, Options{SuppressHTMLArtifacts: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(p Parser, chunks ...[]byte) []event.Event {
	var events []event.Event
	for _, c := range chunks {
		events = append(events, p.Feed(c)...)
	}
	return append(events, p.Flush()...)
}

func text(events []event.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.Write(e.JSON())
		b.WriteByte('\n')
	}
	return b.String()
}

// A real capture of Claude Code 2.1.259, rebuilt with other ids, and the
// events that OpenDesign made of it.
func TestRealClaudeCapture(t *testing.T) {
	dir := filepath.Join(vectortest.Folder(t, "AGENT_CONTRACTS_SAMPLES", "sample-streams"), "claude-2.1.259-sanitized")
	const name = "claude-2.1.259-partial-single-turn.sanitized"
	stdout, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		t.Skip("no capture of claude 2.1.259 among the sample streams")
	}
	b, err := os.ReadFile(filepath.Join(dir, name+".v0192-events.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want []event.Event
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	p, err := New("claude", Options{SuppressHTMLArtifacts: true})
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, read(p, stdout), want)
}

// pieces are lines and parts of lines that each kind reacts to; joined in any
// order they make streams with state.
var pieces = []string{
	"\n", "\r\n", "\ufeff \u00a0\n", "é€😀", "\xe2\x82", "\xff", "\x00", "oops\n", "[1]\n", "5\n", "{", "}", `"`,
	`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\n## us"}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"er <arti"}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"fact type='text/html'>x</artifact> y"}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"Write","input":{}}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"content\":\"x\",\"path\":\"a.html\"}"}}}` + "\n",
	`{"type":"stream_event","event":{"type":"content_block_stop","index":0}}` + "\n",
	`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"T😀"},{"type":"thinking","thinking":"h"},{"type":"tool_use","id":"k","name":"TaskCreate","input":{"subject":"s"}}],"stop_reason":"end_turn"},"error":"e"}` + "\n",
	`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"m"}}` + "\n",
	`{"type":"item.updated","item":{"id":"r","type":"reasoning","text":"\ud83d\ude00 z"}}` + "\n",
	`{"type":"item.updated","item":{"id":"r","type":"reasoning","text":"\ud83d"}}` + "\n",
	`{"type":"error","message":"{\"error\":{\"message\":\"x\"}}"}` + "\n",
	`{"type":"tool_use","tool_id":"t","tool_name":"write_file","parameters":{"content":"x"},"part":{"tool":"b","callID":"c","state":{"status":"completed","output":{"2":1,"1":2}}}}` + "\n",
	`{"type":"message","role":"assistant","content":"see <artifact>x"}` + "\n",
	`{"type":"assistant","message":{"content":[{"type":"text","text":"ha"}]},"timestamp_ms":1}` + "\n",
	`{"type":"assistant","message":{"content":[{"type":"text","text":"haha"}]},"model_call_id":"x"}` + "\n",
	`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"1"}}]}` + "\n",
	`{"type":"result","is_error":true,"usage":{"a":1.0},"errors":["x"]}` + "\n",
	`{"type":"tool.execution_complete","data":{"result":{"detailedContent":"d"}}}` + "\n",
}

func TestEventsDoNotDependOnChunks(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom(lineKinds).Draw(r, "kind")
		stream := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(r, "pieces"), ""))
		whole := text(read(parser(t, kind), stream))
		var chunks [][]byte
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 80)).Draw(r, "chunk")
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		if cut := text(read(parser(t, kind), chunks...)); cut != whole {
			r.Fatalf("%s: events differ\nwhole\n%s\ncut\n%s", kind, whole, cut)
		}
	})
}

// Plain text is shown chunk by chunk; what is shown in all is the same, as
// long as no marker and no control sequence of two bytes is cut in two.
func TestPlainTextDoesNotDependOnChunks(t *testing.T) {
	const stream = "a\x1b[31mré😀d\x1b[0m\n\x1b]0;title\a<b>\u009b1mx\n## users\n"
	shown := func(chunks ...[]byte) string {
		all := ""
		for _, e := range read(parser(t, "plain"), chunks...) {
			all += e.Get("chunk").Str()
		}
		return all
	}
	for i := range len(stream) {
		if got, want := shown([]byte(stream[:i]), []byte(stream[i:])), "aré😀d\n<b>x\n## users\n"; got != want {
			t.Errorf("cut at %d: got %q, want %q", i, got, want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	for i, p := range pieces {
		f.Add([]byte(p), i)
	}
	f.Add([]byte(strings.Join(pieces, "")), 7)
	f.Add([]byte("a\x1b[31m\x1b]0;x"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		cut = max(0, min(cut, len(stream)))
		for _, kind := range append(lineKinds, "plain") {
			whole := text(read(parser(t, kind), stream))
			halves := text(read(parser(t, kind), stream[:cut], stream[cut:]))
			if kind != "plain" && whole != halves {
				t.Fatalf("%s: events depend on the chunk border at %d", kind, cut)
			}
			for line := range strings.SplitSeq(strings.TrimSuffix(whole, "\n"), "\n") {
				if line != "" && !json.Valid([]byte(line)) {
					t.Fatalf("%s: an event is not JSON", kind)
				}
			}
		}
	})
}

func BenchmarkParsers(b *testing.B) {
	stream := []byte(strings.Repeat(strings.Join(pieces[13:], ""), 50))
	for _, kind := range append(lineKinds, "plain") {
		b.Run(kind, func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				read(parser(b, kind), stream)
			}
		})
	}
}
