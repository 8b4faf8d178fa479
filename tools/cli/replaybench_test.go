//go:build unix

package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	agentcontracts "github.com/nexu-io/open-design-agent-contracts"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/reference"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// benchBytes is the size of a benchmark's transcript: what its CLI printed.
const benchBytes = 100_000_000

// benchStory is one run of a dialect, which the benchmark repeats: a committed
// fixture, or frames of our own where no CLI of the dialect can be run.
type benchStory struct {
	dialect string
	fixture string // file in fixtures/
	frames  string
	// answer marks the frames with an answer's text, or with a piece of it if
	// the dialect streams. A probe's answer is two or three words long.
	answer  string
	streams bool
}

var benchStories = []benchStory{
	{dialect: "codex", fixture: "json-event-stream/sha256-80111967fd6f85612a8f4869fabc1bfbd38fab8d3901e69ea4b4d4b528ee144c.sanitized.jsonl", answer: `"agent_message"`},
	{dialect: "codex-msg", fixture: "json-event-stream/sha256-0bd98a46873d092d82d32de88060097730707095853aa312fb09dd89036e7d7c.sanitized.jsonl", answer: `"agent_message"`},
	{dialect: "claude", fixture: "claude-stream-json/sha256-a62895bf803dcbd5c4a334bfc77e4265445bcc60aec50b41f0759d269b9b776b.sanitized.jsonl", answer: `"text_delta"`, streams: true},
	{dialect: "claude-json", fixture: "claude-stream-json/sha256-a62895bf803dcbd5c4a334bfc77e4265445bcc60aec50b41f0759d269b9b776b.sanitized.jsonl", answer: `"type":"text"`},
	{dialect: "qwen", fixture: "claude-stream-json/sha256-e0186d86b9d66964ec83ea62bf3ac265eb94b7ea682eb1b8efb1059ffc13586a.sanitized.jsonl", answer: `"text_delta"`, streams: true},
	{dialect: "opencode", fixture: "json-event-stream/sha256-856b13da45255d46601fd47887927f88934c2da086a7214761a39d482d8e49c7.05e3394bbd5a.sanitized.jsonl", answer: `"type":"text"`},
	{dialect: "gemini", fixture: "json-event-stream/sha256-13b720708100756b3095f47a6b2313a7ddbc14ef358296be2d3e456abcf72125.sanitized.jsonl", answer: `"delta":true`, streams: true},
	{dialect: "kimi", fixture: "json-event-stream/sha256-f12ea54c7cc2120c0bdfaf2695513c5cbc5b8fd4c1d74a8f752caf33902b5c97.sanitized.jsonl", answer: `"role":"assistant"`},
	{dialect: "copilot", fixture: "copilot-stream-json/sha256-d0c6866719f324fe90e0de0481bb071cf06039883be337ba629abc636898e400.sanitized.jsonl", answer: `"assistant.message_delta"`, streams: true},
	{dialect: "droid", fixture: "json-event-stream/sha256-51fa38e3fa7c9b4371e9f7fa327b1852f8391f45ca9faf4a39325703ead43c47.sanitized.jsonl", answer: `"role":"assistant"`},
	{dialect: "pi-json", fixture: "json-event-stream/sha256-f9ed45e598899790af4dcc58bdbce078c67501df7241251190e2b0701e345436.sanitized.jsonl", answer: `"text_delta"`, streams: true},
	{dialect: "plain", fixture: "plain/sha256-c73c2226e5674db02d824119f408b644672968038c3f6ddf31561ed9212ff97c.sanitized.jsonl"},
	{dialect: "cursor-agent", frames: benchCursor, answer: `"timestamp_ms"`, streams: true},
	{dialect: "qoder", frames: benchClaudeLike, answer: `"type":"text"`},
	{dialect: "amp", frames: benchClaudeLike, answer: `"type":"text"`},
}

const benchCursor = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"<uuid:1>","model":"Auto","permissionMode":"default"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<text:1>"}]},"session_id":"<uuid:1>","timestamp_ms":1}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<text:1>"}]},"session_id":"<uuid:1>","model_call_id":"<id:1>"}
{"type":"tool_call","subtype":"started","call_id":"<id:2>","tool_call":{"readToolCall":{"args":{"path":"/w/p1.txt"}}},"session_id":"<uuid:1>"}
{"type":"tool_call","subtype":"completed","call_id":"<id:2>","tool_call":{"readToolCall":{"args":{"path":"/w/p1.txt"},"result":{"success":{"content":"<text:3>\n","isEmpty":false,"exceededLimit":false,"totalLines":1,"totalChars":9}}}},"session_id":"<uuid:1>"}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<text:2>"}]},"session_id":"<uuid:1>","timestamp_ms":1}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"<text:2>"}]},"session_id":"<uuid:1>","model_call_id":"<id:3>"}
{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"<text:1><text:2>","session_id":"<uuid:1>","request_id":"<uuid:2>"}
`

const benchClaudeLike = `{"type":"system","subtype":"init","cwd":"/w","session_id":"<uuid:1>","tools":["Bash","Read","Write"],"mcp_servers":[]}
{"type":"assistant","message":{"id":"<id:1>","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"<text:1>"},{"type":"tool_use","id":"<id:2>","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"<uuid:1>"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"<id:2>","content":"p1.txt\np2.json","is_error":false}]},"parent_tool_use_id":null,"session_id":"<uuid:1>"}
{"type":"assistant","message":{"id":"<id:3>","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"<text:2>"}],"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"<uuid:1>"}
{"type":"result","subtype":"success","duration_ms":1,"is_error":false,"num_turns":2,"result":"<text:2>","session_id":"<uuid:1>","usage":{"input_tokens":20,"output_tokens":10}}
`

// stdout returns what the story's CLI printed.
func (s *benchStory) stdout(b *testing.B) string {
	b.Helper()
	if s.fixture == "" {
		return s.frames
	}
	f, err := agentcontracts.Files().Open("fixtures/" + s.fixture)
	if err != nil {
		f, err = os.Open(filepath.Join("../../fixtures", s.fixture))
	}
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	t, err := transcript.ReadSanitized(f)
	if err != nil {
		b.Fatal(err)
	}
	var out strings.Builder
	for line := range t.Lines(transcript.CLIToServer, transcript.Stdout) {
		// An array of frames comes from a run without partial messages.
		if s.dialect != "claude-json" || !bytes.HasPrefix(line, []byte(`{"type":"stream_event"`)) {
			out.Write(line)
		}
	}
	return out.String()
}

var (
	benchText = regexp.MustCompile(`<text:\d+>`)
	// benchSaid finds the text in the frame of an answer.
	benchSaid = regexp.MustCompile(`"(?:text|content|message|delta|deltaContent)":"(<text:\d+>)`)
	benchID   = regexp.MustCompile(`<(?:uu)?id:\d+>`)
)

// piecesInText is how many pieces each text of an answer becomes, about 200
// bytes together.
const piecesInText = 20

// stretch gives answers the length that real ones have: short ones. Where such
// a text stands elsewhere it gets the same words, so that the frames that
// repeat it still do.
func (s *benchStory) stretch(out string) string {
	if s.answer == "" {
		return out
	}
	piece := func(text string, i int) string { return fmt.Sprintf("%s-%d, ", strings.Trim(text, "<>"), i) }
	answers := map[string]string{}
	lines := strings.SplitAfter(out, "\n")
	for i, line := range lines {
		said := benchSaid.FindStringSubmatch(line)
		if !strings.Contains(line, s.answer) || said == nil {
			continue
		}
		text := said[1]
		var pieces, whole strings.Builder
		for n := range piecesInText {
			frame := line
			if n < piecesInText-1 {
				frame = strings.Replace(line, text+" ", text, 1) // what ends the text ends its last piece
			}
			pieces.WriteString(strings.Replace(frame, text, piece(text, n), 1))
			whole.WriteString(piece(text, n))
		}
		answers[text] = whole.String()
		if s.streams {
			lines[i] = pieces.String()
		}
	}
	return benchText.ReplaceAllStringFunc(strings.Join(lines, ""), func(text string) string {
		if whole, ok := answers[text]; ok {
			return whole
		}
		return text
	})
}

// repeat returns size bytes or a little more of the story, each time with ids
// of its own.
func (s *benchStory) repeat(b *testing.B, size int) []byte {
	story := s.stretch(s.stdout(b))
	marks := benchID.FindAllStringIndex(story, -1)
	var out bytes.Buffer
	out.Grow(size + len(story) + len(story)/2)
	for n := 0; out.Len() < size; n++ {
		at := 0
		for _, m := range marks {
			out.WriteString(story[at:m[0]])
			fmt.Fprintf(&out, "%07x-%s", n, strings.Trim(story[m[0]:m[1]], "<>"))
			at = m[1]
		}
		out.WriteString(story[at:])
	}
	if s.dialect != "claude-json" {
		return out.Bytes()
	}
	frames := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return fmt.Appendf(nil, "[%s]\n", bytes.ReplaceAll(frames, []byte("\n"), []byte(",")))
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure reports what one run of f costs. The machine may be shared, so the
// figure that counts is megabytes (10^6) of input a second of CPU time, the
// garbage collector's included.
func measure(b *testing.B, size int, f func()) {
	b.SetBytes(int64(size))
	runtime.GC()
	before := cpuTime(b)
	n := 0
	for b.Loop() {
		f()
		n++
	}
	spent := (cpuTime(b) - before).Seconds()
	b.ReportMetric(float64(size)*float64(n)/1e6/spent, "MB/cpu-s")
}

// BenchmarkReplay measures the reference adapter on 100 MB of stdout of each
// dialect: the reader by itself, and the command with reading, splitting and
// printing, on what the CLI printed, on the harness's recording of it and on a
// sanitized transcript.
// docs/benchmarks/replay.md has the figures and how to make them again.
func BenchmarkReplay(b *testing.B) {
	for i := range benchStories {
		s := &benchStories[i]
		b.Run(s.dialect, func(b *testing.B) {
			out := s.repeat(b, benchBytes)
			b.Run("reader", func(b *testing.B) { benchReader(b, s.dialect, out) })
			b.Run("stdout", func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "stdout")
				if err := os.WriteFile(path, out, 0o600); err != nil {
					b.Fatal(err)
				}
				benchCommand(b, s.dialect, path, len(out))
			})
			b.Run("recording", func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "raw.bundle")
				writeRecording(b, path, out)
				benchCommand(b, s.dialect, path, len(out))
			})
			b.Run("transcript", func(b *testing.B) {
				if s.dialect == "claude-json" {
					b.Skip("one line of 100 MB")
				}
				path := filepath.Join(b.TempDir(), "sanitized.jsonl")
				benchCommand(b, s.dialect, path, writeTranscript(b, path, out))
			})
		})
	}
}

// writeTranscript writes a sanitized transcript of what a CLI printed, as much
// of it as fits into benchBytes, and returns its size.
func writeTranscript(b *testing.B, path string, out []byte) int {
	b.Helper()
	var text bytes.Buffer
	if err := stdoutTranscript(out).WriteSanitized(&text); err != nil {
		b.Fatal(err)
	}
	end := bytes.LastIndexByte(text.Bytes()[:benchBytes], '\n') + 1
	if err := os.WriteFile(path, text.Bytes()[:end], 0o600); err != nil {
		b.Fatal(err)
	}
	return end
}

// benchChunk is the size of a pipe's buffer.
const benchChunk = 64 << 10

// writeRecording writes what the harness records of a run that printed out.
func writeRecording(b *testing.B, path string, out []byte) {
	b.Helper()
	w, err := transcript.CreateBundle(path)
	if err != nil {
		b.Fatal(err)
	}
	for chunk := range slices.Chunk(out, benchChunk) {
		if err := w.Chunk(transcript.CLIToServer, transcript.Stdout, 1, chunk); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Process(2, transcript.ProcessEvent{Event: transcript.EventExit, ExitCode: new(int)}); err != nil {
		b.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func benchReader(b *testing.B, dialect string, out []byte) {
	d := families(b).Dialect(dialect)
	code := 0
	measure(b, len(out), func() {
		r, err := reference.NewReader(d, dialect)
		if err != nil {
			b.Fatal(err)
		}
		for chunk := range slices.Chunk(out, benchChunk) {
			r.Stdout(chunk)
		}
		if got := r.Close(reference.Ending{ExitCode: &code}); len(got.Unknown)+len(got.Retracted) > 0 || got.Text == "" {
			b.Fatalf("text of %d bytes, %d texts taken back, frames that nobody knows: %v", len(got.Text), len(got.Retracted), got.Unknown)
		}
	})
}

func benchCommand(b *testing.B, dialect, path string, size int) {
	measure(b, size, func() {
		env := Env{Args: []string{"replay", path, "--kind", dialect, "--quiet"}, Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Dir: ".", Now: time.Now}
		if code := Main(context.Background(), env); code != ExitOK {
			b.Fatalf("exit code %d", code)
		}
	})
}
