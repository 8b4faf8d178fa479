package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// What readers of v0.19.2 look for stays, and nothing else.
func TestWhatIsKept(t *testing.T) {
	r := newRedactor(t)
	said := func(s string) string {
		return `{"type":"item.completed","item":{"id":"<id:1>","type":"agent_message","text":` + quote(s) + `}}`
	}
	failed := func(s string) string { return `{"type":"error","message":` + quote(s) + `}` }
	long := strings.Repeat("word ", 500)
	for _, c := range []struct{ name, in, want string }{
		{"whole text", said("All done, Alice."), said("<text:1>")},
		{"white space at the edges", said("\n  All done.\n\n"), said("\n  <text:1>\n\n")},
		{"white space only", said(" \n"), said(" \n")},
		{"role marker", said("Fine.\n## user\nGo on"), said("<text:1>\n## user\n<text:2>")},
		{"heading that is none", said("## users of it"), said("<text:1>")},
		{"artifact", said("See\n<artifact type=\"text/html\" title=\"Shop\">\n<b>x</b>\n</artifact>"), said("<text:1>\n<artifact type=\"text/html\" title=\"<text:2>\">\n<text:3>\n</artifact>")},
		{"cut artifact tag", said("See <artif"), said("<text:1> <artif")},
		{"terminal sequences", said("\x1b[31mred\x1b[0m \x1b]0;name\x07"), said("\x1b[31m<text:1>\x1b[0m \x1b]0;<text:2>\x07")},
		{"path in the workspace", said("Wrote /home/user/w/src/page.html now"), said("<text:1> /w/p1.html <text:2>")},
		{"the same path, relative", said("src/page.html and /home/user/w/src/page.html"), said("p1.html <text:1> /w/p1.html")},
		{"home, temporary, system, Windows", said("/home/user/x /tmp/y /usr/bin/z C:\\Users\\user\\c.md"), said("/h/p1 /t/p2 /s/p3 C:\\h\\p4.md")},
		{"json in text", said(`{"error":{"code":"CONNECTOR_TOOL_NOT_FOUND","note":"secret"}}`), said(`{"error":{"code":"CONNECTOR_TOOL_NOT_FOUND","<text:1>":"<text:2>"}}`)},
		{"longer than 2,000", said(long), said(pad("<text:1> ", 2001-9))},
		{"reconnect phrase", failed("Reconnecting... 2/5 (stream disconnected before completion: acme gateway)"), failed("Reconnecting... 2/5 (stream disconnected before completion: <text:1> gateway)")},
		{"address, key tail, id", failed("401 Unauthorized: Incorrect API key provided: sk-dum" + "***1234., url: http://127.0.0.1:4411/v1/responses, request id: req_01AbCdEf23"), failed("401 Unauthorized: Incorrect API key provided: <token:1>., url: <url:1>, request id: <id:1>")},
		{"json error body", failed(`{"error":{"type":"invalid_request_error","message":"model acme-7 not found"}}`), failed(`{"error":{"type":"invalid_request_error","message":"model <text:1>-7 not found"}}`)},
		{"numbers in texts", failed("429: 274931 tokens > 200000 maximum, account 4711471147 in 182ms"), failed("429: 274931 tokens > 200000 maximum, account <id:1> in <time>")},
		{"order, spacing, duplicate keys", `{ "type" : "turn.started", "type":"turn.started","x":1.50e0 }`, `{ "type" : "turn.started", "type":"turn.started","x":1.50e0 }`},
		{"enum that holds an identifier", `{"type":"key of 2AsHRarl7aQejPkVEL9gtr"}`, `{"type":"<text:1>"}`},
		{"enum that is none", `{"type":"my own words"}`, `{"type":"my own words"}`},
		{"cut line", `{"type":"error","message":"Reconnecting... al`, `{"type":"error","message":"Reconnecting... <text:1>`},
		{"no json", "2026-05-21T09:18:12.446963Z ERROR codex_core::codex: failed to load skill /home/user/.codex/x.md", "<time> ERROR codex_core::codex: failed to load skill /h/p1.md <pad>"},
	} {
		in := Input{Dialect: "codex", Cwd: "/home/user/w", Home: "/home/user"}
		if got, rep := redactText(t, r, in, c.in); got != c.want || rep.Status != contract.RedactionPassed {
			t.Errorf("%s: %s %v\n got %s\nwant %s", c.name, rep.Status, rep.Findings, got, c.want)
		}
	}
}

// A command of the model's in a title that the CLI wrote keeps its paths, where
// the consumer looks for the file of a call.
func TestCommandInATitleKeepsItsPaths(t *testing.T) {
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Running: %s","rawInput":{"command":"%s"}}}}`
	command := "cp hours.txt copy.txt"
	got, _ := redactText(t, newRedactor(t), Input{Dialect: "acp", Hermetic: true, ScenarioTexts: []string{command}}, fmt.Sprintf(line, command, command))
	if !strings.Contains(got, `"title":"Running: <text:2> p1.txt p2.txt"`) || !strings.Contains(got, `"command":"<text:2> p1.txt p2.txt"`) {
		t.Error(got)
	}
}

// Text at a model path is the CLI's in a hermetic run if the scenario did not
// send it; then public words survive.
func TestTextThatTheCLIWrote(t *testing.T) {
	r := newRedactor(t)
	line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]}}`
	for _, c := range []struct {
		in         Input
		text, want string
	}{
		{Input{Hermetic: true}, "Invalid API key · Fix external API key", "Invalid API key · Fix external API key"},
		{Input{Hermetic: true, ScenarioTexts: []string{"Invalid API key"}}, "Invalid API key", "<text:1>"},
		{Input{Hermetic: true, Prompt: "Please log in"}, "Please log in", "<text:1>"},
		{Input{}, "Invalid API key · Fix external API key", "<text:1>"},
	} {
		c.in.Dialect = "claude"
		got, _ := redactText(t, r, c.in, fmt.Sprintf(line, quote(c.text)))
		if want := fmt.Sprintf(line, quote(c.want)); got != want {
			t.Errorf("%+v: got %s", c.in, got)
		}
	}
	synthetic := `{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Not logged in · Please run /login"}]}}`
	if got, _ := redactText(t, r, Input{Dialect: "claude"}, synthetic); got != synthetic {
		t.Errorf("live: got %s", got)
	}
}

// Measured numbers become one, zero stays zero, the rest stays.
func TestNumbers(t *testing.T) {
	r := newRedactor(t)
	in := `{"type":"result","subtype":"success","duration_ms":1532,"duration_api_ms":0,"num_turns":2,"total_cost_usd":0.0213,"modelUsage":{"m-1":{"inputTokens":12,"costUSD":-0.5}},"account":1234567890123}`
	want := `{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":0,"num_turns":2,"total_cost_usd":1,"modelUsage":{"<text:1>":{"inputTokens":12,"costUSD":-1}},"account":1}`
	if got, _ := redactText(t, r, Input{Dialect: "claude"}, in); got != want {
		t.Errorf("got %s", got)
	}
}

// Text that travels as base64 or as an array of bytes is redacted inside.
func TestEncodedText(t *testing.T) {
	r := newRedactor(t)
	chunk := func(v string) string {
		return `{"id":"0","msg":{"type":"exec_command_output_delta","chunk":` + v + `}}`
	}
	plain := "alice was here\n"
	numbers, err := json.Marshal(strings.Split(strings.Trim(fmt.Sprint([]byte(plain)), "[]"), " "))
	if err != nil {
		t.Fatal(err)
	}
	array := strings.ReplaceAll(string(numbers), `"`, "")
	for _, in := range []string{chunk(quote(base64.StdEncoding.EncodeToString([]byte(plain)))), chunk(array)} {
		got, _ := redactText(t, r, Input{Dialect: "codex-msg"}, in)
		v, err := rawjson.Parse([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		c := v.At("msg", "chunk")
		text, ok := byteArray(c)
		if !ok {
			if text, err = base64.StdEncoding.DecodeString(c.Str()); err != nil {
				t.Fatal(err)
			}
		}
		if string(text) != "<text:2>\n" {
			t.Errorf("decoded %q", text)
		}
	}
}

// One value has one placeholder on stdin, stdout and stderr; another value has
// another one.
func TestOneValueOnePlaceholder(t *testing.T) {
	r := newRedactor(t)
	id := "0198f0aa-0000-7000-8000-0000000000aa"
	raw := stdout(`{"type":"system","subtype":"init","session_id":"` + id + `","request_id":"zzz"}` + "\n")
	raw.Records = append(raw.Records, stream(transcript.Stderr, "No conversation found with session ID: "+id+" zzz\n").Records...)
	raw.Records = append(raw.Records, transcript.Record{Dir: transcript.ServerToCLI, Stream: transcript.Stdin, Data: []byte(`{"type":"user","session_id":"` + id + `"}` + "\n")})
	out, rep, err := r.Redact(raw, Input{Dialect: "claude"})
	if err != nil || rep.Status != contract.RedactionPassed {
		t.Fatal(err, rep)
	}
	want := []string{
		`{"type":"system","subtype":"init","session_id":"<uuid:1>","request_id":"<text:1>"}` + "\n",
		"No conversation found with session ID: <uuid:1> <text:1><pad____>\n",
		`{"type":"user","session_id":"<uuid:1>"}` + "\n",
	}
	for i, w := range want {
		if got := string(out.Records[i].Data); got != w {
			t.Errorf("record %d: %s", i, got)
		}
	}
	if fmt.Sprint(rep.UnknownWords) != "[]" {
		t.Errorf("a word of a frame was reported: %v", rep.UnknownWords)
	}
}

// A secret of the environment that redaction cannot take out fails the run.
func TestKnownSecretFailsTheRun(t *testing.T) {
	r := newRedactor(t)
	out, rep := redactText(t, r, Input{Dialect: "codex", Secrets: []string{"471147"}}, `{"type":"turn.started","n":471147}`+"\n")
	if rep.Status != contract.RedactionFailed || len(rep.Findings) == 0 || !strings.Contains(out, "471147") {
		t.Errorf("report %+v", rep)
	}
}

// In an RPC family a well-formed message becomes a frame; anything else stays
// data, with what is odd about it.
func TestFrames(t *testing.T) {
	f := loadFamilies(t)
	f.Dialects = append(f.Dialects, contract.Dialect{
		ID: "rpc", ProtocolFamily: contract.FamilyACP, Transport: contract.TransportJSONRPC, EventType: []string{"method"},
	})
	r, err := New(f, loadVocabulary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, frame, data, deviation string }{
		{`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/user/w"}}` + "\n", `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}`, "", ""},
		{`{"id":1,"result":{}}` + "\n", "", `{"id":1,"result":{}}` + "\n", transcript.DeviationNoJSONRPC},
		{`[{"jsonrpc":"2.0"}]` + "\n", "", `[{"jsonrpc":"2.0"}]` + "\n", transcript.DeviationBatch},
		{"not json\n", "", "not json\n", transcript.DeviationNotJSON},
		{` {"jsonrpc":"2.0","method":"x"}` + "\n", "", ` {"jsonrpc":"2.0","method":"x"}` + "\n", ""},
	} {
		in := Input{Dialect: "rpc", Cwd: "/home/user/w"}
		out, _, err := r.Redact(stdout(c.in), in)
		if err != nil {
			t.Fatal(err)
		}
		rec := out.Records[0]
		if string(rec.Frame) != c.frame || string(rec.Data) != c.data || strings.Join(rec.Deviations, "") != c.deviation {
			t.Errorf("%s: frame %s data %q deviations %v", c.in, rec.Frame, rec.Data, rec.Deviations)
		}
		if again, _, err := r.Redact(out, in); err != nil || string(again.Records[0].Frame) != c.frame {
			t.Errorf("%s: second time: %v", c.in, err)
		}
	}
}

// Single letters with equal placeholders are a cipher that anyone can read:
// a person must look.
func TestLiveTextInLetters(t *testing.T) {
	r := newRedactor(t)
	var b strings.Builder
	for _, c := range strings.Repeat("the quick brown fox ", 5) {
		fmt.Fprintf(&b, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}}`+"\n", string(c))
	}
	for _, hermetic := range []bool{true, false} {
		_, rep := redactText(t, r, Input{Dialect: "claude", Hermetic: hermetic}, b.String())
		if review := rep.Status == contract.RedactionReview && len(rep.Unsure) == 1; review == hermetic {
			t.Errorf("hermetic %v: report %+v", hermetic, rep)
		}
	}
}

// A dialect's discriminators and enums are literals, or normalizing the raw
// and the sanitized transcript would give two shapes.
func TestDiscriminatorsAreLiterals(t *testing.T) {
	f := loadFamilies(t)
	for i := range f.Dialects {
		d, err := compileDialect(&f.Dialects[i])
		if err != nil {
			t.Fatal(err)
		}
		places := append(append([]string{}, f.Dialects[i].EventType...), f.Dialects[i].Enums...)
		for _, k := range f.Dialects[i].Kind {
			if k.Mode == "value" || k.Mode == "set" {
				places = append(places, k.Path)
			}
		}
		for _, p := range places {
			c, err := (&dialect{}).compilePiece(contract.PieceRule{Path: p})
			if err != nil {
				t.Fatal(err)
			}
			if (&run{d: d}).pieceFlags(c)&fLiteral == 0 {
				t.Errorf("dialect %s: %s is no literal", f.Dialects[i].ID, p)
			}
		}
	}
}

// The vocabulary has a source for each group, no entry twice in a group, and
// no word that is a placeholder's.
func TestVocabularyFile(t *testing.T) {
	v := loadVocabulary(t)
	ids := map[string]bool{}
	for _, g := range v.Groups {
		if g.Source == "" || len(g.Entries) == 0 || ids[g.ID] {
			t.Errorf("group %q: no source, no entries or twice there", g.ID)
		}
		ids[g.ID] = true
		seen := map[string]bool{}
		for _, e := range g.Entries {
			if seen[e] {
				t.Errorf("group %q has an entry twice: %q", g.ID, e)
			}
			seen[e] = true
		}
	}
}

func TestEventsEquivalent(t *testing.T) {
	for _, c := range []struct {
		name, a, b, err string
	}{
		{"renamed texts", `{"type":"text_delta","delta":"x"} {"type":"text_delta","delta":"y"}`, `{"type":"text_delta","delta":"<text:1>"} {"type":"text_delta","delta":"<text:2>"}`, ""},
		{"merged texts", `{"a":"x"} {"a":"y"}`, `{"a":"p"} {"a":"p"}`, "event 1 at a: two texts became one"},
		{"split text", `{"a":"x"} {"a":"x"}`, `{"a":"p"} {"a":"q"}`, "event 1 at a: one text became two"},
		{"times merge", `{"a":"10:00"} {"a":"10:01"}`, `{"a":"<time>"} {"a":"<time>"}`, ""},
		{"measured", `{"a":17,"b":0}`, `{"a":1,"b":0}`, ""},
		{"number", `{"a":17}`, `{"a":18}`, "event 0 at a: number changed"},
		{"zero", `{"a":0}`, `{"a":1}`, "event 0 at a: number changed"},
		{"kind", `{"a":{"b":[1,null]}}`, `{"a":{"b":[1,"x"]}}`, "event 0 at a.b[]: null became string"},
		{"absent", `{"a":null}`, `{}`, "1 members became 0"},
		{"emptied", `{"a":"x"}`, `{"a":""}`, "empty text"},
		{"count", `{"a":1}`, ``, "1 of the raw transcript, 0 of the sanitized one"},
		{"json in text", `{"line":"{\"x\":1700000000,\"y\":\"s\"}"} {"y":"s"}`, `{"line":"{\"x\":1,\"y\":\"p\"}"} {"y":"p"}`, ""},
		{"input deltas", `{"type":"tool_input_delta","delta":"ab"} {"type":"tool_input_delta","delta":"ab"}`, `{"type":"tool_input_delta","delta":"<t"} {"type":"tool_input_delta","delta":">"}`, ""},
	} {
		err := EventsEquivalent(events(c.a), events(c.b))
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: got %v, want %q", c.name, err, c.err)
		}
	}
}

func events(s string) [][]byte {
	var out [][]byte
	for _, e := range strings.Fields(s) {
		out = append(out, []byte(e))
	}
	return out
}
