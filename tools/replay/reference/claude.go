package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// claude reads claude-stream-json: one frame a line, or with --output-format
// json one result object or an array of all frames.
type claude struct {
	r       *run
	stream  streamed
	message map[string]*messageState // by message id
	// errorCode is assistant.error of the main agent's last message. errorText
	// is the text of that message if the CLI wrote it in the model's place.
	errorCode, errorText string
	// rejected says that a rate_limit_event refused the request.
	rejected bool
	result   resultFrame
	// denied says that the last tool result was a permission question that
	// nobody could answer (case 092).
	denied bool
}

// messageState is what is known of one assistant message.
type messageState struct {
	texts    words // texts of wrappers so far
	thoughts words
	toolIDs  words
	// streamedThinking says that thinking came as deltas: wrappers repeat it.
	streamedThinking bool
}

// resultFrame is the last result of the run.
type resultFrame struct {
	seen           bool
	subtype        string
	isError        bool
	plain          bool // no subtype, and is_error is false
	terminalReason string
	status         int64 // api_error_status
	apiError       string
	texts          []string // errors[], result, error
	text           string   // result
}

func newClaude(r *run) *claude {
	return &claude{r: r, message: map[string]*messageState{}}
}

// quietClaude are known frames without content for the transcript.
var quietClaude = set("control_request", "control_response", "control_cancel_request", "rate_limit_event", "tool_progress",
	"keep_alive", "auth_status", "prompt_suggestion", "tool_use_summary", "summary")

// quietSystem are known system subtypes without content.
var quietSystem = set("hook_started", "hook_response", "hook_progress", "hook_callback", "thinking_tokens", "task_started", "task_progress",
	"task_notification", "task_updated", "background_tasks_changed", "permission_denied", "model_refusal_no_fallback",
	"local_command", "local_command_output", "files_persisted", "session_state_changed", "informational", "notification",
	"turn_duration", "stop_hook_summary", "debug", "memory_recall", "away_summary", "elicitation_complete")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

func (c *claude) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type").Str(); typ {
	case "stream_event":
		c.streamEvent(v, text)
	case "assistant":
		c.assistant(v, text)
	case "user":
		c.user(v, text)
	case "result":
		c.readResult(v)
	case "system":
		c.system(v, text)
	case "rate_limit_event":
		c.rejected = c.rejected || v.At("rate_limit_info", "status").IsStr("rejected")
	case "control_request":
		if v.At("request", "subtype").IsStr("can_use_tool") {
			c.r.status("permission_requested")
		}
	case "":
		c.lost("no type", text)
	default:
		if !quietClaude[typ] {
			c.lost(typ, text)
		}
	}
}

// lost counts a frame that nobody knows and keeps it visible.
func (c *claude) lost(kind string, text []byte) {
	c.r.out.unknown(kind)
	c.r.raw(text)
}

func (c *claude) system(v rawjson.Value, text []byte) {
	switch sub := v.Get("subtype").Str(); sub {
	case "init":
		c.r.status("initializing", event.F("model", event.OrNull(v.Get("model"))), event.F("sessionId", event.OrNull(v.Get("session_id"))))
	case "status":
		label := v.Get("status").Str()
		if label == "" {
			label = "working"
		}
		c.r.status(label)
	case "api_retry", "retry", "api_error":
		c.r.retrying(v.Get("error").Str())
		c.stream.retry(c.r)
	case "compact_boundary", "microcompact_boundary":
		c.r.status("compacted")
	default:
		if !quietSystem[sub] {
			c.lost("system.subtype="+sub, text)
		}
	}
}

func (c *claude) state(id string) *messageState {
	m := c.message[id]
	if m == nil {
		m = &messageState{}
		c.message[id] = m
	}
	return m
}

// assistant reads a whole message, or since 1.0 one block of it: real releases
// print one such frame for each content block, all with the message's id.
func (c *claude) assistant(v rawjson.Value, text []byte) {
	msg := v.Get("message")
	parent := v.Get("parent_tool_use_id").Str()
	content := msg.Get("content")
	id := msg.Get("id").Str()
	if content.Kind() == rawjson.String {
		c.wholeText(msg, id, parent, content.Str())
	}
	for b := range content.Children() {
		c.block(b, msg, id, parent, text)
	}
	if parent != "" {
		return
	}
	c.errorCode, c.errorText = v.Get("error").Str(), ""
	c.r.usefulness(c.errorCode)
	if c.errorCode != "" || isSynthetic(msg) {
		c.errorText = blockTexts(content)
	}
}

// isSynthetic reports whether the CLI wrote the message in the model's place.
func isSynthetic(msg rawjson.Value) bool { return msg.Get("model").IsStr("<synthetic>") }

func (c *claude) block(b, msg rawjson.Value, message, parent string, frame []byte) {
	m := c.state(message)
	switch typ := b.Get("type").Str(); typ {
	case "text":
		c.wholeText(msg, message, parent, b.Get("text").Str())
	case "thinking":
		t := b.Get("thinking").Str()
		if parent == "" && !m.streamedThinking && !c.stream.thought(message) && !m.thoughts.has(t) {
			m.thoughts.add(t)
			c.r.thinking(t)
		}
	case "redacted_thinking":
	case "tool_result":
		c.toolResult(b, frame)
	case "tool_use":
		id := b.Get("id").Str()
		if m.toolIDs.has(id) || c.r.known(id) && !c.stream.calls[id] {
			c.r.out.DuplicateToolUses++
		}
		m.toolIDs.add(id)
		delete(c.stream.calls, id)
		c.denied = false
		c.r.toolUse(id, b.Get("name").Str(), event.Of(b.Get("input")), parent)
	default:
		c.lost("assistant.content[].type="+typ, frame)
	}
}

// wholeText reads a text that is complete. It may repeat one that was
// streamed, or one that an earlier frame of the same message had.
func (c *claude) wholeText(msg rawjson.Value, id, parent, text string) {
	if parent != "" || text == "" || isSynthetic(msg) {
		return
	}
	if s := c.stream.confirm(id); s != nil {
		c.r.replace(s, text)
		c.state(id).texts.add(text)
		return
	}
	m := c.state(id)
	if id != "" && m.texts.has(text) {
		return
	}
	m.texts.add(text)
	c.stream.supersede(c.r, id)
	c.denied = false
	c.r.text(text)
}

// user reads tool results. What else a user message holds is what we or the
// CLI said to the model.
func (c *claude) user(v rawjson.Value, frame []byte) {
	c.stream.announce(c.r)
	for b := range v.At("message", "content").Children() {
		switch typ := b.Get("type").Str(); typ {
		case "tool_result":
			c.toolResult(b, frame)
		case "text", "image", "document":
		default:
			c.lost("user.content[].type="+typ, frame)
		}
	}
}

func (c *claude) toolResult(b rawjson.Value, frame []byte) {
	text := c.resultText(b.Get("content"), frame)
	failed := b.Get("is_error").Bool()
	c.r.toolResult(b.Get("tool_use_id").Str(), event.String(text), failed)
	c.denied = failed && strings.Contains(normalizeText(text), "tool permission request failed")
}

// resultText flattens the content of a tool result. Media stay as their type:
// their bytes are no text.
func (c *claude) resultText(v rawjson.Value, frame []byte) string {
	if v.Kind() != rawjson.Array {
		if v.Kind() == rawjson.String {
			return v.Str()
		}
		return v.Stringify()
	}
	var parts []string
	for b := range v.Children() {
		switch typ := b.Get("type").Str(); typ {
		case "text":
			parts = append(parts, b.Get("text").Str())
		case "image", "document", "tool_reference", "search_result":
			parts = append(parts, "["+typ+"]")
		default:
			c.lost("user.content[].content[].type="+typ, frame)
		}
	}
	return strings.Join(parts, "\n")
}

func blockTexts(content rawjson.Value) string {
	if content.Kind() == rawjson.String {
		return content.Str()
	}
	var parts []string
	for b := range content.Children() {
		if t := b.Get("text").Str(); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}
