package reference

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// family says how one family tells a text, a call with its result, an error
// and the end of a run. The verbs are a number and a quoted text.
type family struct{ dialect, start, text, call, failure, end string }

var families = []family{
	{DialectGemini, geminiInit,
		`{"type":"message","role":"assistant","content":%[2]s,"delta":true}`,
		`{"type":"tool_use","tool_id":"t%[1]d","tool_name":"x","parameters":{"a":%[2]s}}` + "\n" + `{"type":"tool_result","tool_id":"t%[1]d","status":"success","output":%[2]s}`,
		`{"type":"error","severity":"error","message":%[2]s}`, geminiGood},
	{DialectOpenCode, openStart,
		`{"type":"text","part":{"id":"p%[1]d","text":%[2]s}}`,
		`{"type":"tool_use","part":{"tool":"x","callID":"c%[1]d","state":{"status":"completed","input":{"a":%[2]s},"output":%[2]s}}}`,
		`{"type":"error","error":{"name":"E","data":{"message":%[2]s}}}`, openFinish("stop")},
	{DialectKimi, kimiVersion,
		`{"role":"assistant","content":%[2]s}`,
		`{"role":"assistant","tool_calls":[{"id":"c%[1]d","function":{"name":"x","arguments":"{}"}}]}` + "\n" + `{"role":"tool","tool_call_id":"c%[1]d","content":%[2]s}`,
		`{"role":"meta","type":"turn.step.retrying","error_message":%[2]s}`, kimiHint},
	{DialectCursor, cursorInit,
		`{"type":"assistant","message":{"content":[{"type":"text","text":%[2]s}]},"timestamp_ms":1}` + "\n" + `{"type":"assistant","message":{"content":[{"type":"text","text":%[2]s}]},"model_call_id":"m"}`,
		`{"type":"tool_call","subtype":"started","call_id":"c%[1]d","tool_call":{"xToolCall":{"args":{"a":%[2]s}}}}` + "\n" + `{"type":"tool_call","subtype":"completed","call_id":"c%[1]d","tool_call":{"xToolCall":{"result":{"success":{}}}}}`,
		`{"type":"error","message":%[2]s}`, cursorDone},
	{DialectCopilot, copilotTurn,
		`{"type":"assistant.message_delta","data":{"messageId":"m%[1]d","deltaContent":%[2]s}}` + "\n" + `{"type":"assistant.message","data":{"messageId":"m%[1]d","content":%[2]s}}`,
		`{"type":"tool.execution_start","data":{"toolCallId":"c%[1]d","toolName":"x"}}` + "\n" + `{"type":"tool.execution_complete","data":{"toolCallId":"c%[1]d","success":true,"result":{"content":%[2]s}}}`,
		`{"type":"session.error","data":{"message":%[2]s}}`, copilotDone},
	{DialectDroid, droidInit,
		`{"type":"message","role":"assistant","text":%[2]s}`,
		`{"type":"tool_call","id":"c%[1]d","toolName":"x","parameters":{}}` + "\n" + `{"type":"tool_result","id":"c%[1]d","isError":false,"value":%[2]s}`,
		`{"type":"error","message":%[2]s}`, droidDone("", "3", "7")},
	{DialectPiJSON, piStart,
		`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":%[2]s}}` + "\n" + `{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%[2]s}],"stopReason":"stop"}}`,
		`{"type":"tool_execution_start","toolCallId":"c%[1]d","toolName":"x","args":{}}` + "\n" + `{"type":"tool_execution_end","toolCallId":"c%[1]d","isError":false,"result":{"content":[{"type":"text","text":%[2]s}]}}`,
		`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":%[2]s}}`, piEnd},
	{DialectQwen, qwenInit,
		`{"type":"assistant","message":{"id":"m%[1]d","content":[{"type":"text","text":%[2]s}]}}`,
		`{"type":"assistant","message":{"id":"m%[1]d","content":[{"type":"tool_use","id":"t%[1]d","name":"x","input":{}}]}}` + "\n" + `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]s}]}}`,
		`{"type":"system","subtype":"retry","data":{"reason":%[2]s}}`, qwenResult("success", false, `,"result":""`)},
	{DialectQoder, `{"type":"system","subtype":"init"}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":%[2]s}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%[1]d","name":"x","input":{}}]}}` + "\n" + `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]s}]}}`,
		`{"type":"assistant","message":{"content":[]},"error":{"message":%[2]s}}`, qwenResult("success", false, "")},
	{DialectAmp, `{"type":"system","subtype":"init"}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":%[2]s}]}}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t%[1]d","name":"x","input":{}}]}}` + "\n" + `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]s}]}}`,
		`{"type":"rate_limit_event","x":%[2]s}`, qwenResult("success", false, "")},
}

// tell writes a run with the given words.
func (f *family) tell(words func(int) string, shape []int) []byte {
	var b strings.Builder
	fmt.Fprintln(&b, f.start)
	for i, kind := range shape {
		frame := []string{f.text, f.call, f.text, f.failure, f.call}[kind%5]
		fmt.Fprintf(&b, frame+"\n", i, fmt.Sprintf("%q", words(kind%5)))
	}
	fmt.Fprintln(&b, f.end)
	return []byte(b.String())
}

// TestFamiliesChunksDoNotMatter: a pipe may cut the output anywhere.
func TestFamiliesChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &families[rapid.IntRange(0, len(families)-1).Draw(rt, "family")]
		out := f.tell(func(i int) string { return "wörd " + fmt.Sprint(i) }, rapid.SliceOfN(rapid.IntRange(0, 9), 0, 8).Draw(rt, "shape"))
		out = append(out, rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "tail")...)
		want := readBytes(t, f.dialect, out, nil, exited(0), uncut)
		got := readBytes(t, f.dialect, out, nil, exited(0), func(int) int { return rapid.IntRange(1, 40).Draw(rt, "n") })
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("%s: another reading: %+v, want %+v", f.dialect, got, want)
		}
	})
}

// TestFamiliesWordsDoNotMatter: what the model says decides nothing.
func TestFamiliesWordsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := &families[rapid.IntRange(0, len(families)-1).Draw(rt, "family")]
		shape := rapid.SliceOfN(rapid.IntRange(0, 2), 0, 8).Draw(rt, "shape") // no errors: their words do matter
		raw := []string{"an error 401", "usage limit reached", "Prompt is too long"}
		a := readBytes(t, f.dialect, f.tell(func(i int) string { return raw[i%3] }, shape), nil, exited(0), uncut)
		b := readBytes(t, f.dialect, f.tell(func(i int) string { return fmt.Sprintf("<text:%d>", i%3) }, shape), nil, exited(0), uncut)
		if result(a) != result(b) || types(a.Events) != types(b.Events) || tools(a) != tools(b) || len(a.Texts) != len(b.Texts) ||
			!reflect.DeepEqual(a.Signals, b.Signals) || !reflect.DeepEqual(a.Usage, b.Usage) {
			rt.Fatalf("%s: the words changed the reading: %+v and %+v", f.dialect, a, b)
		}
	})
}

// TestFamiliesAreBounded: a CLI that floods stdout with what nobody knows, or
// with errors, does not flood the reading.
func TestFamiliesAreBounded(t *testing.T) {
	for i := range families {
		f := &families[i]
		r, err := NewReader(&contract.Dialect{ID: f.dialect}, f.dialect)
		if err != nil {
			t.Fatal(err)
		}
		const n = 5000
		for i := range n {
			r.Stdout([]byte(fmt.Sprintf("noise %d\n{\"type\":\"kind-%d\",\"role\":\"r%d\"}\n[7]\n", i, i, i)))
		}
		got := r.Close(exited(0))
		if len(got.Events) > maxRawEvents+1 || len(got.Unknown) > maxUnknownKinds+1 || len(r.plain) > maxPlainBytes {
			t.Errorf("%s: kept %d events, %d kinds, %d bytes of stdout", f.dialect, len(got.Events), len(got.Unknown), len(r.plain))
		}
		if got.RunResult != contract.RunFailed {
			t.Errorf("%s: noise is a %s", f.dialect, got.RunResult)
		}
	}
}

// TestRunsStopAnywhere: a run that is cut after any line is no success unless
// it said so, and never more than the whole.
func TestRunsStopAnywhere(t *testing.T) {
	for i := range families {
		f := &families[i]
		lines := bytes.SplitAfter(f.tell(func(i int) string { return fmt.Sprintf("word %d", i) }, []int{0, 1, 2, 4, 0}), []byte("\n"))
		for n := range lines {
			r := readBytes(t, f.dialect, bytes.Join(lines[:n], nil), nil, Ending{Signal: "SIGKILL"}, uncut)
			if n < len(lines)-1 && r.RunResult == contract.RunSuccess {
				t.Errorf("%s: success after %d of %d lines and SIGKILL", f.dialect, n, len(lines)-1)
			}
			checkPromises(t, r)
		}
	}
}

func BenchmarkFamilies(b *testing.B) {
	text := strings.Repeat("some words of an answer, ", 8)
	shape := make([]int, 400)
	for i := range shape {
		shape[i] = []int{0, 1, 2}[i%3]
	}
	for i := range families {
		f := &families[i]
		out := f.tell(func(int) string { return text }, shape)
		b.Run(f.dialect, func(b *testing.B) {
			b.SetBytes(int64(len(out)))
			b.ReportAllocs()
			for b.Loop() {
				readBytes(b, f.dialect, out, nil, exited(0), func(int) int { return 32 << 10 })
			}
		})
	}
}

func fuzzFamily(f *testing.F, dialect string) {
	for i := range families {
		if fam := &families[i]; fam.dialect == dialect {
			f.Add(fam.tell(func(int) string { return "w" }, []int{0, 1, 2, 3, 4}), []byte("Not logged in"), 1)
			f.Add(fam.tell(func(i int) string { return strings.Repeat("ab", i) }, []int{3, 0, 0, 0, 0, 3}), []byte(nil), 0)
		}
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, code int) {
		checkPromises(t, readBytes(t, dialect, stdout, stderr, exited(code), uncut))
	})
}

func FuzzGemini(f *testing.F)   { fuzzFamily(f, DialectGemini) }
func FuzzOpenCode(f *testing.F) { fuzzFamily(f, DialectOpenCode) }
func FuzzKimi(f *testing.F)     { fuzzFamily(f, DialectKimi) }
func FuzzCursor(f *testing.F)   { fuzzFamily(f, DialectCursor) }
func FuzzCopilot(f *testing.F)  { fuzzFamily(f, DialectCopilot) }
func FuzzDroid(f *testing.F)    { fuzzFamily(f, DialectDroid) }
func FuzzPi(f *testing.F)       { fuzzFamily(f, DialectPiJSON) }
func FuzzQwen(f *testing.F)     { fuzzFamily(f, DialectQwen) }
func FuzzQoder(f *testing.F)    { fuzzFamily(f, DialectQoder) }
func FuzzAmp(f *testing.F)      { fuzzFamily(f, DialectAmp) }
