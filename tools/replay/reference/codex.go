package reference

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/event"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// codex reads the formats behind `codex exec --json`: the {id,msg} envelope of
// releases up to 0.42 (codexmsg.go), the item events of 0.42's
// --experimental-json, and thread, turn and item events since 0.44 (real-clis §5).
type codex struct {
	r         *run
	ended, ok bool // of the last turn
	reported  string
	// pending is the text of an error frame that no turn end has followed.
	pending []string
	// noTurns says that the stream is of the generation without turn events,
	// where the end of the process ends the turn.
	noTurns bool
	// reasoning holds the text of each reasoning item so far: updates repeat it.
	reasoning map[string]string
	texts     map[string]*segment // agent messages by item id
	plans     map[string]bool
	msg       msgState
}

func newCodex(r *run) *codex {
	return &codex{r: r, reasoning: map[string]string{}, texts: map[string]*segment{}, plans: map[string]bool{}}
}

func (c *codex) frame(v rawjson.Value, text []byte) {
	switch typ := v.Get("type").Str(); typ {
	case "thread.started":
		c.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("thread_id"))))
	case "session.created":
		c.noTurns = true
		c.r.status("initializing", event.F("sessionId", event.OrNull(v.Get("session_id"))))
	case "turn.started":
		c.ended, c.ok, c.pending, c.noTurns = false, false, nil, false
		c.r.status("thinking")
	case "item.started", "item.updated", "item.completed":
		c.item(v.Get("item"), typ, text)
	case "turn.completed":
		c.turnCompleted(v)
	case "turn.failed":
		c.turnFailed(v)
	case "error":
		c.failure(errorText(v.Get("message")))
	case "":
		if !c.envelope(v, text) {
			c.lost("no type", text)
		}
	default:
		c.lost(typ, text)
	}
}

func (c *codex) lost(kind string, text []byte) {
	c.r.out.unknown(kind)
	c.r.raw(text)
}

func (c *codex) turnCompleted(v rawjson.Value) {
	c.ended, c.ok, c.reported = true, true, "turn.completed"
	c.r.out.Terminals++
	c.r.usage(v.Get("usage"))
	c.recover()
	c.r.notice = ""
}

// recover turns error frames that the run survived into warnings.
func (c *codex) recover() {
	for _, t := range c.pending {
		c.r.warn(t)
		c.r.out.signal(SignalRecoveredError)
	}
	c.pending = nil
}

func (c *codex) turnFailed(v rawjson.Value) {
	c.ended, c.ok, c.reported = true, false, "turn.failed"
	c.r.out.Terminals++
	c.r.usage(v.Get("usage"))
	c.r.usefulness(v.At("error", "type").Str(), v.At("error", "code").Str())
	if t := errorText(v.Get("error")); t != "" {
		c.pending = append([]string{t}, c.pending...)
	}
}

// failure reads an error frame: a retry notice as often as the final error.
// Only the end of the turn tells (real-clis §5).
func (c *codex) failure(text string) {
	switch {
	case isRetryNotice(text):
		c.r.retrying(text)
	case c.ended:
		c.r.warn(text)
	default:
		c.pending = append(c.pending, text)
	}
}

// isRetryNotice knows the wordings of real-clis §5, "Retry wording".
func isRetryNotice(text string) bool {
	t := normalizeText(text)
	return strings.HasPrefix(t, "reconnecting...") || strings.HasPrefix(t, "stream error:") && strings.Contains(t, "retrying ")
}

// errorText unpacks the message of an error: a string, or an object with one.
func errorText(v rawjson.Value) string {
	if v.Kind() == rawjson.Object {
		return errorText(v.Get("message"))
	}
	return v.Str()
}

func (c *codex) outcome() outcome {
	o := outcome{reported: c.reported, ended: c.ended, ok: c.ok, endless: c.noTurns}
	if c.msg.seen {
		c.msgOutcome(&o)
	}
	o.textEnds = c.noTurns
	if !o.ok {
		o.texts = c.pending
		if len(c.pending) > 0 {
			c.r.failed(c.pending[0])
		} else if c.ended {
			c.r.failed("turn failed")
		}
	}
	return o
}

// item reads one lifecycle event of an item. 0.42 called the member item_type.
func (c *codex) item(it rawjson.Value, phase string, frame []byte) {
	typ := it.Get("type").Str()
	if typ == "" {
		typ = it.Get("item_type").Str()
	}
	done := phase == "item.completed"
	id := it.Get("id").Str()
	switch typ {
	case "agent_message", "assistant_message":
		c.agentMessage(id, it.Get("text").Str(), done)
	case "reasoning":
		c.thought(id, it.Get("text").Str())
	case "error":
		c.r.warn(errorText(it.Get("message"))) // never the run's error (case 008)
	case "todo_list":
		c.plan(id, it.Get("items"))
	case "command_execution", "file_change", "mcp_tool_call", "web_search":
		c.tool(typ, id, it, phase)
	default:
		c.lost("item.type="+typ, frame)
	}
}

func (c *codex) agentMessage(id, text string, done bool) {
	s := c.texts[id]
	if !done {
		if s == nil {
			s = c.r.newSegment()
			c.texts[id] = s
		}
		if rest, ok := strings.CutPrefix(text, s.text.String()); ok {
			c.r.delta(s, rest)
		}
		return
	}
	delete(c.texts, id)
	if s != nil && s.text.Len() > 0 {
		c.r.replace(s, text)
		return
	}
	c.r.text(text)
}

func (c *codex) thought(id, text string) {
	if text == c.reasoning[id] {
		return
	}
	if rest, ok := strings.CutPrefix(text, c.reasoning[id]); ok {
		c.r.thinking(rest)
	} else {
		c.r.thinking(text)
	}
	c.reasoning[id] = text
}

// plan reads the to-do list. Every lifecycle event repeats the whole list; it
// is one call, with the list of its last state.
func (c *codex) plan(id string, items rawjson.Value) {
	input := event.Object(event.F("todos", event.Of(items)))
	if c.plans[id] {
		if i, ok := c.r.tools[id]; ok {
			c.r.out.Tools[i].Input = input
		}
		return
	}
	c.plans[id] = true
	c.r.toolUse(id, "TodoWrite", input, "")
	c.r.out.Tools[c.r.tools[id]].State = ToolDone // a plan has no result
}
