package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// msgState is what is known of a stream of {id,msg} envelopes (≤0.42). Real
// releases do not print task_complete: a turn whose last word is followed by
// token_count is complete.
type msgState struct {
	seen     bool
	counts   int  // token_count frames since the last text or call
	complete bool // task_complete
	aborted  bool
	text     *segment // agent_message_delta
	thought  strings.Builder
}

// envelope reads a frame without type: an envelope, or one of the two lines
// that come before them. It reports false for anything else.
func (c *codex) envelope(v rawjson.Value, frame []byte) bool {
	m := v.Get("msg")
	if m.Kind() != rawjson.Object {
		return c.preamble(v)
	}
	c.msg.seen = true
	typ := m.Get("type").Str()
	if typ != "token_count" && !quietMsg[typ] {
		c.msg.counts = 0
	}
	if !c.msgText(typ, m) && !c.msgTool(typ, m) && !c.msgLife(typ, m) && !quietMsg[typ] {
		c.lost("msg.type="+typ, frame)
	}
	return true
}

// preamble reads the configuration (whose keys come in random order) and the
// echo of the prompt.
func (c *codex) preamble(v rawjson.Value) bool {
	switch {
	case v.Get("prompt").Exists():
	case v.Get("model").Exists() || v.Get("provider").Exists() || v.Get("sandbox").Exists():
		c.r.status("initializing", event.F("model", event.OrNull(v.Get("model"))))
	default:
		return false
	}
	c.msg.seen = true
	return true
}

// quietMsg are known messages without content for the transcript.
var quietMsg = set("exec_command_output_delta", "turn_diff", "agent_reasoning_section_break", "user_message", "shutdown_complete",
	"deprecation_notice", "mcp_list_tools_response", "list_custom_prompts_response", "get_history_entry_response",
	"conversation_path", "entered_review_mode", "exited_review_mode", "mcp_startup_update", "mcp_startup_complete")

// msgText reads what the model said.
func (c *codex) msgText(typ string, m rawjson.Value) bool {
	switch typ {
	case "agent_message_delta":
		if c.msg.text == nil {
			c.msg.text = c.r.newSegment()
		}
		c.r.delta(c.msg.text, m.Get("delta").Str())
	case "agent_message":
		if s := c.msg.text; s != nil {
			c.msg.text = nil
			c.r.replace(s, m.Get("message").Str())
			return true
		}
		c.r.text(m.Get("message").Str())
	case "agent_reasoning_delta", "agent_reasoning_raw_content_delta":
		c.msg.thought.WriteString(m.Get("delta").Str())
		c.r.thinking(m.Get("delta").Str())
	case "agent_reasoning", "agent_reasoning_raw_content":
		if t := m.Get("text").Str(); t != c.msg.thought.String() {
			c.r.thinking(t)
		}
		c.msg.thought.Reset()
	default:
		return false
	}
	return true
}

// msgTool reads calls and their results.
func (c *codex) msgTool(typ string, m rawjson.Value) bool {
	id := m.Get("call_id").Str()
	switch typ {
	case "exec_command_begin":
		c.msgUse(id, "Bash", event.Object(event.F("command", event.String(commandLine(m.Get("command"))))))
	case "exec_command_end":
		out := m.Get("aggregated_output")
		if out.Str() == "" {
			out = m.Get("stdout")
		}
		c.r.toolResult(id, event.OrNull(out), m.Get("exit_code").Float() != 0)
	case "patch_apply_begin":
		c.msgUse(id, "apply_patch", event.Object(event.F("changes", event.Of(m.Get("changes")))))
	case "patch_apply_end":
		c.r.toolResult(id, event.OrNull(m.Get("stdout")), m.Get("success").Kind() == rawjson.Boolean && !m.Get("success").Bool())
	case "mcp_tool_call_begin":
		inv := m.Get("invocation")
		c.msgUse(id, toolName("mcp_tool_call", inv), event.OrNull(inv.Get("arguments")))
	case "mcp_tool_call_end":
		res := m.Get("result")
		failed := res.Get("Err").Exists() || res.At("Ok", "is_error").Bool()
		c.r.toolResult(id, event.OrNull(res), failed)
	case "web_search_begin":
		c.msgUse(id, "web_search", event.Object())
	case "web_search_end":
		c.r.toolUse(id, "web_search", event.Object(event.F("query", event.Of(m.Get("query")))), "")
		c.r.toolResult(id, event.Null, false)
	case "view_image_tool_call":
		c.msgUse(id, "view_image", event.Object(event.F("path", event.Of(m.Get("path")))))
		c.r.toolResult(id, event.Null, false)
	case "plan_update":
		c.plan("plan", m.Get("plan"))
	default:
		return false
	}
	return true
}

func (c *codex) msgUse(id, name string, input event.Value) {
	if c.r.known(id) {
		c.r.out.DuplicateToolUses++
	}
	c.r.toolUse(id, name, input, "")
}

// commandLine joins an argument list; later releases print one string.
func commandLine(v rawjson.Value) string {
	if v.Kind() == rawjson.String {
		return v.Str()
	}
	var words []string
	for w := range v.Children() {
		words = append(words, w.Str())
	}
	return strings.Join(words, " ")
}

// msgLife reads the run's own events.
func (c *codex) msgLife(typ string, m rawjson.Value) bool {
	switch typ {
	case "session_configured":
		c.r.status("initializing", event.F("model", event.OrNull(m.Get("model"))), event.F("sessionId", event.OrNull(m.Get("session_id"))))
	case "task_started":
		c.msg.complete, c.msg.aborted, c.pending, c.reported = false, false, nil, ""
		c.r.status("thinking")
	case "task_complete":
		c.msg.complete, c.reported = true, typ
		c.recover()
	case "turn_aborted":
		c.msg.aborted, c.reported = true, typ
	case "token_count":
		c.tokenCount(m)
	case "error":
		c.reported = typ
		c.pending = append(c.pending, errorText(m.Get("message")))
	case "stream_error", "background_event":
		c.r.retrying(errorText(m.Get("message")))
	case "warning":
		c.r.warn(errorText(m.Get("message")))
	default:
		return false
	}
	return true
}

// tokenCount reads the counts: of one answer up to 0.29, totals under info
// later. A frame without info only tells the rate limits.
func (c *codex) tokenCount(m rawjson.Value) {
	info := m.Get("info")
	total := info.Get("total_token_usage")
	switch {
	case total.Kind() == rawjson.Object:
		c.r.usage(total)
	case !info.Exists() && m.Get("output_tokens").Exists():
		c.r.usageOfOne(m)
	default:
		return
	}
	c.msg.counts++
}

// msgOutcome closes a stream of envelopes. Each answer of the model ends with
// a token_count; after a tool's result another answer is due.
func (c *codex) msgOutcome(o *outcome) {
	due := 1
	if c.r.last == didToolResult {
		due = 2
	}
	switch {
	case len(c.pending) > 0 || c.msg.aborted:
		o.ended, o.ok = false, false
	case c.msg.complete || c.msg.counts >= due && c.r.last != didToolUse:
		o.ended, o.ok = true, true
		c.r.out.Terminals++
	}
}
