package redact_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact"
	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// runsOf are runs with a text, what a tool printed, a secret, the id of a call
// and another id.
var runsOf = []struct {
	dialect, agent string
	frames         []string
}{
	{"codex", "codex", []string{
		`{"type":"thread.started","thread_id":$OTHER}`, `{"type":"turn.started"}`,
		`{"type":"item.started","item":{"id":$ID,"type":"command_execution","command":$TOOL,"aggregated_output":"","exit_code":null,"status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":$ID,"type":"command_execution","command":$TOOL,"aggregated_output":$SECRET,"exit_code":0,"status":"completed"}}`,
		`{"type":"item.completed","item":{"id":$OTHER,"type":"agent_message","text":$TEXT}}`,
		`{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":5}}`,
	}},
	{"claude", "claude", []string{
		`{"type":"system","subtype":"init","session_id":$OTHER,"tools":["Bash"],"model":"m"}`,
		`{"type":"assistant","message":{"id":$OTHER,"role":"assistant","content":[{"type":"text","text":$TEXT}]},"session_id":$OTHER}`,
		`{"type":"assistant","message":{"id":$OTHER,"role":"assistant","content":[{"type":"tool_use","id":$ID,"name":"Bash","input":{"command":$TOOL,"description":$TEXT}}]},"session_id":$OTHER}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":$ID,"content":$SECRET}]},"session_id":$OTHER}`,
		`{"type":"result","subtype":"success","is_error":false,"result":$TEXT,"session_id":$OTHER,"usage":{"input_tokens":3,"output_tokens":4}}`,
	}},
	{"opencode", "opencode", []string{
		`{"type":"step_start","timestamp":1784819289900,"sessionID":$OTHER,"part":{"id":$OTHER,"type":"step-start"}}`,
		`{"type":"tool_use","timestamp":1784819289901,"sessionID":$OTHER,"part":{"id":$OTHER,"type":"tool","callID":$ID,"tool":"bash","state":{"status":"completed","input":{"command":$TOOL},"output":$SECRET}}}`,
		`{"type":"text","timestamp":1784819289902,"sessionID":$OTHER,"part":{"id":$OTHER,"type":"text","text":$TEXT}}`,
		`{"type":"step_finish","timestamp":1784819289903,"sessionID":$OTHER,"part":{"id":$OTHER,"type":"step-finish","reason":"stop","cost":0,"tokens":{"input":1,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}}`,
	}},
	{"gemini", "gemini", []string{
		`{"type":"init","timestamp":"2026-08-02T10:00:00Z","session_id":$OTHER,"model":"m"}`,
		`{"type":"message","timestamp":"2026-08-02T10:00:01Z","role":"assistant","content":$TEXT,"delta":true}`,
		`{"type":"tool_use","timestamp":"2026-08-02T10:00:01Z","tool_name":"run_shell_command","tool_id":$ID,"parameters":{"command":$TOOL}}`,
		`{"type":"tool_result","timestamp":"2026-08-02T10:00:02Z","tool_id":$ID,"status":"success","output":$SECRET}`,
		`{"type":"result","timestamp":"2026-08-02T10:00:03Z","status":"success","stats":{"total_tokens":3,"input_tokens":1,"output_tokens":2,"duration_ms":5,"tool_calls":1}}`,
	}},
}

// Whatever a model and a tool say, and whatever secret is among it: frames stay
// JSON, a call and its result keep one id, the reference reads the same events,
// and the secret is nowhere in the result (issue 5).
func FuzzReadings(f *testing.F) {
	r, families := compiled(f)
	for _, s := range []string{"", "Done.\n", "## user\nhi", "<artifact type=\"text/html\">\n<h1>x</h1></artifact>", "429 too many requests", "{\"a\":[1,{\"b\":\"c\"}]}", "src/app.ts", "\x1b[1mbold", "\u2028 x 👍"} {
		f.Add(s, "ls -la", uint64(len(s)), uint8(len(s)))
		f.Add("hello", s, uint64(len(s)), uint8(1))
	}
	ids, _ := leak.Providers()
	f.Fuzz(func(t *testing.T, text, tool string, seed uint64, how uint8) {
		if !utf8.ValidString(text) || !utf8.ValidString(tool) {
			t.Skip("no text of a JSON frame")
		}
		random := rand.New(rand.NewPCG(seed, 0))
		sample, err := leak.Samples(ids[random.IntN(len(ids))], 1, random)
		if err != nil {
			t.Fatal(err)
		}
		secret := sample[0].Text
		if !utf8.ValidString(secret) || len(secret) < 10 {
			t.Skip("too short to look for")
		}
		run := runsOf[int(how)%len(runsOf)]
		said := map[string]string{"$TEXT": text, "$TOOL": tool, "$SECRET": tool + "\nkey " + secret + " ", "$ID": fmt.Sprintf("call_%x", seed), "$OTHER": fmt.Sprintf("ses_%x", seed+1)}
		var fill []string
		for k, v := range said {
			q, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			fill = append(fill, k, string(q))
		}
		lines := strings.NewReplacer(fill...).Replace(strings.Join(run.frames, "\n") + "\n")
		in := redact.Input{Dialect: run.dialect, Hermetic: how&16 > 0}
		if how&32 > 0 {
			in.ScenarioTexts = []string{text}
		}
		raw := printed(lines)
		clean, _, err := r.Redact(raw, in)
		if err != nil {
			t.Fatal(err)
		}
		heldAgainst(t, raw, clean, secret[len(secret)/3:], families.Dialect(run.dialect), run.agent)
	})
}

func compiled(t testing.TB) (*redact.Redactor, *contract.Families) {
	t.Helper()
	data := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "..", "registry", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	families := &contract.Families{}
	if err := json.Unmarshal(data("families.json"), families); err != nil {
		t.Fatal(err)
	}
	v, err := redact.ParseVocabulary(data("vocabulary.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(families, v)
	if err != nil {
		t.Fatal(err)
	}
	return r, families
}

// heldAgainst compares a run with what redaction left of it.
func heldAgainst(t *testing.T, raw, clean *transcript.Transcript, secret string, d *contract.Dialect, agent string) {
	t.Helper()
	var names []string
	for i := range clean.Records {
		line := clean.Records[i].Line()
		if len(line) == 0 {
			continue
		}
		var v, w any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("record %d is no JSON any more", i)
		}
		if strings.Contains(string(line), secret) || slices.ContainsFunc(allStrings(v), func(s string) bool { return strings.Contains(s, secret) }) {
			t.Fatalf("record %d holds the secret", i)
		}
		if err := json.Unmarshal(raw.Records[i].Line(), &w); err != nil {
			t.Fatal(err)
		}
		for k, id := range idsOf(w, "") {
			names = append(names, id+"\x00"+idsOf(v, "")[k])
		}
	}
	for _, a := range names {
		for _, b := range names {
			x, y, _ := strings.Cut(a, "\x00")
			p, q, _ := strings.Cut(b, "\x00")
			if (x == p) != (y == q) {
				t.Fatal("ids that were one are two, or two are one")
			}
		}
	}
	lines := func(x *transcript.Transcript) (out [][]byte, result string) {
		reading, err := replay.Reference(replay.Input{Transcript: x, Agent: agent, Dialect: d})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range reading.Events {
			out = append(out, e.JSON())
		}
		return out, string(reading.RunResult) + string(reading.ReportedResult)
	}
	a, before := lines(raw)
	b, after := lines(clean)
	if err := redact.EventsEquivalent(a, b); err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Fatalf("%s becomes %s", before, after)
	}
}

// allStrings are all strings and member names of a value.
func allStrings(v any) (out []string) {
	switch x := v.(type) {
	case string:
		return []string{x}
	case []any:
		for _, e := range x {
			out = append(out, allStrings(e)...)
		}
	case map[string]any:
		for k, e := range x {
			out = append(append(out, k), allStrings(e)...)
		}
	}
	return out
}

// idsOf are the ids of calls in a frame, by path.
func idsOf(v any, at string) map[string]string {
	out := map[string]string{}
	switch x := v.(type) {
	case []any:
		for i, e := range x {
			for k, s := range idsOf(e, fmt.Sprint(at, "/", i)) {
				out[k] = s
			}
		}
	case map[string]any:
		for k, e := range x {
			if s, ok := e.(string); ok && slices.Contains([]string{"id", "tool_use_id", "callID", "tool_id"}, k) {
				out[at+"/"+k] = s
			}
			for p, s := range idsOf(e, at+"/"+k) {
				out[p] = s
			}
		}
	}
	return out
}
