package rpc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// update is a session/update with the members.
func update(members string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"update":{` + members + `}}}`
}

func tool(members string) string { return update(`"sessionUpdate":"tool_call_update",` + members) }

// The id of a tool call "t".
var toolT = ToolID("t")

func use(name, input string) string {
	return `emit agent {"type":"tool_use","id":"` + toolT + `","name":"` + name + `","input":` + input + `,"startedAt":0}`
}

func gave(content, isError string) string {
	return `emit agent {"type":"tool_result","toolUseId":"` + toolT + `","content":` + content + `,"isError":` + isError + `}`
}

const (
	toolStatus = `emit agent {"type":"status","label":"tool_call_update","elapsedMs":0}`
	streaming  = `emit agent {"type":"status","label":"streaming","ttftMs":0}`
	finished   = "stdin_end"
)

func said(s string) string { return `emit agent {"type":"text_delta","delta":"` + s + `"}` }

func failedWith(payload string) []string { return []string{"emit error " + payload, "kill SIGTERM"} }

// TestACPRules has a row for each rule of OpenDesign's ACP session that the
// recorded sessions do not show.
func TestACPRules(t *testing.T) {
	amr := Options{ModelUnavailableCode: "AMR_MODEL_UNAVAILABLE"}
	for _, c := range []struct {
		name     string
		opts     Options
		messages []string
		want     []string
	}{
		{"a result that is no object answers nothing", Options{}, []string{`{"id":3,"result":null}`, `{"id":3,"result":"ok"}`, `{"id":"3","result":{}}`}, nil},
		{"a request that carries a result is an answer", Options{}, []string{`{"id":3,"method":"x","result":{}}`}, []string{finished}},
		{"the id is all that tells an answer", Options{}, []string{`{"id":3.0,"result":[]}`}, []string{finished}},
		{"an error without words gives its number", Options{}, []string{`{"id":3,"error":{"code":-32000}}`}, failedWith(`{"message":"json-rpc id 3: -32000"}`)},
		{"an error without anything", Options{}, []string{`{"id":"x","error":{}}`}, failedWith(`{"message":"json-rpc error"}`)},
		{"a blank error without a number is not seen", Options{}, []string{`{"id":"x","error":{"message":""}}`}, nil},
		{"data that is null counts as data", Options{}, []string{`{"id":3,"error":{"message":"no","data":null}}`},
			failedWith(`{"message":"json-rpc id 3: no","error":{"code":"AGENT_EXECUTION_FAILED","message":"json-rpc id 3: no","retryable":false,"details":null}}`)},
		{"a kind of nobody's is the name, its first letter large", Options{}, []string{tool(`"toolCallId":"t","kind":"ŻUCK","status":"completed"`)},
			[]string{toolStatus, use("Żuck", "{}"), gave(`""`, "false")}},
		{"half of a surrogate pair is no letter", Options{}, []string{tool(`"toolCallId":"t","kind":"😀x","status":"completed"`)},
			[]string{toolStatus, use("😀x", "{}"), gave(`""`, "false")}},
		{"a dotted capital I keeps its dot", Options{}, []string{tool(`"toolCallId":"t","kind":"\u0130x","status":"completed"`)},
			[]string{toolStatus, use("İx", "{}"), gave(`""`, "false")}},
		{"overloaded_error is not overloaded", Options{}, []string{`{"id":3,"error":{"message":"overloaded_error"}}`}, failedWith(`{"message":"json-rpc id 3: overloaded_error"}`)},
		{"words say that a repeat may help", Options{}, []string{`{"id":3,"error":{"message":"No data received within configured window"}}`},
			failedWith(`{"message":"json-rpc id 3: No data received within configured window","error":{"code":"AGENT_EXECUTION_FAILED","message":"json-rpc id 3: No data received within configured window","retryable":true}}`)},
		{"words of data count if it is an object", Options{}, []string{`{"id":3,"error":{"message":"x","data":"overloaded"}}`},
			failedWith(`{"message":"json-rpc id 3: x","error":{"code":"AGENT_EXECUTION_FAILED","message":"json-rpc id 3: x","retryable":false,"details":"overloaded"}}`)},
		{"an invented turn keeps its own words", Options{}, []string{`{"id":3,"error":{"message":"x","data":{"kind":"opencode_session_error","source":"opencode","code":"ROLE_MARKER_HALLUCINATION","message":" made up "}}}`},
			failedWith(`{"message":"made up","error":{"code":"ROLE_MARKER_HALLUCINATION","message":"made up","retryable":true,"details":{"kind":"opencode_session_error","source":"opencode","code":"ROLE_MARKER_HALLUCINATION","message":" made up ","promoted_by":"open_design_acp"}}}`)},
		{"a status has a detail that is not blank", Options{}, []string{update(`"sessionUpdate":"plan","message":" ","detail":"d"`), tool(`"toolCallId":"t","message":"m"`)},
			[]string{`emit agent {"type":"status","label":"plan","detail":"d","elapsedMs":0}`, `emit agent {"type":"status","label":"tool_call_update","detail":"m","elapsedMs":0}`}},
		{"a name that is no text", Options{}, []string{update(`"sessionUpdate":7`), update(`"sessionUpdate":0`)},
			[]string{`emit agent {"type":"status","label":"7","elapsedMs":0}`, `emit agent {"type":"status","label":"session_update","elapsedMs":0}`}},
		{"what an agent says of its own work", Options{}, []string{update(`"sessionUpdate":"model_retry","attempt":2,"reason":" busy ","phase":"","usage":{"inputTokens":1,"x":2}`)},
			[]string{`emit agent {"type":"diagnostic","name":"model_retry","source":"amr-opencode","elapsedMs":0,"reason":"busy","attempt":2,"usage":{"inputTokens":1}}`}},
		{"text is looked for before content inside", Options{}, []string{update(`"sessionUpdate":"agent_message_chunk","content":{"content":"c","text":"t"}`)}, []string{streaming, said("t")}},
		{"text is looked for four levels down", Options{}, []string{update(`"sessionUpdate":"agent_message_chunk","content":{"body":{"body":{"body":{"text":"deep"}}}}`), update(`"sessionUpdate":"agent_message_chunk","content":{"body":{"body":{"body":{"body":{"text":"too deep"}}}}}`)},
			[]string{streaming, said("deep")}},

		{"a kind wins over a name", Options{}, []string{tool(`"toolCallId":" t ","kind":"read","name":"read_file","title":"Update a.txt","status":"completed","rawOutput":"x"`)},
			[]string{toolStatus, use("Read", `{"file_path":"a.txt"}`), gave(`"x"`, "false")}},
		{"a kind's name stays", Options{}, []string{tool(`"toolCallId":"t","kind":"read"`), tool(`"toolCallId":"t","title":"Write it","status":"Completed"`)},
			[]string{toolStatus, toolStatus, use("Read", `{"title":"Write it"}`), gave(`""`, "false")}},
		{"a title names a tool", Options{}, []string{tool(`"toolCallId":"t","title":"Search, then read and write","status":"done"`), tool(`"toolCallId":"t","status":"success"`)},
			[]string{toolStatus, toolStatus, use("Write", `{"title":"Search, then read and write"}`), gave(`""`, "false")}},
		{"a title does not make a shell", Options{}, []string{tool(`"toolCallId":"t","title":"Run tests","status":"failed","rawOutput":"secret"`)},
			[]string{toolStatus, use("Other", `{"title":"Run tests"}`), gave(`"secret"`, "true")}},
		{"a shell's output is not shown", Options{}, []string{tool(`"toolCallId":"t","kind":"Execute","name":"x","status":"completed","rawOutput":{"a":1}`)},
			[]string{toolStatus, use("Bash", `{}`), gave(`"[REDACTED:acp_bash_output:7_chars]"`, "false")}},
		{"a name like a path", Options{}, []string{tool(`"toolCallId":"t","kind":"other","name":"/a/b","status":"completed"`)},
			[]string{toolStatus, use("Other", `{}`), gave(`""`, "false")}},
		{"a kind that nobody knows", Options{}, []string{tool(`"toolCallId":"t","kind":"Dance","status":"completed"`)},
			[]string{toolStatus, use("Dance", `{}`), gave(`""`, "false")}},
		{"a first word is a name", Options{}, []string{tool(`"toolCallId":"t","title":"dance now","status":"completed"`)},
			[]string{toolStatus, use("Dance", `{"title":"dance now"}`), gave(`""`, "false")}},
		{"a thought stays one", Options{}, []string{tool(`"toolCallId":"t","title":"Thinking about it"`), tool(`"toolCallId":"t","kind":"read","status":"completed"`)}, []string{toolStatus, toolStatus}},
		{"a kind thinking is no thought", Options{}, []string{tool(`"toolCallId":"t","kind":"thinking","status":"completed"`)},
			[]string{toolStatus, use("Thinking", `{}`), gave(`""`, "false")}},
		{"inputs are merged", Options{}, []string{tool(`"toolCallId":"t","kind":"read","rawInput":{"b":1,"2":2}`), tool(`"toolCallId":"t","rawInput":{"b":3,"1":4},"status":"completed"`)},
			[]string{toolStatus, toolStatus, use("Read", `{"1":4,"2":2,"b":3}`), gave(`""`, "false")}},
		{"a better place names the file", Options{}, []string{tool(`"toolCallId":"t","kind":"read","locations":[{"path":"/l.txt"}]`), tool(`"toolCallId":"t","rawInput":{"path":"/i.txt"},"status":"completed"`)},
			[]string{toolStatus, toolStatus, use("Read", `{"file_path":"/l.txt","path":"/i.txt"}`), gave(`""`, "false")}},
		{"a file_path that is no text goes", Options{}, []string{tool(`"toolCallId":"t","kind":"read","rawInput":{"file_path":1,"x":2},"status":"completed"`)},
			[]string{toolStatus, use("Read", `{"x":2}`), gave(`""`, "false")}},
		{"a name with a dot is no file", Options{}, []string{tool(`"toolCallId":"t","kind":"read","title":"Image.open","status":"completed"`)},
			[]string{toolStatus, use("Read", `{"title":"Image.open"}`), gave(`""`, "false")}},
		{"a difference", Options{}, []string{tool(`"toolCallId":"t","kind":"edit","status":"completed","content":["s",{"type":"diff","path":"a","oldText":null,"newText":"n"},{"type":"content","content":{"text":"c"}}]`)},
			[]string{toolStatus, use("Edit", `{"file_path":"a"}`), gave(`"s\n--- old\n\n+++ new\nn\nc"`, "false")}},
		{"a result is looked for in the whole frame", Options{}, []string{`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t","kind":"read","content":{"text":"c"},"status":"completed"}}}`},
			[]string{toolStatus, use("Read", `{}`), gave(`"c"`, "false")}},
		{"an end after the end", Options{}, []string{tool(`"toolCallId":"t","kind":"read","status":"completed"`), tool(`"toolCallId":"t","status":"failed"`)},
			[]string{toolStatus, use("Read", `{}`), gave(`""`, "false"), toolStatus}},

		{"agent amr: no such model", amr, []string{`{"id":3,"error":{"message":"Unknown model x"}}`},
			failedWith(`{"message":"json-rpc id 3: Unknown model x","error":{"code":"AMR_MODEL_UNAVAILABLE","message":"json-rpc id 3: Unknown model x","retryable":false,"details":{"kind":"amr_model","action":"choose_model"}}}`)},
		{"agent amr: tokens without text", amr, []string{`{"id":3,"result":{"usage":{"outputTokens":2}}}`},
			append([]string{`emit agent {"type":"usage","usage":{"output_tokens":2},"durationMs":0}`},
				failedWith(`{"message":"ACP session completed after reporting model activity, but did not produce visible assistant text, concrete tool results, or artifacts.","error":{"code":"AGENT_EXECUTION_FAILED","message":"ACP session completed after reporting model activity, but did not produce visible assistant text, concrete tool results, or artifacts.","retryable":true,"details":{"kind":"acp_no_visible_output","output_tokens":2,"raw_tool_update_seen":false,"text_chunk_seen":false}}}`)...)},
		{"agent amr: a repeat that an account cannot pay for", amr, []string{update(`"sessionUpdate":"x","status":"retry","error":{"message":"Insufficient balance"}`)},
			failedWith(`{"message":"AMR Cloud reported insufficient balance for this model. Top up your AMR balance at https://open-design.ai/amr/dashboard?source=open_design, then retry this run.","error":{"code":"AMR_INSUFFICIENT_BALANCE","message":"AMR Cloud reported insufficient balance for this model. Top up your AMR balance at https://open-design.ai/amr/dashboard?source=open_design, then retry this run.","retryable":false,"details":{"kind":"amr_account","action":"recharge","actionUrl":"https://open-design.ai/amr/dashboard?source=open_design","promoted_by":"open_design_acp_retry_status"}}}`)},
		{"agent amr: the shape of an update", amr, []string{update(`"sessionUpdate":"plan","locations":[1]`)},
			[]string{`emit agent {"type":"status","label":"plan","elapsedMs":0}`,
				`emit agent {"type":"diagnostic","name":"acp_raw_event_shape","source":"acp-json-rpc","elapsedMs":0,"shape":{"sessionUpdate":"plan","keys":["locations","sessionUpdate"],"contentKind":"undefined","contentKeys":[],"hasText":false,"hasTopLevelText":false,"hasTopLevelDelta":false,"hasTopLevelMessage":false,"hasToolCallId":false,"hasRawInput":false,"rawInputKind":"undefined","rawInputKeys":[],"locationsKind":"array","locationsCount":1,"titlePresent":false}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := prompted(c.opts)
			var got []string
			for _, m := range c.messages {
				for _, a := range s.Message(m) {
					got = append(got, actionLine(a))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAModelErrorOfNoRequestSendsThePromptAtOnce(t *testing.T) {
	s := NewACP(Options{Prompt: "P"})
	s.Start()
	got := lines(s.Message(`{"id":null,"error":{"code":-32601,"message":"x"}}`))
	if !strings.Contains(got, `"id":2,"method":"session/prompt","params":{"sessionId":null,`) {
		t.Errorf("got %s", got)
	}
}

func TestModelOptions(t *testing.T) {
	for options, want := range map[string]string{
		`[{"id":" m ","type":null,"category":"Mo-del","currentValue":" v "}]`: "m v",
		`[{"id":"models","category":"other"},{"id":"x","name":"Model"}]`:      "x ",
		`[{"id":"model","type":"text"}]`:                                      " ",
		`{"a":{"id":"model"}}`:                                                " ",
	} {
		id, current := modelOption(value(t, []byte(`{"configOptions":`+options+`}`)))
		if got := id + " " + current; got != want {
			t.Errorf("%s: got %q, want %q", options, got, want)
		}
	}
}

func TestTimeoutAfterAnUpdateIsOneOfAResponse(t *testing.T) {
	s := prompted(Options{})
	s.Message(update(`"sessionUpdate":"plan"`))
	if got := lines(s.Timeout(1e9)); !strings.Contains(got, "ACP response timed out after 1000ms") {
		t.Errorf("got %s", got)
	}
}

// TestAFileIsNotShownTwice follows the text behind a tool that wrote a file.
func TestAFileIsNotShownTwice(t *testing.T) {
	wrote := tool(`"toolCallId":"w","kind":"write","status":"completed"`)
	for name, c := range map[string]struct {
		messages []string
		text     string
	}{
		"an artifact":                       {[]string{wrote, chunk("<artifact id=1>x</artifact>"), chunk(" done")}, " done"},
		"one that is cut":                   {[]string{wrote, chunk("<arti"), chunk("fact>x</arti"), chunk("fact>tail")}, "tail"},
		"in DSML":                           {[]string{wrote, chunk("<|DSML artifact>x</|DSML>end")}, "end"},
		"two artifacts":                     {[]string{wrote, chunk("<artifact>x</artifact>"), chunk("<artifact>y</artifact>")}, "<artifact>y</artifact>"},
		"no tool":                           {[]string{chunk("<artifact>x</artifact>")}, "<artifact>x</artifact>"},
		"a tool that failed":                {[]string{wrote, tool(`"toolCallId":"w","status":"failed"`), chunk("<artifact>x</artifact>")}, "<artifact>x</artifact>"},
		"behind prose":                      {[]string{wrote, chunk("so: "), chunk("look <artifact>x</artifact>")}, "so: look <artifact>x</artifact>"},
		"announced behind prose":            {[]string{wrote, chunk("so: "), chunk("Here's the generated file:\n<artifact>x</artifact>")}, "so: Here's the generated file:\n"},
		"behind prose from before the tool": {[]string{chunk("before "), wrote, chunk("so: "), chunk("look <artifact>x</artifact>")}, "before so: look "},
	} {
		t.Run(name, func(t *testing.T) {
			s := prompted(Options{})
			got := ""
			for _, m := range append(c.messages, `{"id":3,"result":{}}`) {
				got += text(t, s.Message(m))
			}
			if got != c.text {
				t.Errorf("got %q, want %q", got, c.text)
			}
		})
	}
}

func TestPiRules(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"an empty text", `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":""}}`, streaming + "\n" + said("")},
		{"a text that is none", `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":1}}`, ""},
		{"a thought that is none", `{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta"}}`, ""},
		{"a result that is a string", `{"type":"tool_execution_end","toolCallId":"t","result":"x"}`, `emit agent {"type":"tool_result","toolUseId":"t","content":"","isError":false}`},
		{"parts that are no text", `{"type":"tool_execution_end","toolCallId":"t","result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"b"},{"type":"text"}]}}`,
			`emit agent {"type":"tool_result","toolUseId":"t","content":"a\n{\"type\":\"image\",\"data\":\"b\"}\n","isError":false}`},
		{"a price that is a string", `{"type":"turn_end","message":{"usage":{"input":1,"cost":{"total":null,"totalCost":"0.1"}}}}`,
			`emit agent {"type":"usage","usage":{"input_tokens":1},"costUsd":"0.1","durationMs":0}`},
		{"retries are over", `{"type":"auto_retry_end","success":false}`, `emit agent {"type":"error","message":"Auto-retry exhausted","raw":{"type":"auto_retry_end","success":false}}`},
		{"options among the parameters", `{"type":"extension_ui_request","id":0,"method":"select","params":{"options":["p"]},"options":["o"]}`, `send {"type":"extension_ui_response","id":0,"value":"p"}`},
		{"an option without a name", `{"type":"extension_ui_request","id":"","method":"select","options":[3,"o"]}`, `send {"type":"extension_ui_response","id":"","value":""}`},
		{"no options", `{"type":"extension_ui_request","id":1,"method":"select","options":[]}`, `send {"type":"extension_ui_response","id":1,"cancelled":true}`},
		{"refused without a reason", `{"type":"response","id":1,"success":false}`, "emit error {\"message\":\"prompt rejected: unknown\"}\nkill SIGTERM"},
		{"refused with an object", `{"type":"response","id":1,"success":false,"error":{}}`, "emit error {\"message\":\"prompt rejected: [object Object]\"}\nkill SIGTERM"},
		{"an answer to nothing", `{"type":"response","id":null,"success":true}`, `send {"id":2,"type":"prompt","message":"P"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewPi(Options{Prompt: "P"})
			s.Start()
			if diff := cmp.Diff(c.want, lines(s.Message(c.message))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
