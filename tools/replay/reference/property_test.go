package reference

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

var dialects = []string{DialectCodex, DialectCodexMsg, DialectClaude, DialectClaudeJSON, DialectPlain, DialectVersion}

// story writes a run in either family with the given words, so that the same
// run can be told in other words.
func story(dialect string, words func(int) string, shape []int) []byte {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	if dialect == DialectCodex {
		line(codexThread)
		line(codexTurn)
	} else {
		line(claudeInit)
	}
	for i, kind := range shape {
		switch w := words(kind % 5); {
		case dialect == DialectCodex && kind%2 == 0:
			line(`{"type":"item.completed","item":{"id":"i%d","type":"agent_message","text":%q}}`, i, w)
		case dialect == DialectCodex:
			line(`{"type":"item.started","item":{"id":"i%d","type":"command_execution","command":%q,"status":"in_progress"}}`, i, w)
			line(`{"type":"item.completed","item":{"id":"i%d","type":"command_execution","command":%q,"aggregated_output":%q,"exit_code":%d}}`, i, w, w, kind%3)
		case kind%2 == 0:
			line(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m%d"}}}`, i)
			line(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}}`, w)
			line(`{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":%q}]}}`, i, w)
		default:
			line(`{"type":"assistant","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":%q}}]}}`, i, i, w)
			line(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":%q,"is_error":%v}]}}`, i, w, kind%3 == 0)
		}
	}
	if dialect == DialectCodex {
		line(codexDone)
	} else {
		line(`{"type":"result","subtype":"success","is_error":false,"result":"","usage":{"output_tokens":1}}`)
	}
	return []byte(b.String())
}

func readBytes(t testing.TB, dialect string, stdout, stderr []byte, end Ending, cut func(int) int) *Reading {
	t.Helper()
	return readAs(t, dialect, "claude", stdout, stderr, end, cut)
}

func readAs(t testing.TB, dialect, agent string, stdout, stderr []byte, end Ending, cut func(int) int) *Reading {
	t.Helper()
	r, err := NewReader(&contract.Dialect{ID: dialect}, agent)
	if err != nil {
		t.Fatal(err)
	}
	for rest := stdout; len(rest) > 0; {
		n := min(len(rest), max(1, cut(len(rest))))
		r.Stdout(rest[:n])
		rest = rest[n:]
	}
	r.Stderr(stderr)
	return r.Close(end)
}

func uncut(n int) int { return n }

// TestChunksDoNotMatter: a pipe may cut the output anywhere.
func TestChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dialect := rapid.SampledFrom([]string{DialectCodex, DialectClaude}).Draw(rt, "dialect")
		shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 8).Draw(rt, "shape")
		out := story(dialect, func(i int) string { return "wörd " + fmt.Sprint(i) }, shape)
		out = append(out, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "tail")...)
		want := readBytes(t, dialect, out, nil, exited(0), uncut)
		got := readBytes(t, dialect, out, nil, exited(0), func(n int) int { return rapid.IntRange(1, 40).Draw(rt, "n") })
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("another reading: %+v, want %+v", got, want)
		}
		var records transcript.Transcript
		for l := range bytes.Lines(out) {
			records.Records = append(records.Records, transcript.Record{Dir: transcript.CLIToServer, Stream: transcript.Stdout, Data: l, Deviations: transcript.ByteDeviations(l)})
		}
		zero := 0
		records.Records = append(records.Records, transcript.Record{Dir: transcript.Process, Event: transcript.EventExit, ExitCode: &zero})
		got, err := Read(&records, &contract.Dialect{ID: dialect}, "claude")
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("the transcript reads otherwise: %+v, want %+v (%v)", got, want, err)
		}
	})
}

// TestWordsDoNotMatter: redaction puts one placeholder for each text, and the
// reading stays the same but for the words.
func TestWordsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dialect := rapid.SampledFrom([]string{DialectCodex, DialectClaude}).Draw(rt, "dialect")
		shape := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 8).Draw(rt, "shape")
		raw := []string{"an error 401", "usage limit reached", "Prompt is too long", "x", "Hello x"}
		a := readBytes(t, dialect, story(dialect, func(i int) string { return raw[i] }, shape), nil, exited(0), uncut)
		b := readBytes(t, dialect, story(dialect, func(i int) string { return fmt.Sprintf("<text:%d>", i) }, shape), nil, exited(0), uncut)
		if result(a) != result(b) || types(a.Events) != types(b.Events) || tools(a) != tools(b) || len(a.Texts) != len(b.Texts) ||
			!reflect.DeepEqual(a.Signals, b.Signals) || !reflect.DeepEqual(a.Usage, b.Usage) {
			rt.Fatalf("the words changed the reading: %+v and %+v", a, b)
		}
	})
}

// FuzzReader: whatever a CLI prints, the reading keeps its own promises.
func FuzzReader(f *testing.F) {
	for i := range dialects {
		f.Add(i, story(DialectCodex, func(int) string { return "w" }, []int{0, 1, 2}), []byte("Not logged in"), 1)
		f.Add(i, story(DialectClaude, func(int) string { return "w" }, []int{0, 1, 2}), []byte(nil), 0)
		f.Add(i, []byte("[1,{\"type\":7},\"\"]\n{\"msg\":{\"type\":\"error\"}}\n{\"type\":\"result\"}\x00\x1b[\r\n{\"a"), []byte(nil), 143)
	}
	f.Fuzz(func(t *testing.T, dialect int, stdout, stderr []byte, code int) {
		checkPromises(t, readBytes(t, dialects[(dialect%len(dialects)+len(dialects))%len(dialects)], stdout, stderr, exited(code), uncut))
	})
}

// checkPromises holds a reading against what every reading promises.
func checkPromises(t *testing.T, r *Reading) {
	t.Helper()
	switch {
	case r.RunResult != contract.RunSuccess && r.RunResult != contract.RunFailed:
		t.Errorf("run result %q", r.RunResult)
	case (r.Failure == nil) != (r.RunResult == contract.RunSuccess):
		t.Errorf("%s with failure %+v", r.RunResult, r.Failure)
	case r.Failure != nil && !r.Failure.Valid():
		t.Errorf("failure %+v has a word that is none", r.Failure)
	case r.Text != joinTexts(r.Texts):
		t.Error("the text is not the texts")
	case len(r.Unknown) > maxUnknownKinds+1:
		t.Error("unknown kinds are not bounded")
	}
	seen := map[string]bool{}
	for _, e := range r.Events {
		if id := e.Get("id").Str(); e.Type() == "tool_use" && id != "" {
			if seen[id] {
				t.Error("a call was announced twice")
			}
			seen[id] = true
		}
	}
}

// TestNoiseIsBounded: a CLI that floods stdout with what nobody knows does not
// flood the reading.
func TestNoiseIsBounded(t *testing.T) {
	r, err := NewReader(&contract.Dialect{ID: DialectClaude}, "claude")
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	for i := range n {
		r.Stdout([]byte(fmt.Sprintf("noise %d\n{\"type\":\"kind-%d\"}\n", i, i)))
		r.Stderr([]byte("some chatter\n"))
	}
	got := r.Close(exited(0))
	if len(got.Events) > maxRawEvents || len(got.Unknown) > maxUnknownKinds+1 || len(r.plain) > maxPlainBytes || len(r.stderr) > maxStderrBytes {
		t.Errorf("kept %d events, %d kinds, %d bytes of stdout, %d of stderr", len(got.Events), len(got.Unknown), len(r.plain), len(r.stderr))
	}
	total := 0
	for _, k := range got.Unknown {
		total += k
	}
	if total != n || got.Deviations[transcript.DeviationNotJSON] != n {
		t.Errorf("counted %d unknown frames and %d lines, want %d each", total, got.Deviations[transcript.DeviationNotJSON], n)
	}
}

func BenchmarkReader(b *testing.B) {
	shape := make([]int, 400)
	for i := range shape {
		shape[i] = i
	}
	text := strings.Repeat("some words of an answer, ", 8)
	for _, dialect := range []string{DialectCodex, DialectClaude} {
		out := story(dialect, func(int) string { return text }, shape)
		b.Run(dialect, func(b *testing.B) {
			b.SetBytes(int64(len(out)))
			b.ReportAllocs()
			for b.Loop() {
				readBytes(b, dialect, out, nil, exited(0), func(int) int { return 32 << 10 })
			}
		})
	}
}
