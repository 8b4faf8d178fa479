package reference

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// copilot reads copilot --output-format json: envelopes of a type and data.
// Answers are streamed as ephemeral deltas and come again as a whole message;
// a retry streams them again (real-clis §6).
type copilot struct {
	r        *run
	texts    []*copilotText  // streamed messages until their whole message
	thoughts map[string]bool // reasoning that was shown, by id
	thought  bool            // reasoning was shown since the last message, which repeats it
	retried  bool            // a call of the model failed: the next one says the answer again
	repeats  bool            // the next whole reasoning repeats that of the message before it
	errors   pendingErrors
	stopped  bool
	reported string
	ended    bool
	ok       bool
}

type copilotText struct {
	id string
	*segment
}

func newCopilot(r *run) *copilot { return &copilot{r: r, thoughts: map[string]bool{}} }

// quietCopilot are known frames without content for the transcript.
var quietCopilot = set("session.skills_loaded", "session.mcp_servers_loaded", "session.mcp_server_status_changed", "session.mcp_server_tools_loaded", "session.background_tasks_changed", "session.task_complete",
	"session.start", "session.resume", "session.idle", "session.shutdown", "session.title_changed", "session.usage_info", "session.compaction_start",
	"session.compaction_complete", "session.truncation", "session.model_change", "session.mode_changed", "session.custom_agents_updated", "session.extensions_loaded",
	"session.context_changed", "session.handoff", "session.snapshot_rewind", "session.workspace_file_changed", "user.message", "system.message", "system.notification",
	"assistant.intent", "assistant.turn_end", "assistant.idle", "assistant.usage", "assistant.tool_call_delta", "assistant.streaming_delta", "model.call_start", "model.call_finished",
	"model.call_final_result", "tool.shell_output", "tool.execution_partial_result", "tool.execution_progress", "tool.user_requested",
	"pending_messages.modified", "permission.requested", "permission.completed", "hook.start", "hook.end", "subagent.started", "subagent.completed",
	"subagent.failed", "subagent.selected", "subagent.deselected", "skill.invoked", "external_tool.requested", "external_tool.completed")

func (c *copilot) frame(v rawjson.Value, text []byte) {
	data := v.Get("data")
	switch typ := v.Get("type").Str(); typ {
	case "session.tools_updated":
		c.r.status("initializing", event.F("model", event.OrNull(data.Get("model"))))
	case "assistant.turn_start":
		c.r.status("streaming")
	case "assistant.message_start":
		c.again()
	case "assistant.message_delta":
		c.delta(data.Get("messageId").Str(), data.Get("deltaContent").Str())
	case "assistant.message":
		c.message(data)
	case "assistant.reasoning_delta":
		c.thoughts[data.Get("reasoningId").Str()], c.thought = true, true
		c.r.thinking(data.Get("deltaContent").Str())
	case "assistant.reasoning":
		c.reasoning(data)
	case "tool.execution_start":
		c.r.announce(data.Get("toolCallId").Str(), data.Get("toolName").Str(), parsed(data.Get("arguments")))
	case "tool.execution_complete":
		c.toolResult(data)
	case "model.call_failure", "assistant.turn_retry":
		c.retry(data)
	case "session.error":
		c.r.usefulness(data.Get("errorType").Str())
		c.errors.add(copilotCode(data), errorText(data.Get("message")))
	case "session.warning", "session.info":
		c.stopped = c.stopped || data.Get("infoType").IsStr("cancellation")
		c.r.warn(data.Get("message").Str())
	case "abort", "agent.interrupted":
		c.stopped = true
	case "result":
		c.result(v)
	default:
		if !quietCopilot[typ] {
			c.r.lost(typ, text)
		}
	}
}

// retry notes a call of the model that failed. What it had streamed stays
// until the next call says it again.
func (c *copilot) retry(data rawjson.Value) {
	c.retried = true
	notice := data.Get("errorMessage").Str()
	if n, ok := whole(data.Get("statusCode")); ok && httpVerdict(n) != nil {
		notice += statusWords(n)
	}
	c.r.retrying(strings.TrimSpace(notice + " " + data.Get("reason").Str()))
}

func (c *copilot) again() {
	if !c.retried {
		return
	}
	c.retried = false
	for _, t := range c.texts {
		c.r.retract(t.segment)
	}
	c.texts = nil
}

// streamed returns the streamed text of a message, and with forget no longer
// awaits its whole message.
func (c *copilot) streamed(id string, forget bool) *segment {
	for i := len(c.texts) - 1; i >= 0; i-- {
		if t := c.texts[i]; t.id == id {
			if forget {
				c.texts = slices.Delete(c.texts, i, i+1)
			}
			return t.segment
		}
	}
	return nil
}

// maxStreams bounds the messages that are streamed at once: their ids come
// from outside.
const maxStreams = 64

func (c *copilot) delta(id, piece string) {
	c.again()
	s := c.streamed(id, false)
	if s == nil {
		s = c.r.newSegment()
		c.texts = append(c.texts[max(0, len(c.texts)-maxStreams+1):], &copilotText{id, s})
	}
	c.r.delta(s, piece)
}

// message reads the whole message that ends a stream of deltas.
func (c *copilot) message(data rawjson.Value) {
	c.again()
	if t := data.Get("reasoningText").Str(); t != "" && !c.thought {
		c.r.thinking(t)
		c.repeats = true
	}
	c.thought = false
	text := data.Get("content").Str()
	if s := c.streamed(data.Get("messageId").Str(), true); s != nil && text != "" {
		c.r.replace(s, text)
	} else {
		c.r.text(text)
	}
	requests := data.Get("toolRequests")
	if text != "" || requests.Len() > 0 {
		c.errors.survived(c.r)
	}
	for q := range requests.Children() {
		c.r.announce(q.Get("toolCallId").Str(), q.Get("name").Str(), parsed(q.Get("arguments")))
	}
	if n, ok := whole(data.Get("outputTokens")); ok && n > 0 {
		c.r.counts(data, []tokenPath{{"output_tokens", []string{"outputTokens"}}}, true)
	}
}

// reasoning reads whole reasoning: it repeats its pieces, or the reasoning of
// the message that it follows.
func (c *copilot) reasoning(data rawjson.Value) {
	id := data.Get("reasoningId").Str()
	if !c.thoughts[id] && !c.repeats {
		c.r.thinking(data.Get("content").Str())
		c.thought = true
	}
	c.thoughts[id], c.repeats = true, false
}

func (c *copilot) toolResult(data rawjson.Value) {
	id := data.Get("toolCallId").Str()
	success := data.Get("success")
	failed := success.Kind() == rawjson.Boolean && !success.Bool()
	content := sole(data.At("result", "content"))
	if content == "" {
		content = sole(data.At("result", "detailedContent"))
	}
	if content == "" {
		content = errorText(data.Get("error"))
	}
	c.r.toolResult(id, event.String(content), failed)
}

func copilotCode(data rawjson.Value) *verdict {
	if v := statusCode(data.Get("statusCode")); v != nil {
		return v
	}
	var v verdict
	switch data.Get("errorType").Str() {
	case "authentication", "authorization":
		v = auth("auth_required")
	case "rate_limit":
		v = rateLimited
	case "quota":
		v = hardQuota(contract.ActionRecharge)
	case "context_limit":
		v = tooLarge("prompt_too_large")
	default:
		return nil
	}
	return &v
}

func (c *copilot) result(v rawjson.Value) {
	c.ended = true
	c.r.out.Terminals++
	c.r.notice = ""
	code, ok := whole(v.Get("exitCode"))
	if ok {
		c.reported = "exitCode " + strconv.FormatInt(code, 10)
	}
	c.ok = ok && code == 0 || v.Get("success").Bool()
}

func (c *copilot) outcome() outcome {
	o := outcome{reported: c.reported, ended: c.ended, ok: c.ok && !c.errors.any() && !c.stopped, textEnds: !c.errors.any(), cancelled: c.stopped && !c.errors.any() && !c.ok}
	c.errors.fail(c.r, &o)
	return o
}
