// Package longrun makes what agents print in sessions of many hours, for
// benchmarks: small deltas, messages that repeat them, tool calls with output of
// some kilobytes, now and then a file in base64. Nothing in it is a secret.
package longrun

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/redact/leak/encode"
)

// Dialects are those that Make knows, by their ids in registry/families.json.
var Dialects = []string{"claude", "codex", "opencode", "gemini", "acp"}

// Cwd is the folder in which the runs took place.
const Cwd = "/home/user/w"

// Make returns the stdout of a run of at least n bytes. The same seed makes the
// same run.
func Make(dialect string, n int, seed uint64) []byte {
	m := &maker{r: rand.New(rand.NewPCG(seed, 1)), session: "5c1f40aa-90d1-4c64-8c51-1d7b8d9a2f00"}
	turn := map[string]func(){"claude": m.claude, "codex": m.codex, "opencode": m.opencode, "gemini": m.gemini, "acp": m.acp}[dialect]
	if dialect == "claude" {
		m.line(`{"type":"system","subtype":"init","cwd":%s,"session_id":%s,"tools":["Bash","Read","Write"],"mcp_servers":[],"model":"claude-sonnet-4-5","permissionMode":"default"}`, q(Cwd), q(m.session))
	}
	for m.out.Len() < n {
		turn()
		m.turn++
	}
	return []byte(m.out.String())
}

type maker struct {
	r       *rand.Rand
	out     strings.Builder
	session string
	turn    int
	ids     int
}

func (m *maker) line(format string, args ...any) {
	fmt.Fprintf(&m.out, format, args...)
	m.out.WriteByte('\n')
}

func q(s string) string { return encode.Quote(s) }

var words = strings.Fields(`the a file test change we now look at part which reads second builder returns map and then list value
	of each frame I will run again because there was an error in parser fix it add case for empty input make sure nothing else breaks
	function module import package line column token path folder config server client request response handler component render state`)

func (m *maker) words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[m.r.IntN(len(words))])
		if m.r.IntN(12) == 0 {
			b.WriteString(".\n"[:1+m.r.IntN(2)])
		}
	}
	return b.String()
}

func (m *maker) id(prefix string) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
	b := []byte(prefix)
	for range 20 {
		b = append(b, letters[m.r.IntN(len(letters))])
	}
	return string(b)
}

func (m *maker) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", m.r.Uint32(), m.r.IntN(1<<16), m.r.IntN(1<<12), m.r.IntN(1<<12), m.r.Int64N(1<<48))
}

func (m *maker) path() string {
	return fmt.Sprintf("%s/src/%s/%s%d.ts", Cwd, words[m.r.IntN(len(words))], words[m.r.IntN(len(words))], m.r.IntN(300))
}

// output is what a tool printed: a listing, code, a diff, a log, or a picture.
func (m *maker) output() string {
	var b strings.Builder
	kind := m.turn % 12
	for i := range 20 + m.r.IntN(120) {
		switch {
		case kind == 11:
			if i > 20 {
				break
			}
			raw := make([]byte, 600)
			for j := range raw {
				raw[j] = byte(m.r.IntN(256))
			}
			b.WriteString(base64.StdEncoding.EncodeToString(raw))
		case kind%4 == 0:
			fmt.Fprintf(&b, "-rw-r--r-- 1 user group %5d Jan %2d 10:%02d %s%d.ts\n", m.r.IntN(99999), 1+m.r.IntN(28), m.r.IntN(60), words[m.r.IntN(len(words))], i)
		case kind%4 == 1:
			fmt.Fprintf(&b, "%5d\t\tconst %s = await %s.%s(\"%s\", { %s: %d });\n", i, words[m.r.IntN(len(words))], words[m.r.IntN(len(words))], words[m.r.IntN(len(words))], m.words(2), words[m.r.IntN(len(words))], m.r.IntN(100))
		case kind%4 == 2:
			fmt.Fprintf(&b, "%c  %s\n", " +-"[m.r.IntN(3)], m.words(9))
		default:
			fmt.Fprintf(&b, "%s:%d:%d: %s\n", m.path(), i, m.r.IntN(80), m.words(6))
		}
	}
	return b.String()
}

func (m *maker) claudeEvent(event string) {
	m.line(`{"type":"stream_event","event":%s,"session_id":%s,"parent_tool_use_id":null,"uuid":%s}`, event, q(m.session), q(m.uuid()))
}

func (m *maker) claude() {
	id, call := m.id("msg_01"), m.id("toolu_01")
	usage := fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":11,"cache_read_input_tokens":1000,"output_tokens":%d,"service_tier":"standard"}`, m.r.IntN(5000), m.r.IntN(900))
	m.claudeEvent(fmt.Sprintf(`{"type":"message_start","message":{"id":%s,"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":%s}}`, q(id), usage))
	m.claudeEvent(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	text := ""
	for range 10 + m.r.IntN(40) {
		piece := m.words(1+m.r.IntN(4)) + " "
		text += piece
		m.claudeEvent(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, q(piece)))
	}
	m.claudeEvent(`{"type":"content_block_stop","index":0}`)
	m.line(`{"type":"assistant","message":{"id":%s,"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%s}],"stop_reason":null,"stop_sequence":null,"usage":%s},"parent_tool_use_id":null,"session_id":%s,"uuid":%s}`, q(id), q(text), usage, q(m.session), q(m.uuid()))
	input := fmt.Sprintf(`{"file_path":%s,"content":%s}`, q(m.path()), q(m.words(60)))
	m.claudeEvent(fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":%s,"name":"Write","input":{}}}`, q(call)))
	for rest := input; rest != ""; {
		n := min(len(rest), 4+m.r.IntN(24))
		m.claudeEvent(fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%s}}`, q(rest[:n])))
		rest = rest[n:]
	}
	m.claudeEvent(`{"type":"content_block_stop","index":1}`)
	m.line(`{"type":"assistant","message":{"id":%s,"type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":%s,"name":"Write","input":%s}],"stop_reason":null,"stop_sequence":null,"usage":%s},"parent_tool_use_id":null,"session_id":%s,"uuid":%s}`, q(id), q(call), input, usage, q(m.session), q(m.uuid()))
	m.claudeEvent(fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":%d}}`, m.r.IntN(900)))
	m.claudeEvent(`{"type":"message_stop"}`)
	m.line(`{"type":"user","message":{"role":"user","content":[{"tool_use_id":%s,"type":"tool_result","content":%s,"is_error":false}]},"parent_tool_use_id":null,"session_id":%s,"uuid":%s}`, q(call), q(m.output()), q(m.session), q(m.uuid()))
}

func (m *maker) codex() {
	m.ids += 3
	command := q("/bin/bash -lc 'cat " + m.path() + "'")
	m.line(`{"type":"turn.started"}`)
	m.line(`{"type":"item.completed","item":{"id":"item_%d","type":"reasoning","text":%s}}`, m.ids, q("**"+m.words(4)+"**"))
	m.line(`{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":%s,"aggregated_output":"","exit_code":null,"status":"in_progress"}}`, m.ids+1, command)
	m.line(`{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":%s,"aggregated_output":%s,"exit_code":0,"status":"completed"}}`, m.ids+1, command, q(m.output()))
	m.line(`{"type":"item.completed","item":{"id":"item_%d","type":"agent_message","text":%s}}`, m.ids+2, q(m.words(80)))
	m.line(`{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":256,"output_tokens":%d}}`, m.r.IntN(90000), m.r.IntN(900))
}

func (m *maker) opencode() {
	session, message, call := "ses_"+m.session[:8]+"ffeQ2pX9", m.id("msg_"), m.id("call_")
	frame := func(kind, part string) {
		at := 1764000000000 + int64(m.turn)*977
		m.line(`{"type":%s,"timestamp":%d,"sessionID":%s,"part":{"id":%s,"sessionID":%s,"messageID":%s,%s}}`, q(kind), at, q(session), q(m.id("prt_")), q(session), q(message), part)
	}
	frame("step_start", `"type":"step-start"`)
	frame("text", fmt.Sprintf(`"type":"text","text":%s,"time":{"start":1764000000123,"end":1764000000456}`, q(m.words(60))))
	frame("tool_use", fmt.Sprintf(`"type":"tool","callID":%s,"tool":"bash","state":{"status":"completed","input":{"command":%s,"description":%s},"output":%s,"title":%s,"metadata":{"exit":0},"time":{"start":1764000000123,"end":1764000000456}}`,
		q(call), q("cat "+m.path()), q(m.words(5)), q(m.output()), q(m.words(5))))
	frame("step_finish", fmt.Sprintf(`"type":"step-finish","reason":"tool-calls","cost":0.01,"tokens":{"input":%d,"output":%d,"reasoning":0,"cache":{"read":0,"write":0}}`, m.r.IntN(90000), m.r.IntN(900)))
}

func (m *maker) gemini() {
	at := fmt.Sprintf("2026-03-%02dT10:%02d:%02d.%03dZ", 1+m.r.IntN(28), m.r.IntN(60), m.r.IntN(60), m.r.IntN(1000))
	for range 6 + m.r.IntN(20) {
		m.line(`{"type":"message","timestamp":%s,"role":"assistant","content":%s,"delta":true}`, q(at), q(m.words(4+m.r.IntN(12))+" "))
	}
	id := fmt.Sprintf("run_shell_command-%d-%s", 1764000000000+m.turn, m.id("")[:13])
	m.line(`{"type":"tool_use","timestamp":%s,"tool_name":"run_shell_command","tool_id":%s,"parameters":{"command":%s,"description":%s}}`, q(at), q(id), q("cat "+m.path()), q(m.words(6)))
	m.line(`{"type":"tool_result","timestamp":%s,"tool_id":%s,"status":"success","output":%s}`, q(at), q(id), q(m.output()))
}

func (m *maker) acp() {
	update := func(s string) {
		m.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{%s}}}`, q(m.session), s)
	}
	for _, kind := range []string{"agent_thought_chunk", "agent_message_chunk"} {
		for range 8 + m.r.IntN(30) {
			update(fmt.Sprintf(`"sessionUpdate":%s,"content":{"type":"text","text":%s}`, q(kind), q(m.words(1+m.r.IntN(3))+" ")))
		}
	}
	call := m.id("call_")
	update(fmt.Sprintf(`"sessionUpdate":"tool_call","toolCallId":%s,"title":"Bash","kind":"execute","status":"pending","rawInput":{"command":%s},"content":[]`, q(call), q("cat "+m.path())))
	update(fmt.Sprintf(`"sessionUpdate":"tool_call_update","toolCallId":%s,"status":"completed","content":[{"type":"content","content":{"type":"text","text":%s}}]`, q(call), q(m.output())))
}
