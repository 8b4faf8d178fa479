package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/longrun"
	"pgregory.net/rapid"
)

// sameWithoutForms redacts a transcript with and without what is remembered of
// the forms of its frames.
func sameWithoutForms(t failer, r *Redactor, raw string, in Input) {
	slow := &Redactor{families: r.families, dialects: r.dialects, plodding: true}
	got, gotReport, err := r.Redact(stdout(raw), in)
	want, wantReport, wantErr := slow.Redact(stdout(raw), in)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(gotReport) != fmt.Sprint(wantReport) {
		t.Fatalf("%v %v, want %v %v", gotReport, err, wantReport, wantErr)
	}
	for i := range want.Records {
		a, b := &got.Records[i], &want.Records[i]
		if string(a.Line()) != string(b.Line()) || (a.Frame == nil) != (b.Frame == nil) || fmt.Sprint(a.Deviations) != fmt.Sprint(b.Deviations) {
			t.Fatalf("record %d of\n%s\nbecame %v\n%s\nwant %v\n%s", i, raw, a.Deviations, a.Line(), b.Deviations, b.Line())
		}
	}
}

// A frame of a known form becomes what it would become alone.
func TestFormsChangeNothing(t *testing.T) {
	r := newRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		in := input(t)
		in.Dialect = rapid.SampledFrom([]string{"codex", "claude", "acp", "gemini", "codex-msg", "plain", "qwen"}).Draw(t, "dialect")
		said := []string{text(t, 2), text(t, 2), text(t, 2)}
		var raw strings.Builder
		for range rapid.IntRange(2, 12).Draw(t, "lines") {
			q := func() string { return quote(rapid.SampledFrom(said).Draw(t, "said")) }
			n := rapid.SampledFrom([]string{"1", "12345678901", "-0.5e3", "0"}).Draw(t, "number")
			raw.WriteString(rapid.SampledFrom([]string{
				`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + q() + `}},"session_id":"s","uuid":` + q() + `}`,
				`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + q() + `}},"session_id":"s"}`,
				`{"type":"stream_event","event":{"type":"content_block_stop","index":0},"session_id":"s"}`,
				`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + q() + `}}}}`,
				`{"jsonrpc":"2.0","id":` + n + `,"result":{"stopReason":` + q() + `}}`,
				`{"type":"message","role":"assistant","delta":true,"content":` + q() + `}`,
				`{"type":"item.completed","item":{"id":` + q() + `,"type":"agent_message","text":` + q() + `,"duration_ms":` + n + `}}`,
				`{"type":"error","message":` + q() + `,"balance":` + n + `,"counts":[` + n + `,` + n + `]}`,
				`{"msg":{"type":"exec_command_output_delta","chunk":[72,105]},"id":` + n + `}`,
				`{"type":"assistant","message":{"content":[{"type":"text","text":` + q() + `}]},"session_id":` + q() + `}`,
				`{"x":` + q(), q(),
			}).Draw(t, "frame") + "\n")
		}
		sameWithoutForms(t, r, raw.String(), in)
	})
}

// The same for long runs, some of whose lines were damaged.
func TestFormsChangeNoLongRun(t *testing.T) {
	r := newRedactor(t)
	for _, dialect := range longrun.Dialects {
		rng := rand.New(rand.NewPCG(3, 4))
		var raw strings.Builder
		for line := range strings.Lines(string(longrun.Make(dialect, 100<<10, 3))) {
			switch rng.IntN(20) {
			case 0:
				line = line[:rng.IntN(len(line))] + "\n"
			case 1:
				line = strings.ReplaceAll(line, "the", `\u0041\n\ud83d <text:4> é`)
			case 2:
				line = strings.Replace(line, `":`, `" : `, 1+rng.IntN(3))
			}
			raw.WriteString(line)
		}
		for _, hermetic := range []bool{false, true} {
			sameWithoutForms(t, r, raw.String(), Input{Dialect: dialect, Hermetic: hermetic, Cwd: longrun.Cwd, Home: "/home/user"})
		}
	}
}
