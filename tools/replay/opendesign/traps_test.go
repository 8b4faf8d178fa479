package opendesign

import (
	"strings"
	"testing"
)

// traps are what a port would most likely get wrong (report on OpenDesign
// v0.19.2, section 8). Each has stdout lines and the events as JSON.
var traps = []struct {
	name, kind  string
	lines, want []string
}{
	{"a wrapper before the block's stop doubles the call", "claude",
		[]string{
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"},"ttft_ms":5},"ttft_ms":7}`,
			`{"type":"stream_event","event":{"type":"content_block_start","index":1.0,"content_block":{"type":"tool_use","id":"t","name":"LS"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}}`,
			`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"LS","input":{"a":1}}],"stop_reason":null}}`,
			`{"type":"stream_event","event":{"type":"content_block_stop","index":1}}`},
		[]string{`{"type":"status","label":"streaming","ttftMs":5}`, `{"type":"tool_input_delta","id":"t","name":"LS","delta":"{}"}`,
			`{"type":"tool_use","id":"t","name":"LS","input":{"a":1}}`, `{"type":"tool_use","id":"t","name":"LS","input":{}}`}},
	{"a frame-level ttft_ms is not looked at", "claude",
		[]string{`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"ttft_ms":7}`}, nil},
	{"empty thinking and fragments count, empty text does not", "claude",
		[]string{
			`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}}`},
		[]string{`{"type":"tool_input_delta","id":"t","name":"n","delta":""}`, `{"type":"thinking_delta","delta":""}`}},
	{"unknown frames vanish, text that is no JSON does not", "claude",
		[]string{`{"type":"rate_limit_event"}`, `[1]`, `7`, `null`, " \ufeffoops\u00a0\r", `{"a":1`, `{"type":"user","message":{"content":"x"}}`},
		[]string{`{"type":"raw","line":"oops"}`, `{"type":"raw","line":"{\"a\":1"}`}},
	{"an empty status word stays, a null one is working", "claude",
		[]string{`{"type":"system","subtype":"status","status":""}`, `{"type":"system","subtype":"status","status":null}`},
		[]string{`{"type":"status","label":""}`, `{"type":"status","label":"working"}`}},
	{"values are passed on as they are, in JSON.stringify's spelling", "claude",
		[]string{`{"type":"result","usage":{"b":1.0,"2":"<&>","1":1e21,"b":12345678901234567890},"total_cost_usd":"x","duration_ms":1e999}`},
		[]string{`{"type":"usage","usage":{"1":1e+21,"2":"<&>","b":12345678901234567000},"costUsd":"x","durationMs":null,"stopReason":null}`}},
	{"missing names and ids are left out", "claude",
		[]string{`{"type":"assistant","message":{"content":[{"type":"tool_use"},{"type":"tool_use","id":7,"name":null,"input":null}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","is_error":"no","content":null}]}}`},
		[]string{`{"type":"tool_use","input":null}`, `{"type":"tool_use","id":7,"name":null,"input":null}`,
			`{"type":"tool_result","content":"null","isError":true}`}},
	{"tool results are stringified as JavaScript does", "claude",
		[]string{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text"},{"type":"text","text":[1,[2]]},{"z":1.50,"1":2},null]}]}}`},
		[]string{`{"type":"tool_result","toolUseId":"a","content":"undefined\n1,2\n{\"1\":2,\"z\":1.5}\nnull","isError":false}`}},
	{"tasks become one list", "claude",
		[]string{`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"one","activeForm":"doing one"}},{"type":"tool_use","id":"b","name":"TaskCreate","input":{"description":"two","taskId":"7","status":"done"}},{"type":"tool_use","id":"c","name":"TaskUpdate","input":{"taskId":"1","status":"doing"}},{"type":"tool_use","id":"c","name":"TaskUpdate","input":{"taskId":"1"}},{"type":"tool_use","id":"d","name":"TaskUpdate","input":{"taskId":"9"}},{"type":"tool_use","id":"e","name":"TaskCreate","input":{"subject":"three"}}]}}`},
		[]string{
			`{"type":"tool_use","id":"a:todo-task","name":"TodoWrite","input":{"todos":[{"content":"one","status":"pending","activeForm":"doing one"}]}}`,
			`{"type":"tool_use","id":"b:todo-task","name":"TodoWrite","input":{"todos":[{"content":"one","status":"pending","activeForm":"doing one"},{"content":"two","status":"completed"}]}}`,
			`{"type":"tool_use","id":"c:todo-task","name":"TodoWrite","input":{"todos":[{"content":"one","status":"in_progress","activeForm":"doing one"},{"content":"two","status":"completed"}]}}`,
			`{"type":"tool_use","id":"d","name":"TaskUpdate","input":{"taskId":"9"}}`,
			`{"type":"tool_use","id":"e:todo-task","name":"TodoWrite","input":{"todos":[{"content":"one","status":"in_progress","activeForm":"doing one"},{"content":"two","status":"completed"},{"content":"three","status":"pending"}]}}`}},
	{"an id-less second wrapper repeats the text", "claude",
		[]string{`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}`, `{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}`},
		[]string{`{"type":"text_delta","delta":"Hi"}`, `{"type":"text_delta","delta":"Hi"}`}},
	{"a withheld artifact is released by the next message, an unfinished tag by the end", "claude",
		[]string{`{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","id":"w","name":"Write","input":{"path":"a.css"}},{"type":"text","text":"x <artifact>y"}]}}`,
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"b"}}}`,
			`{"type":"assistant","message":{"id":"b","content":[{"type":"tool_use","id":"v","name":"Edit","input":{"new_string":"q"}},{"type":"text","text":"z <artif"}]}}`},
		[]string{`{"type":"tool_use","id":"w","name":"Write","input":{"path":"a.css"}}`, `{"type":"text_delta","delta":"x "}`,
			`{"type":"text_delta","delta":"<artifact>y"}`, `{"type":"tool_use","id":"v","name":"Edit","input":{"new_string":"q"}}`,
			`{"type":"text_delta","delta":"z "}`, `{"type":"text_delta","delta":"<artif"}`}},
	{"an echo is compared without edges and spelled-out line ends", "claude",
		[]string{`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"a.md","content":"\ufeffa\r\nb\n"}},{"type":"text","text":"<artifact>\\n a\nb\u00a0</artifact>!"}]}}`},
		[]string{`{"type":"tool_use","id":"w","name":"Write","input":{"file_path":"a.md","content":"` + "\ufeff" + `a\r\nb\n"}}`, `{"type":"text_delta","delta":"!"}`}},

	{"every message starts a line of its own, unless a tool stood between", "codex",
		[]string{`{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"one"}}`, `noise`,
			`{"type":"item.completed","item":{"id":"e","type":"error","message":"w"}}`,
			`{"type":"item.completed","item":{"id":"b","type":"agent_message","text":"two"}}`,
			`{"type":"item.started","item":{"id":"c","type":"command_execution"}}`,
			`{"type":"item.completed","item":{"id":"d","type":"agent_message","text":"three\n"}}`,
			`{"type":"item.completed","item":{"id":"f","type":"agent_message","text":"four"}}`},
		[]string{`{"type":"text_delta","delta":"one"}`, `{"type":"raw","line":"noise"}`, `{"type":"status","label":"warning","detail":"w"}`,
			`{"type":"text_delta","delta":"\ntwo"}`, `{"type":"tool_use","id":"c","name":"Bash","input":{"command":""}}`,
			`{"type":"text_delta","delta":"three\n"}`, `{"type":"text_delta","delta":"four"}`}},
	{"reasoning is counted in UTF-16 units", "codex",
		[]string{`{"type":"item.updated","item":{"id":"r","type":"reasoning","text":"\ud83d"}}`,
			`{"type":"item.updated","item":{"id":"r","type":"reasoning","text":"\ud83d\ude00!"}}`,
			`{"type":"item.updated","item":{"id":"r","type":"reasoning","text":"ab"}}`},
		[]string{`{"type":"thinking_delta","delta":"\ud83d"}`, `{"type":"thinking_delta","delta":"\ude00!"}`}},
	{"a duplicate key: the last one wins, raw lines keep both", "codex",
		[]string{`{"type":"thread.started","thread_id":"a","thread_id":"b"}`, `{"type":"x","type":"y","n":1.0}`},
		[]string{`{"type":"status","label":"initializing","sessionId":"b"}`, `{"type":"raw","line":"{\"type\":\"x\",\"type\":\"y\",\"n\":1.0}"}`}},
	{"a todo list repeats, an empty one is raw", "codex",
		[]string{`{"type":"item.started","item":{"id":"t","type":"todo_list","items":[{"text":"a","completed":true},{"text":"b","status":"In-Progress now"}]}}`,
			`{"type":"item.updated","item":{"id":"t","type":"todo_list","items":[]}}`},
		[]string{`{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}}`,
			`{"type":"raw","line":"{\"type\":\"item.updated\",\"item\":{\"id\":\"t\",\"type\":\"todo_list\",\"items\":[]}}"}`}},
	{"output that is no string is stringified", "codex",
		[]string{`{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"x","aggregated_output":{"b":1,"0":"\u2028<"},"status":"failed"}}`},
		[]string{`{"type":"tool_use","id":"c","name":"Bash","input":{"command":"x"}}`, `{"type":"tool_result","toolUseId":"c","content":"{\"0\":\"` + "\u2028" + `<\",\"b\":1}","isError":true}`}},
	{"an error is unwrapped: detail, message, error, data, name", "codex",
		[]string{`{"type":"error","error":{"data":{"message":"{\"detail\":\"deep\"}"},"name":"N"}}`}, []string{`{"type":"error","message":"deep"}`}},

	{"a failed tool has a call but no result", "opencode",
		[]string{`{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"error","input":"null","error":"x"}}}`,
			`{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":"{}","output":5}}}`,
			`{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"running","input":"[1]"}}}`},
		[]string{`{"type":"tool_use","id":"c","name":"bash","input":"null"}`, `{"type":"tool_result","toolUseId":"c","content":"5","isError":false}`,
			`{"type":"tool_use","id":"c","name":"bash","input":[1]}`}},
	{"the raw of an error is re-serialised", "opencode",
		[]string{`{ "type": "error", "z": 1.0, "1": "</", "error": {"name": "N"} }`},
		[]string{`{"type":"error","message":"N","raw":"{\"1\":\"</\",\"type\":\"error\",\"z\":1,\"error\":{\"name\":\"N\"}}"}`}},
	{"usage only with a token, cost beside it", "opencode",
		[]string{`{"type":"step_finish","part":{"cost":1,"tokens":{}}}`, `{"type":"step_finish","part":{"cost":0.10,"tokens":{"cache":{"read":3}}}}`},
		[]string{`{"type":"usage","usage":{"cached_read_tokens":3},"costUsd":0.1}`}},

	{"a closing tag cut in two loses all later text", "gemini",
		[]string{`{"type":"tool_use","tool_id":"t","tool_name":"edit","parameters":"{\"content\":\"x\"}"}`,
			`{"type":"message","role":"assistant","content":"a <artifact>x</arti"}`, `{"type":"message","role":"assistant","content":"fact> b"}`},
		[]string{`{"type":"tool_use","id":"t","name":"edit","input":{"content":"x"}}`, `{"type":"text_delta","delta":"a "}`}},
	{"repeated deltas stay, a failed result is raw", "cursor-agent",
		[]string{`{"type":"assistant","message":{"content":[{"type":"text","text":"\ud83d"}]},"timestamp_ms":1}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"😀 ok"}]}}`, `{"type":"result","is_error":true}`},
		[]string{`{"type":"text_delta","delta":"\ud83d"}`, `{"type":"text_delta","delta":"\ude00 ok"}`, `{"type":"raw","line":"{\"type\":\"result\",\"is_error\":true}"}`}},
	{"text beside tool calls is lost", "kimi",
		[]string{`{"role":"assistant","content":"lost","tool_calls":[]}`, `{"role":"tool","tool_call_id":" ","content":"x"}`},
		[]string{`{"type":"raw","line":"{\"role\":\"tool\",\"tool_call_id\":\" \",\"content\":\"x\"}"}`}},
	{"arrays are raw, numbers are dropped, empty text is text", "qoder",
		[]string{`[]`, `5`, `"s"`, `null`, `{"type":"assistant","message":{"content":""},"error":"e"}`, `{"type":"assistant","message":{"content":[]},"error":{"message":""}}`},
		[]string{`{"type":"raw","line":"[]"}`, `{"type":"text_delta","delta":""}`, `{"type":"error","message":"","raw":"{\"type\":\"assistant\",\"message\":{\"content\":[]},\"error\":{\"message\":\"\"}}"}`}},
	{"final text is dropped", "copilot",
		[]string{`{"type":"assistant.message","data":{"content":"x"}}`, `{"type":"assistant.message_delta","data":{"deltaContent":""}}`},
		[]string{`{"type":"text_delta","delta":""}`}},
	{"control sequences go, even an open OSC", "plain",
		[]string{"a\x1b]0;t\x1b\\b\x1b[1;2Hc\x1bMd\u009b3me\x1b]never"}, []string{`{"type":"stdout","chunk":"abcde"}`}},
}

func TestTraps(t *testing.T) {
	for _, c := range traps {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			got := text(read(parser(t, c.kind), []byte(strings.Join(c.lines, "\n"))))
			if want := strings.Join(append(c.want, ""), "\n"); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// A marker counts at the start of the text, or after a line break once more
// than 64 units were shown; a keyword at the very end is lost.
func TestRoleGuardWindow(t *testing.T) {
	long := strings.Repeat("😀", 33) // 66 units
	for _, c := range []struct {
		chunks []string
		want   string
		found  bool
	}{
		{[]string{" \t## system", "\n"}, "", true},
		{[]string{long, "  ", "## user\n"}, long + "  ## user\n", false},
		{[]string{long, "\n", "## user\n"}, long + "\n", true},
		{[]string{"a\n## assist"}, "a", false},
		{[]string{"a\n## assist", "ant", "s"}, "a\n## assistants", false},
		{[]string{"a\n## User x\n##user\n#\n\n## systemd"}, "a\n## User x\n##user\n#\n\n## systemd", false},
		{[]string{"x", "\n", "##", " ", "user", "é", "more"}, "x\n## ", true},
	} {
		g, got := NewRoleGuard("m"), ""
		for _, chunk := range c.chunks {
			got += g.Feed(chunk)
		}
		if got != c.want || g.Contaminated() != c.found {
			t.Errorf("%q: got %q (%v), want %q (%v)", c.chunks, got, g.Contaminated(), c.want, c.found)
		}
	}
}
